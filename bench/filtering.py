"""Time of recall with each kind of filter, and with several, as a multiple of recall without
filters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import memoranda
from bench.figures import Address, Place, Row, Timed
from bench.shelves import (
    AGENTS,
    BEGAN,
    KEYS,
    KINDS,
    ROLES,
    ROOMY,
    STAND_IN,
    STEP,
    SUBJECTS,
    TAGS,
    Steps,
    ask,
    fill_mixed,
    lend_vectors,
    questions,
)
from bench.standin import StandIn
from bench.text import Talk

#: Conditions may make a recall at most this many times slower.
SLOWER = 1.5

#: Makes the arguments of a recall that set conditions; each number gives other values, as different
#: callers would.
Conditions = Callable[[int], Mapping[str, Any]]


async def make_mixed(path: Address, place: Place, stand_in: StandIn) -> None:
    """Make a book with one shelf in which every condition matches something."""
    clock = Steps()
    async with memoranda.open(path, embed=None, limits=ROOMY, clock=clock) as book:
        await fill_mixed(book, "ann", place.scale.mixed, Talk(place.seed), clock)
        await lend_vectors(book, stand_in)


def filters(place: Place) -> Iterator[Row]:
    """Measure each condition and no condition in turn, question by question."""
    stand_in = StandIn(place.seed)
    path = place.book("mixed")
    asyncio.run(make_mixed(path, place, stand_in))
    yield from asyncio.run(_filters(path, place, stand_in))


async def _filters(path: Address, place: Place, stand_in: StandIn) -> list[Row]:
    async with memoranda.open(path, embed=stand_in) as book:
        page = await book.records.list("ann", types="thread", limit=1000, as_owner=True)
        kinds: dict[str, Conditions] = {"none": lambda _: {}}
        kinds |= conditions(place.scale.mixed, [one.id for one in page.records])
        timed = {name: Timed() for name in kinds}
        asked = await questions(book, "ann", stand_in, place)
        for number in range(min(place.scale.samples, 300)):
            # No condition twice in a row: the cache helps no more than in real use.
            for name, make in kinds.items():
                how = make(number)
                with timed[name].once():
                    await ask(book, "ann", asked[number % len(asked)], **how)
    plain = timed.pop("none").row(
        f"recall: warm, {place.scale.mixed:,} passages, mixed, no condition", note=STAND_IN
    )
    rows = {name: one.row(name) for name, one in timed.items()}
    return [
        plain,
        *(
            Row(f"  {name}, a multiple", row.times(plain), "x", target=SLOWER)
            for name, row in rows.items()
        ),
    ]


def conditions(passages: int, threads: list[Any]) -> dict[str, Conditions]:
    """Return every kind of condition by its name."""
    span = STEP * int(passages * 0.7)

    def moment(number: int) -> Any:
        return BEGAN + span * (1 + number % 50) / 52

    def only(make: Conditions) -> Conditions:
        return lambda number: {"only": make(number)}

    return {
        "type": lambda number: {"types": ("message", "memory", "episode")[number % 3]},
        "kind": only(lambda number: {"kinds": (*KINDS, *ROLES)[number % 7]}),
        "status": only(lambda _: {"statuses": ["active", "superseded"]}),
        "key": only(lambda number: {"keys": f"key {number * 3 % KEYS}"}),
        "subject": only(lambda number: {"subject": f"subject {number % SUBJECTS}"}),
        "thread": only(lambda number: {"thread": threads[number % len(threads)]}),
        "agent": only(lambda number: {"agent": AGENTS[number % len(AGENTS)]}),
        "tags": only(
            lambda number: {"tags": [TAGS[number % len(TAGS)], TAGS[number // 2 % len(TAGS)]]}
        ),
        "time": only(lambda number: {"since": moment(number), "until": moment(number) + span / 4}),
        "trust": only(lambda number: {"trust": ("user", "tool", "assistant")[number % 3]}),
        "valid_at": only(lambda number: {"valid_at": moment(number)}),
        "as_of": only(lambda number: {"as_of": moment(number)}),
        "known_at": only(lambda number: {"known_at": moment(number)}),
        "type, kind, agent, tags, trust, time, known_at": lambda number: {
            "types": "memory",
            "only": {
                "kinds": KINDS,
                "agent": AGENTS[number % len(AGENTS)],
                "tags": TAGS[: 1 + number % len(TAGS)],
                "trust": "assistant",
                "since": BEGAN,
                "until": moment(number) + span / 4,
                "known_at": moment(number) + span / 4,
            },
        },
    }
