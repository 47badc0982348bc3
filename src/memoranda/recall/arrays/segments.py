"""Segments: immutable groups of passages as arrays. A shelf's index is a list of segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import Corrupt
from memoranda.model.passages import PassageRow, PassageRows
from memoranda.recall.arrays.columns import (
    Column,
    Facets,
    Kept,
    Mask,
    Numbers,
    SegmentVoices,
    Series,
)
from memoranda.recall.arrays.cosines import Vectors
from memoranda.recall.arrays.data_columns import DataColumn

#: A segment is not merged while it is this many times larger than all later ones together.
MERGE_RATIO = 4
#: A segment is rewritten when more than this share of its passages was removed or changed.
DEAD_SHARE = 0.25

_TERM_BYTES, _HASH_BYTES = 9, 8
#: The end of what has no end, and the beginning of what has no beginning.
FOREVER, _ALWAYS = int(np.iinfo(np.int64).max), int(np.iinfo(np.int64).min)
#: Approximate bytes that the interpreter takes for a segment's objects.
_SEGMENT_BYTES = 4000

#: The place of a passage without neighbours: after all passages that have some.
ALONE = 1 << 62
#: The place of a message is its thread's number, shifted by these bits, plus its position in the
#: thread.
PLACE_BITS = 32

#: A word's position in the question, the rows that contain it, ascending, and a count for each row.
Occurrences = tuple[int, NDArray[np.int32], NDArray[np.integer]]


@dataclass(frozen=True)
class Segment:
    """An immutable group of passages: for each term the rows with it, and arrays with one value for
    each row.
    """

    ids: NDArray[np.bytes_]
    #: Rows in the order of their ids.
    by_id: NDArray[np.int32]
    lengths: NDArray[np.int32]
    #: The place of each row in its shelf's line.
    places: Numbers
    columns: Mapping[str, Column]
    series: Mapping[str, Series]
    #: None if no row has data.
    data: DataColumn | None
    vectors: Vectors | None
    #: The sum of the living rows' vectors, and their number.
    vector_sum: NDArray[np.float64]
    with_vector: int
    #: Distinct terms, ascending; the postings of ``hashes[i]`` are ``offsets[i]:offsets[i + 1]``,
    #: by row.
    hashes: NDArray[np.uint64]
    offsets: Numbers
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]
    #: The rows that are still in the shelf unchanged, and their number; no mask: all of them.
    mask: Mask | None
    living: int

    def without(self, ids: NDArray[np.bytes_]) -> Segment:
        """Return the segment with these passages masked as removed; the same segment if it has none
        of them.
        """
        found = np.minimum(self.ids.searchsorted(ids, sorter=self.by_id), len(self.ids) - 1)
        rows = self.by_id[found]
        rows = rows[self.ids[rows] == ids]
        mask = np.ones(len(self.ids), dtype=np.bool_) if self.mask is None else self.mask.copy()
        rows = rows[mask[rows]]
        if not len(rows):
            return self
        mask[rows] = False
        left = replace(self, mask=mask, living=self.living - len(rows))
        if self.vectors is None:
            return left
        less = self.with_vector - int(self.vectors.present[rows].sum())
        return replace(
            left, vector_sum=self.vector_sum - self.vectors.sum_of(rows), with_vector=less
        )

    def is_worn(self) -> bool:
        """True if enough passages were removed to rewrite the segment; False if none is left, as it
        is then dropped.
        """
        return 0 < self.living < (1 - DEAD_SHARE) * len(self.ids)

    @cached_property
    def threads(self) -> int:
        """A number above the numbers of all threads in this segment."""
        said = self.places[self.places < ALONE]
        return int(said.max() >> PLACE_BITS) + 1 if len(said) else 0

    @cached_property
    def facets(self) -> Facets:
        """The facets (agent, key, subject, tags and so on) of the segment's passages, parsed
        once.
        """
        return Facets(self.columns["facets"])

    @cached_property
    def voices(self) -> SegmentVoices:
        """The speakers in the segment's messages."""
        return SegmentVoices.of(self.columns["type"], self.columns["kind"], self.mask)

    def occurrences(
        self, hashes: NDArray[np.uint64], words: Sequence[int]
    ) -> Iterator[Occurrences]:
        """Yield for each word the rows with any of its terms, ascending, and how often each row
        contains them.

        ``words`` gives the word of each hash, ascending. The rows include some that are no longer
        living.
        """
        if not len(self.hashes):
            return
        at = self.hashes.searchsorted(hashes)
        there = np.flatnonzero(self.hashes.take(at, mode="clip") == hashes)
        at = at.take(there)
        starts, ends = self.offsets.take(at).tolist(), self.offsets.take(at + 1).tolist()
        present = list(
            zip(map(words.__getitem__, there.tolist()), map(slice, starts, ends), strict=True)
        )
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

    def postings(
        self, base: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]:
        """Return the living postings, by term and row, with the rows renumbered from ``base``."""
        hashes = np.repeat(self.hashes, np.diff(self.offsets))
        if self.mask is None:
            return hashes, self.rows + np.int32(base), self.counts
        keep = self.mask[self.rows]
        renumbered = np.cumsum(self.mask, dtype=np.int32) + np.int32(base - 1)
        return hashes[keep], renumbered[self.rows[keep]], self.counts[keep]

    def nbytes(self, *, wide: bool) -> int:
        """Return the bytes that the segment takes; ``wide`` if its vectors are compared number by
        number.
        """
        arrays = [
            self.ids,
            self.by_id,
            self.lengths,
            self.places,
            self.hashes,
            self.offsets,
            self.rows,
        ]
        mask = 0 if self.mask is None else self.mask.nbytes
        columns = sum(column.nbytes() for column in self.columns.values())
        series = sum(one.numbers.nbytes for one in self.series.values())
        vectors = 0 if self.vectors is None else self.vectors.nbytes(wide=wide)
        data = 0 if self.data is None else self.data.nbytes
        size = data + sum(array.nbytes for array in arrays) + self.counts.nbytes + mask
        return size + columns + series + vectors + _SEGMENT_BYTES


def build(rows: Sequence[PassageRow], threads: MutableMapping[bytes, int]) -> Segment:
    """Build a segment from rows with distinct ids; new threads get the next number in
    ``threads``.
    """
    column = _columns_of(rows)
    packed: list[bytes] = column("terms")
    sizes = np.array([len(terms) for terms in packed], dtype=np.int64)
    if (damaged := np.flatnonzero(sizes % _TERM_BYTES)).size:
        raise Corrupt(
            f"The stored terms of passage {rows[damaged[0]].id.hex()} are damaged. Rebuild the book."
        )
    terms = sizes // _TERM_BYTES
    ends = (terms * _HASH_BYTES).tolist()
    hashes = np.frombuffer(
        b"".join([one[:end] for one, end in zip(packed, ends, strict=True)]), dtype="<u8"
    )
    counts = np.frombuffer(
        b"".join([one[end:] for one, end in zip(packed, ends, strict=True)]), dtype=np.uint8
    )
    running = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    columns = {
        name: Column.of(column(name)) for name in ("type", "kind", "status", "thread", "facets")
    }
    return _assembled(
        ids=np.array(column("id"), dtype="S16"),
        lengths=np.diff(running[np.concatenate(([0], np.cumsum(terms)))]).astype(np.int32),
        places=_places(columns["type"], columns["thread"], column("seq"), threads),
        columns=columns,
        series={
            "at": Series.of(np.array(column("at"), dtype=np.int64)),
            "learnt": Series.of(np.array(column("learnt"), dtype=np.int64)),
            "valid_from": _moments(column("valid_from"), missing=_ALWAYS),
            "valid_to": _moments(column("valid_to"), missing=FOREVER),
            "ended": _moments(column("ended"), missing=FOREVER),
            "kin": Series.of(_kin(packed, column("type"))),
        },
        data=DataColumn.of(column("type"), column("data")),
        vectors=Vectors.of(column("vector")),
        hashes=hashes.astype(np.uint64, copy=False),
        rows=np.repeat(np.arange(len(rows), dtype=np.int32), terms),
        counts=counts,
    )


def _columns_of(rows: Sequence[PassageRow]) -> Any:
    """Return a function that takes a column's name and returns the column's values."""
    return (rows if isinstance(rows, PassageRows) else PassageRows.of([rows])).column


def _places(
    types: Column, of_threads: Column, seqs: Sequence[int], threads: MutableMapping[bytes, int]
) -> Numbers:
    """Return each passage's position in its shelf: messages come first, thread by thread, then all
    others.
    """
    numbers = [
        threads.setdefault(thread, len(threads)) if isinstance(thread, bytes) else -1
        for thread in of_threads.values
    ]
    thread = np.array(numbers, dtype=np.int64).take(of_threads.codes)
    said = (thread >= 0) & (types.codes == types.values.get("message", -1))
    return np.where(said, thread << PLACE_BITS | np.array(seqs, dtype=np.int64), ALONE)


def _kin(packed: Sequence[bytes], types: Sequence[str]) -> Numbers:
    """Return a hash of each passage's words, odd for memories; different words may have equal
    hashes.
    """
    numbers = np.fromiter(map(hash, packed), np.int64, len(packed))
    numbers <<= 1
    numbers |= np.array([type == "memory" for type in types])
    return numbers


def _moments(given: Sequence[int | None], *, missing: int) -> Series:
    return Series.of(
        np.array([missing if moment is None else moment for moment in given], dtype=np.int64)
    )


def join(segments: Sequence[Segment]) -> Segment:
    """Join the living passages of several segments into one, in their order."""
    kept: list[Kept] = [slice(None) if one.mask is None else one.mask for one in segments]
    bases = [0, *accumulate(segment.living for segment in segments)]
    hashes, rows, counts = zip(
        *[one.postings(base) for one, base in zip(segments, bases, strict=False)], strict=True
    )
    first = segments[0]
    pairs = list(zip(segments, kept, strict=True))
    return _assembled(
        ids=np.concatenate([segment.ids[keep] for segment, keep in pairs]),
        lengths=np.concatenate([segment.lengths[keep] for segment, keep in pairs]),
        places=np.concatenate([segment.places[keep] for segment, keep in pairs]),
        columns={
            name: Column.joined([one.columns[name] for one in segments], kept)
            for name in first.columns
        },
        series={
            name: Series.joined([one.series[name] for one in segments], kept)
            for name in first.series
        },
        data=DataColumn.joined(
            [one.data for one in segments], kept, [len(one.ids) for one in segments]
        ),
        vectors=Vectors.joined(
            [(segment.vectors, keep, segment.living) for segment, keep in pairs]
        ),
        hashes=np.concatenate(hashes),
        rows=np.concatenate(rows),
        counts=np.concatenate(counts),
    )


def _assembled(
    *,
    ids: NDArray[np.bytes_],
    lengths: NDArray[np.int32],
    places: Numbers,
    columns: Mapping[str, Column],
    series: Mapping[str, Series],
    data: DataColumn | None,
    vectors: Vectors | None,
    hashes: NDArray[np.uint64],
    rows: NDArray[np.int32],
    counts: NDArray[np.uint8],
) -> Segment:
    """Make a segment of living rows from one posting per element, rows ascending."""
    order = _stable_order(hashes)
    spelled = hashes[order]
    starts = (
        np.flatnonzero(np.concatenate(([True], spelled[1:] != spelled[:-1])))
        if len(spelled)
        else order
    )
    return Segment(
        ids=ids,
        by_id=ids.argsort().astype(np.int32),
        lengths=lengths,
        places=places,
        columns=columns,
        series=series,
        data=data,
        vectors=vectors,
        vector_sum=np.zeros(0) if vectors is None else vectors.sum_of(slice(None)),
        with_vector=0 if vectors is None else int(vectors.present.sum()),
        hashes=spelled[starts],
        offsets=np.append(starts, len(spelled)),
        rows=rows[order],
        counts=counts[order],
        mask=None,
        living=len(ids),
    )


def _stable_order(hashes: NDArray[np.uint64]) -> Numbers:
    """Return what a stable argsort does, several times faster, by sorting hash and position as one
    number.

    The position replaces the hash's low bits; if hashes differ only in those, a second sort
    follows.
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
    """Join the last segments with earlier ones that are not much larger.

    Each segment is then much larger than all later ones together, so there are only a few, and a
    passage is moved O(log n) times.
    """
    first = len(segments) - 1
    after = segments[first].living if segments else 0
    while first > 0 and segments[first - 1].living < MERGE_RATIO * after:
        first -= 1
        after += segments[first].living
    if first >= len(segments) - 1:
        return tuple(segments)
    return (*segments[:first], join(segments[first:]))
