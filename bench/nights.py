"""Time of a night over one person's memories: one that archives a hundred of them, and one with
nothing to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.shelves import ROOMY
from memoranda.book import Book

#: The most milliseconds of a night over the smaller number of memories.
LONGEST = 50.0
_START = datetime(2026, 1, 1, tzinfo=UTC)
_OWNERS, _BATCH, _OLD = 9, 500, 100


def nights(place: Place) -> Iterator[Row]:
    """Measure nights at twice and at ten times the memories of the smallest shelf."""
    for times, target in ((2, LONGEST), (10, None)):
        memories = times * place.scale.shelves[0]
        yield from asyncio.run(_nights(place.book(f"nights {memories}"), memories, target, place))


async def _nights(path: Address, memories: int, target: float | None, place: Place) -> list[Row]:
    now, busy, idle = _START, Timed(), Timed()
    old = min(_OLD, memories // 4)
    owners = [f"owner {number}" for number in range(min(place.scale.samples, _OWNERS))]
    async with memoranda.open(
        path, clock=lambda: now, embed=None, worker=False, limits=ROOMY
    ) as book:
        await book.agents.put("guide", settings={"dream": {"enabled": True}})
        for owner in owners:
            await _remember(book, owner, range(old))
        now = _START + timedelta(days=80)
        for owner in owners:
            for first in range(old, memories, _BATCH):
                await _remember(book, owner, range(first, min(first + _BATCH, memories)))
        now = _START + timedelta(days=100)
        for owner in owners:
            with busy.once():
                night = await book.dreams.run(owner, agent="guide")
            assert len(night.archived) == old
            with idle.once():
                again = await book.dreams.run(owner, agent="guide")
            assert again.receipt is None
    return [
        busy.row(f"night: {memories:,} memories, {old} archived", target=target),
        idle.row(f"night: {memories:,} memories, nothing to do", target=target),
    ]


async def _remember(book: Book, owner: str, numbers: range) -> None:
    statements = [{"content": f"Met colleague number {at} in town {at % 97}"} for at in numbers]
    await book.memories.remember_all(owner, statements, agent="guide")
