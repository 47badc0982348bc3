"""Measures forgetting: a dry run beside 10,000 memories of one person and in a book of talks, files
entered by one call, and its time beside neighbours.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, Final

import memoranda
from evals.corpora import load
from evals.retrieval import SET_NAMES, SETS
from memoranda import Book

_TOWNS: Final = "Lisbon Porto Oslo Bergen Lyon Nantes Bonn Kiel Leeds York".split()
#: So many turns are appended at once; one of so many of these lengths is also remembered.
_BATCH, _EACH, _SHORT = 50, 7, (20, 90)
_PACKAGE: Final = str(Path(memoranda.__file__).parent)


async def fill(book: Book, owner: str, memories: int) -> str:
    """Store memories and one more, whose id is returned, with the message that it comes from."""
    thread = await book.thread(owner, agent="guide", audience="global")
    (said,) = (await thread.append("user", "I am a nurse and I earn 65,000 euros a year.")).ids(
        "message"
    )
    await thread.append("assistant", "With 65k a year that is possible. The rate is fixed.")
    for at in range(memories):
        text = f"Visited {_TOWNS[at % 10]} for the {at}th time and met colleague number {at}"
        await book.remember(owner, text, agent=f"guide {at % 5}", audience="global")
    receipt = await book.remember(
        owner,
        "Earns 65,000 euros a year",
        key="salary",
        sources=[said],
        agent="guide",
        audience="global",
    )
    return str(receipt.id)


async def dry_run(address: str, memories: int, times: int) -> list[float]:
    """Return the milliseconds of dry runs of forgetting one of many memories."""
    took = []
    async with memoranda.open(address, embed=None, worker=False) as book:
        id = await fill(book, "ana", memories)
        for _ in range(times):
            start = time.perf_counter()
            await book.forget("ana", id, dry_run=True, as_owner=True)
            took.append(1000 * (time.perf_counter() - start))
    return took


async def dry_runs_in_talks(address: str, times: int) -> tuple[int, list[float]]:
    """Return the records of a book that holds our own chats and notes, and the milliseconds of dry
    runs, each of another statement.
    """
    turns = [
        turn
        for name in SET_NAMES
        for conversation in load(SETS / f"{name}.json").conversations
        for turn in conversation.turns
    ]
    said = [turn.text for turn in turns if turn.role == "user"]
    short = [text for text in said if _SHORT[0] < len(text) < _SHORT[1]][::_EACH]
    took = []
    async with memoranda.open(address, embed=None, worker=False) as book:
        thread = await book.thread("ana", agent="guide")
        for at in range(0, len(turns), _BATCH):
            await thread.append(
                [{"role": turn.role, "content": turn.text} for turn in turns[at : at + _BATCH]]
            )
        ids = [(await book.remember("ana", text, agent="guide")).id for text in short]
        for id in ids[: times + 1]:
            start = time.perf_counter()
            await book.forget("ana", id, dry_run=True, as_owner=True)
            took.append(1000 * (time.perf_counter() - start))
        # The first one loads what the others need.
        return len(turns) + len(ids), took[1:]


async def files_entered(address: str) -> list[str]:
    """Return the files of the package that one forget enters, in the order of their first calls."""
    found: dict[str, None] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(_PACKAGE):
            found[str(Path(name).relative_to(_PACKAGE))] = None

    async with memoranda.open(address, embed=None, worker=False) as book:
        id = await fill(book, "ana", 5)
        sys.setprofile(trace)
        try:
            await book.forget("ana", id, as_owner=True)
        finally:
            sys.setprofile(None)
    return list(found)


async def beside_neighbours(
    address: str, neighbours: int, calls: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each remember and each forget of one owner while others remember
    all the time.
    """
    done = asyncio.Event()
    remembered, forgot = [], []

    async def go_on(book: Book, owner: str) -> None:
        at = 0
        while not done.is_set():
            at += 1
            await book.remember(owner, f"Fact {at} of {owner}")

    async with memoranda.open(address, embed=None, worker=False) as book:
        others = [asyncio.create_task(go_on(book, f"neighbour {at}")) for at in range(neighbours)]
        for at in range(calls):
            start = time.perf_counter()
            receipt = await book.remember("ana", f"Lives in house number {at} of {_TOWNS[at % 10]}")
            remembered.append(1000 * (time.perf_counter() - start))
            start = time.perf_counter()
            await book.forget("ana", receipt.id, as_owner=True)
            forgot.append(1000 * (time.perf_counter() - start))
        done.set()
        await asyncio.gather(*others)
    return remembered, forgot


def high(values: list[float]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[min(int(len(values) * 0.99), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        took = asyncio.run(dry_run(f"{folder}/dry.db", given.memories, 7))
        print(
            f"dry run beside {given.memories} memories: first {took[0]:.0f} ms, then {median(took[1:]):.0f} ms"
        )
        records, took = asyncio.run(dry_runs_in_talks(f"{folder}/talks.db", given.calls // 4 or 1))
        print(
            f"dry run in a book of talks: p50 {median(took):.0f} ms, p90 {sorted(took)[len(took) * 9 // 10]:.0f} ms "
            f"among {records} records, of {len(took)} statements"
        )
        files = asyncio.run(files_entered(f"{folder}/files.db"))
        recall = [name for name in files if name.startswith("recall/")]
        print(f"files entered by one forget: {len(files)}, of recall {len(recall)}")
        kept, gone = asyncio.run(beside_neighbours(f"{folder}/beside.db", 5, given.calls))
        print(
            f"beside five neighbours: remember p50 {median(kept):.1f} ms, p99 {high(kept):.1f} ms; "
            f"forget p50 {median(gone):.1f} ms, p99 {high(gone):.1f} ms; ratio of p99 {high(gone) / high(kept):.1f}"
        )


if __name__ == "__main__":
    main()
