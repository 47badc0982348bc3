"""Fields: what a view reads together, laid out in one line so that neighbours of a thread stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Mask, Numbers, Scalar, one_of
from memoranda.recall.facets import called_by
from memoranda.recall.filters import PassageFilter, admitted
from memoranda.recall.segments import ALONE, PLACE_BITS, Segment
from memoranda.recall.vectors import QuestionVector, mean_cosine

#: What a neighbour lends to what stands beside it in its thread: the next one, and the one after that.
#: Halves and quarters, so that sums of whole numbers so weighted are exact.
NEAR = (0.5, 0.25)
#: BM25: how soon a repeated word stops adding, and how much a passage's length counts.
K1 = 1.2
B = 0.75

_KERNEL = np.array([*reversed(NEAR), 1.0, *NEAR])
#: As many filters' answers as a field remembers.
_MOST_FILTERS = 16
#: Bytes a field holds for each passage, about.
FIELD_BYTES = 90

Line = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Speakers:
    """Who speaks along a line."""

    #: For the hash of a first name, the numbers of those who bear it.
    called: dict[int, list[int]]
    #: By place, the number of the one who speaks there; nobody with a name: 0.
    numbers: Line

    def named(self, hashes: frozenset[int]) -> Mask | None:
        """Where someone speaks whom one of these words names; None: nowhere."""
        numbers = [number for hash in self.called.keys() & hashes for number in self.called[hash]]
        return reduce(np.logical_or, [self.numbers == number for number in numbers]) if numbers else None


class Neighbourhood(NamedTuple):
    """Some places with their neighbours, side by side as they stand in the line."""

    #: Ascending.
    places: Numbers
    #: How many of them stand in threads; what belongs to no thread comes behind.
    threads: int
    #: Where those that were asked for are among them.
    at: Numbers


class Field:
    """The living passages of some shelves as one line; immutable, but for what is remembered of it.

    Threads stand apart by as many empty places as neighbours reach; behind them, from ``ends``, without gaps,
    what belongs to no thread. The last place, ``hole``, takes what is no longer living.
    """

    def __init__(self, shelves: Sequence[Sequence[Segment]]) -> None:
        self.segments = tuple(segment for segments in shelves for segment in segments)
        self.bases = [0, *accumulate(len(segment.ids) for segment in self.segments)]
        self.living = sum(segment.living for segment in self.segments)
        self._admissions: dict[PassageFilter, Numbers] = {}
        self._lay_out(shelves)
        self._measure()

    def _lay_out(self, shelves: Sequence[Sequence[Segment]]) -> None:
        keys, before = [], 0
        for segments in shelves:
            for segment in segments:
                keys.append(_moved(segment.places, before))
            before += max((segment.threads for segment in segments), default=0)
        every = one_of(keys) if keys else np.zeros(0, dtype=np.int64)
        order = every.argsort(kind="stable")
        if any(segment.mask is not None for segment in self.segments):
            order = order[self._alive.take(order)]
        standing = every.take(order)
        said = int(standing.searchsorted(ALONE))
        thread = standing[:said] >> PLACE_BITS
        reach = len(NEAR)
        places = np.arange(reach, reach + len(order))
        if said:
            places[1:said] += reach * np.cumsum(thread[1:] != thread[:-1])
            self.ends = int(places[said - 1]) + 1 + reach
            places[said:] = np.arange(self.ends, self.ends + len(order) - said)
        else:
            self.ends = reach
        self.hole = self.ends + len(order) - said
        #: Row → place, and back; rows are numbered through all segments.
        self.place = np.full(self.bases[-1], self.hole)
        self.place[order] = places
        self.row = np.full(self.hole + 1, -1)
        self.row[places] = order
        #: The places of living passages.
        self.there = places

    def _measure(self) -> None:
        """What words need: each place's own length and its length with its neighbours, as BM25 weighs them."""
        lengths = one_of([segment.lengths for segment in self.segments]) if self.segments else np.zeros(0)
        own = self.along(lengths)
        near = with_near(own, self.ends)
        self.length = int(own.sum())
        self.near_length = float(near.take(self.there).sum())
        self.own_penalty = length_penalty(own, self.living, self.length)
        self.near_penalty = length_penalty(near, self.living, self.near_length)

    def held_by(self, counted: list[int]) -> list[int]:
        """How many passages hold each word, given how many do here."""
        return counted

    @cached_property
    def _alive(self) -> Mask:
        return one_of(
            [np.ones(len(one.ids), dtype=np.bool_) if one.mask is None else one.mask for one in self.segments]
        )

    @cached_property
    def is_whole(self) -> bool:
        """Whether all rows are living."""
        return len(self.there) == self.bases[-1]

    def along(self, column: NDArray[np.generic]) -> Line:
        """A column of all rows, by place; empty places have zero."""
        line = np.zeros(self.hole + 1)
        line[self.place] = column
        line[self.hole] = 0
        return line

    def around(self, places: Numbers) -> Neighbourhood:
        """These places, ascending, with all that can lend them anything."""
        wanted = np.zeros(self.hole + 1, dtype=np.bool_)
        wanted[places] = True
        standing = places[: places.searchsorted(self.ends)]
        for distance in range(1, len(NEAR) + 1):
            wanted[standing - distance] = True
            wanted[standing + distance] = True
        all_places = np.flatnonzero(wanted)
        threads = int(all_places.searchsorted(self.ends))
        return Neighbourhood(all_places, threads, all_places.searchsorted(places))

    @cached_property
    def dimension(self) -> int | None:
        """The dimension of the living passages' vectors; None where they have none."""
        living = (one.vectors for one in reversed(self.segments) if one.with_vector)
        return next((vectors.dimension for vectors in living if vectors is not None), None)

    @cached_property
    def vectors_together(self) -> tuple[NDArray[np.float64], int]:
        """The sum of the living passages' vectors, and how many there are."""
        totals = [
            one
            for one in self.segments
            if one.vectors is not None and one.vectors.dimension == self.dimension
        ]
        return sum((one.vector_sum for one in totals), np.zeros(self.dimension or 0)), sum(
            one.with_vector for one in totals
        )

    def average(self, asked: QuestionVector) -> float:
        """How near the passages are on average."""
        total, count = self.vectors_together
        return mean_cosine(total, count, asked) if count else 0.0

    @cached_property
    def near_shares(self) -> Line:
        """By what a place's vector with its neighbours' is divided, to be their weighted mean; as a factor."""
        there = [
            np.zeros(len(one.ids)) if one.vectors is None else one.vectors.present for one in self.segments
        ]
        weights = with_near(self.along(one_of(there)), self.ends)
        return np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0)

    @cached_property
    def speakers(self) -> Speakers | None:
        """Who speaks; None where nobody has a name."""
        named = [segment.facets.speakers for segment in self.segments]
        known = {
            name: place
            for place, name in enumerate(dict.fromkeys(("", *chain(*(one[0] for one in named if one)))))
        }
        if len(known) == 1:
            return None
        numbers = [
            np.zeros(len(segment.ids), dtype=np.int32)
            if one is None
            else np.array([known[name] for name in one[0]], dtype=np.int32).take(one[1])
            for segment, one in zip(self.segments, named, strict=True)
        ]
        return Speakers(called_by(known), self.along(one_of(numbers)))

    def admitted(self, only: PassageFilter) -> Numbers:
        """The places that a filter admits, ascending."""
        known = self._admissions.get(only)
        if known is None:
            known = self._admit(only)
            if len(self._admissions) >= _MOST_FILTERS:
                self._admissions = {}
            self._admissions[only] = known
        return known

    def _admit(self, only: PassageFilter) -> Numbers:
        masks = [admitted(segment, only) for segment in self.segments]
        if all(mask is None for mask in masks):
            return self.there
        rows = one_of(
            [
                np.ones(len(segment.ids), dtype=np.bool_) if mask is None else mask
                for segment, mask in zip(self.segments, masks, strict=True)
            ]
        )
        return self.there[np.flatnonzero(rows.take(self.row.take(self.there)))]

    def within(self, stretches: Sequence[tuple[int, int]]) -> Numbers:
        """The places whose ``at`` lies in one of these stretches of time, each up to its end."""
        at = self.at(self.there)
        inside = [(at >= since) & (at < until) for since, until in stretches]
        return self.there[reduce(np.logical_or, inside)] if inside else self.there[:0]

    def at(self, places: Numbers) -> Numbers:
        """When each of these passages was said, observed or begun."""
        return self._gathered(places, lambda segment: segment.series["at"].numbers)

    def kin(self, places: Numbers) -> Numbers:
        """A number that these passages share with those of the same words; it is odd for memories."""
        return self._gathered(places, lambda segment: segment.series["kin"].numbers)

    def ids(self, places: Numbers) -> NDArray[np.bytes_]:
        """The ids of these passages."""
        return self._gathered(places, lambda segment: segment.ids)

    def _gathered(self, places: Numbers, column: Callable[[Segment], NDArray[Scalar]]) -> NDArray[Scalar]:
        """A column at the rows of these places."""
        rows = self.row.take(places)
        if len(self.segments) == 1:
            return column(self.segments[0]).take(rows)
        found = np.empty(len(rows), dtype=column(self.segments[0]).dtype)
        of = np.searchsorted(self.bases, rows, side="right") - 1
        for number, (segment, base) in enumerate(zip(self.segments, self.bases, strict=False)):
            mine = of == number
            found[mine] = column(segment)[rows[mine] - base]
        return found


def with_near(line: Line, threads: int) -> Line:
    """Each place with what its neighbours lend it, so many places of threads coming first.

    Threads begin and end with empty places; what those get is of no use.
    """
    near = line.copy()
    lending, getting = line[:threads], near[:threads]
    for distance, share in enumerate(NEAR, start=1):
        lent = lending * share
        getting[distance:] += lent[:-distance]
        getting[:-distance] += lent[distance:]
    return near


def counts_with_near(lines: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
    """The same for several lines of whole numbers, whose sums are exact in any order of adding."""
    if threads <= len(NEAR):
        return lines
    # What runs from the end of one line into the next reaches empty places alone, or none that was asked for.
    lent = np.correlate(lines[:, :threads].ravel(), _KERNEL, "same").reshape(len(lines), -1)
    return lent if threads == lines.shape[1] else np.concatenate((lent, lines[:, threads:]), axis=1)


def _moved(places: Numbers, threads: int) -> Numbers:
    """Places in a line behind so many threads of other shelves."""
    return places + (places < ALONE) * (threads << PLACE_BITS) if threads else places


def length_penalty(lengths: Line, living: int, total: float) -> Line:
    """BM25's term for each place's length, against the average of what lives."""
    if not total:
        return np.full_like(lengths, K1)
    penalty = lengths * (K1 * B * living / total)
    penalty += K1 * (1 - B)
    return penalty
