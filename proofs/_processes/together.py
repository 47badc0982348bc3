"""Starts the same work in several processes at the same moment, and collects their results."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import memoranda

OWNER = "ann"
AGENT = "helper"

fork = multiprocessing.get_context("fork")

#: A process that did not come to the start by then never will.
_BARRIER_SECONDS = 60.0


class Wrong(Exception):
    """Processes disturbed each other."""


Work = Callable[..., Any]


def at_once(work: Work, count: int, *arguments: Any) -> list[Any]:
    """Start several processes at the same moment, and return the result of each."""
    barrier = fork.Barrier(count, timeout=_BARRIER_SECONDS)
    pipes = [fork.Pipe(duplex=False) for _ in range(count)]
    running = [
        fork.Process(target=_answer, args=(theirs, work, barrier, number, *arguments), daemon=True)
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


async def made_thread(path: Path) -> str:
    """Make a new book with one thread."""
    async with memoranda.open(path) as book:
        return str((await book.thread(OWNER, agent=AGENT)).id)


async def check_whole(book: memoranda.Book) -> None:
    """Check that the book agrees with its ledger."""
    if faults := (await book.engine.verify()).faults:
        raise Wrong(f"the ledger says: {faults[0]}")
