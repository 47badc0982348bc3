"""Size of a book in bytes, and the time to open one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import memoranda
from bench import servers
from bench.figures import Address, Place, Row, Timed
from bench.text import Talk
from bench.writing import CHARACTERS
from memoranda.engines.sqlite.engine import SqliteEngine

#: Largest share of the ledger in a message's bytes, in per cent.
LEDGER_SHARE = 25.0
#: Targets of one more message that says the same: five thousand of them in 10 s and 10 MB.
CPU_MS_PER_REPEAT, BYTES_PER_REPEAT = 2.0, 2000
_AGENT = "helper"
_LEDGER = ("ledger", "ledger_by_operation")

_OPENING = """
import time
began = time.perf_counter()
import asyncio, sys, memoranda
imported = time.perf_counter()
async def main():
    begun = time.perf_counter()
    async with memoranda.open(sys.argv[1], embed=None) as book:
        opened = time.perf_counter()
        await book.recall("ann", "anything at all", agent="helper")
        answered = time.perf_counter()
    print((imported - began) * 1000, (opened - begun) * 1000, (answered - opened) * 1000)
asyncio.run(main())
"""


def repeats(place: Place) -> Iterator[Row]:
    """Measure what it costs to form a thread in which one user says the same in every message, by
    rules and without vectors.
    """
    path, count = place.book("repeats"), place.scale.messages
    seconds, cpu = asyncio.run(_repeat(path, count))
    whole, _ = asyncio.run(_sizes(path))
    yield Row(f"form {count} messages that say the same", seconds * 1000 / count, "ms a message")
    yield Row("  CPU", cpu * 1000 / count, "ms a message", target=CPU_MS_PER_REPEAT)
    yield Row("  book, with the messages", whole / count, "B a message", target=BYTES_PER_REPEAT)


async def _repeat(path: Address, count: int) -> tuple[float, float]:
    """Return the seconds, and those of the processor, that forming takes."""
    async with memoranda.open(path, embed=None, models=None, worker=False) as book:
        thread = await book.thread("ann", agent=_AGENT)
        for start in range(0, count, 250):
            said = {"role": "user", "content": "I like tea."}
            await thread.append([said] * min(250, count - start))
        await book.form("ann", wait=False, as_owner=True)
        began, used = time.perf_counter(), time.process_time()
        await book.jobs.run()
        took = time.perf_counter() - began, time.process_time() - used
        if isinstance(book.engine, SqliteEngine):
            await book.engine.file.checkpoint()
        return took


def size(place: Place) -> Iterator[Row]:
    """Measure the file after appending messages of five hundred characters in batches of ten."""
    for name, operations in (("with operation ids", True), ("without operation ids", False)):
        path = place.book(f"size-{operations}")
        asyncio.run(_append(path, place, operations=operations))
        whole, ledger = asyncio.run(_sizes(path))
        count = place.scale.messages
        yield Row(f"file, {name}", whole / count, "B a message")
        yield Row("  of these, ledger with its indexes", ledger / count, "B a message")
        yield Row("  share of the ledger", 100 * ledger / whole, "%", target=LEDGER_SHARE)


async def _append(path: Address, place: Place, *, operations: bool) -> None:
    talk = Talk(place.seed)
    async with memoranda.open(path, embed=None) as book:
        thread = await book.thread("ann", agent=_AGENT)
        for number in range(place.scale.messages // 10):
            drafts = [{"role": "user", "content": talk.characters(CHARACTERS)} for _ in range(10)]
            await thread.append(drafts, operation=f"operation {number}" if operations else None)
        if isinstance(book.engine, SqliteEngine):
            await book.engine.file.checkpoint()


async def _sizes(path: Address) -> tuple[int, int]:
    """Return the bytes of a book and the ledger's part of them."""
    if isinstance(path, Path):
        return os.path.getsize(path), ledger_bytes(path)
    server = servers.server_at(path)
    assert server is not None
    return await server.sizes(path)


def ledger_bytes(path: Path) -> int:
    """Return the bytes of the ledger and its indexes in the file."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            query = "SELECT sum(pgsize) FROM dbstat WHERE name IN (?, ?)"
            return int(connection.execute(query, _LEDGER).fetchone()[0])
        except sqlite3.OperationalError:
            # This SQLite cannot list pages: compare the file with a copy without the ledger.
            return _difference(path)


def _difference(path: Path) -> int:
    copy = path.with_suffix(".copy")
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("VACUUM")
        whole = os.path.getsize(copy)
        connection.execute("DROP TABLE ledger")
        connection.execute("VACUUM")
    return whole - os.path.getsize(copy)


def opening(place: Place) -> Iterator[Row]:
    """Measure a new process: its imports, opening a book, and the first recall."""
    path = place.book("opening")
    asyncio.run(_append(path, place, operations=False))
    parts = [Timed(), Timed(), Timed()]
    for _ in range(place.scale.starts):
        done = subprocess.run(
            [sys.executable, "-c", _OPENING, str(path)], check=True, capture_output=True, text=True
        )
        for timed, milliseconds in zip(parts, done.stdout.split(), strict=True):
            timed.walls.append(float(milliseconds))
    for name, timed in zip(("import", "open", "first recall"), parts, strict=True):
        yield timed.row(f"start: {name}, a new process")
