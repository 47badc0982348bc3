"""Search of shelves too large for memory: the engine finds candidates, scored as if all passages
were in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.query import Filter
from memoranda.model.records import Owner, RecordType, View
from memoranda.model.values import moment
from memoranda.ports import CandidateQuery, LargeShelfIndex, ShelfStatistics, Surroundings
from memoranda.recall.arrays.columns import Numbers, PassageFilter
from memoranda.recall.arrays.cosines import Vectors
from memoranda.recall.arrays.segments import ALONE, PLACE_BITS, Segment, build
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.request import SearchRequest
from memoranda.recall.scoring.deviations import expected_deviation
from memoranda.recall.scoring.fields import K1, NEAR, Field, length_penalty, with_near
from memoranda.recall.scoring.scorers import counted as words_counted
from memoranda.recall.scoring.search import Mode, SearchQuestion
from memoranda.recall.scoring.speakers import Line, Voices

#: How many candidates each search brings: at least so many, and so many for each requested hit.
CANDIDATES = 200
_CANDIDATES_A_HIT = 12
#: A shelf is measured again when its mark has grown by this share.
_STALE = 0.01
_REACH = 2 * len(NEAR)
_MOST_KNOWN, _MOST_WORDS = 256, 10_000


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """Statistics about all passages that a view sees, candidates or not; scores depend on them."""

    living: int
    length: float
    near_length: float
    #: The number of passages that contain each word of the question, then of those within each of
    #: its times.
    holders: Sequence[int]
    vector_sum: NDArray[np.float64]
    with_vector: int
    voices: Voices


class CandidateField(Field):
    """Candidates with their neighbours, scored with the statistics of the whole view."""

    def __init__(self, found: Surroundings, view: ViewStatistics) -> None:
        self._view = view
        segment, complete = _segment_of(found)
        super().__init__(((segment,),))
        self._complete = np.sort(self.place[complete])
        self.living = view.living
        # A thread may have several runs of neighbours, which are beside each other.
        threads = segment.columns["thread"].codes.take(
            self.row.take(self.there[: self.there.searchsorted(self.ends)])
        )
        self.thread[self.there[: len(threads)]] = np.cumsum(
            np.diff(threads, prepend=threads[:1]) != 0
        )

    def _measure(self) -> None:
        self.lengths = lengths = self.along(self.segments[0].lengths)
        self.length = int(self._view.length)
        self.near_length = self._view.near_length
        self.own_penalty = length_penalty(lengths, self._view.living, self._view.length)
        near = with_near(lengths, self.ends)
        self.near_penalty = length_penalty(near, self._view.living, self._view.near_length)

    def held_by(self, counted: list[int]) -> list[int]:
        """Return the numbers for the whole view, since ``counted`` covers only the candidates."""
        return list(self._view.holders)

    def deviation(self, own: Line, weights: Line) -> float:
        """Estimate the deviation in the whole view, from how rare each word is there."""
        return expected_deviation(weights / (K1 + 1), self.living)

    @cached_property
    def vectors_together(self) -> tuple[NDArray[np.float64], int]:
        """The sum of the vectors of the whole view, not only of the candidates, and their
        number.
        """
        return self._view.vector_sum, self._view.with_vector

    @cached_property
    def voices(self) -> Voices:
        """The roles and names in the messages of the whole view, not only of the candidates."""
        return self._view.voices

    def _admit(self, only: PassageFilter) -> Numbers:
        admitted = super()._admit(only)
        return admitted[np.isin(admitted, self._complete, assume_unique=True)]


def _segment_of(found: Surroundings) -> tuple[Segment, Numbers]:
    """Return the rows as a segment, each run of neighbours as a thread, and the rows with all their
    neighbours.
    """
    segment = build(found.rows, {})
    following: dict[int, int] = {}
    complete: set[int] = set()
    for window, at in found.windows:
        following.update(pairwise(window))
        complete.update(window[max(0, at - len(NEAR)) : at + len(NEAR) + 1])
    places = np.full(len(found.rows), ALONE)
    begins = following.keys() - set(following.values())
    threads = segment.columns["thread"].codes
    for number, begin in enumerate(sorted(begins, key=lambda row: (threads[row], row))):
        row: int | None = begin
        nth = 0
        while row is not None:
            places[row] = number << PLACE_BITS | nth
            row, nth = following.get(row), nth + 1
    return replace(segment, places=places), np.array(sorted(complete), dtype=np.int64)


@dataclass
class _Measurements:
    """Cached statistics of some large shelves, with the shelves' change counters (marks) at that
    time.
    """

    marks: tuple[int, ...]
    measured: ShelfStatistics
    holders: dict[tuple[int, ...], int] = field(default_factory=dict)

    @cached_property
    def vector_sum(self) -> NDArray[np.float64]:
        vectors = Vectors.of(self.measured.sample)
        assert vectors is not None
        return vectors.sum_of(slice(None))


class LargeShelfSearch:
    """Searches views that contain shelves too large for memory."""

    def __init__(self, index: LargeShelfIndex) -> None:
        self._index = index
        self._known: dict[tuple[Owner, tuple[int, ...]], _Measurements] = {}

    def forget(self) -> None:
        """Drop the cached measurements, because something was erased."""
        self._known.clear()

    async def candidates(
        self,
        owner: Owner,
        view: View,
        asked: SearchRequest,
        large: Mapping[int, int],
        held: Sequence[ShelfIndex],
        also: Sequence[UUID] = (),
    ) -> CandidateField | None:
        """Return the candidates of a view; ``large`` maps large shelves to marks, ``held`` are the
        indexes in memory.

        Passages of ``also`` are always among them. None if there are no candidates.
        """
        known = await self._measured(owner, view, large)
        only = asked.conditions
        shelves = tuple(large)
        asked.reads = known.measured.vectors or asked.reads
        if asked.question.vector is not None and known.measured.vectors != asked.vectors:
            asked.question = replace(asked.question, vector=None)
        limit = max(CANDIDATES, _CANDIDATES_A_HIT * asked.limit)
        query = CandidateQuery(owner, view, shelves, only, asked.only.statuses, limit)
        holders = await self._holders(owner, view, shelves, asked, known)
        ids = await self._candidates(query, asked, holders)
        if asked.pinned_first:
            pinned = replace(only, types=frozenset({RecordType.MEMORY}), pinned=True)
            ids |= await self._candidates(replace(query, filter=pinned), asked, holders)
        others = field_of(held)
        if others.living:
            ids |= dict.fromkeys(UUID(bytes=one.id) for one in asked.best(held, limit))
        ids |= dict.fromkeys(also)
        found = await self._index.surroundings(owner, view, list(ids), _REACH)
        if not len(found.rows):
            return None
        return CandidateField(found, _statistics(known, holders, others, asked.question))

    async def _measured(self, owner: Owner, view: View, large: Mapping[int, int]) -> _Measurements:
        """Return measurements that are recent enough; a few more passages hardly change how rare
        words are.
        """
        shelves, marks = tuple(large), tuple(large.values())
        known = self._known.get((owner, shelves))
        if known is None or any(
            mark - was > _STALE * was for mark, was in zip(marks, known.marks, strict=True)
        ):
            known = _Measurements(marks, await self._index.measure(owner, view, shelves, NEAR))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[owner, shelves] = known
        return known

    async def _holders(
        self,
        owner: Owner,
        view: View,
        shelves: Sequence[int],
        asked: SearchRequest,
        known: _Measurements,
    ) -> list[int]:
        """Count the large shelves' passages that contain each word of the question, and those in
        each of its times.
        """
        words = [group.hashes for group in asked.question.groups]
        if asked.mode in (Mode.MEANING, Mode.RECENT):
            return [0] * (len(words) + len(asked.question.times))
        missing = [hashes for hashes in words if hashes not in known.holders]
        if missing:
            counted = await self._index.count_holders(owner, view, shelves, missing)
            if len(known.holders) >= _MOST_WORDS:
                known.holders.clear()
            known.holders.update(zip(missing, counted, strict=True))
            known.holders.update((hashes, 0) for hashes in words if hashes not in known.holders)
        holders = [known.holders[hashes] for hashes in words]
        for _, stretches in asked.question.times:
            holders.append(await self._index.count_within(owner, view, shelves, stretches))
        return holders

    async def _candidates(
        self, query: CandidateQuery, asked: SearchRequest, holders: Sequence[int]
    ) -> dict[UUID, None]:
        groups = asked.question.groups
        by_words = asked.mode in (Mode.HYBRID, Mode.WORDS)
        words = (
            list(zip((group.hashes for group in groups), holders, strict=False)) if by_words else []
        )
        ids = await self._index.find_by_terms(query, words)
        if asked.mode is Mode.RECENT:
            ids += await self._index.find_newest(query)
        if by_words:
            for stretch in chain(*(stretches for _, stretches in asked.question.times)):
                ids += await self._index.find_newest(
                    replace(query, filter=_within(query.filter, stretch))
                )
        if asked.mode in (Mode.HYBRID, Mode.MEANING) and asked.question.vector is not None:
            ids += await self._index.find_by_vector(query, asked.vectors, asked.question.vector)
        return dict.fromkeys(ids)


def _within(only: Filter, stretch: tuple[int, int]) -> Filter:
    since, until = map(moment, stretch)
    return replace(
        only,
        since=since if only.since is None else max(since, only.since),
        until=until if only.until is None else min(until, only.until),
    )


def _statistics(
    known: _Measurements, holders: Sequence[int], others: Field, question: SearchQuestion
) -> ViewStatistics:
    """Add up the statistics of the large shelves and of the shelves in memory."""
    measured = known.measured
    total, count = others.vectors_together
    if measured.sample:
        # A sample represents all vectors, so each counts ``every`` times beside the vectors of the
        # other shelves.
        times = measured.every if count else 1
        total = known.vector_sum * times + (total if count else 0)
        count += len(measured.sample) * times
    counted = words_counted(others, question.groups) + [
        len(others.within(stretches)) for _, stretches in question.times
    ]
    return ViewStatistics(
        measured.passages + others.living,
        measured.length + others.length,
        measured.near_length + others.near_length,
        [one + other for one, other in zip(holders, counted, strict=True)],
        total,
        count,
        Voices(measured.roles | others.voices.roles, max(measured.names, others.voices.names)),
    )
