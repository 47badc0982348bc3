"""Search of a large shelf in the engine, compared with the same shelf in memory: time and agreement."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.shelves import STAND_IN, Question, ask, fill, lend_vectors, questions
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book
from memoranda.capabilities import SearchesTerms
from memoranda.model.owner import WHOLE, Owner

#: Target share of the ten best hits that the engine's search must also find, in per cent.
OVERLAP = 95.0
_NEVER = 10**9
_MODES = ("hybrid", "words", "meaning")


def large(place: Place) -> Iterator[Row]:
    """Measure shelves of growing size; only on a server with the vector extension."""
    stand_in = StandIn(place.seed)
    for size in place.scale.shelves:
        path = place.book(f"large-{size}")
        yield from asyncio.run(_sized(path, size, place, stand_in))


async def _sized(path: Address, size: int, place: Place, stand_in: StandIn) -> list[Row]:
    name = f"searched by its engine, {size:,} passages"
    async with memoranda.open(path, embed=stand_in, worker=False) as book:
        engine = book.engine
        if not isinstance(engine, SearchesTerms):
            return [Row(f"recall: {name}", None, "", note="this engine holds every shelf in the process")]
        await fill(book, "ann", size, Talk(place.seed))
        await lend_vectors(book, stand_in)
        following = Timed()
        engine.large_shelf = 1
        with following.once():
            await engine.follow_shelves()
        if not any(
            delta.large for _, delta in await book.engine.since(Owner(id="ann"), WHOLE, lambda _: None)
        ):
            return [Row(f"recall: {name}", None, "", note="the extension is not created in this database")]
        engine.large_shelf = _NEVER
        asked = await questions(book, "ann", stand_in, place)
        rows = [following.row(f"following a shelf of {size:,} passages for the first time")]
        for mode in _MODES:
            rows += await _compared(book, engine, asked, mode, name)
        return rows


async def _compared(
    book: Book, engine: SearchesTerms, asked: Sequence[Question], mode: str, name: str
) -> list[Row]:
    found: list[list[list[object]]] = []
    timed = []
    for least in (1, _NEVER):
        engine.large_shelf = least
        await ask(book, "ann", asked[0], mode=mode)
        one = Timed()
        hits = []
        for question in asked:
            with one.once():
                hits.append([hit.id for hit in await ask(book, "ann", question, mode=mode)])
        timed.append(one)
        found.append(hits)
    shares = [len({*ours} & {*theirs}) / max(1, len(theirs)) for ours, theirs in zip(*found, strict=True)]
    return [
        timed[0].row(f"recall: {name}, {mode}", note=STAND_IN),
        timed[1].row(f"  the same, held, {mode}"),
        Row(f"  of the ten best, found, {mode}", 100 * sum(shares) / len(shares), "%", least=OVERLAP),
    ]
