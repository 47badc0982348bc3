"""Time of a context, as a multiple of the recall inside it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.filtering import make_mixed
from bench.shelves import AGENT, STAND_IN, ask, questions
from bench.standin import StandIn

#: A context may take at most this many times as long as a recall.
LONGER = 2.0


def context(place: Place) -> Iterator[Row]:
    """Measure recall and contexts in turn, with the same question and vector."""
    stand_in = StandIn(place.seed)
    path = place.book("mixed")
    asyncio.run(make_mixed(path, place, stand_in))
    yield from asyncio.run(_contexts(path, place, stand_in))


async def _contexts(path: Address, place: Place, stand_in: StandIn) -> list[Row]:
    recall, using, looking, talking = Timed(), Timed(), Timed(), Timed()
    async with memoranda.open(path, embed=stand_in) as book:
        asked = await questions(book, "ann", stand_in, place)
        threads = await book.list("ann", types="thread", limit=100, agent=AGENT)
        for number in range(min(place.scale.samples, 600)):
            question = asked[number % len(asked)]
            thread = threads.records[number % len(threads.records)].id
            with recall.once():
                await ask(book, "ann", question)
            given = {"vector": question.vector, "agent": AGENT}
            with using.once():
                await book.context("ann", question.text, **given)
            with looking.once():
                await book.context("ann", question.text, mark_used=False, **given)
            with talking.once():
                await book.context("ann", question.text, thread=thread, **given)
    size = f"{place.scale.mixed:,} passages"
    rows = [
        recall.row(f"recall: warm, {size}, mixed", note=STAND_IN),
        using.row(f"context: {size}, its memories recorded as used", note=STAND_IN),
        looking.row(f"context: {size}, mark_used=False", note=STAND_IN),
        talking.row(f"context: {size}, with a thread's newest turns", note=STAND_IN),
    ]
    ratios = [
        Row(f"  {name}, a multiple of recall", row.times(rows[0]), "x", target=target)
        for name, row, target in zip(
            ("context", "context, mark_used=False", "context with a thread"),
            rows[1:],
            (LONGER, LONGER, None),
            strict=True,
        )
    ]
    return [*rows, *ratios]
