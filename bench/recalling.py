"""How fast a book finds passages by their words, and what its index takes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
from collections.abc import Iterator
from pathlib import Path

import commonplace
from bench.figures import Place, Row, Timed
from bench.machine import resident_bytes
from bench.text import Talk
from commonplace import Book
from commonplace.recall.recall import Recall

#: Passages in a shelf → the median of a warm recall that is to be reached, in milliseconds.
TARGETS = {100: 0.5, 1000: 0.6, 10_000: 1.5, 100_000: 8.0}
#: How much slower recall may become where there are a hundred times as many owners.
GROWTH = 1.3

_AGENT = "helper"
_BATCH = 500
HITS = 10


async def fill(book: Book, owner: str, passages: int, talk: Talk, sentences: int = 3) -> None:
    """Say so many passages, through the front door, in batches."""
    thread = await book.thread(owner, agent=_AGENT)
    left = passages
    while left > 0:
        count = min(left, _BATCH)
        await thread.append([{"role": "user", "content": talk.passage(sentences)} for _ in range(count)])
        left -= count


def recall(place: Place) -> Iterator[Row]:
    """One shelf of growing size, read cold and warm."""
    for size in place.scale.shelves:
        path = place.folder / f"shelf-{size}.db"
        asyncio.run(_make_shelf(path, size, place.seed))
        yield asyncio.run(_warm(path, size, place))
        yield asyncio.run(_cold(path, size, place))
        yield from _memory(path, size)


async def _make_shelf(path: Path, size: int, seed: int) -> None:
    async with commonplace.open(path) as book:
        await fill(book, "ann", size, Talk(seed))


async def _warm(path: Path, size: int, place: Place) -> Row:
    timed = Timed()
    async with commonplace.open(path) as book:
        questions = await _questions(book, size, place)
        with timed.all():
            for number in range(max(len(questions), min(place.scale.samples, 4_000_000 // size))):
                with timed.once():
                    await book.recall("ann", questions[number % len(questions)], limit=HITS, agent=_AGENT)
    return timed.row(f"recall: warm, {size:,} passages", target=TARGETS.get(size))


async def _questions(book: Book, size: int, place: Place) -> list[str]:
    """Questions that have as many answers as are asked for; looking for them also reads the shelf."""
    talk = Talk(place.seed + 1)
    page = await book.list("ann", types="message", limit=1000, agent=_AGENT)
    said = [record.passage_text() or "" for record in page.records]
    wanted = min(60, place.scale.samples)
    found: list[str] = []
    for number in range(wanted * 20):
        question = talk.question(said[number * 7919 % len(said)])
        if len(await book.recall("ann", question, limit=HITS, agent=_AGENT)) == min(HITS, size):
            found.append(question)
        if len(found) == wanted:
            break
    return found


async def _cold(path: Path, size: int, place: Place) -> Row:
    """The first recall of a book that was just opened: the shelf is read from the file."""
    talk = Talk(place.seed + 2)
    timed = Timed()
    for _ in range(max(2, min(20, 100_000 // size))):
        async with commonplace.open(path) as book:
            question = talk.question(talk.passage())
            with timed.all(), timed.once():
                await book.recall("ann", question, limit=HITS, agent=_AGENT)
    return timed.row(f"recall: cold, {size:,} passages")


def _memory(path: Path, size: int) -> Iterator[Row]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        index, growth = pool.apply(_hold, (path,))
    yield Row(f"  index in memory, {size:,} passages", index / size, "B each")
    if growth is not None:
        yield Row("  growth of the process", growth / size, "B each")


def _hold(path: Path) -> tuple[int, int | None]:
    """Bytes of the index, and by how much a fresh process grew with it."""

    async def work() -> tuple[int, int | None]:
        async with commonplace.open(path) as book:
            await book.recall("nobody", "something to import and compile what is needed", agent=_AGENT)
            before = resident_bytes()
            await book.recall("ann", "anything at all", agent=_AGENT)
            after = resident_bytes()
            finder = book.finder
            assert isinstance(finder, Recall)
            return finder.nbytes, None if before is None or after is None else after - before

    return asyncio.run(work())


def owners(place: Place) -> Iterator[Row]:
    """What other owners cost: the same recall beside few and beside many of them."""
    few, many = place.scale.owners
    path = place.folder / "owners.db"
    medians = []
    for begin, end in ((0, few), (few, many)):
        _add_owners(path, begin, end, place)
        warm, cold = asyncio.run(_anybody(path, end, place))
        medians.append((warm.value, cold.value))
        yield warm
        yield cold
    (warm_few, cold_few), (warm_many, cold_many) = medians
    yield Row(f"growth from {few:,} to {many:,} owners, warm", warm_many / warm_few, "x", target=GROWTH)
    yield Row("growth, owners not read before", cold_many / cold_few, "x")


def _add_owners(path: Path, begin: int, end: int, place: Place) -> None:
    """As many processes as there are cores fill the book."""
    cores = min(os.cpu_count() or 1, 8)
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        work = [(path, begin + part, end, cores, place) for part in range(cores)]
        pool.starmap(_add_some, work, chunksize=1)


def _add_some(path: Path, begin: int, end: int, step: int, place: Place) -> None:
    async def add() -> None:
        async with commonplace.open(path) as book:
            talk = Talk(place.seed + begin)
            for first in range(begin, end, step * 4):
                wave = range(first, min(first + step * 4, end), step)
                await asyncio.gather(
                    *(fill(book, f"user {number}", place.scale.passages, talk, 2) for number in wave)
                )

    asyncio.run(add())


async def _anybody(path: Path, count: int, place: Place) -> tuple[Row, Row]:
    """The first recall of each of some owners, then more of the same owners', in any order."""
    rng = random.Random(place.seed)
    talk = Talk(place.seed + 3)
    chosen = [f"user {number}" for number in rng.sample(range(count), min(count, place.scale.samples))]
    warm, cold = Timed(), Timed()
    async with commonplace.open(path) as book:
        # Imports, compiled statements and the tables of words are nobody's own.
        for _ in range(20):
            await book.recall("nobody", talk.question(talk.passage()), agent=_AGENT)
        with cold.all():
            for owner in chosen:
                question = talk.question(talk.passage())
                with cold.once():
                    await book.recall(owner, question, limit=HITS, agent=_AGENT)
        questions = {owner: await _question_of(book, owner, talk) for owner in chosen}
        with warm.all():
            for owner in rng.choices(chosen, k=place.scale.samples):
                with warm.once():
                    await book.recall(owner, questions[owner], limit=HITS, agent=_AGENT)
    name = f"{count:,} owners of {place.scale.passages} passages"
    return warm.row(f"recall: warm, {name}"), cold.row(f"recall: not read before, {name}")


async def _question_of(book: Book, owner: str, talk: Talk) -> str:
    """A question that this owner's passages answer in full, as far as some tries find one."""
    page = await book.list(owner, types="message", limit=10, agent=_AGENT)
    question = ""
    for record in page.records:
        question = talk.question(record.passage_text() or "")
        if len(await book.recall(owner, question, limit=HITS, agent=_AGENT)) == HITS:
            break
    return question
