"""Speed and exactness of recall by words and meaning, and the memory of its index."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.machine import resident_bytes
from bench.shelves import AGENT, STAND_IN, Question, ask, fill, lend_vectors, questions
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book
from memoranda.recall.recall import Recall
from memoranda.recall.scoring import search

#: Passages in a shelf → target for the median of a warm recall, in milliseconds.
TARGETS = {10_000: 2.0, 100_000: 15.0}
#: The same by words only.
WORDS_TARGETS = {1000: 0.6, 10_000: 1.5, 100_000: 8.0}
#: The same for the first recall of a book that was just opened.
COLD_TARGETS = {100_000: 2000.0}
#: Target share of questions answered by exactly the ten best, in per cent.
EXACT = 99.5

#: Questions asked again with every passage scored, in small shelves and in large ones.
_CHECKED, _CHECKED_IN_LARGE = 400, 100
_LARGE = 50_000
_WHOLE = 10**9


def recall(place: Place) -> Iterator[Row]:
    """Measure one shelf of growing size, cold and warm."""
    stand_in = StandIn(place.seed)
    for size in place.scale.shelves:
        path = place.book(f"shelf-{size}")
        asyncio.run(_make_shelf(path, size, place.seed, stand_in))
        yield from asyncio.run(_warm(path, size, place, stand_in))
        yield asyncio.run(_cold(path, size, place, stand_in))
        yield from asyncio.run(_exact(path, size, place, stand_in))
        yield from _memory(path, size, place.seed)


async def _make_shelf(path: Address, size: int, seed: int, stand_in: StandIn) -> None:
    async with memoranda.open(path, embed=None) as book:
        await fill(book, "ann", size, Talk(seed))
        await lend_vectors(book, stand_in)


async def _warm(path: Address, size: int, place: Place, stand_in: StandIn) -> list[Row]:
    """Measure the same questions, first by words and meaning, then by words only."""
    hybrid, words = Timed(), Timed()
    async with memoranda.open(path, embed=stand_in) as book:
        asked = await questions(book, "ann", stand_in, place)
        await ask(book, "ann", asked[0])
        times = max(len(asked), min(place.scale.samples, 4_000_000 // size))
        for mode, timed in (("hybrid", hybrid), ("words", words)):
            with timed.all():
                for number in range(times):
                    with timed.once():
                        await ask(book, "ann", asked[number % len(asked)], mode=mode)
    name = f"recall: warm, {size:,} passages"
    return [
        hybrid.row(name, target=TARGETS.get(size), note=STAND_IN),
        words.row(f"{name}, words alone", target=WORDS_TARGETS.get(size), note=STAND_IN),
    ]


async def _cold(path: Address, size: int, place: Place, stand_in: StandIn) -> Row:
    """Measure the first recall of a book that was just opened, which reads the shelf from the
    file.
    """
    talk = Talk(place.seed + 2)
    timed = Timed()
    for _ in range(max(3, min(20, 100_000 // size))):
        async with memoranda.open(path, embed=stand_in) as book:
            text = talk.question(talk.passage())
            question = Question(text, await stand_in.query(text))
            with timed.all(), timed.once():
                await ask(book, "ann", question)
    return timed.row(
        f"recall: cold, {size:,} passages", target=COLD_TARGETS.get(size), note=STAND_IN
    )


async def _exact(path: Address, size: int, place: Place, stand_in: StandIn) -> list[Row]:
    """Measure the share of questions that get exactly the ten hits, in order, that scoring every
    passage gives.
    """
    checked = min(place.scale.samples, _CHECKED_IN_LARGE if size >= _LARGE else _CHECKED)
    async with memoranda.open(path, embed=stand_in) as book:
        asked = await _many(book, checked, place, stand_in)
        rows = []
        for mode, name in (
            ("hybrid", "words and meaning"),
            ("words", "words alone"),
            ("meaning", "meaning alone"),
        ):
            found = await _hits(book, asked, mode)
            with patch.object(search, "SHORT", _WHOLE):
                whole = await _hits(book, asked, mode)
            share = 100 * sum(map(list.__eq__, found, whole)) / len(asked)
            note = f"{len(asked)} questions; {STAND_IN}"
            rows.append(
                Row(f"  exact ten, {size:,} passages, {name}", share, "%", least=EXACT, note=note)
            )
    return rows


async def _many(book: Book, count: int, place: Place, stand_in: StandIn) -> list[Question]:
    talk = Talk(place.seed + 4)
    page = await book.records.list("ann", types="message", limit=1000, agent=AGENT)
    said = [record.passage_text() or "" for record in page.records]
    texts = [talk.question(said[number * 7919 % len(said)]) for number in range(count)]
    return [Question(text, await stand_in.query(text)) for text in texts]


async def _hits(book: Book, asked: Sequence[Question], mode: str) -> list[list[object]]:
    return [[hit.id for hit in await ask(book, "ann", question, mode=mode)] for question in asked]


def _memory(path: Address, size: int, seed: int) -> Iterator[Row]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        index, growth = pool.apply(_hold, (path, seed))
    yield Row(f"  index in memory, {size:,} passages", index / size, "B each")
    if growth is not None:
        yield Row("  growth of the process", growth / size, "B each")


def _hold(path: Address, seed: int) -> tuple[int, int | None]:
    """Return the bytes of the index, and the growth of a fresh process with it."""

    async def work() -> tuple[int, int | None]:
        stand_in = StandIn(seed)
        question = Question("anything at all", await stand_in.query("anything at all"))
        async with memoranda.open(path, embed=stand_in) as book:
            await ask(book, "nobody", question)
            before = resident_bytes()
            await ask(book, "ann", question)
            after = resident_bytes()
            finder = book.finder
            assert isinstance(finder, Recall)
            return finder.nbytes, None if before is None or after is None else after - before

    return asyncio.run(work())
