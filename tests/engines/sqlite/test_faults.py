"""What a full, busy or failing disk gets its callers: a typed error each, and a file that goes on."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.faults import from_sqlite, translated
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import Busy, Corrupt, NotABook, NotAllowed, ReadOnly, StorageError, StorageFull
from tests.engines.sqlite.notes import bodies, open_notes, put


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as it said")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_BUSY, Busy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Busy),
        (sqlite3.SQLITE_LOCKED, Busy),
        (sqlite3.SQLITE_PROTOCOL, Busy),
        (sqlite3.SQLITE_READONLY, ReadOnly),
        (sqlite3.SQLITE_READONLY_ROLLBACK, ReadOnly),
        (sqlite3.SQLITE_CANTOPEN, ReadOnly),
        (sqlite3.SQLITE_PERM, ReadOnly),
        (sqlite3.SQLITE_FULL, StorageFull),
        (sqlite3.SQLITE_CORRUPT, Corrupt),
        (sqlite3.SQLITE_CORRUPT_INDEX, Corrupt),
        (sqlite3.SQLITE_NOTADB, NotABook),
        (sqlite3.SQLITE_READONLY_DBMOVED, StorageError),
        (sqlite3.SQLITE_IOERR_FSYNC, StorageError),
        (sqlite3.SQLITE_ERROR, StorageError),
    ],
)
def test_each_refusal_has_its_error(code: int, expected: type[StorageError], place: Path):
    error = from_sqlite(sqlite_error(code), place)
    assert type(error) is expected
    assert str(place) in str(error)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.ENOSPC, StorageFull),
        (errno.EDQUOT, StorageFull),
        (errno.EROFS, ReadOnly),
        (errno.EACCES, ReadOnly),
        (errno.EIO, StorageError),
    ],
)
def test_the_systems_refusals_are_told_as_well(code: int, expected: type[StorageError], place: Path):
    with pytest.raises(StorageError) as caught, translated(place):
        raise OSError(code, "as it said")
    assert type(caught.value) is expected
    assert isinstance(caught.value.__cause__, OSError)


def test_our_own_errors_pass_as_they_are(place: Path):
    with pytest.raises(NotAllowed), translated(place):
        raise NotAllowed("a permission error, but ours")


def test_a_failing_write_on_a_full_disk_is_told_as_full(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 100})())
    assert type(from_sqlite(sqlite_error(sqlite3.SQLITE_IOERR_SHMSIZE), place)) is StorageFull


async def limit_pages(file: SqliteFile, room: int | None) -> None:
    def limit(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0] + room if room is not None else 2**30
        connection.execute(f"PRAGMA max_page_count = {pages}")

    await file.write(limit)


async def test_a_disk_that_fills_up_in_a_group_gets_everyone_an_answer(notes: SqliteFile):
    await notes.write(put("kept"))
    await limit_pages(notes, 8)
    texts = ["small"] * 5 + ["x" * 500_000] + ["small"] * 5
    answers = await asyncio.gather(*(notes.write(put(text)) for text in texts), return_exceptions=True)

    assert isinstance(answers[5], StorageFull)
    assert "free some" in str(answers[5])
    assert all(isinstance(answer, int | StorageFull) for answer in answers)
    stored = len(await notes.read(bodies))
    assert stored == 1 + sum(isinstance(answer, int) for answer in answers)

    await limit_pages(notes, None)
    await notes.write(put("after"))
    assert len(await notes.read(bodies)) == stored + 1


async def test_when_sqlite_undoes_the_whole_transaction_nobody_is_told_otherwise(notes: SqliteFile):
    def lose_everything(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite_error(sqlite3.SQLITE_FULL)

    works = [put("before"), put("before"), lose_everything, put("after")]
    answers = await asyncio.gather(*(notes.write(work) for work in works), return_exceptions=True)
    assert [type(answer) for answer in answers] == [StorageFull] * 4
    assert len({id(answer) for answer in answers}) == 4
    assert await notes.read(bodies) == []
    assert await notes.write(put("next")) == 1


class FailingCommit(sqlite3.Connection):
    """A disk that fails where a commit is to become durable."""

    failing = False

    def execute(self, sql, *parameters):
        if sql == "COMMIT" and type(self).failing:
            raise sqlite_error(sqlite3.SQLITE_IOERR_FSYNC)
        return super().execute(sql, *parameters)


async def test_when_the_commit_fails_nothing_is_acknowledged(place: Path, monkeypatch: pytest.MonkeyPatch):
    def connect(*given, **options):
        return sqlite3.connect(*given, factory=FailingCommit, **options)

    file = await open_notes(place, connect=connect)
    monkeypatch.setattr(FailingCommit, "failing", True)
    answers = await asyncio.gather(*(file.write(put(str(n))) for n in range(5)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [StorageError] * 5
    monkeypatch.setattr(FailingCommit, "failing", False)
    assert await file.read(bodies) == []
    assert file.counters.writes == 0
    assert await file.write(put("next")) == 1
    await file.close()


async def test_a_program_that_takes_no_turns_is_waited_for(notes: SqliteFile, place: Path):
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(notes.write(put("patient")))
        await asyncio.sleep(0.01)
        other.execute("COMMIT")
        assert await writing == 1


async def test_a_program_that_does_not_let_go_makes_busy(place: Path):
    file = await open_notes(place, busy_seconds=0.1)
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="try again"):
            await file.write(put("no"))
        other.execute("ROLLBACK")
    assert await file.write(put("yes")) == 1
    await file.close()


async def test_what_sqlite_refuses_without_waiting_is_tried_again(place: Path):
    refusals = {"BEGIN IMMEDIATE": 3, "PRAGMA journal_mode=WAL": 3}

    class Impatient(sqlite3.Connection):
        def execute(self, sql, *parameters):
            if refusals.get(sql, 0):
                refusals[sql] -= 1
                raise sqlite_error(sqlite3.SQLITE_BUSY_RECOVERY)
            return super().execute(sql, *parameters)

    def connect(*given, **options):
        return sqlite3.connect(*given, factory=Impatient, **options)

    file = await open_notes(place, connect=connect)
    refusals["BEGIN IMMEDIATE"] = 3
    assert await file.write(put("one")) == 1
    assert set(refusals.values()) == {0}
    await file.close()


async def test_a_writer_that_can_do_no_more_says_so_and_does_not_hang(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    died: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", died.append)

    class Undone(sqlite3.Connection):
        def execute(self, sql, *parameters):
            if sql == "ROLLBACK TO operation":
                raise MemoryError
            return super().execute(sql, *parameters)

    def connect(*given, **options):
        return sqlite3.connect(*given, factory=Undone, **options)

    file = await open_notes(place, connect=connect)
    answers = await asyncio.gather(
        file.write(put("one")), file.write(lambda c: 1 // 0), file.write(put("three")), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [MemoryError] * 3
    with pytest.raises(StorageError, match="open the book again"):
        await file.write(put("four"))
    assert await file.read(bodies) == []
    await file.close()
    assert [args.exc_type for args in died] == [MemoryError]
