"""Speed of appending messages and remembering statements."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Barrier
from typing import Any

import memoranda
from bench.figures import Address, Place, Row, Timed, percentile
from bench.machine import fsync_ms
from bench.servers import MongoServer, server_at
from bench.shelves import ROOMY
from bench.text import Talk
from memoranda import Book, ThreadHandle
from memoranda.engines.sqlite.engine import SqliteEngine

TASKS = 16
CHARACTERS = 500
#: Targets for the rows.
COMMITS_PER_APPEND = 0.15
CPU_MS_PER_APPEND = 0.4
#: An append on MongoDB takes at most so many times as long as one insert of the same text.
INSERTS = 4.0

_AGENT = "helper"


def append(place: Place) -> Iterator[Row]:
    """Measure sixteen tasks of one process, over many owners and over one; then sixteen
    processes.
    """
    sync = fsync_ms(place.folder)
    yield Row("fsync of the folder", sync, "ms")
    for name, owners in (("16 tasks, 16 owners", 16), ("16 tasks, one owner", 1)):
        yield from asyncio.run(_tasks(place, name, owners, sync))
    yield from _processes(place)
    server = server_at(place.engine)
    if isinstance(server, MongoServer):
        yield from asyncio.run(_beside_inserts(place, server))


async def _beside_inserts(place: Place, server: MongoServer) -> list[Row]:
    """Measure one task that appends, and in turn a plain insert that a majority has on disk."""
    talk, appends, inserts = Talk(place.seed), Timed(), Timed()
    path = str(place.book("append-alone"))
    async with memoranda.open(path, embed=None) as book, server.collection(path) as plain:
        thread = await book.thread("user", agent=_AGENT)
        await thread.append("user", talk.sentence())
        await plain.insert_one({})
        for _ in range(max(2, place.scale.samples // 4)):
            text = talk.characters(CHARACTERS)
            with appends.once():
                await thread.append("user", text)
            with inserts.once():
                await plain.insert_one({"content": text})
    one, other = appends.row("append: one task"), inserts.row("a plain insert, w majority, j true")
    return [one, other, Row("  append, a multiple of it", one.times(other), "x", target=INSERTS)]


async def _tasks(place: Place, name: str, owners: int, sync: float) -> list[Row]:
    talk = Talk(place.seed)
    each = max(1, place.scale.samples // TASKS)
    said = [[talk.characters(CHARACTERS) for _ in range(each)] for _ in range(TASKS)]
    timed = Timed()
    async with memoranda.open(place.book(f"append-{owners}"), embed=None) as book:
        threads = [
            await book.thread(f"user {number % owners}", agent=_AGENT) for number in range(TASKS)
        ]
        await asyncio.gather(*(thread.append("user", talk.sentence()) for thread in threads))
        before = _counters(book)
        with timed.all():
            await asyncio.gather(
                *(_say(thread, texts, timed) for thread, texts in zip(threads, said, strict=True))
            )
        after = _counters(book)
    appends = TASKS * each
    per_second = appends / timed.seconds
    rows = [
        timed.row(f"append: {name}"),
        Row(
            "  CPU of an append", timed.cpu_seconds * 1000 / appends, "ms", target=CPU_MS_PER_APPEND
        ),
        Row("  appends", per_second, "/s", note=f"one fsync took {sync:.2f} ms"),
    ]
    if before is not None and after is not None:
        commits = (after[0] - before[0]) / appends
        rows.insert(2, Row("  commits of an append", commits, "", target=COMMITS_PER_APPEND))
    return rows


async def _say(thread: ThreadHandle, texts: Sequence[str], timed: Timed) -> None:
    for text in texts:
        with timed.once():
            await thread.append("user", text)


def _counters(book: Book) -> tuple[int, int] | None:
    """Return commits and writes; None on a server."""
    if not isinstance(book.engine, SqliteEngine):
        return None
    counters = book.engine.file.counters
    return counters.commits, counters.writes


def _processes(place: Place) -> Iterator[Row]:
    """Measure processes with one task, one owner and a connection each: every append is a commit of
    its own.
    """
    forks = "fork" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    count = place.scale.processes
    each = max(2, place.scale.samples // count // 2)
    path = place.book("append-processes")
    barrier = context.Barrier(count)
    with context.Pool(count, _remember_barrier, (barrier,)) as pool:
        done = pool.starmap(
            _process, [(path, number, each, place.seed) for number in range(count)], chunksize=1
        )
    walls = [wall for samples, _, _, _ in done for wall in samples]
    cpu = sum(cpu for _, cpu, _, _ in done)
    seconds = max(end for _, _, _, end in done) - min(start for _, _, start, _ in done)
    p50, p95, p99 = (percentile(walls, share) for share in (0.5, 0.95, 0.99))
    yield Row(
        f"append: {count} processes, {count} owners", p50, "ms", p95, p99, cpu * 1000 / len(walls)
    )
    yield Row("  appends", len(walls) / seconds, "/s")


_barrier: Barrier | None = None


def _remember_barrier(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _process(
    path: Address, number: int, appends: int, seed: int
) -> tuple[list[float], float, float, float]:
    """Return the wall times of the appends, the CPU seconds, and the times of beginning and end."""

    async def work() -> tuple[list[float], float, float, float]:
        talk = Talk(seed + number)
        texts = [talk.characters(CHARACTERS) for _ in range(appends)]
        timed = Timed()
        async with memoranda.open(path, embed=None) as book:
            thread = await book.thread(f"user {number}", agent=_AGENT)
            assert _barrier is not None
            _barrier.wait()
            began = time.time()
            with timed.all():
                await _say(thread, texts, timed)
            return timed.walls, timed.cpu_seconds, began, time.time()

    return asyncio.run(work())


def batches(place: Place) -> Iterator[Row]:
    """Measure ten messages in a call."""
    yield asyncio.run(_batches(place))


async def _batches(place: Place) -> Row:
    talk = Talk(place.seed)
    timed = Timed()
    count = max(2, place.scale.samples // 10)
    drafts = [
        [{"role": "user", "content": talk.characters(CHARACTERS)} for _ in range(10)]
        for _ in range(count)
    ]
    async with memoranda.open(place.book("batches"), embed=None) as book:
        thread = await book.thread("ann", agent=_AGENT)
        with timed.all():
            for messages in drafts:
                with timed.once():
                    await thread.append(messages)
    note = f"{timed.cpu_seconds * 100 / count:.2f} ms of CPU a message"
    return timed.row("append ten messages in one call, one task", note=note)


def remember(place: Place) -> Iterator[Row]:
    """Measure statements one by one: new ones, and ones that supersede the last one under their
    key.
    """
    for name, fields in (
        ("a new statement", {}),
        ("a statement under an existing key", {"key": "drink"}),
    ):
        yield asyncio.run(_remember(place, name, fields))


async def _remember(place: Place, name: str, fields: dict[str, Any]) -> Row:
    talk = Talk(place.seed)
    timed = Timed()
    count = max(2, place.scale.samples // 4)
    texts = [talk.characters(150) for _ in range(count)]
    path = place.book(f"remember-{len(fields)}")
    async with memoranda.open(path, limits=ROOMY, embed=None) as book:
        await book.remember("ann", "likes tea", agent=_AGENT, **fields)
        with timed.all():
            for text in texts:
                with timed.once():
                    await book.remember("ann", text, agent=_AGENT, **fields)
    return timed.row(f"remember: {name}, one task")
