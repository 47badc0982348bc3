"""The in-memory index of one shelf: which living passages hold which terms, and how well they answer a question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from commonplace.ports import ShelfDelta
from commonplace.recall.segments import (
    Mask,
    Numbers,
    PassageFilter,
    Scalar,
    Segment,
    build,
    join,
    merge,
)
from commonplace.text.terms import TermGroup

#: BM25: how soon a repeated word stops adding, and how much a passage's length counts.
K1 = 1.2
B = 0.75

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
        kept = [join([segment]) if segment.is_worn() else segment for segment in kept]
        if rows:
            kept.append(build(list(rows.values())))
        self._segments = merge([segment for segment in kept if segment.living])
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
    best: Numbers, field: _Field, matches: _Matches, shares: NDArray[np.float64], words: Sequence[str]
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

    def alive(self) -> Mask | None:
        if all(segment.mask is None for segment in self.segments):
            return None
        return _one([segment.alive() for segment in self.segments])

    def admitted(self, only: PassageFilter) -> Mask:
        return _one([segment.admitted(only) for segment in self.segments])

    def at(self, rows: Numbers) -> Numbers:
        return self._gathered(rows, lambda segment: segment.series["at"].numbers)

    def ids(self, rows: Numbers) -> NDArray[np.bytes_]:
        return self._gathered(rows, lambda segment: segment.ids)

    def lowest_ids(self, rows: Numbers) -> Numbers:
        """A key that is the higher, the lower the id."""
        return -self.ids(rows).argsort().argsort()

    def _gathered(self, rows: Numbers, column: Callable[[Segment], NDArray[Scalar]]) -> NDArray[Scalar]:
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


def _one(arrays: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _best(rows: Numbers, limit: int, keys: Sequence[Callable[[Numbers], NDArray[Scalar]]]) -> Numbers:
    """The rows with the highest first key, among equals the next one; ascending, not ranked."""
    if len(rows) <= limit or not keys:
        return rows[:limit]
    values = keys[0](rows)
    cut = np.partition(values, -limit)[-limit]
    above = rows[values > cut]
    equals = _best(rows[values == cut], limit - len(above), keys[1:])
    return np.sort(np.concatenate((above, equals)))
