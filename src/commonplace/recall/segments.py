"""Segments: immutable runs of passages as arrays, of which the index of a shelf is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import Corrupt
from commonplace.ports import PassageRow

#: A segment is kept apart while it is this many times larger than all that came after it together.
MERGE_RATIO = 4
#: A segment is rewritten when more than this share of its passages has left or changed.
DEAD_SHARE = 0.25

_TERM_BYTES, _HASH_BYTES = 9, 8
_FOREVER = np.iinfo(np.int64)
#: What the interpreter takes for a column's value with its place in the dictionary, for a segment's objects.
_VALUE_BYTES, _SEGMENT_BYTES = 150, 4000

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
_Code = str | bytes | None
#: A word's place in the question, rows that hold it, ascending, and a count for each.
Occurrences = tuple[int, NDArray[np.int32], NDArray[np.integer]]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class PassageFilter:
    """Which passages a search may return; it never moves a score. None asks nothing.

    The sets compare with what the passage has: None in a set admits passages that have no such property.
    """

    types: frozenset[str] | None = None
    kinds: frozenset[str | None] | None = None
    statuses: frozenset[str | None] | None = None
    threads: frozenset[bytes | None] | None = None
    #: Earliest ``at``, microseconds since the epoch.
    since: int | None = None
    #: ``at`` lies before this.
    until: int | None = None
    #: Valid at this moment; an open end is valid without limit.
    valid_at: int | None = None


@dataclass(frozen=True, slots=True)
class _Column:
    """A property with few distinct values, as codes in the smallest type that holds them."""

    values: Mapping[_Code, int]
    codes: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, given: Iterable[_Code]) -> _Column:
        values: dict[_Code, int] = {}
        codes = np.array([values.setdefault(value, len(values)) for value in given])
        return cls(values, codes.astype(np.min_scalar_type(len(values))))

    @classmethod
    def joined(cls, columns: Sequence[_Column], kept: Sequence[Mask | slice]) -> _Column:
        values: dict[_Code, int] = {}
        codes = []
        for column, keep in zip(columns, kept, strict=True):
            held, named = column.codes[keep], list(column.values)
            renumbered = np.zeros(len(named), dtype=np.int64)
            for code in np.flatnonzero(np.bincount(held)).tolist():
                renumbered[code] = values.setdefault(named[code], len(values))
            codes.append(renumbered.take(held))
        return cls(values, np.concatenate(codes).astype(np.min_scalar_type(len(values))))

    def within(self, chosen: frozenset[_Code]) -> Mask | None:
        """Where the value is one of these; None: everywhere."""
        if len(self.values) > 16:
            admitted = np.zeros(len(self.values), dtype=np.bool_)
            admitted[[self.values[value] for value in chosen if value in self.values]] = True
            return admitted.take(self.codes)
        # a few comparisons of the whole column cost less than looking every code up
        refused = [self.codes != code for value, code in self.values.items() if value not in chosen]
        return reduce(np.logical_and, refused) if refused else None

    def nbytes(self) -> int:
        return self.codes.nbytes + len(self.values) * _VALUE_BYTES


@dataclass(frozen=True, slots=True)
class _Series:
    """Numbers with their bounds, which often answer for all of them."""

    numbers: Numbers
    least: int
    greatest: int

    @classmethod
    def of(cls, numbers: Numbers) -> _Series:
        return cls(numbers, int(numbers.min()), int(numbers.max()))

    @classmethod
    def joined(cls, series: Sequence[_Series], kept: Sequence[Mask | slice]) -> _Series:
        return cls.of(np.concatenate([one.numbers[keep] for one, keep in zip(series, kept, strict=True)]))

    def below(self, bound: int) -> Mask | None:
        """Where the number is lower; None: everywhere."""
        return None if self.greatest < bound else self.numbers < bound

    def at_least(self, bound: int) -> Mask | None:
        """Where the number is as high or higher; None: everywhere."""
        return None if self.least >= bound else self.numbers >= bound


@dataclass(frozen=True, slots=True)
class Segment:
    """Passages that came together, or were merged: postings by term, properties by row. Immutable."""

    ids: NDArray[np.bytes_]
    #: Rows in the order of their ids.
    by_id: NDArray[np.int32]
    lengths: NDArray[np.int32]
    columns: Mapping[str, _Column]
    series: Mapping[str, _Series]
    #: Distinct terms, ascending; the postings of ``hashes[i]`` are ``offsets[i]:offsets[i + 1]``, by row.
    hashes: NDArray[np.uint64]
    offsets: Numbers
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]
    #: Rows that are still so in the shelf, how many, and their length together; no mask: all of them.
    mask: Mask | None
    living: int
    length: int

    def without(self, ids: NDArray[np.bytes_]) -> Segment:
        places = np.minimum(self.ids.searchsorted(ids, sorter=self.by_id), len(self.ids) - 1)
        rows = self.by_id[places]
        rows = rows[self.ids[rows] == ids]
        mask = np.ones(len(self.ids), dtype=np.bool_) if self.mask is None else self.mask.copy()
        rows = rows[mask[rows]]
        if not len(rows):
            return self
        mask[rows] = False
        length = self.length - int(self.lengths[rows].sum(dtype=np.int64))
        return replace(self, mask=mask, living=self.living - len(rows), length=length)

    def is_worn(self) -> bool:
        return 0 < self.living < (1 - DEAD_SHARE) * len(self.ids)

    def alive(self) -> Mask:
        return np.ones(len(self.ids), dtype=np.bool_) if self.mask is None else self.mask

    def occurrences(self, hashes: NDArray[np.uint64], words: Sequence[int]) -> Iterator[Occurrences]:
        """For each word the rows with any of its terms, ascending, and how often they hold them together.

        ``words`` names the word of each hash, ascending. Rows that are no longer living are among them.
        """
        starts = self.offsets[self.hashes.searchsorted(hashes, "left")].tolist()
        ends = self.offsets[self.hashes.searchsorted(hashes, "right")].tolist()
        present = [
            (word, slice(start, end))
            for word, start, end in zip(words, starts, ends, strict=True)
            if start < end
        ]
        for word, pieces in groupby(present, key=itemgetter(0)):
            spans = [span for _, span in pieces]
            if len(spans) == 1:
                yield word, self.rows[spans[0]], self.counts[spans[0]]
                continue
            together = np.zeros(len(self.ids), dtype=np.int32)
            for span in spans:
                together[self.rows[span]] += self.counts[span]
            rows = np.flatnonzero(together).astype(np.int32)
            yield word, rows, together[rows]

    def postings(self, base: int) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]:
        """The living postings, by term and row, with the rows numbered anew from ``base``."""
        hashes = np.repeat(self.hashes, np.diff(self.offsets))
        if self.mask is None:
            return hashes, self.rows + np.int32(base), self.counts
        keep = self.mask[self.rows]
        renumbered = np.cumsum(self.mask, dtype=np.int32) + np.int32(base - 1)
        return hashes[keep], renumbered[self.rows[keep]], self.counts[keep]

    def admitted(self, only: PassageFilter) -> Mask:
        chosen = {"type": only.types, "kind": only.kinds, "status": only.statuses, "thread": only.threads}
        asked = [self.columns[name].within(some) for name, some in chosen.items() if some is not None]
        if only.since is not None:
            asked.append(self.series["at"].at_least(only.since))
        if only.until is not None:
            asked.append(self.series["at"].below(only.until))
        if only.valid_at is not None:
            asked.append(self.series["valid_from"].below(only.valid_at + 1))
            asked.append(self.series["valid_to"].at_least(only.valid_at + 1))
        masks = [mask for mask in asked if mask is not None]
        return reduce(np.logical_and, masks) if masks else np.ones(len(self.ids), dtype=np.bool_)

    def nbytes(self) -> int:
        arrays = [self.ids, self.by_id, self.lengths, self.hashes, self.offsets, self.rows, self.counts]
        mask = 0 if self.mask is None else self.mask.nbytes
        columns = sum(column.nbytes() for column in self.columns.values())
        series = sum(one.numbers.nbytes for one in self.series.values())
        return sum(array.nbytes for array in arrays) + mask + columns + series + _SEGMENT_BYTES


def build(rows: Sequence[PassageRow]) -> Segment:
    """One segment from rows with distinct ids."""
    sizes = np.array([len(row.terms) for row in rows], dtype=np.int64)
    if (damaged := np.flatnonzero(sizes % _TERM_BYTES)).size:
        raise Corrupt(f"The terms of passage {rows[damaged[0]].id.hex()} are damaged: rebuild the book.")
    terms = sizes // _TERM_BYTES
    split = [(row.terms, end) for row, end in zip(rows, (terms * _HASH_BYTES).tolist(), strict=True)]
    hashes = np.frombuffer(b"".join([packed[:end] for packed, end in split]), dtype="<u8")
    counts = np.frombuffer(b"".join([packed[end:] for packed, end in split]), dtype=np.uint8)
    running = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return _assembled(
        ids=np.array([row.id for row in rows], dtype="S16"),
        lengths=np.diff(running[np.concatenate(([0], np.cumsum(terms)))]).astype(np.int32),
        columns={
            "type": _Column.of([row.type for row in rows]),
            "kind": _Column.of([row.kind for row in rows]),
            "status": _Column.of([row.status for row in rows]),
            "thread": _Column.of([row.thread for row in rows]),
        },
        series={
            "seq": _Series.of(np.array([row.seq for row in rows], dtype=np.int64)),
            "at": _Series.of(np.array([row.at for row in rows], dtype=np.int64)),
            "valid_from": _moments([row.valid_from for row in rows], missing=_FOREVER.min),
            "valid_to": _moments([row.valid_to for row in rows], missing=_FOREVER.max),
        },
        hashes=hashes.astype(np.uint64, copy=False),
        rows=np.repeat(np.arange(len(rows), dtype=np.int32), terms),
        counts=counts,
    )


def _moments(given: Sequence[int | None], *, missing: int) -> _Series:
    return _Series.of(np.array([missing if moment is None else moment for moment in given], dtype=np.int64))


def join(segments: Sequence[Segment]) -> Segment:
    """One segment of what lives in several, in their order."""
    kept: list[Mask | slice] = [slice(None) if one.mask is None else one.mask for one in segments]
    bases = [0, *accumulate(segment.living for segment in segments)]
    hashes, rows, counts = zip(
        *[one.postings(base) for one, base in zip(segments, bases, strict=False)], strict=True
    )
    first = segments[0]
    return _assembled(
        ids=np.concatenate([segment.ids[keep] for segment, keep in zip(segments, kept, strict=True)]),
        lengths=np.concatenate([segment.lengths[keep] for segment, keep in zip(segments, kept, strict=True)]),
        columns={
            name: _Column.joined([one.columns[name] for one in segments], kept) for name in first.columns
        },
        series={name: _Series.joined([one.series[name] for one in segments], kept) for name in first.series},
        hashes=np.concatenate(hashes),
        rows=np.concatenate(rows),
        counts=np.concatenate(counts),
    )


def _assembled(
    *,
    ids: NDArray[np.bytes_],
    lengths: NDArray[np.int32],
    columns: Mapping[str, _Column],
    series: Mapping[str, _Series],
    hashes: NDArray[np.uint64],
    rows: NDArray[np.int32],
    counts: NDArray[np.uint8],
) -> Segment:
    """A segment of living rows from one posting per element, rows ascending."""
    order = _stable_order(hashes)
    spelled = hashes[order]
    starts = np.flatnonzero(np.concatenate(([True], spelled[1:] != spelled[:-1]))) if len(spelled) else order
    return Segment(
        ids=ids,
        by_id=ids.argsort().astype(np.int32),
        lengths=lengths,
        columns=columns,
        series=series,
        hashes=spelled[starts],
        offsets=np.append(starts, len(spelled)),
        rows=rows[order],
        counts=counts[order],
        mask=None,
        living=len(ids),
        length=int(lengths.sum(dtype=np.int64)),
    )


def _stable_order(hashes: NDArray[np.uint64]) -> Numbers:
    """What a stable argsort gives, several times sooner: place and hash are sorted as one number.

    The place takes the hash's low bits; where hashes differ in those alone, a second sort follows.
    """
    bits = np.uint64(len(hashes).bit_length())
    places = np.arange(len(hashes), dtype=np.uint64)
    numbers = (hashes >> bits << bits) | places
    numbers.sort()
    order = (numbers & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    nearly = hashes[order]
    if np.any(nearly[1:] < nearly[:-1]):
        order = order[nearly.argsort(kind="stable")]
    return order


def merge(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Fewer segments, by joining the last ones with what is not much larger before them.

    A segment then outweighs all after it: there are a handful, and a passage is moved O(log n) times.
    """
    first = len(segments) - 1
    after = segments[first].living if segments else 0
    while first > 0 and segments[first - 1].living < MERGE_RATIO * after:
        first -= 1
        after += segments[first].living
    if first >= len(segments) - 1:
        return tuple(segments)
    return (*segments[:first], join(segments[first:]))
