"""The in-memory index of a shelf (an owner's passages with one audience), and the bounded cache of
such indexes.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence, Set
from functools import partial
from threading import Lock
from typing import NamedTuple
from uuid import UUID

import numpy as np

from memoranda.model.passages import PassageRow, PassageRows, Shelf, ShelfDelta, Sight
from memoranda.model.records import Audience, Owner, View
from memoranda.ports import Passages
from memoranda.recall.arrays.data_columns import DataUnread
from memoranda.recall.arrays.segments import Segment, build, join, merge
from memoranda.recall.scoring.fields import FIELD_BYTES, Field
from memoranda.recall.scoring.search import COMPARED

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

    Any thread may call ``apply``: one call waits for another. A search needs no lock and may run in
    another thread at the same time: the contents are one tuple, which ``apply`` never changes and
    replaces by a single assignment. If the tuple is the same before and after a search, the search
    saw all of a delta or nothing.
    """

    __slots__ = ("_applying", "_fields", "_threads", "state", "weighed")

    def __init__(self) -> None:
        self.state = IndexState(0, "", ())
        #: The contents whose size the cache counts.
        self.weighed: IndexState | None = None
        self._applying = Lock()
        self._threads: dict[bytes, int] = {}
        #: The fields made lately, by the other shelves that they include.
        self._fields: dict[tuple[int, ...], tuple[tuple[_Segments, ...], Field]] = {}

    def apply(self, delta: ShelfDelta) -> None:
        """Apply a delta (the shelf's latest changes), unless the index is later than it.

        An id that is both in ``gone`` and in ``rows`` stays.
        """
        with self._applying:
            if self.mark < delta.mark or (delta.whole and self.mark == delta.mark):
                self._apply(delta)

    def _apply(self, delta: ShelfDelta) -> None:
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
        self.state = IndexState(
            delta.mark, vectors, merge([segment for segment in kept if segment.living])
        )
        self._threads = threads
        self._fields = {}

    @property
    def mark(self) -> int:
        """The mark (a shelf's change counter) of the last delta that was applied."""
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
        """The bytes that the index takes, without what the interpreter shares between objects."""
        passages = self.passages
        wide = passages <= COMPARED
        size = sum(segment.nbytes(wide=wide) for segment in self.state.segments)
        return size + passages * FIELD_BYTES

    def segments(self) -> _Segments:
        """A snapshot for a search; a later ``apply`` does not change it."""
        return self.state.segments

    def field(self, others: Sequence[ShelfIndex] = ()) -> Field:
        """Return the passages of this shelf and others as one field, cached until one of these
        shelves changes.
        """
        shelves = (self.segments(), *(other.segments() for other in others))
        name = tuple(id(other) for other in others)
        kept = self._fields.get(name)
        if kept is not None and all(
            one is other for one, other in zip(kept[0], shelves, strict=True)
        ):
            return kept[1]
        made = Field(shelves)
        fields = self._fields if len(self._fields) < _MOST_FIELDS else {}
        self._fields = {**fields, name: (shelves, made)}
        return made

    def forget_others(self) -> None:
        """Drop the fields made together with other shelves."""
        self._fields = {}


def field_of(shelves: Sequence[ShelfIndex]) -> Field:
    """Return the passages of these shelves as one field, the sequence in which they are scored."""
    return shelves[0].field(shelves[1:]) if shelves else Field(())


def _distinct(rows: Sequence[PassageRow]) -> Sequence[PassageRow]:
    """Return the last row of each id."""
    if len(rows) == len(set(_ids(rows))):
        return rows
    return list({row.id: row for row in rows}.values())


def _ids(rows: Sequence[PassageRow]) -> list[bytes]:
    return rows.column("id") if isinstance(rows, PassageRows) else [row.id for row in rows]


#: Picks records in some indexes, and returns their ids in the order in which they are to be read.
Pick = Callable[[Sequence[ShelfIndex]], Sequence[UUID]]


def unchanged(shelves: Sequence[ShelfIndex], states: Sequence[IndexState]) -> bool:
    """True if these indexes still have these contents."""
    return all(shelf.state is one for shelf, one in zip(shelves, states, strict=True))


#: A delta with more rows than this is applied in another thread.
_MANY_ROWS = 500
#: An owner's shelves with so many passages together are searched on the thread of the event loop.
_FEW_PASSAGES = 12_000


class ShelfCache:
    """The indexes of the shelves that were read last. Tasks of one event loop share it."""

    def __init__(self, limit: int, forget_words: Callable[[], None]) -> None:
        #: Most bytes that the indexes may take together.
        self._limit = limit
        #: Empties other caches that may contain erased words, also when another process erased
        #: them.
        self._forget_words = forget_words
        #: Least recently read first.
        self._indexes: OrderedDict[int, ShelfIndex] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._locks: dict[int, asyncio.Lock] = {}
        #: The owner's cached shelves. A shelf that storage no longer lists was erased, perhaps by
        #: another process.
        self._shelves_of: dict[Owner, dict[int, Audience]] = {}
        self._owners: dict[int, Owner] = {}
        #: Counts calls of ``clear``.
        self.clears = 0
        #: Bytes that the indexes take.
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._indexes)

    def get(self, number: int) -> ShelfIndex | None:
        """Return a shelf's index, or None if it is not cached."""
        return self._indexes.get(number)

    def mark(self, number: int) -> int | None:
        """Return the mark up to which a shelf is indexed, or None if it is not cached."""
        index = self._indexes.get(number)
        return None if index is None else index.mark

    def _noted_mark(self, marks: dict[int, int | None], number: int) -> int | None:
        return marks.setdefault(number, self.mark(number))

    def touch(self, owner: Owner, view: View, numbers: Set[int]) -> bool:
        """Mark these shelves as just read. False if one of them is not cached any more.

        ``numbers`` are all shelves that the view has now: other cached ones that it could read were
        erased.
        """
        self._drop_erased(owner, view, numbers)
        if not numbers <= self._indexes.keys():
            return False
        for number in numbers:
            self._indexes.move_to_end(number)
            self._weigh(number)
        self._evict(keep=numbers)
        return True

    async def look(
        self, engine: Passages, owner: Owner, view: View, pick: Pick, *, bare: bool = False
    ) -> Sight:
        """Pick in a view's indexes if they are up to date, and read the picked records at the same
        moment.

        If a filter needs data that is not cached, that is read first. ``bare``: without uses and
        sources.
        """
        while True:
            unread: list[DataUnread] = []
            # The engine may read twice, and picking brings the indexes up to date: it gets the same
            # changes again.
            marks: dict[int, int | None] = {}
            cached = partial(self._noted_mark, marks)
            choose = partial(self._chosen, pick=pick, unread=unread)
            brief = self._is_small(owner)
            sight = await engine.look(owner, view, cached, choose, bare=bare, brief=brief)
            if not unread or sight.records is None:
                return sight
            unread[0].learn(sight.records)

    def _is_small(self, owner: Owner) -> bool:
        """True if the owner's shelves are cached and have few passages."""
        numbers = self._shelves_of.get(owner)
        if not numbers:
            return False
        return sum(self._indexes[number].passages for number in numbers) <= _FEW_PASSAGES

    def _chosen(
        self, deltas: Sequence[tuple[Shelf, ShelfDelta]], pick: Pick, unread: list[DataUnread]
    ) -> Sequence[UUID] | None:
        """Bring the indexes up to date, pick in them, and return the ids to read; None if one loses
        something or gains much.

        Called in a worker thread of the engine.
        """
        shelves, states = [], []
        for shelf, delta in deltas:
            index = self._indexes.get(shelf.number)
            if index is None or delta.whole or delta.large or len(delta.rows) > _MANY_ROWS:
                return None
            if delta.gone:
                # These passages may have been erased, and other caches are emptied on the event
                # loop alone.
                return None
            index.apply(delta)
            shelves.append(index)
            states.append(index.state)
            if states[-1].mark != delta.mark:
                return None
        unread.clear()
        try:
            picked = pick(shelves)
        except DataUnread as exc:
            unread.append(exc)
            picked = list(exc.rows)
        # An index that changed meanwhile is of another moment than the records that would be read.
        return picked if unchanged(shelves, states) else None

    async def update(
        self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]], clears: int
    ) -> list[ShelfIndex] | None:
        """Apply the deltas and return the view's indexes; None if one was dropped: then read the
        deltas again.

        ``deltas`` are of all shelves that the view has. ``clears`` is the value of that counter
        before they were read: if it has changed, they may contain erased passages.
        """
        numbers = {shelf.number for shelf, _ in deltas}
        self._drop_erased(owner, view, numbers)
        indexes = [await self._apply(owner, shelf, delta, clears) for shelf, delta in deltas]
        ready = [index for index in indexes if index is not None]
        if len(ready) < len(deltas):
            return None
        self._evict(keep=numbers)
        return ready

    def clear(self) -> None:
        """Drop every index and every cached word, because something was erased."""
        self.clears += 1
        self._indexes.clear()
        self._sizes.clear()
        self._locks.clear()
        self._shelves_of.clear()
        self._owners.clear()
        self.nbytes = 0
        self._forget_words()

    async def _apply(
        self, owner: Owner, shelf: Shelf, delta: ShelfDelta, clears: int
    ) -> ShelfIndex | None:
        """Return the shelf's index at the delta's mark or later. None if it was dropped since the
        delta was read.
        """
        index = self._indexes.get(shelf.number)
        if index is not None and index.mark >= delta.mark:
            self._indexes.move_to_end(shelf.number)
            return index
        async with self._locks.setdefault(shelf.number, asyncio.Lock()):
            index = self._indexes.get(shelf.number)
            if index is None:
                if not delta.whole:
                    return None
                index = ShelfIndex()
            if index.mark < delta.mark or delta.whole:
                await _apply_delta(index, delta)
                if self.clears != clears:
                    return None
                if delta.gone:
                    # These passages may have been erased by another process.
                    self._forget_words()
            self._indexes[shelf.number] = index
            self._shelves_of.setdefault(owner, {})[shelf.number] = shelf.audience
            self._owners[shelf.number] = owner
            self._indexes.move_to_end(shelf.number)
            self._weigh(shelf.number)
            return index

    def _drop_erased(self, owner: Owner, view: View, present: Set[int]) -> None:
        """Drop the owner's indexes that this view may read and that storage no longer lists."""
        cached = self._shelves_of.get(owner, {})
        erased = [number for number in cached.keys() - present if cached[number].readable_by(view)]
        for number in erased:
            self._drop(number)
        if erased:
            self._forget_words()

    def _drop(self, number: int) -> None:
        del self._indexes[number]
        for other in self._shelves_of[self._owners[number]]:
            if other in self._indexes:
                self._indexes[other].forget_others()
        self._locks.pop(number, None)
        self.nbytes -= self._sizes.pop(number)
        owner = self._owners.pop(number)
        del self._shelves_of[owner][number]
        if not self._shelves_of[owner]:
            del self._shelves_of[owner]

    def _weigh(self, number: int) -> None:
        """Update the size that is counted for an index, if its contents changed."""
        index = self._indexes[number]
        if index.weighed is not index.state:
            index.weighed = index.state
            size = index.nbytes
            self.nbytes += size - self._sizes.get(number, 0)
            self._sizes[number] = size

    def _evict(self, keep: Set[int]) -> None:
        """Drop the indexes that were not read for the longest time until the rest fits, but none of
        ``keep``.
        """
        if self.nbytes <= self._limit:
            return
        for number in [number for number in self._indexes if number not in keep]:
            self._drop(number)
            if self.nbytes <= self._limit:
                return


async def _apply_delta(index: ShelfIndex, delta: ShelfDelta) -> None:
    if len(delta.rows) > _MANY_ROWS:
        await asyncio.to_thread(index.apply, delta)
    else:
        index.apply(delta)
