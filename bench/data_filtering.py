"""Time of recall, list and count with each kind of condition on data, as a multiple of the same
call without one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.shelves import AGENT, ROOMY, STAND_IN, Question, Steps, ask, lend_vectors
from bench.standin import StandIn
from bench.text import Talk

#: A condition may make a call at most this many times slower.
SLOWER = 1.5

_BATCH, _QUESTIONS = 500, 40
TOWNS = tuple(f"town {number}" for number in range(200))
TAGS = tuple(f"tag {number}" for number in range(40))


def data_of(number: int) -> dict[str, Any]:
    """Return the data of a statement: a few fields, as applications have them."""
    return {
        "number": number,
        "age": number * 7 % 90,
        "score": number * 37 % 1000 / 10,
        "name": f"name {number * 7919 % 10_007}",
        "home": {"town": TOWNS[number * number % len(TOWNS)], "zip": f"{number * 31 % 99_999:05}"},
        "tags": [TAGS[number % len(TAGS)], TAGS[number * 3 % len(TAGS)], "all"],
        "done": number % 5 == 0,
        "due": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
    }


#: Makes conditions on data; each number gives other operands, as different callers would.
CONDITIONS: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "one record": lambda n: {"data.name": f"name {n * 7919 % 10_007}"},
    "a narrow range": lambda n: {"data.number": {"gte": n * 20, "lt": n * 20 + 50}},
    "a wide range": lambda n: {"data.age": {"gt": n % 20}},
    "true for all": lambda n: {"data.number": {"gte": -n}},
    "nested": lambda n: {"data.home.town": TOWNS[n % len(TOWNS)]},
    "contains": lambda n: {"data.tags": {"contains": TAGS[n % len(TAGS)]}},
    "one of many": lambda n: {
        "data.home.town": {"in": [TOWNS[(n + m) % len(TOWNS)] for m in range(20)]}
    },
    "unequal": lambda n: {"data.home.town": {"ne": TOWNS[n % len(TOWNS)]}},
    "none matching": lambda n: {"data.missing": {"eq": n}},
    "three together": lambda n: {
        "data.done": n % 2 == 0,
        "data.due": {"gte": f"2026-{n % 12 + 1:02}-01"},
        "data.score": {"lte": 90.5},
    },
}


async def make_with_data(path: Address, place: Place, stand_in: StandIn) -> None:
    """Make a book with one owner whose statements all have data."""
    clock, talk = Steps(), Talk(place.seed)
    async with memoranda.open(path, embed=None, limits=ROOMY, clock=clock) as book:
        for first in range(0, place.scale.mixed, _BATCH):
            numbers = range(first, min(first + _BATCH, place.scale.mixed))
            drafts = [{"content": talk.sentence(), "data": data_of(number)} for number in numbers]
            await book.memories.remember_all("ann", drafts, agent=AGENT, audience="global")
        await lend_vectors(book, stand_in)


def data_filters(place: Place) -> Iterator[Row]:
    """Measure each verb with each condition and without, in turn."""
    stand_in = StandIn(place.seed)
    path = place.book("data")
    asyncio.run(make_with_data(path, place, stand_in))
    yield from asyncio.run(_measured(path, place, stand_in))


async def _measured(path: Address, place: Place, stand_in: StandIn) -> list[Row]:
    rows: list[Row] = []
    async with memoranda.open(path, embed=stand_in) as book:
        talk = Talk(place.seed + 1)
        page = await book.records.list("ann", types="memory", limit=_QUESTIONS, agent=AGENT)
        texts = [talk.question(record.passage_text() or "") for record in page.records]
        asked = [Question(text, await stand_in.query(text)) for text in texts]

        async def recall(number: int, **how: Any) -> object:
            return await ask(book, "ann", asked[number % len(asked)], **how)

        async def listed(number: int, **how: Any) -> object:
            return await book.records.list(
                "ann", limit=100, newest_first=number % 2 == 0, agent=AGENT, **how
            )

        async def counted(number: int, **how: Any) -> object:
            return await book.records.count("ann", agent=AGENT, **how)

        verbs: dict[str, Callable[..., Awaitable[object]]] = {
            "recall of ten hits": recall,
            "list of a hundred": listed,
            "count": counted,
        }
        for verb, call in verbs.items():
            rows += await _timed(verb, call, place)
    return rows


async def _timed(verb: str, call: Callable[..., Awaitable[object]], place: Place) -> list[Row]:
    timed = {name: Timed() for name in ("", *CONDITIONS)}
    for make in CONDITIONS.values():
        await call(0, only=make(1))
    for number in range(min(place.scale.samples, 300)):
        with timed[""].once():
            await call(number)
        for name, make in CONDITIONS.items():
            only = make(number)
            with timed[name].once():
                await call(number, only=only)
    plain = timed.pop("").row(
        f"{verb}: {place.scale.mixed:,} statements with data, no condition", note=STAND_IN
    )
    found = {name: one.row(name) for name, one in timed.items()}
    return [
        plain,
        *(
            Row(f"  {verb}, {name}, a multiple", row.times(plain), "x", target=SLOWER)
            for name, row in found.items()
        ),
    ]
