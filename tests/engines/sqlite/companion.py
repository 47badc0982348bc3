"""What a second process on the same book does: it says that it is ready, waits for the word, and
begins.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda_conformance.builders import SMALL, vectors_of
from tests.engines.sqlite.notes import V1, V2, open_notes, put

Task = Callable[[Path, Any, Connection], Coroutine[Any, Any, None]]


def ready(line: Connection) -> None:
    line.send("ready")
    line.recv()


async def write_for(place: Path, seconds: float, line: Connection) -> None:
    """Write with four tasks until the time is over, and say how often."""
    file = await open_notes(place)
    ready(line)
    until = time.monotonic() + seconds

    async def write() -> None:
        while time.monotonic() < until:
            await file.write(put("fair"))

    await asyncio.gather(*(write() for _ in range(4)))
    line.send(file.counters.writes)
    await file.close()


async def write_times(place: Path, times: int, line: Connection) -> None:
    file = await open_notes(place)
    ready(line)
    for _ in range(times):
        await file.write(_count_up)
    await file.close()
    line.send("done")


async def hold(place: Path, _: None, line: Connection) -> None:
    """Stay inside a write until the word comes, with the turn and SQLite's lock."""
    file = await open_notes(place)

    def stay(connection: sqlite3.Connection) -> None:
        put("never committed")(connection)
        ready(line)

    await file.write(stay)


async def embed(place: Path, seed: int, line: Connection) -> None:
    """Make the vectors that lack until none does, and say how many were put."""
    engine = await SqliteEngine.open(place)
    ready(line)
    put_in_all = 0
    while lacking := await engine.lacking(SMALL, 7):
        put_in_all += await engine.put_vectors(
            SMALL, vectors_of(SMALL, *(record.id for record in lacking))
        )
    line.send(put_in_all)
    await engine.close()


async def bring_forward(place: Path, _: None, line: Connection) -> None:
    ready(line)
    file = await open_notes(place, V2)
    line.send(await file.write(put("in the new format")))
    await file.close()


async def make(place: Path, _: None, line: Connection) -> None:
    ready(line)
    file = await SqliteFile.open(place, migrations=V1)
    await file.write(put("from one of many"))
    await file.close()
    line.send("done")


def _count_up(connection: sqlite3.Connection) -> None:
    """Loses an update if two processes are ever inside at once."""
    found = connection.execute("SELECT body FROM notes WHERE id = 1").fetchone()
    value = 1 if found is None else int(found[0]) + 1
    connection.execute("INSERT OR REPLACE INTO notes (id, body) VALUES (1, ?)", (str(value),))


def run(task: Task, place: Path, argument: Any, line: Connection) -> None:
    """The process."""
    asyncio.run(task(place, argument, line))
