"""Brief reads: they run on the thread of the event loop where nobody waits, and as all others where
somebody does.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memoranda.engines.sqlite.file import connections
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import StorageError
from tests.engines.sqlite.notes import bodies, open_notes, put


def reader(_: sqlite3.Connection) -> int:
    """Return the thread that reads."""
    return threading.get_ident()


async def test_a_brief_read_runs_on_the_thread_of_its_caller_and_sees_what_was_written(
    notes: SqliteFile,
):
    await notes.write(put("one"))
    assert await notes.read(reader, brief=True) == threading.get_ident() != await notes.read(reader)
    assert await notes.read(bodies, brief=True) == ["one"]
    await notes.write(put("two"))
    assert await notes.read(bodies, brief=True) == ["one", "two"]


async def test_a_brief_read_goes_behind_those_that_wait_for_a_thread(notes: SqliteFile):
    free, order = threading.Event(), list[str]()

    def hold(_: sqlite3.Connection) -> None:
        free.wait()

    def note(name: str) -> int:
        order.append(name)
        return threading.get_ident()

    holding = [asyncio.create_task(notes.read(hold)) for _ in range(2)]
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(notes.read(lambda _: note("earlier")))]
    brief = asyncio.create_task(notes.read(lambda _: note("brief"), brief=True))
    for _ in range(5):
        await asyncio.sleep(0)
    at_first = list(order)
    free.set()
    await asyncio.gather(*holding, *waiting)
    assert at_first == []
    assert await brief != threading.get_ident()
    assert sorted(order) == ["brief", "earlier"]


async def test_a_brief_read_that_sqlite_refuses_is_done_again_in_a_thread(notes: SqliteFile):
    threads: list[int] = []

    def refused_at_first(_: sqlite3.Connection) -> str:
        threads.append(threading.get_ident())
        if len(threads) == 1:
            raise sqlite3.OperationalError("database is locked")
        return "read"

    assert await notes.read(refused_at_first, brief=True) == "read"
    assert threads[0] == threading.get_ident() != threads[1]
    assert await notes.read(reader, brief=True) == threading.get_ident()


async def test_a_statement_that_takes_long_is_done_in_a_thread(
    notes: SqliteFile, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "_MOST_SECONDS", 0.0)
    threads: list[int] = []

    def count(connection: sqlite3.Connection) -> int:
        threads.append(threading.get_ident())
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT max(i) FROM n"
        return int(connection.execute(endless).fetchone()[0])

    assert await notes.read(count, brief=True) == 10_000
    assert threads[0] == threading.get_ident() != threads[1]


async def test_where_brief_reads_are_slow_threads_read_for_a_while(
    notes: SqliteFile, monkeypatch: pytest.MonkeyPatch
):
    for slow in (1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0):
        monkeypatch.setattr(connections, "_SLOW_SECONDS", slow)
        assert await notes.read(reader, brief=True) == threading.get_ident()
    assert await notes.read(reader, brief=True) != threading.get_ident()
    monkeypatch.setattr(connections, "monotonic", lambda: time.monotonic() + 60)
    assert await notes.read(reader, brief=True) == threading.get_ident()


class Guarded(sqlite3.Connection):
    """A connection as under a tool that forbids to block the event loop."""

    refused = 0

    def execute(self, *given: Any) -> sqlite3.Cursor:
        """Refuse on the event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return super().execute(*given)
        Guarded.refused += 1
        raise PermissionError("a blocking call on the event loop")


async def test_where_a_tool_forbids_sqlite_on_the_event_loop_threads_read(place: Path):
    Guarded.refused = 0
    connect = partial(sqlite3.connect, factory=Guarded)
    file = await open_notes(place, connect=connect)
    try:
        assert await file.read(reader, brief=True) != threading.get_ident()
        assert await file.read(reader, brief=True) != threading.get_ident()
    finally:
        await file.close()
    assert Guarded.refused == 1


async def test_an_error_of_a_brief_read_reaches_its_caller_and_leaves_no_transaction(
    notes: SqliteFile,
):
    with pytest.raises(ZeroDivisionError):
        await notes.read(lambda _: 1 // 0, brief=True)
    await notes.write(put("after"))
    assert await notes.read(bodies, brief=True) == ["after"]


async def test_other_tasks_run_between_brief_reads(notes: SqliteFile):
    read = 0

    async def read_on() -> None:
        nonlocal read
        while True:
            await notes.read(bodies, brief=True)
            read += 1

    endless = asyncio.create_task(read_on())
    for _ in range(10):
        await asyncio.sleep(0)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    assert 0 < read <= 10


async def test_a_closed_file_reads_nothing_briefly(notes: SqliteFile):
    await notes.close()
    with pytest.raises(StorageError, match="closed"):
        await notes.read(bodies, brief=True)
