"""A year with a night after each day: nothing true is lost, recall and contexts are as without
nights, every undo is whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

import memoranda
from memoranda.book.dream.night import STANDING_MEMORIES, DreamReport
from memoranda.model.changes import Retract
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import WHOLE, Owner
from memoranda.model.service_records import CALLER, LIBRARY
from memoranda.paging import every_record
from memoranda.text.scripts import comparable_text
from proofs._year.world import START, YEAR, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from memoranda.book import Book

ABOUT = "nights of a simulated year lose nothing that is true, and each can be undone; three other ways to tidy up lose some"
#: Days of each of the three years.
CI_COUNT = 30
FULL_COUNT = 365
COVERS = "book paging.py storage/decide recall language"

_ANA: Final = Owner(id="ana")
_SEEDS: Final = 3
#: Of a whole year, one night in so many is undone late, so many days after it.
_SOME, _MONTH = 13, 30
#: The days without use after which a night archives, and the most memories for the one that evicts,
#: of a whole year.
_STALE, _CAP = 90, 500
#: So much may recall and contexts differ from a year without nights.
_NEAR: Final = 0.005
_ALIKE: Final = 0.85
_SYSTEM = Actor("system")


class Lost(Exception):
    """Something true is not held any more, is found worse, or did not come back."""


class Undetected(Exception):
    """A control lost nothing."""


@dataclass
class Year:
    """What is left at the end of a year."""

    true: int = 0
    lost: int = 0
    active: int = 0
    found: float = 0.0
    told: float = 0.0
    archived: int = 0
    undone: int = 0
    #: Nights that were undone a month later, and what these undos left as it was, by the reason.
    undone_late: int = 0
    left: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    told = []
    for one in range(_SEEDS):
        years = {way: asyncio.run(_year(way, seed + one, count)) for way in _WAYS}
        calm, ours = years["nothing"], years["nights"]
        if ours.lost or calm.lost:
            raise Lost(f"{ours.lost} of {ours.true} true values, and {calm.lost} without nights")
        if ours.found < calm.found - _NEAR or ours.told < calm.told - _NEAR:
            raise Lost(
                f"found {ours.found:.3f}, told {ours.told:.3f}; {calm.found:.3f} and {calm.told:.3f} without"
            )
        if not ours.archived:
            raise Lost("no night archived anything")
        careless = [way for way in _CONTROLS if not years[way].lost]
        if careless:
            raise Undetected(f"nothing was lost by {' or '.join(careless)}")
        losses = ", ".join(f"{way} {years[way].lost}" for way in _CONTROLS)
        told.append(
            f"{ours.true} true: lost 0 ({losses}), found {ours.found:.3f} ({calm.found:.3f} without nights), "
            f"contexts {ours.told:.3f} ({calm.told:.3f}), active {ours.active / ours.true:.2f} times the true ones "
            f"({calm.active / calm.true:.2f}), {ours.undone} nights undone at once and {ours.undone_late} a month later, which left what was "
            f"{' and '.join(f'{why} ({number})' for why, number in sorted(ours.left.items())) or 'changed (0)'}, "
            f"the longest night {ours.longest * 1000:.0f} ms"
        )
    return "; ".join(told)


# ── the days ──────────────────────────────────────────────────────────────────────────────────────


async def _year(way: str, seed: int, days: int) -> Year:
    world, now, year = World(seed, days), [START], Year()
    share = days / YEAR
    settings = {"pruneStaleAfterDays": max(_STALE * share, 1), "crossAgentMaintenance": True}
    nights: list[tuple[int, DreamReport]] = []
    said = iter(world.said)
    next_said = next(said, None)
    async with memoranda.open("memory://", clock=lambda: now[0], embed=None, worker=False) as book:
        await book.agents.put("a", settings={"dream": settings})
        for day in range(days):
            now[0] = START + timedelta(days=day)
            while next_said is not None and next_said.day <= day:
                fields: Any = {"trust": next_said.trust, "agent": next_said.agent}
                fields |= {} if next_said.key is None else {"key": next_said.key}
                await book.remember("ana", next_said.text, **fields)
                next_said = next(said, None)
            now[0] += timedelta(hours=8)
            for fact in world.asked(day):
                await book.context("ana", fact.question, agent="a", limit=5)
            await book.memories.uses.settled()
            now[0] += timedelta(hours=10)
            await _WAYS[way](_Evening(book, world, year, nights, day, share, now[0]))
        now[0] += timedelta(hours=1)
        with _unnoted():
            await _measure(book, world, year)
    return year


@dataclass
class _Evening:
    book: Book
    world: World
    year: Year
    #: The nights that archived something and were not undone: the day, and what the night did.
    nights: list[tuple[int, DreamReport]]
    day: int
    share: float
    now: datetime

    async def active(self) -> list[Memory]:
        """Return the active memories, the oldest first."""
        found = every_record(self.book.engine, _ANA, WHOLE, STANDING_MEMORIES)
        return [one async for one in found if isinstance(one, Memory)]

    async def drop(self, gone: list[Memory]) -> None:
        """Take memories out of every recall."""
        if gone:
            changes = [Retract(one.id, "tidied up") for one in gone]
            await self.book.door.write(_ANA, WHOLE, _SYSTEM, changes, request=None)


async def _nothing(_: _Evening) -> None:
    pass


async def _dream(evening: _Evening) -> None:
    book, year = evening.book, evening.year
    weekly = evening.day % 7 == 6
    before = await _seen(evening) if weekly else []
    report = await book.dreams.run("ana", agent="a")
    year.archived += len(report.archived)
    year.longest = max(year.longest, report.seconds)
    if report.receipt is None:
        return
    if weekly:
        await book.undo("ana", report.receipt.position, as_owner=True)
        if await _seen(evening) != before:
            raise Lost(
                f"the undo of the night of day {evening.day} did not bring back what was there"
            )
        year.undone += 1
    elif report.archived and evening.day % max(int(_SOME * evening.share), 1) == 0:
        evening.nights.append((evening.day, report))
    if evening.nights and evening.day - evening.nights[0][0] >= _MONTH * evening.share:
        day, earlier = evening.nights.pop(0)
        await _undo_late(evening, day, earlier)


async def _undo_late(evening: _Evening, day: int, night: DreamReport) -> None:
    """Undo a night after other writes, and undo that: only what the night archived and nobody
    changed since differs.
    """
    assert night.receipt is not None
    book, year = evening.book, evening.year
    if (lie := await _forgettable(evening, night)) is not None:
        await book.forget("ana", lie.id, what="record", as_owner=True)
    before = await _standing(evening)
    undone = await book.undo("ana", night.receipt.position, as_owner=True)
    named = {part.id: part.code for part in undone.ignored}
    back = {id for id in night.archived if id not in named}
    after = await _standing(evening)
    differ = {id for id in {*before, *after} if before.get(id) != after.get(id)}
    asked = {*night.archived, *night.restored, *night.superseded}
    if differ - asked or any(after[id]["archived"] for id in back):
        raise Lost(
            f"the late undo of the night of day {day} changed more, or less, than that night did"
        )
    if lie is not None and named.get(lie.id) != "erased":
        raise Lost(f"the late undo of the night of day {day} did not name what was forgotten since")
    year.left.update(named.values())
    await book.undo("ana", undone.position, as_owner=True)
    if await _standing(evening) != before:
        raise Lost(
            f"the undo of the undo of the night of day {day} did not bring back what was there"
        )
    year.undone_late += 1


async def _forgettable(evening: _Evening, night: DreamReport) -> Memory | None:
    """Return one memory that the night archived and whose value was never true."""
    values = {value.casefold() for fact in evening.world.facts for _, value in fact.values}
    for one in await evening.active():
        if one.id in night.archived and not any(
            value in one.content.casefold() for value in values
        ):
            return one
    return None


async def _standing(evening: _Evening) -> dict[UUID, dict[str, Any]]:
    """Return the active memories, archived or not, without versions and times."""
    return {
        one.id: one.model_dump(exclude={"version", "recorded_at"}) for one in await evening.active()
    }


async def _by_age(evening: _Evening) -> None:
    before = evening.now - timedelta(days=_STALE * evening.share)
    await evening.drop([one for one in await evening.active() if one.observed_at < before])


async def _by_cosine(evening: _Evening) -> None:
    if evening.day % 7 != 6:
        return
    kept: list[tuple[Memory, Counter[str]]] = []
    gone = []
    for one in reversed(await evening.active()):
        words = Counter(comparable_text(one.content).split())
        if any(_cosine(words, other) >= _ALIKE for _, other in kept):
            gone.append(one)
        else:
            kept.append((one, words))
    await evening.drop(gone)


async def _by_number(evening: _Evening) -> None:
    found = await evening.active()
    await evening.drop(found[: max(len(found) - int(_CAP * evening.share), 0)])


_CONTROLS: Final[dict[str, Callable[[_Evening], Any]]] = {
    "pruning by age": _by_age,
    "merging by cosine": _by_cosine,
    "eviction": _by_number,
}
_WAYS: Final = {"nothing": _nothing, "nights": _dream, **_CONTROLS}


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    common = sum(number * other[word] for word, number in one.items())
    return common / sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))


# ── what is there ─────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _unnoted() -> Iterator[None]:
    """Let recalls count as no use."""
    before = CALLER.set(LIBRARY._replace(writes=False))
    try:
        yield
    finally:
        CALLER.reset(before)


async def _seen(evening: _Evening) -> list[Any]:
    """Return what a reader sees: recalls with scores, a context, lists and the export, without
    versions and times.
    """
    book = evening.book
    found: list[Any] = []
    with _unnoted():
        for fact in evening.world.facts[::12]:
            hits = await book.recall("ana", fact.question, types="memory", limit=5, as_owner=True)
            found.append([(hit.id, round(hit.score, 6)) for hit in hits])
        found.append((await book.context("ana", agent="a", mark_used=False)).text)
    page = await book.records.list(
        "ana", types="memory", only={"statuses": ["active"]}, limit=1000, as_owner=True
    )
    found.append(sorted(one.id for one in page.records))
    return [*found, await _standing(evening)]


async def _measure(book: Book, world: World, year: Year) -> None:
    held: dict[UUID, Memory] = {}
    async for one in every_record(book.engine, _ANA, WHOLE, STANDING_MEMORIES):
        if isinstance(one, Memory):
            held[one.id] = one
    texts = [one.content.casefold() for one in held.values()]
    year.true, year.active = len(world.facts), sum(one.counts for one in held.values())
    found = told = 0
    for fact in world.facts:
        value = fact.value.casefold()
        year.lost += not any(value in text for text in texts)
        hits = await book.recall("ana", fact.question, types="memory", limit=3, as_owner=True)
        found += any(value in hit.text.casefold() for hit in hits)
        made = await book.context(
            "ana", fact.question, agent="a", budget=400, types="memory", mark_used=False
        )
        told += value in made.text.casefold()
    year.found, year.told = found / len(world.facts), told / len(world.facts)
