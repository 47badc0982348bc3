"""Backups of an open book: whole, checked, private, and never over something else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import Corrupt, InvalidInput
from tests.engines.sqlite.notes import bodies, open_notes, put


async def test_a_backup_is_a_book_of_its_own(notes: SqliteFile, tmp_path: Path):
    await asyncio.gather(*(notes.write(put(str(number))) for number in range(100)))
    seen: list[tuple[int, int]] = []
    target = tmp_path / "copy.book"
    await notes.backup(target, lambda done, total: seen.append((done, total)))

    assert seen[-1][0] == seen[-1][1] > 0
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy.book")] == [
        "copy.book"
    ]
    copy = await open_notes(target)
    assert await copy.read(bodies) == await notes.read(bodies)
    await copy.write(put("on its own"))
    await copy.close()
    assert "on its own" not in await notes.read(bodies)


async def test_a_backup_taken_while_others_write_is_one_moment(notes: SqliteFile, tmp_path: Path):
    def pair(connection: sqlite3.Connection) -> None:
        put("left" * 500)(connection)
        put("right" * 500)(connection)

    stop = asyncio.Event()

    async def write_pairs() -> None:
        while not stop.is_set():
            await notes.write(pair)

    for _ in range(300):
        await notes.write(pair)
    writing = asyncio.create_task(write_pairs())
    await notes.backup(tmp_path / "copy.book")
    stop.set()
    await writing
    with closing(sqlite3.connect(tmp_path / "copy.book")) as connection:
        copied = bodies(connection)
    assert len(copied) >= 600
    assert len(copied) % 2 == 0


async def test_a_backup_does_not_replace_what_is_there(
    notes: SqliteFile, tmp_path: Path, place: Path
):
    (tmp_path / "taken").write_text("mine")
    for target in (tmp_path / "taken", place):
        with pytest.raises(InvalidInput, match="is there already") as caught:
            await notes.backup(target)
        assert caught.value.field == "target"
    assert (tmp_path / "taken").read_text() == "mine"
    with pytest.raises(InvalidInput, match="make it first"):
        await notes.backup(tmp_path / "missing" / "copy.book")


def torn(content: bytes) -> bytes:
    """One page overwritten: reading it fails."""
    return content[:-8192] + b"\xa5" * 4096 + content[-4096:]


def miscounted(content: bytes) -> bytes:
    """A leaf page that reports free bytes it has not: every row can still be read and counted."""
    leaf = max(start for start in range(4096, len(content), 4096) if content[start] == 13)
    return content[: leaf + 7] + b"\x09" + content[leaf + 8 :]


@pytest.mark.parametrize("damage", [torn, miscounted])
async def test_a_backup_of_a_damaged_book_is_not_kept(
    place: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
):
    file = await open_notes(place)
    await asyncio.gather(*(file.write(put("x" * 3000)) for _ in range(50)))
    await file.close()
    place.write_bytes(damage(place.read_bytes()))

    file = await open_notes(place)
    with pytest.raises(Corrupt, match="damaged"):
        await file.backup(tmp_path / "copy.book")
    await file.close()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy.book")] == []


async def test_a_cancelled_backup_leaves_nothing(notes: SqliteFile, tmp_path: Path):
    def fill(connection: sqlite3.Connection) -> None:
        for _ in range(3000):
            put("x" * 4000)(connection)

    await notes.write(fill)
    started = asyncio.Event()
    backing_up = asyncio.create_task(
        notes.backup(tmp_path / "copy.book", lambda done, total: started.set())
    )
    await started.wait()
    backing_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await backing_up
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy.book")] == []
