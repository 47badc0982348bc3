"""The in-memory index of one shelf, kept up to date by deltas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memoranda.model.passages import PassageRow, PassageRows, ShelfDelta
from memoranda.recall.fields import FIELD_BYTES, Field
from memoranda.recall.search import COMPARED
from memoranda.recall.segments import Segment, build, join, merge

#: Most fields kept with a shelf: one for each set of other shelves that it is read with.
_MOST_FIELDS = 4
_Segments = tuple[Segment, ...]


class IndexState(NamedTuple):
    """The contents of an index at one moment."""

    mark: int
    #: The name of the set that its vectors belong to; empty without vectors.
    vectors: str
    segments: _Segments


class ShelfIndex:
    """The index of one shelf.

    Calls of ``apply`` must not overlap: the cache has a lock for each shelf. A search needs no lock and may run in
    another thread at the same time: the contents are one tuple, which ``apply`` never changes and replaces by a
    single assignment. If the tuple is the same before and after a search, the search saw all of a delta or nothing.
    """

    __slots__ = ("_fields", "_threads", "state")

    def __init__(self) -> None:
        self.state = IndexState(0, "", ())
        self._threads: dict[bytes, int] = {}
        #: The fields made lately, by the other shelves that they include.
        self._fields: dict[tuple[int, ...], tuple[tuple[_Segments, ...], Field]] = {}

    def apply(self, delta: ShelfDelta) -> None:
        """Bring the index up to the delta's mark. An id that is both in ``gone`` and in ``rows`` stays."""
        rows = _distinct(delta.rows)
        threads = {} if delta.whole else self._threads
        if delta.whole:
            kept: list[Segment] = []
        else:
            leaving = np.array(list({*delta.gone, *_ids(rows)}), dtype="S16")
            kept = [segment.without(leaving) for segment in self.state.segments]
            kept = [join([segment]) if segment.is_worn() else segment for segment in kept]
        if len(rows):
            kept.append(build(rows, threads))
        vectors = delta.vectors or ("" if delta.whole else self.state.vectors)
        self.state = IndexState(delta.mark, vectors, merge([segment for segment in kept if segment.living]))
        self._threads = threads
        self._fields = {}

    @property
    def mark(self) -> int:
        """The mark of the last delta that was applied."""
        return self.state.mark

    @property
    def vectors(self) -> str:
        """The name of the set that its vectors belong to; empty without vectors."""
        return self.state.vectors

    @property
    def passages(self) -> int:
        """The number of living passages."""
        return sum(segment.living for segment in self.state.segments)

    @property
    def nbytes(self) -> int:
        """The bytes that it takes, without what the interpreter shares between objects."""
        passages = self.passages
        wide = passages <= COMPARED
        size = sum(segment.nbytes(wide=wide) for segment in self.state.segments)
        return size + passages * FIELD_BYTES

    def segments(self) -> _Segments:
        """A snapshot for a search; a later ``apply`` does not change it."""
        return self.state.segments

    def field(self, others: Sequence[ShelfIndex] = ()) -> Field:
        """Return its passages and those of other shelves as one field, kept until one of these shelves changes."""
        shelves = (self.segments(), *(other.segments() for other in others))
        name = tuple(id(other) for other in others)
        kept = self._fields.get(name)
        if kept is not None and all(one is other for one, other in zip(kept[0], shelves, strict=True)):
            return kept[1]
        made = Field(shelves)
        fields = self._fields if len(self._fields) < _MOST_FIELDS else {}
        self._fields = {**fields, name: (shelves, made)}
        return made

    def forget_others(self) -> None:
        """Drop the fields made together with other shelves."""
        self._fields = {}


def field_of(shelves: Sequence[ShelfIndex]) -> Field:
    """Return the passages of these shelves as one field."""
    return shelves[0].field(shelves[1:]) if shelves else Field(())


def _distinct(rows: Sequence[PassageRow]) -> Sequence[PassageRow]:
    """Keep the last row of each id."""
    if len(rows) == len(set(_ids(rows))):
        return rows
    return list({row.id: row for row in rows}.values())


def _ids(rows: Sequence[PassageRow]) -> list[bytes]:
    return rows.column("id") if isinstance(rows, PassageRows) else [row.id for row in rows]
