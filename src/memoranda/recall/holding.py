"""What recall holds: the index of each shelf that was read, as many as there is memory for, the last read the longest."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from memoranda.model.owner import Audience, Owner, View
from memoranda.model.passages import Shelf, ShelfDelta
from memoranda.recall.index import ShelfIndex

#: More rows than this are taken in beside the event loop.
_MANY_ROWS = 500


class Holding:
    """Indexes of shelves. Tasks of one event loop share them."""

    def __init__(self, limit: int, forget: Callable[[], None]) -> None:
        self._limit = limit
        #: What else must not remember what was erased, perhaps by another process.
        self._forget = forget
        #: Least recently read first.
        self._indexes: OrderedDict[int, ShelfIndex] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._locks: dict[int, asyncio.Lock] = {}
        #: Whose the indexes are, by shelf: a shelf that is gone was erased, perhaps by another process.
        self._held: dict[Owner, dict[int, Audience]] = {}
        self._owners: dict[int, Owner] = {}
        #: How often everything was let go of.
        self._letting_go = 0
        #: Memory that the indexes hold.
        self.nbytes = 0

    def _mark(self, number: int) -> int | None:
        index = self._indexes.get(number)
        return None if index is None else index.mark

    async def _apply(self, owner: Owner, shelf: Shelf, delta: ShelfDelta, before: int) -> ShelfIndex | None:
        """The shelf's index at the delta's mark or later; None where it was let go of meanwhile."""
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
                await _take_in(index, delta)
                if self._letting_go != before:
                    return None
                if delta.gone:
                    # Perhaps erased, and by another process.
                    self._forget()
            self._indexes[shelf.number] = index
            self._held.setdefault(owner, {})[shelf.number] = shelf.audience
            self._owners[shelf.number] = owner
            self._indexes.move_to_end(shelf.number)
            self._weigh(shelf.number, index.nbytes)
            return index

    def _drop_erased(self, owner: Owner, view: View, there: set[int]) -> None:
        """Drop the owner's indexes that this view would have been given, if their shelves still were."""
        held = self._held.get(owner, {})
        erased = [number for number in held.keys() - there if held[number].readable_by(view)]
        for number in erased:
            self._drop(number)
        if erased:
            self._forget()

    def _drop(self, number: int) -> None:
        del self._indexes[number]
        for other in self._held[self._owners[number]]:
            if other in self._indexes:
                self._indexes[other].forget_others()
        self._locks.pop(number, None)
        self.nbytes -= self._sizes.pop(number)
        owner = self._owners.pop(number)
        del self._held[owner][number]
        if not self._held[owner]:
            del self._held[owner]

    def _weigh(self, number: int, size: int) -> None:
        self.nbytes += size - self._sizes.get(number, 0)
        self._sizes[number] = size

    def _evict(self, keep: set[int]) -> None:
        """Let go of what was read longest ago, but not of what is being read."""
        if self.nbytes <= self._limit:
            return
        for number in [number for number in self._indexes if number not in keep]:
            self._drop(number)
            if self.nbytes <= self._limit:
                return


async def _take_in(index: ShelfIndex, delta: ShelfDelta) -> None:
    if len(delta.rows) > _MANY_ROWS:
        await asyncio.to_thread(index.apply, delta)
    else:
        index.apply(delta)
