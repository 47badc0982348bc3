"""Many processes on one book: they do each thing once, lose nothing and read nothing stale."""

from __future__ import annotations

import asyncio
import random
import tempfile
from multiprocessing.synchronize import Barrier
from pathlib import Path

import memoranda
from memoranda import Stale
from proofs._kill.writer import opened
from proofs._processes.filling import filled
from proofs._processes.opening import older_version, openings
from proofs._processes.reading import reads
from proofs._processes.together import AGENT, OWNER, Wrong, at_once, check_whole, made_thread

ABOUT = "processes that share a book apply an operation once, lose no update, read each other's writes at once, and keep to limits"
#: Processes that do the same at once.
CI_COUNT = 8
FULL_COUNT = 16
COVERS = "model storage door.py engines/sqlite recall language"

SAME_OPERATIONS = 500
MIXED_ROUNDS = 40


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="processes-") as room:
        folder = Path(room).resolve()
        done = [
            same_operations(folder / "same.db", count),
            mixed_writers(folder / "mixed.db", count, seed),
            openings(folder, seed),
            older_version(folder / "older.db"),
            reads(folder / "reads.db", seed),
            filled(
                folder / "filled.db", (folder / "control.db", folder / "pot.db"), count // 2, seed
            ),
        ]
    return "; ".join(done)


# ── the same operation, many times ────────────────────────────────────────────────────────────────


def same_operations(path: Path, count: int) -> str:
    """Let all processes send the same operation in each round; check that one record is made."""
    thread = asyncio.run(made_thread(path))
    told = at_once(_send_same, count, path, thread)
    for number, receipts in enumerate(zip(*told, strict=True)):
        if len({receipt[:2] for receipt in receipts}) != 1:
            raise Wrong(f"round {number} has several results: {receipts}")
        if sum(not repeated for *_, repeated in receipts) != 1:
            raise Wrong(f"in round {number} not exactly one process was the first: {receipts}")
    asyncio.run(_check_same(path))
    return (
        f"{count} processes x {SAME_OPERATIONS} identical operations left {SAME_OPERATIONS} records"
    )


async def _send_same(
    barrier: Barrier, number: int, path: Path, thread: str
) -> list[tuple[str, int, bool]]:
    told = []
    async with opened(path) as book:
        handle = await book.thread(OWNER, id=thread, agent=AGENT)
        for round_ in range(SAME_OPERATIONS):
            text, operation = f"said in round {round_}", f"operation {round_}"
            barrier.wait()
            if round_ % 2:
                receipt = await handle.append("user", text, operation=operation)
            else:
                receipt = await book.remember(OWNER, text, agent=AGENT, operation=operation)
            told.append((str(receipt.id), receipt.position, receipt.repeated))
    return told


async def _check_same(path: Path) -> None:
    async with memoranda.open(path) as book:
        for type_ in ("message", "memory"):
            there = await book.records.count(OWNER, types=type_, as_owner=True)
            if there != SAME_OPERATIONS // 2:
                raise Wrong(f"{there} {type_} records of {SAME_OPERATIONS // 2} operations")
        await check_whole(book)


# ── everything at once on one owner ───────────────────────────────────────────────────────────────


def mixed_writers(path: Path, count: int, seed: int) -> str:
    """Mix appends, statements under one key, and a counter that is read before it is written, all
    for one owner.
    """
    thread = asyncio.run(made_thread(path))
    written = sum(at_once(_write_mixed, count, path, thread, seed))
    asyncio.run(_check_mixed(path, thread, count, written))
    return f"{count} mixed writers, {written} operations on one owner, no update lost, no gap"


async def _write_mixed(barrier: Barrier, number: int, path: Path, thread: str, seed: int) -> int:
    rng = random.Random(seed + number)
    async with memoranda.open(path) as book:
        handle = await book.thread(OWNER, id=thread, agent=AGENT)

        async def append() -> int:
            for round_ in range(MIXED_ROUNDS):
                batch = [
                    {"role": "user", "content": f"{number} {round_} {n}"}
                    for n in range(rng.choice((1, 3)))
                ]
                await handle.append(batch)
            return MIXED_ROUNDS

        async def remember() -> int:
            for round_ in range(MIXED_ROUNDS):
                await book.remember(OWNER, f"{number} {round_}", key="drink", agent=AGENT)
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
    async with memoranda.open(path) as book:
        handle = await book.thread(OWNER, id=thread, agent=AGENT)
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
            held = await book.records.count(
                OWNER, types="memory", only={"statuses": status}, agent=AGENT
            )
            if held != expected:
                raise Wrong(f"{held} statements under one key are {status}, and not {expected}")
        positions: list[int] = []
        while page_ := await book.records.ledger(
            OWNER, as_owner=True, after=len(positions), limit=1000
        ):
            positions += [entry.position for entry in page_]
        # The first position is that of the thread itself.
        if positions != list(range(1, written + 2)):
            raise Wrong(
                f"{len(positions)} ledger positions of {written + 1} operations, or gaps between them"
            )
        await check_whole(book)
