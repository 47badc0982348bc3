"""Many processes on one server: repeated operations and workers with wrong clocks do each thing
once.
"""

from __future__ import annotations

import asyncio
from multiprocessing.synchronize import Barrier

import memoranda
from proofs._processes.filling import filled
from proofs._processes.together import AGENT, OWNER, Wrong, at_once, check_whole
from proofs._server.labouring import SKEW_SECONDS, MakesBooks, is_taken, worked_off
from proofs._server.own import OwnServer

ABOUT = "on a server, the same operation from many processes leaves one record; workers with wrong clocks do each job once; no agent exceeds its limit"
#: Jobs; a quarter as many operations are sent by every process.
CI_COUNT = 600
FULL_COUNT = 2_000
COVERS = "model storage door.py engines/postgres worker.py"

_PROCESSES = 8
_WORKERS = 4


def run(count: int, seed: int) -> str:
    # What is proven here outlives no power cut: the server need not wait for the disk.
    with OwnServer(fsync="off") as server:
        return many(server, count, seed)


def many(server: MakesBooks, count: int, seed: int) -> str:
    """Let processes send the same operations, do jobs and fill memories on a server."""
    same = _same_operations(server, count // 4)
    worked = worked_off(server, _WORKERS, count)
    if worked.begun_twice or worked.done_twice:
        raise Wrong(
            f"of {count} jobs {worked.begun_twice} were begun twice, and {worked.done_twice} done twice"
        )
    _control(server)
    full = filled(server.new_book(), (server.new_book(), server.new_book()), _WORKERS, seed)
    return (
        f"{same}; {_WORKERS} workers with clocks {SKEW_SECONDS:.0f} s apart did {count} jobs, each once, "
        f"and by their own clocks would take each other's; {full}"
    )


def _control(server: MakesBooks) -> None:
    """Check that a worker takes another's job where each trusts its own clock, and only there."""
    if not is_taken(server, trusting=True) or is_taken(server, trusting=False):
        raise Wrong(
            "a job is taken from another worker whatever the clocks are trusted to say, or never"
        )


# ── the same operation, many times ────────────────────────────────────────────────────────────────


def _same_operations(server: MakesBooks, count: int) -> str:
    """Let all processes send the same operation in each round; check that one record is made."""
    address = server.new_book()
    thread = asyncio.run(_made_thread(address))
    told = at_once(_send_same, _PROCESSES, address, thread, count)
    for number, receipts in enumerate(zip(*told, strict=True)):
        if len({receipt[:2] for receipt in receipts}) != 1:
            raise Wrong(f"round {number} has several results: {receipts}")
        if sum(not repeated for *_, repeated in receipts) != 1:
            raise Wrong(f"in round {number} not exactly one process was the first: {receipts}")
    asyncio.run(_check_same(address, count))
    return f"{_PROCESSES} processes x {count} identical operations left {count} records"


async def _made_thread(address: str) -> str:
    async with memoranda.open(address) as book:
        return str((await book.thread(OWNER, agent=AGENT)).id)


async def _send_same(
    barrier: Barrier, number: int, address: str, thread: str, count: int
) -> list[tuple[str, int, bool]]:
    told = []
    async with memoranda.open(address, worker=False) as book:
        handle = await book.thread(OWNER, id=thread, agent=AGENT)
        for round_ in range(count):
            text, operation = f"said in round {round_}", f"operation {round_}"
            barrier.wait()
            if round_ % 2:
                receipt = await handle.append("user", text, operation=operation)
            else:
                receipt = await book.remember(OWNER, text, agent=AGENT, operation=operation)
            told.append((str(receipt.id), receipt.position, receipt.repeated))
    return told


async def _check_same(address: str, count: int) -> None:
    async with memoranda.open(address) as book:
        there = [
            await book.records.count(OWNER, types=type_, as_owner=True)
            for type_ in ("memory", "message")
        ]
        if there != [count - count // 2, count // 2]:
            raise Wrong(f"{there} memories and messages of {count} operations")
        await check_whole(book)
