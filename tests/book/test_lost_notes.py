"""Tests of restoring a backup without notes of erasures, or with damaged ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import Restored, restore
from memoranda.model.values import utc_now
from memoranda.ports import Engine


async def opened(path: Path) -> Engine:
    return await open_engine(path, create=False)


def _lost(notes: Path) -> None:
    notes.unlink()


def _garbage(notes: Path) -> None:
    notes.write_text("garbage\n")


def _damaged(notes: Path) -> None:
    notes.write_bytes(notes.read_bytes().replace(b'"records"', b'"recordz"'))


def _elsewhere(notes: Path) -> None:
    (notes.parent / "elsewhere").mkdir()
    backup = notes.with_suffix("")
    backup.rename(notes.parent / "elsewhere" / backup.name)


def _written_anew(notes: Path) -> None:
    *_, last = notes.read_bytes().splitlines(keepends=True)
    notes.write_bytes(last)


@pytest.mark.parametrize("lose", [_lost, _garbage, _damaged, _elsewhere, _written_anew])
async def test_a_backup_without_its_notes_is_restored_only_if_the_caller_accepts_that(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        ids = [
            (await book.remember("ana", f"Has canary {number}", agent="coach")).id
            for number in range(2)
        ]
        await book.admin.backup(tmp_path / "copy.db")
        for id in ids:
            await book.forget("ana", id, agent="coach")
    lose(tmp_path / "copy.db.erasures")
    (copy,) = tmp_path.rglob("copy.db")
    with pytest.raises(InvalidInput, match=r"forgotten since .*copy\.db.*--without-erasures"):
        await restore(opened, copy, tmp_path / "restored.db", at=utc_now())
    assert list(tmp_path.glob("restored.db*")) == []
    engine, other = await opened(tmp_path / "book.db"), await open_engine(tmp_path / "other.db")
    with pytest.raises(InvalidInput, match="--without-erasures"):
        await restore(opened, copy, tmp_path / "restored.db", books=[other], at=utc_now())
    restored = await restore(opened, copy, tmp_path / "restored.db", books=[engine], at=utc_now())
    await engine.close()
    await other.close()
    assert restored == Restored(2, "")
    again = await restore(opened, copy, tmp_path / "again.db", without_erasures=True, at=utc_now())
    assert "copy.db" in again.warning


async def test_notes_that_lost_only_their_last_line_end_are_read_whole(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        await book.forget("ana", told.id, agent="coach")
    notes = tmp_path / "copy.db.erasures"
    notes.write_bytes(notes.read_bytes().rstrip(b"\n"))
    assert await restore(
        opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now()
    ) == Restored(1, "")


async def test_a_file_that_no_backup_made_is_restored_with_a_warning(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        await book.forget("ana", told.id, agent="coach")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("DELETE FROM book WHERE name = 'backup'").rowcount == 1
        connection.commit()
    restored = await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    assert (restored.removed, "`backup` did not make it" in restored.warning) == (1, True)


async def test_a_restored_backup_is_a_book_and_a_rewritten_one_a_backup_with_notes(
    tmp_path: Path,
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        ids = [
            (await book.remember("ana", f"Has canary {number}", agent="coach")).id
            for number in range(2)
        ]
        await book.admin.backup(tmp_path / "copy.db")
        await book.forget("ana", ids[0], agent="coach")
        (tmp_path / "copy.db.erasures").write_text("garbage\n")
        receipt = await book.forget("ana", ids[1], agent="coach", backups=True)
        assert receipt.still_in == ()
    # The book knew what the lost notes had said, and the new file has notes of its own.
    assert [path.name for path in tmp_path.glob("*.db") if b"canary" in path.read_bytes()] == []
    restored = await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    assert restored == Restored(0, "")
    marks = []
    for name in ("book.db", "copy.db", "restored.db"):
        engine = await opened(tmp_path / name)
        marks.append((await engine.whereabouts()).backup is not None)
        await engine.close()
    assert marks == [False, True, False]
