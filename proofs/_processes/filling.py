"""Processes that fill one owner's memory at once: no agent exceeds its limit, and none keeps
another out.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Generator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import memoranda
from memoranda import Book, LimitReached, Limits
from memoranda.book.admin.pending_threads import is_formed
from memoranda.model.changes import NO_ROOM
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.records import those_of
from memoranda.storage.decide import batch
from proofs._processes.together import OWNER, Wrong, at_once, check_whole

#: Active memories that an agent may have, and how often each process writes.
CAP = 12
ROUNDS = 20
_LIMITS = Limits(memories_per_agent=CAP)
#: All processes write as these; the last one comes when the others are full. None: no agent.
_AGENTS = ("coach", "tutor", None)
_LATE = "late"
#: One pot for all agents, which they fill.
_POT = Limits(memories_per_agent=CAP, memories_per_owner=len(_AGENTS) * CAP)


def filled(
    address: Path | str, controls: tuple[Path | str, Path | str], count: int, seed: int
) -> str:
    """Fill an owner's memory from several processes; two controls, each in a book of its own, must
    be noticed.
    """
    refused, archived = _fill(address, count, seed, _LIMITS)
    with patch.object(batch, "make_room", _nothing):
        _must_fail("at most", controls[0], count, seed, _LIMITS)
    _must_fail("kept out", controls[1], count, seed, _POT)
    return (
        f"{count} processes filled {len(_AGENTS)} agents' memories, {refused} writes refused, {archived} archived, "
        "no other agent kept out"
    )


def _nothing(*_: Any) -> Generator[Any, Any, None]:
    """Make no room, and refuse nothing."""
    return
    yield


def _must_fail(how: str, address: Path | str, count: int, seed: int, limits: Limits) -> None:
    try:
        _fill(address, count, seed, limits)
    except Wrong as wrong:
        if how not in str(wrong):
            raise
    else:
        raise Wrong(f"a control was not noticed: {how}")


def _fill(address: Path | str, count: int, seed: int, limits: Limits) -> tuple[int, int]:
    pinned = asyncio.run(_begun(address, limits))
    refused = sum(at_once(_write, count, address, seed, limits))
    return refused, asyncio.run(_check(address, limits, pinned))


async def _begun(address: Path | str, limits: Limits) -> set[UUID]:
    """Pin one memory of each agent, which must stay."""
    async with memoranda.open(address, limits=limits, models=None, worker=False) as book:
        made = [
            await book.remember(OWNER, "Is allergic to nuts", agent=agent, pinned=True)
            for agent in _AGENTS
        ]
        return {receipt.id for receipt in made}


async def _write(
    barrier: Barrier, number: int, address: Path | str, seed: int, limits: Limits
) -> int:
    rng = random.Random(seed + number)
    refused = 0
    async with memoranda.open(address, limits=limits, models=None, worker=True) as book:
        threads = [await book.thread(OWNER, agent=agent) for agent in _AGENTS]
        barrier.wait()
        for round_ in range(ROUNDS):
            place = rng.randrange(len(_AGENTS))
            try:
                await book.remember(OWNER, f"Fact {number} {round_}", agent=_AGENTS[place])
            except LimitReached:
                refused += 1
            await threads[place].append("user", f"I like food{number}x{round_}.")
            if round_ % 4 == 3:
                await threads[place].form()
                await book.jobs.run()
            await _within(book, rng.choice(_AGENTS))
    return refused


async def _within(book: Book, agent: str | None) -> None:
    """Check that an agent has no more active memories than it may."""
    own = sum(memory.agent == agent for memory in await _active(book))
    if own > CAP:
        raise Wrong(f"{own} memories of {agent}, and at most {CAP} are allowed")


async def _check(address: Path | str, limits: Limits, pinned: set[UUID]) -> int:
    """Check the limits, that another agent has room, and that no thread was passed over; return the
    archived.
    """
    async with memoranda.open(address, limits=limits, models=None, worker=False) as book:
        await book.form(OWNER, as_owner=True)
        await book.jobs.run()
        for agent in _AGENTS:
            await _within(book, agent)
        for number in range(CAP):
            try:
                await book.remember(OWNER, f"Late fact {number}", agent=_LATE)
            except LimitReached as error:
                raise Wrong(f"{_LATE} is kept out after {number} memories: {error}") from error
        if not pinned <= {record.id for record in await _active(book)}:
            raise Wrong("a pinned memory was archived")
        waiting = {
            UUID(job.key): job.error
            for job in await book.engine.jobs(None, 1000)
            if job.kind == "form"
        }
        for thread in await book.records.list(OWNER, types="thread", limit=1000, as_owner=True):
            unformed = isinstance(thread, Thread) and not await is_formed(book.engine, thread)
            if unformed and not waiting.get(thread.id, "").startswith(NO_ROOM):
                raise Wrong(f"thread {thread.id} was passed over: {waiting.get(thread.id)}")
        await check_whole(book)
        return await book.records.count(
            OWNER, types="memory", only={"statuses": ["archived"]}, as_owner=True
        )


async def _active(book: Book) -> list[Memory]:
    found = await book.records.list(
        OWNER, types="memory", only={"statuses": ["active"]}, limit=1000, as_owner=True
    )
    return those_of(Memory, found.records)
