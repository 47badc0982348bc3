"""Large shelves: candidates that an engine finds, scored as if all passages of the view were at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.capabilities import SearchesTerms, SearchesVectors
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Excerpt, Look, Measured
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.model.values import moment
from memoranda.recall.asking import SearchRequest
from memoranda.recall.columns import Numbers
from memoranda.recall.fields import NEAR, Field, length_penalty, with_near
from memoranda.recall.filters import PassageFilter
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.search import Mode, SearchQuestion
from memoranda.recall.segments import ALONE, PLACE_BITS, Segment, build
from memoranda.recall.vectors import Vectors
from memoranda.recall.words import counted as words_counted

#: Candidates that each way of looking brings, at least, and for each hit that is asked for.
CANDIDATES = 200
_CANDIDATES_A_HIT = 12
#: A shelf is measured anew when its mark has moved by so large a part of what it was.
_STALE = 0.01
_REACH = 2 * len(NEAR)
_MOST_KNOWN, _MOST_WORDS = 256, 10_000


@dataclass(frozen=True, slots=True)
class Whole:
    """What scoring knows of all passages, those that are not at hand among them."""

    living: int
    length: float
    near_length: float
    #: How many passages hold each word of the question; then each of its times.
    holders: Sequence[int]
    vector_sum: NDArray[np.float64]
    with_vector: int


class Glimpse(Field):
    """The candidates and their neighbours as a field that knows what it is a part of."""

    def __init__(self, excerpt: Excerpt, whole: Whole) -> None:
        self._whole = whole
        segment, complete = _laid_out(excerpt)
        super().__init__(((segment,),))
        self._complete = np.sort(self.place[complete])
        self.living = whole.living

    def _measure(self) -> None:
        lengths = self.along(self.segments[0].lengths)
        self.length = int(self._whole.length)
        self.near_length = self._whole.near_length
        self.own_penalty = length_penalty(lengths, self._whole.living, self._whole.length)
        near = with_near(lengths, self.ends)
        self.near_penalty = length_penalty(near, self._whole.living, self._whole.near_length)

    def held_by(self, counted: list[int]) -> list[int]:
        return list(self._whole.holders)

    @cached_property
    def vectors_together(self) -> tuple[NDArray[np.float64], int]:
        return self._whole.vector_sum, self._whole.with_vector

    def _admit(self, only: PassageFilter) -> Numbers:
        admitted = super()._admit(only)
        return admitted[np.isin(admitted, self._complete, assume_unique=True)]


def _laid_out(excerpt: Excerpt) -> tuple[Segment, Numbers]:
    """The rows as a segment whose threads are what stands side by side, and the rows all of whose neighbours are there."""
    segment = build(excerpt.rows, {})
    following: dict[int, int] = {}
    complete: set[int] = set()
    for window, at in excerpt.windows:
        following.update(pairwise(window))
        complete.update(window[max(0, at - len(NEAR)) : at + len(NEAR) + 1])
    places = np.full(len(excerpt.rows), ALONE)
    begins = following.keys() - set(following.values())
    for number, begin in enumerate(sorted(begins)):
        row: int | None = begin
        nth = 0
        while row is not None:
            places[row] = number << PLACE_BITS | nth
            row, nth = following.get(row), nth + 1
    return replace(segment, places=places), np.array(sorted(complete), dtype=np.int64)


@dataclass
class _Known:
    """What was measured of some large shelves, at which marks."""

    marks: tuple[int, ...]
    measured: Measured
    holders: dict[tuple[int, ...], int] = field(default_factory=dict)

    @cached_property
    def vector_sum(self) -> NDArray[np.float64]:
        vectors = Vectors.of(self.measured.some)
        assert vectors is not None
        return vectors.sum_of(slice(None))


class LargeShelves:
    """Searches views of which some shelves are too large to be held."""

    def __init__(self, engine: SearchesTerms) -> None:
        self._engine = engine
        self._known: dict[tuple[Owner, tuple[int, ...]], _Known] = {}

    def forget(self) -> None:
        """Let go of what was measured: something was erased."""
        self._known.clear()

    async def glimpse(
        self,
        owner: Owner,
        view: View,
        asked: SearchRequest,
        large: Mapping[int, int],
        held: Sequence[ShelfIndex],
        also: Sequence[UUID] = (),
    ) -> Glimpse | None:
        """What the best passages are among; ``large`` gives the large shelves' marks, ``held`` are the others.

        ``also`` are candidates whatever they hold. None where there is nothing.
        """
        known = await self._measured(owner, view, large)
        only = asked.conditions
        shelves = tuple(large)
        if asked.question.vector is not None and known.measured.vectors != asked.vectors:
            asked.question = replace(asked.question, vector=None)
        limit = max(CANDIDATES, _CANDIDATES_A_HIT * asked.limit)
        look = Look(owner, view, shelves, only, asked.only.statuses, limit)
        holders = await self._holders(owner, view, shelves, asked, known)
        ids = await self._candidates(look, asked, holders)
        if asked.pinned_first:
            pinned = replace(only, types=frozenset({RecordType.MEMORY}), pinned=True)
            ids |= await self._candidates(replace(look, filter=pinned), asked, holders)
        others = field_of(held)
        if others.living:
            ids |= dict.fromkeys(UUID(bytes=one.id) for one in asked.best(held, limit))
        ids |= dict.fromkeys(also)
        excerpt = await self._engine.around(owner, view, list(ids), _REACH)
        if not len(excerpt.rows):
            return None
        return Glimpse(excerpt, _together(known, holders, others, asked.question))

    async def _measured(self, owner: Owner, view: View, large: Mapping[int, int]) -> _Known:
        """What was measured lately enough; the rarity of words hardly moves with a few passages more."""
        shelves, marks = tuple(large), tuple(large.values())
        known = self._known.get((owner, shelves))
        if known is None or any(
            mark - was > _STALE * was for mark, was in zip(marks, known.marks, strict=True)
        ):
            known = _Known(marks, await self._engine.measure(owner, view, shelves, NEAR))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[owner, shelves] = known
        return known

    async def _holders(
        self, owner: Owner, view: View, shelves: Sequence[int], asked: SearchRequest, known: _Known
    ) -> list[int]:
        """How many passages of the large shelves hold each word, and lie in each time that the question names."""
        words = [group.hashes for group in asked.question.groups]
        if asked.mode in (Mode.MEANING, Mode.RECENT):
            return [0] * (len(words) + len(asked.question.times))
        missing = [hashes for hashes in words if hashes not in known.holders]
        if missing:
            counted = await self._engine.holders(owner, view, shelves, missing)
            if len(known.holders) >= _MOST_WORDS:
                known.holders.clear()
            known.holders.update(zip(missing, counted, strict=True))
            known.holders.update((hashes, 0) for hashes in words if hashes not in known.holders)
        holders = [known.holders[hashes] for hashes in words]
        for _, stretches in asked.question.times:
            holders.append(await self._engine.said_within(owner, view, shelves, stretches))
        return holders

    async def _candidates(self, look: Look, asked: SearchRequest, holders: Sequence[int]) -> dict[UUID, None]:
        groups = asked.question.groups
        by_words = asked.mode in (Mode.HYBRID, Mode.WORDS)
        words = list(zip((group.hashes for group in groups), holders, strict=False)) if by_words else []
        ids = await self._engine.by_terms(look, words)
        if asked.mode is Mode.RECENT:
            ids += await self._engine.newest(look)
        if by_words:
            for stretch in chain(*(stretches for _, stretches in asked.question.times)):
                ids += await self._engine.newest(replace(look, filter=_within(look.filter, stretch)))
        if (
            asked.mode in (Mode.HYBRID, Mode.MEANING)
            and asked.question.vector is not None
            and isinstance(self._engine, SearchesVectors)
        ):
            ids += await self._engine.by_vector(look, asked.vectors, asked.question.vector)
        return dict.fromkeys(ids)


def _within(only: Filter, stretch: tuple[int, int]) -> Filter:
    since, until = map(moment, stretch)
    return replace(
        only,
        since=since if only.since is None else max(since, only.since),
        until=until if only.until is None else min(until, only.until),
    )


def _together(known: _Known, holders: Sequence[int], others: Field, question: SearchQuestion) -> Whole:
    """What the large shelves and the others come to."""
    measured = known.measured
    total, count = others.vectors_together
    if measured.some:
        # Some stand for all: beside the others' own, each is counted as often as that.
        times = measured.every if count else 1
        total = known.vector_sum * times + (total if count else 0)
        count += len(measured.some) * times
    counted = words_counted(others, question.groups) + [
        len(others.within(stretches)) for _, stretches in question.times
    ]
    return Whole(
        measured.passages + others.living,
        measured.length + others.length,
        measured.near_length + others.near_length,
        [one + other for one, other in zip(holders, counted, strict=True)],
        total,
        count,
    )
