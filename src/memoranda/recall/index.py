"""The in-memory index of one shelf, kept current by deltas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memoranda.model.passages import PassageRow, PassageRows, ShelfDelta
from memoranda.recall.fields import FIELD_BYTES, Field
from memoranda.recall.search import COMPARED
from memoranda.recall.segments import Segment, build, join, merge

#: As many fields as are kept with a shelf: one for each other set of shelves that it is read with.
_MOST_FIELDS = 4
_Segments = tuple[Segment, ...]


class IndexState(NamedTuple):
    """What an index holds at one moment."""

    mark: int
    #: The name of the set that its vectors are of; empty where it has none.
    vectors: str
    segments: _Segments


class ShelfIndex:
    """Follows one shelf, from delta to delta.

    Calls of ``apply`` must not overlap: its owner's lock sees to that. A search needs no lock and may run in
    another thread meanwhile: what an index holds is one tuple, which ``apply`` replaces by a single assignment
    and never alters, so a search sees all of a delta or nothing of it if that tuple is the same before and after.
    """

    __slots__ = ("_fields", "_threads", "held")

    def __init__(self) -> None:
        self.held = IndexState(0, "", ())
        self._threads: dict[bytes, int] = {}
        #: What this shelf was read with lately, and how it was laid out then.
        self._fields: dict[tuple[int, ...], tuple[tuple[_Segments, ...], Field]] = {}

    def apply(self, delta: ShelfDelta) -> None:
        """Bring the index up to the delta's mark; an id that is in ``gone`` and in ``rows`` stays."""
        rows = _distinct(delta.rows)
        threads = {} if delta.whole else self._threads
        if delta.whole:
            kept: list[Segment] = []
        else:
            leaving = np.array(list({*delta.gone, *_ids(rows)}), dtype="S16")
            kept = [segment.without(leaving) for segment in self.held.segments]
            kept = [join([segment]) if segment.is_worn() else segment for segment in kept]
        if len(rows):
            kept.append(build(rows, threads))
        vectors = delta.vectors or ("" if delta.whole else self.held.vectors)
        self.held = IndexState(delta.mark, vectors, merge([segment for segment in kept if segment.living]))
        self._threads = threads
        self._fields = {}

    @property
    def mark(self) -> int:
        """Up to where it follows its shelf."""
        return self.held.mark

    @property
    def vectors(self) -> str:
        """The name of the set that its vectors are of; empty where it has none."""
        return self.held.vectors

    @property
    def passages(self) -> int:
        """How many living passages it holds."""
        return sum(segment.living for segment in self.held.segments)

    @property
    def nbytes(self) -> int:
        """The memory it holds, without what the interpreter shares between objects."""
        passages = self.passages
        wide = passages <= COMPARED
        held = sum(segment.nbytes(wide=wide) for segment in self.held.segments)
        return held + passages * FIELD_BYTES

    def segments(self) -> _Segments:
        """What a search reads: a snapshot that no later ``apply`` alters."""
        return self.held.segments

    def field(self, others: Sequence[ShelfIndex] = ()) -> Field:
        """Its passages and those of others as a search reads them; kept until one of the shelves changes."""
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
        """Let go of how it was laid out with other shelves."""
        self._fields = {}


def field_of(shelves: Sequence[ShelfIndex]) -> Field:
    """Some shelves as one field."""
    return shelves[0].field(shelves[1:]) if shelves else Field(())


def _distinct(rows: Sequence[PassageRow]) -> Sequence[PassageRow]:
    """The last row of each id."""
    if len(rows) == len(set(_ids(rows))):
        return rows
    return list({row.id: row for row in rows}.values())


def _ids(rows: Sequence[PassageRow]) -> list[bytes]:
    return rows.column("id") if isinstance(rows, PassageRows) else [row.id for row in rows]
