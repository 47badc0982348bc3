"""Time of the same recall in a book of few owners and of many."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
from collections.abc import Iterator

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.shelves import AGENT, HITS, STAND_IN, Question, ask, fill, lend_vectors
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book

#: Target for the median of a warm recall of an owner with 100 passages, in milliseconds.
TARGET = 1.0
#: Recall may become at most this many times slower with many times as many owners.
GROWTH = 1.3

_SENTENCES = 2


def owners(place: Place) -> Iterator[Row]:
    """Measure recall by words and meaning among some owners."""
    yield from _grown(place, place.scale.owners, StandIn(place.seed))


def crowd(place: Place) -> Iterator[Row]:
    """Measure recall by words only among very many owners."""
    yield from _grown(place, place.scale.crowd, None)


def _grown(place: Place, counts: tuple[int, int], stand_in: StandIn | None) -> Iterator[Row]:
    few, many = counts
    path = place.book("owners")
    rows = []
    # As many processes as there are cores fill the book.
    cores = min(os.cpu_count() or 1, 8)
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        for begin, end in ((0, few), (few, many)):
            work = [(path, begin + part, end, cores, place) for part in range(cores)]
            pool.starmap(_add_some, work, chunksize=1)
            if stand_in is not None:
                asyncio.run(_lend(path, stand_in))
            warm, cold = asyncio.run(anybody(path, end, place, stand_in))
            rows.append((warm, cold))
            yield warm
            yield cold
    (warm_few, cold_few), (warm_many, cold_many) = rows
    yield Row(
        f"growth from {few:,} to {many:,} owners, warm",
        warm_many.times(warm_few),
        "x",
        target=GROWTH,
    )
    yield Row("growth, owners not read before", cold_many.times(cold_few), "x")


def _add_some(path: Address, begin: int, end: int, step: int, place: Place) -> None:
    async def add() -> None:
        async with memoranda.open(path, embed=None) as book:
            talk = Talk(place.seed + begin)
            for first in range(begin, end, step * 4):
                wave = range(first, min(first + step * 4, end), step)
                await asyncio.gather(
                    *(
                        fill(book, f"user {number}", place.scale.passages, talk, _SENTENCES)
                        for number in wave
                    )
                )

    asyncio.run(add())


async def _lend(path: Address, stand_in: StandIn) -> None:
    async with memoranda.open(path, embed=None) as book:
        await lend_vectors(book, stand_in)


async def anybody(
    path: Address, count: int, place: Place, stand_in: StandIn | None
) -> tuple[Row, Row]:
    """Measure the first recall of each of some owners, then more recalls of the same owners in
    random order.
    """
    rng = random.Random(place.seed)
    talk = Talk(place.seed + 3)
    chosen = [
        f"user {number}" for number in rng.sample(range(count), min(count, place.scale.samples))
    ]
    warm, cold = Timed(), Timed()
    async with memoranda.open(path, embed=stand_in) as book:
        # Imports, compiled statements and word tables are shared by all owners: load them first.
        for _ in range(20):
            await ask(book, "nobody", await _asked(talk.question(talk.passage()), stand_in))
        with cold.all():
            for owner in chosen:
                question = await _asked(talk.question(talk.passage()), stand_in)
                with cold.once():
                    await ask(book, owner, question)
        questions = {owner: await _question_of(book, owner, talk, stand_in) for owner in chosen}
        with warm.all():
            for owner in rng.choices(chosen, k=place.scale.samples):
                with warm.once():
                    await ask(book, owner, questions[owner])
    name = f"{count:,} owners of {place.scale.passages} passages"
    note = "words alone" if stand_in is None else STAND_IN
    is_promised = stand_in is not None and count >= 1000
    return (
        warm.row(f"recall: warm, {name}", target=TARGET if is_promised else None, note=note),
        cold.row(f"recall: not read before, {name}", note=note),
    )


async def _asked(text: str, stand_in: StandIn | None) -> Question:
    return Question(text, None if stand_in is None else await stand_in.query(text))


async def _question_of(book: Book, owner: str, talk: Talk, stand_in: StandIn | None) -> Question:
    """Return a question with enough hits among this owner's passages; after some tries, any
    question.
    """
    page = await book.records.list(owner, types="message", limit=10, agent=AGENT)
    text = ""
    for record in page.records:
        text = talk.question(record.passage_text() or "")
        if len(await book.recall(owner, text, limit=HITS, agent=AGENT, mode="words")) == HITS:
            break
    return await _asked(text, stand_in)
