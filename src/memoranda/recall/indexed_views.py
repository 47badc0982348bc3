"""Views through their indexes: keeps the indexes up to date, and lists, counts and groups the
passages that meet a filter.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.passages import Shelf, ShelfDelta
from memoranda.model.query import Filter, Page
from memoranda.model.records import Owner, Record, View
from memoranda.ports import Readable
from memoranda.recall.arrays.columns import Numbers, PassageFilter
from memoranda.recall.arrays.data_columns import DataUnread
from memoranda.recall.index import Pick, ShelfCache, ShelfIndex, field_of, unchanged
from memoranda.recall.request import listing_filter
from memoranda.recall.scoring.fields import Field
from memoranda.storage.filters import page_of
from memoranda.storage.rows import cursor_of

T = TypeVar("T")

#: More passages than this are searched in another thread.
_MANY = 20_000


class IndexedViews:
    """The passages of an engine's views, chosen through cached indexes. Tasks of one event loop
    share it.

    Every answer is of one moment. A view with a shelf that is too large to cache is answered by the
    engine itself.
    """

    def __init__(self, engine: Readable, *, index_bytes: int, forget: Callable[[], None]) -> None:
        self._engine = engine
        self.cache = ShelfCache(index_bytes, forget)

    async def newest(
        self, owner: Owner, view: View, filter: Filter, limit: int, offset: int = 0
    ) -> list[Record]:
        """Return the passages that meet a filter, the latest first by their time; among equals the
        highest id is first.
        """
        only = self._only(view, filter)

        def pick(shelves: Sequence[ShelfIndex]) -> list[UUID]:
            field = field_of(shelves)
            found = _first(field, field.admitted(only), offset + limit, down=True, by_time=True)
            return found[offset:]

        found = await self._picked(owner, view, pick)
        if found is None:
            return await self._engine.newest(owner, view, filter, limit, offset)
        return list(found.values())

    async def scan(
        self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int
    ) -> Page:
        """Return a page of the passages that meet a filter, in the order of their ids."""
        only, down = self._only(view, filter), filter.newest_first
        start = np.frombuffer(cursor_of(cursor, down), dtype=">u8").astype(np.uint64)
        chosen: list[UUID] = []

        def pick(shelves: Sequence[ShelfIndex]) -> list[UUID]:
            field = field_of(shelves)
            places = field.admitted(only)
            if cursor is not None:
                halves = _halves(field, places)
                first, second = halves[:, 0], halves[:, 1]
                among = first == start[0]
                past = (
                    (first < start[0]) | (among & (second < start[1]))
                    if down
                    else (first > start[0])
                )
                places = places[past if down else past | (among & (second > start[1]))]
            chosen[:] = _first(field, places, limit + 1, down=down)
            return chosen[:limit]

        found = await self._picked(owner, view, pick)
        if found is None:
            return await self._engine.scan(owner, view, filter, cursor, limit)
        return page_of(filter, tuple(found.values()), len(chosen) <= limit)

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        """Return the number of passages that meet a filter."""
        only, found = self._only(view, filter), [0]

        def pick(shelves: Sequence[ShelfIndex]) -> list[UUID]:
            found[0] = len(field_of(shelves).admitted(only))
            return []

        if await self._picked(owner, view, pick) is None:
            return await self._engine.count(owner, view, filter)
        return found[0]

    async def kinds(self, owner: Owner, view: View, filter: Filter) -> dict[str | None, int]:
        """Return the kinds of the passages that meet a filter (of items their namespaces), each
        with their number.
        """
        only = self._only(view, filter)
        found: Counter[str | None] = Counter()

        def pick(shelves: Sequence[ShelfIndex]) -> list[UUID]:
            field = field_of(shelves)
            found.clear()
            found.update(field.kinds(field.admitted(only)))
            return []

        if await self._picked(owner, view, pick) is None:
            return await self._engine.kinds(owner, view, filter)
        return dict(found)

    def _only(self, view: View, filter: Filter) -> PassageFilter:
        """Return the filter that the indexes take; it leaves out what has expired at the view's
        moment, or now.
        """
        clock = self._engine.clock
        return listing_filter(filter, view.at or (None if clock is None else clock()))

    async def _picked(self, owner: Owner, view: View, pick: Pick) -> dict[UUID, Record] | None:
        """Return the records that ``pick`` chooses in the view's indexes; None if a shelf is too
        large to be cached.
        """
        shelves: list[ShelfIndex] = []
        # The first pass applies the deltas and the second one picks. If others wrote in between,
        # what is cached is used.
        for _ in range(2):
            clears = self.cache.clears
            sight = await self.cache.look(self._engine, owner, view, pick, bare=True)
            numbers = {shelf.number for shelf, _ in sight.shelves}
            if sight.records is not None and self.cache.touch(owner, view, numbers):
                return sight.records
            if any(delta.large for _, delta in sight.shelves):
                return None
            shelves = await self._updated(owner, view, sight.shelves, clears)
        picked = await self._reading_data(owner, view, lambda: beside(shelves, pick))
        return await self._engine.get(owner, view, picked)

    async def _reading_data(self, owner: Owner, view: View, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of ``work``, which is repeated when a filter needs data that is not
        cached.
        """
        while True:
            try:
                return await work()
            except DataUnread as exc:
                exc.learn(await self._engine.get(owner, view, list(exc.rows)))

    async def _updated(
        self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]], clears: int
    ) -> list[ShelfIndex]:
        """Apply these deltas, and return the view's indexes as of one moment at or after the call.

        ``clears`` is the cache's counter before the deltas were read.
        """
        while True:
            cacheable = [one for one in deltas if not one[1].large]
            indexes = await self.cache.update(owner, view, cacheable, clears)
            if indexes is not None:
                return indexes
            clears = self.cache.clears
            deltas = await self._engine.since(owner, view, self.cache.mark)


async def beside(shelves: Sequence[ShelfIndex], pick: Pick) -> Sequence[UUID]:
    """Pick in these indexes; use another thread if they have many passages."""
    if sum(shelf.passages for shelf in shelves) > _MANY:
        states = [shelf.state for shelf in shelves]
        picked = await asyncio.to_thread(pick, shelves)
        if unchanged(shelves, states):
            return picked
    return pick(shelves)


def _first(
    field: Field, places: Numbers, limit: int, *, down: bool, by_time: bool = False
) -> list[UUID]:
    """Return the ids of these passages in order, the lowest or with ``down`` the highest first;
    ``by_time`` orders by time first.
    """
    if not limit or not len(places):
        return []
    halves = _halves(field, places)
    first, second = (~halves[:, 0], ~halves[:, 1]) if down else (halves[:, 0], halves[:, 1])
    lead = -field.at(places) if by_time else first
    if limit < len(places):
        leading = lead <= np.partition(lead, limit - 1)[limit - 1]
        places, lead, first, second = (
            places[leading],
            lead[leading],
            first[leading],
            second[leading],
        )
    order = np.lexsort((second, first, lead))[:limit]
    return [UUID(bytes=id) for id in field.ids(places[order]).view("V16").tolist()]


def _halves(field: Field, places: Numbers) -> NDArray[np.uint64]:
    """Return the ids of these passages as two numbers each."""
    return field.ids(places).view(">u8").reshape(-1, 2).astype(np.uint64)
