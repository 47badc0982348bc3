"""Fields: all passages of a view in one sequence, so that neighbours in a thread are adjacent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.arrays.admission import admitted
from memoranda.recall.arrays.columns import Mask, Numbers, PassageFilter, called_by
from memoranda.recall.arrays.cosines import QuestionVector, mean_cosine
from memoranda.recall.arrays.segments import ALONE, FOREVER, PLACE_BITS, Segment
from memoranda.recall.scoring.deviations import deviation
from memoranda.recall.scoring.speakers import Line, Speakers, Voices

#: The share of its score that a message lends to the next one in its thread, and to the one after
#: that. Powers of two, so that sums of whole numbers with these weights are exact.
NEAR = (0.5, 0.25)
#: BM25's parameters: how soon a repeated word stops adding, and how much a passage's length counts.
K1 = 1.2
B = 0.5

#: Terms of a message beyond so many do not count as length. What is no message is as long as a
#: usual one.
_LONG, _USUAL = 40, 10
_LOGARITHMS = np.array([math.log1p(terms) for terms in range(_LONG + 1)])
_KERNEL = np.array([*reversed(NEAR), 1.0, *NEAR])
#: Most filters whose results a field keeps.
_MOST_FILTERS = 16
#: Approximate bytes that a field takes for each passage.
FIELD_BYTES = 98

Scalar = TypeVar("Scalar", bound=np.generic)


class Neighbourhood(NamedTuple):
    """Some places (positions in a field) and their neighbours, in the field's order."""

    #: Ascending.
    places: Numbers
    #: The number of them that are in threads; passages without a thread come after those.
    threads: int
    #: The positions of the requested places in ``places``.
    at: Numbers


class Field:
    """The living passages of some shelves as one line; immutable, except for its caches.

    Between two threads are as many empty places as neighbours reach. After all threads, from
    ``ends``, come the passages without a thread, without gaps. The last place, ``hole``, is that of
    all passages no longer living.
    """

    def __init__(self, shelves: Sequence[Sequence[Segment]]) -> None:
        self.segments = tuple(segment for segments in shelves for segment in segments)
        self.bases = [0, *accumulate(len(segment.ids) for segment in self.segments)]
        self.living = sum(segment.living for segment in self.segments)
        self._admissions: dict[tuple[PassageFilter, int, int], Numbers] = {}
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
        #: Row → place; rows are numbered through all segments. ``row`` is the inverse.
        self.place = np.full(self.bases[-1], self.hole)
        self.place[order] = places
        self.row = np.full(self.hole + 1, -1)
        self.row[places] = order
        #: The places of living passages.
        self.there = places
        #: The number of the thread at each place before ``ends``, ascending.
        self.thread = np.zeros(self.ends, dtype=np.int64)
        self.thread[places[1:said]] = np.cumsum(thread[1:] != thread[:-1])

    def _measure(self) -> None:
        """Compute BM25's length penalties: of each place alone, and together with its
        neighbours.
        """
        lengths = (
            one_of([segment.lengths for segment in self.segments]) if self.segments else np.zeros(0)
        )
        self.lengths = own = self.along(lengths)
        near = with_near(own, self.ends)
        self.length = int(own.sum())
        self.near_length = float(near.take(self.there).sum())
        self.own_penalty = length_penalty(own, self.living, self.length)
        self.near_penalty = length_penalty(near, self.living, self.near_length)

    def held_by(self, counted: list[int]) -> list[int]:
        """Return the number of passages that contain each word, from the numbers counted in this
        field.
        """
        return counted

    @cached_property
    def _alive(self) -> Mask:
        return one_of(
            [
                np.ones(len(one.ids), dtype=np.bool_) if one.mask is None else one.mask
                for one in self.segments
            ]
        )

    @cached_property
    def is_whole(self) -> bool:
        """True if no row belongs to a deleted passage."""
        return len(self.there) == self.bases[-1]

    def along(self, column: NDArray[np.generic]) -> Line:
        """Return one value for each place, from a column of all rows; empty places are 0."""
        line = np.zeros(self.hole + 1)
        line[self.place] = column
        line[self.hole] = 0
        return line

    def around(self, places: Numbers) -> Neighbourhood:
        """Return these places (ascending) together with all their neighbours."""
        wanted = np.zeros(self.hole + 1, dtype=np.bool_)
        wanted[places] = True
        standing = places[: places.searchsorted(self.ends)]
        for distance in range(1, len(NEAR) + 1):
            wanted[standing - distance] = True
            wanted[standing + distance] = True
        all_places = np.flatnonzero(wanted)
        threads = int(all_places.searchsorted(self.ends))
        return Neighbourhood(all_places, threads, all_places.searchsorted(places))

    def best_by_thread(self, places: Numbers | None, values: Line) -> Line:
        """Return for each of these places (ascending) the best value in its thread; one without a
        thread has its own.

        Without places, the values are those of all places.
        """
        best = values.copy()
        if places is None:
            starts, said = self._starts, self.ends
        else:
            said = int(places.searchsorted(self.ends))
            starts = np.flatnonzero(np.diff(self.thread.take(places[:said]), prepend=-1))
        if len(starts):
            best[starts[0] : said] = np.repeat(
                np.maximum.reduceat(values[:said], starts), np.diff(starts, append=said)
            )
        return best

    @cached_property
    def _starts(self) -> Numbers:
        """The first place of each thread."""
        said = self.there[: self.there.searchsorted(self.ends)]
        return said[np.flatnonzero(np.diff(self.thread.take(said), prepend=-1))]

    @cached_property
    def gaps(self) -> Numbers:
        """The places without a passage."""
        return np.flatnonzero(self.row < 0)

    def lenders(self, places: Numbers, values: Line, best: Line) -> Numbers:
        """Return the places with the best value in the threads of these places, from the values of
        all places.
        """
        asked = np.zeros(self.living + 1, dtype=np.bool_)
        asked[self.thread.take(places[: places.searchsorted(self.ends)])] = True
        values, best = values[: self.ends], best[: self.ends]
        leading = np.flatnonzero((values >= best) & (values > 0))
        return leading[asked.take(self.thread.take(leading))]

    def deviation(self, own: Line, weights: Line) -> float:
        """Return the standard deviation of all passages' scores by words."""
        return deviation(own, self.living)

    @cached_property
    def length_logarithms(self) -> Line:
        """The logarithm of how many terms each message has, and that of a usual message for what is
        none.
        """
        found: Line = _LOGARITHMS.take(np.minimum(self.lengths, _LONG).astype(np.int64))
        found[self.ends :] = _LOGARITHMS[_USUAL]
        return found

    @cached_property
    def dimension(self) -> int | None:
        """The dimension of the living passages' vectors; None if they have none."""
        living = (one.vectors for one in reversed(self.segments) if one.with_vector)
        return next((vectors.dimension for vectors in living if vectors is not None), None)

    @cached_property
    def vectors_together(self) -> tuple[NDArray[np.float64], int]:
        """The sum of the living passages' vectors, and their number."""
        totals = [
            one
            for one in self.segments
            if one.vectors is not None and one.vectors.dimension == self.dimension
        ]
        return sum((one.vector_sum for one in totals), np.zeros(self.dimension or 0)), sum(
            one.with_vector for one in totals
        )

    def average(self, question: QuestionVector) -> float:
        """Return the average cosine of all passages."""
        total, count = self.vectors_together
        return mean_cosine(total, count, question) if count else 0.0

    @cached_property
    def speakers(self) -> Speakers | None:
        """The speakers of the field's passages; None if nobody has a name."""
        named = [segment.facets.speakers for segment in self.segments]
        known = {
            name: place
            for place, name in enumerate(
                dict.fromkeys(("", *chain(*(one[0] for one in named if one))))
            )
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

    def occurrences(
        self, words: Sequence[Sequence[int]]
    ) -> dict[int, list[tuple[Numbers, NDArray[np.integer]]]]:
        """Find words, each given as the hashes of its terms: return for each that occurs its places
        and their counts.
        """
        hashes = np.array([hash for word in words for hash in word], dtype=np.uint64)
        numbers = [number for number, word in enumerate(words) for _ in word]
        found: dict[int, list[tuple[Numbers, NDArray[np.integer]]]] = {}
        for segment, base in zip(self.segments, self.bases, strict=False):
            for number, rows, counts in segment.occurrences(hashes, numbers):
                places = self.place.take(rows + base if base else rows)
                if not self.is_whole:
                    living = places < self.hole
                    places, counts = places[living], counts[living]
                if len(places):
                    found.setdefault(number, []).append((places, counts))
        return found

    @cached_property
    def voices(self) -> Voices:
        """The roles and the number of names of those who speak in the field's living messages."""
        roles = frozenset[str]().union(*(segment.voices.roles for segment in self.segments))
        numbers = (
            np.zeros(0) if self.speakers is None else np.unique(self.speakers.numbers[self.there])
        )
        return Voices(roles, int(np.count_nonzero(numbers)))

    @cached_property
    def is_with_assistant(self) -> bool:
        """True if a user and an assistant talk, and nobody has a name."""
        return self.voices.are_user_and_assistant

    @cached_property
    def others(self) -> Mask:
        """A mask of the messages that are not the user's: an assistant's, a tool's, a system's."""
        return self.along(one_of([segment.voices.by_others for segment in self.segments])) > 0

    def admitted(self, only: PassageFilter) -> Numbers:
        """Return the places that a filter admits, ascending."""
        # What has ended is the same from one end to the next.
        key = only, self._passed(only.current_at), self._passed(only.read_at)
        known = self._admissions.get(key)
        if known is None:
            known = self._admit(only)
            if len(self._admissions) >= _MOST_FILTERS:
                self._admissions = {}
            self._admissions[key] = known
        return known

    def _passed(self, moment: int | None) -> int:
        """Return how many of the moments at which passages end have passed."""
        return (
            0
            if moment is None or not len(self._ends)
            else int(self._ends.searchsorted(moment, side="right"))
        )

    @cached_property
    def _ends(self) -> Numbers:
        """The moments at which passages end or expire, ascending."""
        found = [np.zeros(0, dtype=np.int64)]
        for one in self.segments:
            if (ends := one.series["valid_to"]).least < FOREVER:
                expiries = [
                    facet.expires for facet in one.facets.distinct if facet.expires is not None
                ]
                found += ends.numbers[ends.numbers < FOREVER], np.array(expiries, dtype=np.int64)
        return np.sort(np.concatenate(found))

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
        """Return the places whose time is in one of these intervals; an interval excludes its
        end.
        """
        at = self.at(self.there)
        inside = [(at >= since) & (at < until) for since, until in stretches]
        return self.there[reduce(np.logical_or, inside)] if inside else self.there[:0]

    def at(self, places: Numbers) -> Numbers:
        """Return the time of each of these passages: when it was said, observed or begun."""
        return self._gathered(places, lambda segment: segment.series["at"].numbers)

    def kinds(self, places: Numbers) -> dict[str | None, int]:
        """Return the kinds of these passages, each with their number."""
        rows = self.row.take(places)
        found: Counter[Any] = Counter()
        for number, (segment, base) in enumerate(zip(self.segments, self.bases, strict=False)):
            mine = rows[(rows >= base) & (rows < self.bases[number + 1])] - base
            kinds = segment.columns["kind"]
            counted = np.bincount(kinds.codes[mine], minlength=len(kinds.values)).tolist()
            found.update(
                {kind: count for kind, count in zip(kinds.values, counted, strict=False) if count}
            )
        return dict(found)

    def kin(self, places: Numbers) -> Numbers:
        """Return a number for each passage, equal for passages with the same words; it is odd for
        memories.
        """
        return self._gathered(places, lambda segment: segment.series["kin"].numbers)

    def ids(self, places: Numbers) -> NDArray[np.bytes_]:
        """Return the ids of these passages."""
        return self._gathered(places, lambda segment: segment.ids)

    def _gathered(
        self, places: Numbers, column: Callable[[Segment], NDArray[Scalar]]
    ) -> NDArray[Scalar]:
        """Return a column's values at the rows of these places."""
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
    """Add to each value shares of its neighbours' values; the first ``threads`` places belong to
    threads.

    Threads begin and end with empty places; the values of those are meaningless.
    """
    near = line.copy()
    lending, getting = line[:threads], near[:threads]
    for distance, share in enumerate(NEAR, start=1):
        lent = lending * share
        getting[distance:] += lent[:-distance]
        getting[:-distance] += lent[distance:]
    return near


def counts_with_near(lines: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
    """Do the same as ``with_near`` for several rows of whole numbers, whose sums are exact in any
    order of adding.
    """
    if threads <= len(NEAR):
        return lines
    # A value carried from the end of one line into the next reaches only empty places, or places
    # not requested.
    lent = np.correlate(lines[:, :threads].ravel(), _KERNEL, "same").reshape(len(lines), -1)
    return lent if threads == lines.shape[1] else np.concatenate((lent, lines[:, threads:]), axis=1)


def _moved(places: Numbers, threads: int) -> Numbers:
    """Shift the thread numbers of these places by the number of threads of earlier shelves."""
    return places + (places < ALONE) * (threads << PLACE_BITS) if threads else places


def length_penalty(lengths: Line, living: int, total: float) -> Line:
    """Return BM25's length penalty for each place, relative to the average of the living
    passages.
    """
    if not total:
        return np.full_like(lengths, K1)
    penalty = lengths * (K1 * B * living / total)
    penalty += K1 * (1 - B)
    return penalty


def one_of(arrays: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
    """Concatenate arrays; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
