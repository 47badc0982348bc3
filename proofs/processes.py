"""The processes proof: however many of them share a book, they do each thing once, lose nothing and read nothing stale."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import commonplace
from commonplace import CommonplaceError, Stale, VersionMismatch
from commonplace.engines.sqlite.engine import APPLICATION_ID, book_migrations
from commonplace.engines.sqlite.migrations import Migration, Migrations
from proofs._kill.writer import opened

ABOUT = "processes that share a book do the same once, lose no update, and read each other's writes at once"
#: Processes that do the same at once.
CI_COUNT = 8
FULL_COUNT = 16

SAME_OPERATIONS = 500
MIXED_ROUNDS = 40
OPENINGS = 30
RECALLS = 1000
READERS = 4

#: A process that did not come to the start by then never will.
_BARRIER_SECONDS = 60.0
_OWNER = "ann"
_AGENT = "helper"
_fork = multiprocessing.get_context("fork")


class Wrong(Exception):
    """Processes got into each other's way."""


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="processes-") as room:
        folder = Path(room).resolve()
        done = [
            same_operations(folder / "same.db", count),
            mixed_writers(folder / "mixed.db", count, seed),
            openings(folder, seed),
            older_version(folder / "older.db"),
            reads(folder / "reads.db", seed),
        ]
    return "; ".join(done)


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────────────


Work = Callable[..., Any]


def at_once(work: Work, count: int, *arguments: Any) -> list[Any]:
    """What each of several processes returns that begin at the same moment."""
    barrier = _fork.Barrier(count, timeout=_BARRIER_SECONDS)
    pipes = [_fork.Pipe(duplex=False) for _ in range(count)]
    running = [
        _fork.Process(target=_answer, args=(theirs, work, barrier, number, *arguments), daemon=True)
        for number, (_, theirs) in enumerate(pipes)
    ]
    for process in running:
        process.start()
    for _, theirs in pipes:
        theirs.close()
    answers = [_received(ours) for ours, _ in pipes]
    for process in running:
        process.join()
    if broken := [answer for answer in answers if isinstance(answer, BaseException)]:
        raise Wrong(f"{work.__name__}: {type(broken[0]).__name__}: {broken[0]}") from broken[0]
    return answers


def _received(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        return Wrong("a process ended without a word")


def _answer(connection: Connection, work: Work, *arguments: Any) -> None:
    try:
        connection.send(asyncio.run(work(*arguments)))
    except Exception as error:  # noqa: BLE001 - it is told in the process that waits for it
        connection.send(error)


# ── the same operation, many times ───────────────────────────────────────────────────────────────────────────────


def same_operations(path: Path, count: int) -> str:
    """Each round all processes send the same operation; one record is made."""
    thread = asyncio.run(_made_thread(path))
    told = at_once(_send_same, count, path, thread)
    for number, receipts in enumerate(zip(*told, strict=True)):
        if len({receipt[:2] for receipt in receipts}) != 1:
            raise Wrong(f"round {number} has several results: {receipts}")
        if sum(not repeated for *_, repeated in receipts) != 1:
            raise Wrong(f"in round {number} not exactly one process was the first: {receipts}")
    asyncio.run(_check_same(path))
    return f"{count} processes x {SAME_OPERATIONS} identical operations left {SAME_OPERATIONS} records"


async def _made_thread(path: Path) -> str:
    async with commonplace.open(path) as book:
        return str((await book.thread(_OWNER, agent=_AGENT)).id)


async def _send_same(barrier: Barrier, number: int, path: Path, thread: str) -> list[tuple[str, int, bool]]:
    told = []
    async with opened(path) as book:
        handle = await book.thread(_OWNER, id=thread, agent=_AGENT)
        for round_ in range(SAME_OPERATIONS):
            text, operation = f"said in round {round_}", f"operation {round_}"
            barrier.wait()
            if round_ % 2:
                receipt = await handle.append("user", text, operation=operation)
            else:
                receipt = await book.remember(_OWNER, text, agent=_AGENT, operation=operation)
            told.append((str(receipt.id), receipt.position, receipt.repeated))
    return told


async def _check_same(path: Path) -> None:
    async with commonplace.open(path) as book:
        for type_ in ("message", "memory"):
            there = await book.count(_OWNER, types=type_, view="owner")
            if there != SAME_OPERATIONS // 2:
                raise Wrong(f"{there} {type_} records of {SAME_OPERATIONS // 2} operations")
        await _check_whole(book)


async def _check_whole(book: commonplace.Book) -> None:
    if faults := (await book.engine.verify()).faults:
        raise Wrong(f"the ledger says: {faults[0]}")


# ── everything at once on one owner ──────────────────────────────────────────────────────────────────────────────


def mixed_writers(path: Path, count: int, seed: int) -> str:
    """Appends, statements under one key and a counter that is read before it is written, all to one owner."""
    thread = asyncio.run(_made_thread(path))
    written = sum(at_once(_write_mixed, count, path, thread, seed))
    asyncio.run(_check_mixed(path, thread, count, written))
    return f"{count} mixed writers, {written} operations on one owner, no update lost, no gap"


async def _write_mixed(barrier: Barrier, number: int, path: Path, thread: str, seed: int) -> int:
    rng = random.Random(seed + number)
    async with commonplace.open(path) as book:
        handle = await book.thread(_OWNER, id=thread, agent=_AGENT)

        async def append() -> int:
            for round_ in range(MIXED_ROUNDS):
                batch = [
                    {"role": "user", "content": f"{number} {round_} {n}"} for n in range(rng.choice((1, 3)))
                ]
                await handle.append(batch)
            return MIXED_ROUNDS

        async def remember() -> int:
            for round_ in range(MIXED_ROUNDS):
                await book.remember(_OWNER, f"{number} {round_}", key="drink", agent=_AGENT)
            return MIXED_ROUNDS

        async def count_up() -> int:
            for _ in range(MIXED_ROUNDS // 4):
                while True:
                    standing = await handle.get()
                    following = {"count": standing.state.get("count", 0) + 1}
                    try:
                        await handle.set(state=following, expect=standing.version)
                        break
                    except Stale:
                        await asyncio.sleep(rng.random() * 0.01)
            return MIXED_ROUNDS // 4

        barrier.wait()
        return sum(await asyncio.gather(append(), append(), remember(), count_up()))


async def _check_mixed(path: Path, thread: str, count: int, written: int) -> None:
    async with commonplace.open(path) as book:
        handle = await book.thread(_OWNER, id=thread, agent=_AGENT)
        counted = (await handle.get()).state["count"]
        if counted != count * (MIXED_ROUNDS // 4):
            raise Wrong(f"counted up to {counted}, and {count * (MIXED_ROUNDS // 4)} times")
        places, cursor = [], None
        while True:
            page = await handle.messages(limit=1000, cursor=cursor)
            places += [getattr(message, "seq", 0) for message in page.records]
            if (cursor := page.cursor) is None:
                break
        if sorted(places) != list(range(1, len(places) + 1)):
            raise Wrong(f"{len(places)} messages do not have the places from 1 to {len(places)}")
        for status, expected in (("active", 1), ("superseded", count * MIXED_ROUNDS - 1)):
            held = await book.count(_OWNER, types="memory", only={"statuses": status}, agent=_AGENT)
            if held != expected:
                raise Wrong(f"{held} statements under one key are {status}, and not {expected}")
        positions: list[int] = []
        while page_ := await book.ledger(_OWNER, view="owner", after=len(positions), limit=1000):
            positions += [entry.position for entry in page_]
        # The first position is that of the thread itself.
        if positions != list(range(1, written + 2)):
            raise Wrong(
                f"{len(positions)} ledger positions of {written + 1} operations, or gaps between them"
            )
        await _check_whole(book)


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────


def newer() -> Migrations:
    """A schema of the future."""
    steps = book_migrations().after(0)
    following = Migration(
        len(steps) + 1, "marks", "CREATE TABLE trial (a INTEGER) STRICT; INSERT INTO trial VALUES (1);"
    )
    return Migrations([*steps, following], application_id=APPLICATION_ID)


def openings(folder: Path, seed: int) -> str:
    """Several processes make, or bring forward, the same file at the same moment."""
    rng = random.Random(seed)
    for number in range(OPENINGS):
        count = rng.choice((2, 2, 3))
        path = folder / f"fresh{number}.db"
        at_once(_open_and_write, count, path, False)
        asyncio.run(_check_openings(path, count))
        at_once(_open_and_write, count, path, True)
        kept = len(list(folder.glob(f"fresh{number}.db.v*.backup")))
        with closing(sqlite3.connect(path)) as connection:
            trials = connection.execute("SELECT count(*) FROM trial").fetchone()[0]
        if (kept, trials) != (1, 1):
            raise Wrong(f"{count} processes brought a book forward {trials} times and kept {kept} copies")
    return f"{OPENINGS} files made, then brought forward, by two or three processes at once"


async def _open_and_write(barrier: Barrier, number: int, path: Path, forward: bool) -> None:
    options: dict[str, Any] = {"migrations": newer()} if forward else {}
    barrier.wait()
    async with opened(path, **options) as book:
        await book.remember(_OWNER, f"from {number}, {forward}", agent=_AGENT)


async def _check_openings(path: Path, count: int) -> None:
    async with commonplace.open(path, create=False) as book:
        if (held := await book.count(_OWNER, types="memory", view="owner")) != count:
            raise Wrong(f"{held} statements of {count} processes that made the same book")
        await _check_whole(book)


def older_version(path: Path) -> str:
    """A process that had the book open when another one brought it forward is refused."""
    asyncio.run(_made_thread(path))
    codes = at_once(_old_and_new, 2, path)
    if codes[0] != ["version", "version", "version"] or codes[1] != []:
        raise Wrong(f"a process of an older version was told {codes[0]}")
    return "a process of an older version is refused at its next write"


async def _old_and_new(barrier: Barrier, number: int, path: Path) -> list[str]:
    """The first has the book open while the second brings it forward."""
    told: list[str] = []
    if number == 1:
        barrier.wait()
        async with opened(path, migrations=newer()) as book:
            await book.remember(_OWNER, "in the new format", agent=_AGENT)
        barrier.wait()
        return told
    async with opened(path) as book:
        await book.remember(_OWNER, "in the old format", agent=_AGENT)
        barrier.wait()
        barrier.wait()
        attempts = (
            book.remember(_OWNER, "in the old format still", agent=_AGENT),
            book.remember(_OWNER, "and again", agent=_AGENT),
            book.recall(_OWNER, "format", agent=_AGENT),
        )
        for attempt in attempts:
            try:
                await attempt
            except VersionMismatch as refusal:
                told.append(refusal.code)
    return told


# ── reading each other's writes ──────────────────────────────────────────────────────────────────────────────────


def reads(path: Path, seed: int) -> str:
    """One process writes, another one reads, at once."""
    rng = random.Random(seed)
    asyncio.run(_made_thread(path))
    waits: list[float] = []
    with _readers(path) as readers:
        for step in range(RECALLS):
            word = f"zq{step:05}qz"
            writer = rng.randrange(READERS)
            others = [number for number in range(READERS) if number != writer]
            id = _ask(readers[writer], ("write", word, rng.random() < 0.5))
            for reader in others if step % 10 == 0 else [rng.choice(others)]:
                began = time.perf_counter()
                found = _ask(readers[reader], ("recall", word, False))
                waits.append(time.perf_counter() - began)
                if found != [id]:
                    raise Wrong(
                        f"step {step}: process {writer} wrote {id}, and process {reader} found {found}"
                    )
    return f"{RECALLS} writes of {READERS} processes, {len(waits)} recalls by others, none stale"


@contextmanager
def _readers(path: Path) -> Iterator[list[Connection]]:
    pipes = [_fork.Pipe() for _ in range(READERS)]
    running = [
        _fork.Process(target=_serve, args=(theirs, path, number), daemon=True)
        for number, (_, theirs) in enumerate(pipes)
    ]
    for process in running:
        process.start()
    try:
        yield [ours for ours, _ in pipes]
        for ours, _ in pipes:
            ours.send(("end", "", False))
        for process in running:
            process.join(30)
    finally:
        for process in running:
            process.kill()
            process.join()


def _ask(connection: Connection, question: tuple[str, str, bool]) -> Any:
    connection.send(question)
    answer = connection.recv()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _serve(connection: Connection, path: Path, number: int) -> None:
    async def serve() -> None:
        async with commonplace.open(path) as book:
            thread = await book.thread(_OWNER, name=f"of {number}", agent=_AGENT)
            while (asked := connection.recv())[0] != "end":
                verb, word, remembers = asked
                try:
                    if verb == "recall":
                        hits = await book.recall(_OWNER, f"what about {word}", agent=_AGENT)
                        connection.send([str(hit.id) for hit in hits])
                    elif remembers:
                        receipt = await book.remember(_OWNER, f"likes {word} a lot", agent=_AGENT)
                        connection.send(str(receipt.id))
                    else:
                        receipt = await thread.append("user", f"they spoke of {word} and tea")
                        connection.send(str(receipt.id))
                except CommonplaceError as error:
                    connection.send(error)

    asyncio.run(serve())
