"""The in-memory index of one shelf: which passages hold which terms, and how well they answer a question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import Corrupt
from commonplace.ports import PassageRow, ShelfDelta
from commonplace.text.terms import TermGroup

#: BM25: how soon a repeated word stops adding, and how much a passage's length counts.
K1 = 1.2
B = 0.75

#: A segment is kept apart while it is this many times larger than all that came after it together.
MERGE_RATIO = 4
#: A segment is rewritten when more than this share of its passages has left or changed.
DEAD_SHARE = 0.25

_TERM_BYTES, _HASH_BYTES = 9, 8
_FOREVER = np.iinfo(np.int64)
#: What the interpreter takes for a column's value with its place in the dictionary, for a segment's objects.
_VALUE_BYTES, _SEGMENT_BYTES = 150, 4000

_Numbers = NDArray[np.int64]
_Mask = NDArray[np.bool_]
_Code = str | bytes | None
#: A word's place in the question, rows that hold it, ascending, and a count for each.
_Occurrences = tuple[int, NDArray[np.int32], NDArray[np.integer]]
_Scalar = TypeVar("_Scalar", bound=np.generic)


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


_ANY = PassageFilter()


@dataclass(frozen=True, slots=True)
class WordScore:
    """One passage found by its words."""

    id: bytes
    score: float
    #: The words it holds, in the question's order, with their shares; added in this order: the score.
    parts: tuple[tuple[str, float], ...]


class ShelfIndex:
    """Follows one shelf, from delta to delta.

    Calls of ``apply`` must not overlap: its owner's lock sees to that. A search needs no lock and may run in
    another thread meanwhile: what an index holds is one tuple of immutable segments, which ``apply`` replaces
    by a single assignment and never alters, so a search sees all of a delta or nothing of it.
    """

    __slots__ = ("_segments", "mark")

    def __init__(self) -> None:
        self.mark = 0
        self._segments: tuple[Segment, ...] = ()

    def apply(self, delta: ShelfDelta) -> None:
        """Bring the index up to the delta's mark; an id that is in ``gone`` and in ``rows`` stays."""
        rows = {row.id: row for row in delta.rows}
        held = () if delta.whole else self._segments
        leaving = np.array(list({*delta.gone, *rows}), dtype="S16")
        kept = [segment.without(leaving) for segment in held]
        kept = [_joined([segment]) if segment.is_worn() else segment for segment in kept]
        if rows:
            kept.append(_built(list(rows.values())))
        self._segments = _merged([segment for segment in kept if segment.living])
        self.mark = delta.mark

    @property
    def passages(self) -> int:
        """How many living passages it holds."""
        return sum(segment.living for segment in self._segments)

    @property
    def nbytes(self) -> int:
        """The memory it holds, without what the interpreter shares between objects."""
        return sum(segment.nbytes() for segment in self._segments)

    def segments(self) -> tuple[Segment, ...]:
        """What a search reads: a snapshot that no later ``apply`` alters."""
        return self._segments


def search(
    shelves: Sequence[ShelfIndex], question: Sequence[TermGroup], *, limit: int, only: PassageFilter
) -> list[WordScore]:
    """The best passages by exact BM25 over the living passages of exactly these shelves.

    Equal scores go to the newer ``at``, then to the lower id. The order of arithmetic depends on the question
    alone, so equal contents give equal scores to the last bit, however they came in.
    """
    field = _Field([segment for shelf in shelves for segment in shelf.segments()])
    matches = _matches(field, question) if limit > 0 and field.length else None
    if matches is None:
        return []
    shares = matches.shares(field, len(question))
    scores = np.bincount(matches.rows, shares, minlength=field.rows)  # adds in order: word by word
    eligible = scores > 0
    if only != _ANY:
        eligible &= field.admitted(only)
    best = _best(np.flatnonzero(eligible), limit, (scores.take, field.at, field.lowest_ids))
    parts = _parts(best, field, matches, shares, [group.word for group in question])
    ids = [one.tobytes() for one in field.ids(best).view("V16")]
    results = zip(scores[best].tolist(), field.at(best).tolist(), ids, parts, strict=True)
    return [
        WordScore(id, score, tuple(part))
        for score, _, id, part in sorted(results, key=lambda result: (-result[0], -result[1], result[2]))
    ]


def _parts(
    best: _Numbers, field: _Field, matches: _Matches, shares: NDArray[np.float64], words: Sequence[str]
) -> list[list[tuple[str, float]]]:
    """For each of these rows the words it holds, with their shares."""
    sought = np.zeros(field.rows, dtype=np.bool_)
    sought[best] = True
    places = np.flatnonzero(sought.take(matches.rows))
    parts: dict[int, list[tuple[str, float]]] = {row: [] for row in best.tolist()}
    found = matches.rows[places].tolist(), matches.words[places].tolist(), shares[places].tolist()
    for row, word, share in zip(*found, strict=True):
        parts[row].append((words[word], share))
    return list(parts.values())


# ── Segments ──────────────────────────────────────────────────────────────────────────────────────────────


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
    def joined(cls, columns: Sequence[_Column], kept: Sequence[_Mask | slice]) -> _Column:
        values: dict[_Code, int] = {}
        codes = []
        for column, keep in zip(columns, kept, strict=True):
            held, named = column.codes[keep], list(column.values)
            renumbered = np.zeros(len(named), dtype=np.int64)
            for code in np.flatnonzero(np.bincount(held)).tolist():
                renumbered[code] = values.setdefault(named[code], len(values))
            codes.append(renumbered.take(held))
        return cls(values, np.concatenate(codes).astype(np.min_scalar_type(len(values))))

    def within(self, chosen: frozenset[_Code]) -> _Mask | None:
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

    numbers: _Numbers
    least: int
    greatest: int

    @classmethod
    def of(cls, numbers: _Numbers) -> _Series:
        return cls(numbers, int(numbers.min()), int(numbers.max()))

    @classmethod
    def joined(cls, series: Sequence[_Series], kept: Sequence[_Mask | slice]) -> _Series:
        return cls.of(np.concatenate([one.numbers[keep] for one, keep in zip(series, kept, strict=True)]))

    def below(self, bound: int) -> _Mask | None:
        """Where the number is lower; None: everywhere."""
        return None if self.greatest < bound else self.numbers < bound

    def at_least(self, bound: int) -> _Mask | None:
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
    offsets: _Numbers
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]
    #: Rows that are still so in the shelf, how many, and their length together; no mask: all of them.
    mask: _Mask | None
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

    def alive(self) -> _Mask:
        return np.ones(len(self.ids), dtype=np.bool_) if self.mask is None else self.mask

    def occurrences(self, hashes: NDArray[np.uint64], words: Sequence[int]) -> Iterator[_Occurrences]:
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

    def admitted(self, only: PassageFilter) -> _Mask:
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


def _built(rows: Sequence[PassageRow]) -> Segment:
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


def _joined(segments: Sequence[Segment]) -> Segment:
    """One segment of what lives in several, in their order."""
    kept: list[_Mask | slice] = [slice(None) if one.mask is None else one.mask for one in segments]
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


def _stable_order(hashes: NDArray[np.uint64]) -> _Numbers:
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


def _merged(segments: Sequence[Segment]) -> tuple[Segment, ...]:
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
    return (*segments[:first], _joined(segments[first:]))


# ── A search ──────────────────────────────────────────────────────────────────────────────────────────────


class _Field:
    """Several segments as one: their rows are numbered through."""

    __slots__ = ("bases", "length", "living", "rows", "segments")

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self.bases = [0, *accumulate(len(segment.ids) for segment in segments)]
        self.rows = self.bases[-1]
        self.living = sum(segment.living for segment in segments)
        self.length = sum(segment.length for segment in segments)

    def penalties(self) -> NDArray[np.float64]:
        """BM25's term for each row's length, against the average of what lives."""
        lengths = _one([segment.lengths for segment in self.segments]).astype(np.float64)
        lengths *= K1 * B * self.living / self.length
        lengths += K1 * (1 - B)
        return lengths

    def alive(self) -> _Mask | None:
        if all(segment.mask is None for segment in self.segments):
            return None
        return _one([segment.alive() for segment in self.segments])

    def admitted(self, only: PassageFilter) -> _Mask:
        return _one([segment.admitted(only) for segment in self.segments])

    def at(self, rows: _Numbers) -> _Numbers:
        return self._gathered(rows, lambda segment: segment.series["at"].numbers)

    def ids(self, rows: _Numbers) -> NDArray[np.bytes_]:
        return self._gathered(rows, lambda segment: segment.ids)

    def lowest_ids(self, rows: _Numbers) -> _Numbers:
        """A key that is the higher, the lower the id."""
        return -self.ids(rows).argsort().argsort()

    def _gathered(self, rows: _Numbers, column: Callable[[Segment], NDArray[_Scalar]]) -> NDArray[_Scalar]:
        """A column at these ascending rows."""
        if len(self.segments) == 1:
            return column(self.segments[0])[rows]
        cuts = rows.searchsorted(self.bases).tolist()
        return np.concatenate(
            [
                column(segment)[rows[start:end] - base]
                for segment, base, start, end in zip(self.segments, self.bases, cuts, cuts[1:], strict=False)
            ]
        )


@dataclass(frozen=True, slots=True)
class _Matches:
    """Every occurrence of a word of the question; those of one row are in the question's order."""

    rows: NDArray[np.int32]
    counts: NDArray[np.integer]
    #: The word, as its place in the question.
    words: NDArray[np.integer]

    def shares(self, field: _Field, words: int) -> NDArray[np.float64]:
        """What each occurrence adds to its row's score."""
        weights = [
            (K1 + 1) * math.log(1 + (field.living - holders + 0.5) / (holders + 0.5))
            for holders in np.bincount(self.words, minlength=words).tolist()
        ]
        shares = np.array(weights).take(self.words)
        shares *= self.counts
        shares /= field.penalties().take(self.rows) + self.counts
        return shares


def _matches(field: _Field, question: Sequence[TermGroup]) -> _Matches | None:
    wanted = [hash for group in question for hash in group.hashes]
    words = [word for word, group in enumerate(question) for _ in group.hashes]
    hashes = np.array(wanted, dtype=np.uint64)
    found = [
        (word, base, rows, counts)
        for segment, base in zip(field.segments, field.bases, strict=False)
        for word, rows, counts in segment.occurrences(hashes, words)
    ]
    if not found:
        return None
    word_of, base_of, row_of, count_of = zip(*found, strict=True)
    sizes = [len(rows) for rows in row_of]
    rows, counts = _one(row_of), _one(count_of)
    spoken = np.repeat(np.array(word_of, dtype=np.int32), sizes)
    if len(field.segments) > 1:
        rows = rows + np.repeat(np.array(base_of, dtype=np.int32), sizes)
    if (alive := field.alive()) is not None:
        keep = alive.take(rows)
        rows, counts, spoken = rows[keep], counts[keep], spoken[keep]
    return _Matches(rows, counts, spoken)


def _one(arrays: Sequence[NDArray[_Scalar]]) -> NDArray[_Scalar]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _best(rows: _Numbers, limit: int, keys: Sequence[Callable[[_Numbers], NDArray[_Scalar]]]) -> _Numbers:
    """The rows with the highest first key, among equals the next one; ascending, not ranked."""
    if len(rows) <= limit or not keys:
        return rows[:limit]
    values = keys[0](rows)
    cut = np.partition(values, -limit)[-limit]
    above = rows[values > cut]
    equals = _best(rows[values == cut], limit - len(above), keys[1:])
    return np.sort(np.concatenate((above, equals)))
