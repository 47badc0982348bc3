"""Opening: a new book is private and whole, and whatever is no book is told from one and left as it
was.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import (
    Corrupt,
    InvalidInput,
    NotABook,
    ReadOnly,
    StorageError,
    VersionMismatch,
)
from tests.engines.sqlite.notes import APPLICATION, V1, V2, bodies, open_notes, put


def foreign(path: Path, *statements: str) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


async def test_a_new_book_and_its_side_files_belong_to_its_user_alone(place: Path):
    before = os.umask(0)
    try:
        file = await open_notes(place)
        await file.write(put("private"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.parent.iterdir()}
        await file.close()
    finally:
        os.umask(before)
    assert {"notes.book", "notes.book-wal", "notes.book-shm"} <= set(modes)
    assert set(modes.values()) == {0o600}


async def test_a_new_book_can_be_told_from_other_files(place: Path):
    await (await open_notes(place)).close()
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    "name", ["100% ?mode=memory&x=#1.book", "tēxt 书.book", 'it\'s "quoted";.book']
)
async def test_any_name_that_the_system_takes_is_only_a_name(tmp_path: Path, name: str):
    file = await open_notes(tmp_path / name)
    await file.write(put("one"))
    await file.close()
    assert (tmp_path / name).stat().st_size > 0


async def test_an_empty_file_becomes_a_book(place: Path):
    place.touch()
    file = await open_notes(place)
    assert await file.write(put("one")) == 1
    await file.close()


async def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(InvalidInput, match="missing is not there: make it first") as caught:
        await open_notes(tmp_path / "missing" / "notes.book")
    assert caught.value.field == "path"


async def test_a_path_with_a_nul_is_refused(tmp_path: Path):
    with pytest.raises(InvalidInput) as caught:
        await open_notes(Path(f"{tmp_path}/a\0b"))
    assert caught.value.field == "path"


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
async def test_a_missing_book_is_not_made_unasked(place: Path, options: dict[str, Any]):
    with pytest.raises(NotABook, match="no book at"):
        await open_notes(place, **options)
    assert not place.exists()


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
async def test_an_empty_file_is_not_filled_unasked(place: Path, options: dict[str, Any]):
    place.touch()
    with pytest.raises(NotABook, match="is empty"):
        await open_notes(place, **options)
    assert place.read_bytes() == b""


async def test_a_folder_is_no_book(tmp_path: Path):
    with pytest.raises(NotABook, match="is not a file"):
        await open_notes(tmp_path)


@pytest.mark.parametrize("content", [b"hello", b"%PDF-1.7" * 1000, os.urandom(9000), b"\0" * 8192])
async def test_a_file_that_is_no_database_is_refused_and_left_alone(place: Path, content: bytes):
    place.write_bytes(content)
    with pytest.raises(NotABook):
        await open_notes(place)
    assert place.read_bytes() == content


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE theirs (id)"],
        ["PRAGMA application_id = 252006673", "CREATE TABLE theirs (id)"],
        ["PRAGMA user_version = 1"],
        [f"PRAGMA application_id = {APPLICATION}", "CREATE TABLE theirs (id)"],
        ["PRAGMA journal_mode = WAL", "CREATE TABLE theirs (id)"],
    ],
)
async def test_a_database_of_another_program_is_refused_and_left_alone(
    place: Path, statements: list[str]
):
    content = foreign(place, *statements)
    for read_only in (False, True):
        with pytest.raises(NotABook, match="another program"):
            await open_notes(place, read_only=read_only)
    assert place.read_bytes() == content


async def test_a_book_of_a_development_build_is_refused_and_left_alone(place: Path):
    content = foreign(
        place,
        "PRAGMA application_id = 1131245676",
        "PRAGMA user_version = 8",
        "CREATE TABLE book (id)",
    )
    for read_only in (False, True):
        with pytest.raises(VersionMismatch, match="a development build"):
            await open_notes(place, read_only=read_only)
    assert place.read_bytes() == content


async def test_a_newer_book_is_refused_and_left_alone(place: Path):
    await (await open_notes(place, V2)).close()
    content = place.read_bytes()
    for read_only in (False, True):
        with pytest.raises(VersionMismatch, match=r"format 2.*up to 1.*upgrade Memoranda"):
            await open_notes(place, V1, read_only=read_only)
    assert place.read_bytes() == content


async def test_damage_that_is_not_even_text_is_told_as_damage(place: Path):
    await (await open_notes(place)).close()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = CAST(x'435245415445a1' AS TEXT) WHERE type = 'table'"
        )
        connection.commit()
    with pytest.raises(Corrupt, match="damaged"):
        await open_notes(place)


async def test_a_damaged_book_is_told_as_damaged(place: Path):
    file = await open_notes(place)
    await asyncio.gather(*(file.write(put("x" * 3000)) for _ in range(50)))
    await file.close()
    content = place.read_bytes()

    place.write_bytes(content[: len(content) // 2 // 4096 * 4096])
    with pytest.raises(Corrupt, match="restore a backup"):
        await open_notes(place)

    place.write_bytes(content[:4096] + b"\xa5" * 4096 + content[8192:])
    file = await open_notes(place)
    with pytest.raises(Corrupt, match="restore a backup"):
        await file.read(bodies)
    with pytest.raises(Corrupt, match="restore a backup"):
        await file.write(put("more"))
    await file.close()


async def test_a_book_that_cannot_be_written_is_refused_with_the_way_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    await (await open_notes(place)).close()
    # The superuser may write whatever the mode says: so the question itself is answered for them.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ReadOnly, match="read_only=True"):
        await open_notes(place)
    reader = await open_notes(place, read_only=True)
    assert await reader.read(bodies) == []
    await reader.close()


async def test_a_book_on_a_medium_that_takes_no_files_can_be_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    file = await open_notes(place)
    await file.write(put("kept"))
    await file.close()
    names = set(place.parent.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    reader = await open_notes(place, read_only=True)
    assert await reader.read(bodies) == ["kept"]
    assert set(place.parent.iterdir()) == names
    await reader.close()


async def test_a_place_without_a_log_is_refused(place: Path):
    class WithoutLog(sqlite3.Connection):
        def execute(self, sql, *parameters):
            return super().execute(
                "SELECT 'delete'" if sql == "PRAGMA journal_mode=WAL" else sql, *parameters
            )

    def connect(*given, **options):
        return sqlite3.connect(*given, factory=WithoutLog, **options)

    with pytest.raises(StorageError, match="keep the book on a local disk"):
        await open_notes(place, connect=connect)


async def test_a_creation_that_was_cut_off_is_finished_by_the_next(place: Path):
    class CutOff(sqlite3.Connection):
        def execute(self, sql, *parameters):
            if sql == "PRAGMA journal_mode=WAL":
                raise sqlite3.OperationalError("cut off")
            return super().execute(sql, *parameters)

    def connect(*given, **options):
        return sqlite3.connect(*given, factory=CutOff, **options)

    with pytest.raises(StorageError, match="cut off"):
        await open_notes(place, connect=connect)
    file = await open_notes(place)
    assert await file.write(put("one")) == 1
    assert await file.read(lambda c: c.execute("PRAGMA journal_mode").fetchone()) == ("wal",)
    await file.close()


async def test_many_may_open_a_new_book_at_once(place: Path):
    files = await asyncio.gather(*(open_notes(place) for _ in range(6)))
    for number, file in enumerate(files):
        await file.write(put(str(number)))
    assert await files[0].read(bodies) == ["0", "1", "2", "3", "4", "5"]
    await asyncio.gather(*(file.close() for file in files))


async def test_an_opening_that_was_cancelled_leaves_nothing_open(place: Path):
    opened: list[sqlite3.Connection] = []
    closed: list[sqlite3.Connection] = []
    all_closed = threading.Event()
    entered, free = threading.Event(), threading.Event()

    class Watched(sqlite3.Connection):
        def close(self):
            super().close()
            closed.append(self)
            if len(closed) == 3:
                all_closed.set()

    def connect(*given, **options):
        entered.set()
        free.wait()
        opened.append(sqlite3.connect(*given, factory=Watched, **options))
        return opened[-1]

    opening = asyncio.create_task(open_notes(place, connect=connect))
    await asyncio.to_thread(entered.wait)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    free.set()

    assert await asyncio.to_thread(all_closed.wait, 30)
    assert len(opened) == 4
