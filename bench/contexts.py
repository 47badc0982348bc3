"""Time of a context, as a multiple of the recall inside it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from unittest.mock import patch

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.filtering import make_mixed
from bench.shelves import AGENT, STAND_IN, questions
from bench.standin import StandIn

#: A context may take at most this many times as long as the recall of as many hits as it reads,
LONGER = 2.0
#: with so many threads that wait to be formed so many times,
WAITING, LONGER_WAITING = 10, 3.0
#: and its slowest in a hundred so many times as long as its median.
SLOWEST = 3.0
#: The hits that a context of the default budget reads.
_READ = 62


def context(place: Place) -> Iterator[Row]:
    """Measure recall and contexts in turn, with the same question and vector."""
    stand_in = StandIn(place.seed)
    path = place.book("mixed")
    # Usually threads are formed soon after they were said, and nothing waits.
    with patch.dict(os.environ, {"MEMORANDA_FORMING_ENABLED": "false"}):
        asyncio.run(make_mixed(path, place, stand_in))
    yield from asyncio.run(_contexts(path, place, stand_in))


async def _contexts(path: Address, place: Place, stand_in: StandIn) -> list[Row]:
    recall, using, looking, talking, waiting = Timed(), Timed(), Timed(), Timed(), Timed()
    async with memoranda.open(path, embed=stand_in, worker=False) as book:
        asked = await questions(book, "ann", stand_in, place)
        threads = [
            one.id
            for one in (
                await book.records.list("ann", types="thread", limit=100, agent=AGENT)
            ).records
        ]
        repetitions = range(min(place.scale.samples, 600))
        for number in repetitions:
            question = asked[number % len(asked)]
            given = {"vector": question.vector, "agent": AGENT}
            with recall.once():
                await book.recall("ann", question.text, limit=_READ, **given)
            with using.once():
                await book.context("ann", question.text, **given)
            with looking.once():
                await book.context("ann", question.text, mark_used=False, **given)
            with talking.once():
                await book.context(
                    "ann", question.text, thread=threads[number % len(threads)], **given
                )
        for id in threads[:WAITING]:
            thread = await book.thread("ann", id=id, agent=AGENT)
            await thread.append("user", "One more thing.")
        for number in repetitions:
            question = asked[number % len(asked)]
            with waiting.once():
                await book.context("ann", question.text, vector=question.vector, agent=AGENT)
    size = f"{place.scale.mixed:,} passages"
    rows = [
        recall.row(f"recall: warm, {_READ} hits, {size}, mixed", note=STAND_IN),
        using.row(f"context: {size}, its memories recorded as used", note=STAND_IN),
        looking.row(f"context: {size}, mark_used=False", note=STAND_IN),
        talking.row(f"context: {size}, with a thread's newest turns", note=STAND_IN),
        waiting.row(f"context: {size}, {WAITING} threads wait to be formed", note=STAND_IN),
    ]
    ratios = [
        Row(f"  {name}, a multiple of recall", row.times(rows[0]), "x", target=target)
        for name, row, target in zip(
            (
                "context",
                "context, mark_used=False",
                "context with a thread",
                "context while threads wait",
            ),
            rows[1:],
            (LONGER, LONGER, None, LONGER_WAITING),
            strict=True,
        )
    ]
    slowest = rows[1].p99
    assert slowest is not None and rows[1].value is not None
    p99 = Row("  context, p99 a multiple of p50", slowest / rows[1].value, "x", target=SLOWEST)
    return [*rows, *ratios, p99]
