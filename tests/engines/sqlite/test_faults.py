"""A full, busy or failing disk raises a typed error for each caller, and the file stays usable."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.faults import from_sqlite, translated
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import (
    Busy,
    Corrupt,
    NotABook,
    NotAllowed,
    ReadOnly,
    StorageError,
    StorageFull,
)
from memoranda_conformance.builders import Pen
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
def test_the_systems_refusals_are_told_as_well(
    code: int, expected: type[StorageError], place: Path
):
    with pytest.raises(StorageError) as caught, translated(place):
        raise OSError(code, "as it said")
    assert type(caught.value) is expected
    assert isinstance(caught.value.__cause__, OSError)


def test_our_own_errors_pass_as_they_are(place: Path):
    with pytest.raises(NotAllowed), translated(place):
        raise NotAllowed("a permission error, but ours")


def test_a_failing_write_on_a_full_disk_is_told_as_full(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 100})())
    assert type(from_sqlite(sqlite_error(sqlite3.SQLITE_IOERR_SHMSIZE), place)) is StorageFull


async def limit_pages(file: SqliteFile, room: int | None) -> None:
    def limit(connection: sqlite3.Connection) -> None:
        pages = (
            connection.execute("PRAGMA page_count").fetchone()[0] + room
            if room is not None
            else 2**30
        )
        connection.execute(f"PRAGMA max_page_count = {pages}")

    await file.write(limit)


async def test_a_disk_that_fills_up_in_a_group_gets_everyone_an_answer(notes: SqliteFile):
    await notes.write(put("kept"))
    await limit_pages(notes, 8)
    texts = ["small"] * 5 + ["x" * 500_000] + ["small"] * 5
    answers = await asyncio.gather(
        *(notes.write(put(text)) for text in texts), return_exceptions=True
    )

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


async def test_when_the_commit_fails_nothing_is_acknowledged(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    def connect(*given, **options):
        return sqlite3.connect(*given, factory=FailingCommit, **options)

    file = await open_notes(place, connect=connect)
    monkeypatch.setattr(FailingCommit, "failing", True)
    answers = await asyncio.gather(
        *(file.write(put(str(n))) for n in range(5)), return_exceptions=True
    )
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
        file.write(put("one")),
        file.write(lambda c: 1 // 0),
        file.write(put("three")),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [MemoryError] * 3
    with pytest.raises(StorageError, match="open the book again"):
        await file.write(put("four"))
    assert await file.read(bodies) == []
    await file.close()
    assert [args.exc_type for args in died] == [MemoryError]


#: Lets reads of the book fail with EIO while a file with the name in ``FAILING`` exists.
_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>
static int fails(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 8 || access(getenv("FAILING"), F_OK)) return 0;
    path[n] = 0;
    return strcmp(path + n - 8, "/book.db") == 0;
}
#define READ(name) ssize_t name(int fd, void *to, size_t size, off64_t at) { \\
    ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, #name); \\
    if (fails(fd)) { errno = EIO; return -1; } \\
    return real(fd, to, size, at); }
READ(pread64)
READ(pread)
"""

_READER = """
import asyncio, os, sys
from pathlib import Path
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import MemorandaError

async def main():
    engine = await SqliteEngine.open(Path(sys.argv[1]))
    Path(os.environ["FAILING"]).touch()
    try:
        await engine.verify()
    except MemorandaError as error:
        print(error)
    Path(os.environ["FAILING"]).unlink()
    print((await engine.verify()).faults)
    await engine.close()

asyncio.run(main())
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"),
    reason="needs Linux and a C compiler",
)
async def test_a_read_that_the_disk_fails_once_is_not_called_damage(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "book.db")
    await Pen(engine).write(*(Pen(engine).remembering(f"statement {n} " * 50) for n in range(100)))
    await engine.close()
    (tmp_path / "shim.c").write_text(_SHIM)
    shim = tmp_path / "shim.so"
    cc = ["cc", "-shared", "-fPIC", "-o", str(shim), str(tmp_path / "shim.c"), "-ldl"]
    await asyncio.to_thread(subprocess.run, cc, check=True)
    env = {**os.environ, "LD_PRELOAD": str(shim), "FAILING": str(tmp_path / "failing")}
    reading = [sys.executable, "-c", _READER, str(tmp_path / "book.db")]
    done = await asyncio.to_thread(
        subprocess.run, reading, env=env, capture_output=True, text=True, check=True, timeout=60
    )
    said, after = done.stdout.strip().splitlines()
    assert "the disk failed to read it, or the file is damaged. Verify the book first" in said
    assert after == "()"
