"""Finds passages for a question: brings the view's indexes up to date, searches them, and fetches what was found."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda import telemetry
from memoranda.capabilities import SearchesTerms
from memoranda.errors import LimitReached
from memoranda.model.owner import Audience, Owner, View
from memoranda.model.passages import Shelf, ShelfDelta
from memoranda.model.query import Filter, Hit, Hits, MissingHit
from memoranda.model.quoting import cited_by
from memoranda.model.records import RecordType
from memoranda.ports import Readable
from memoranda.recall.absence import absences, unlisted
from memoranda.recall.asking import MOST_REACHED, SearchRequest, passage_filter, understood
from memoranda.recall.fields import Field
from memoranda.recall.hits import FoundRecords, conditions_of, hits_of, listed, ranked
from memoranda.recall.holding import Holding
from memoranda.recall.index import IndexState, ShelfIndex, field_of
from memoranda.recall.large import Glimpse, LargeShelves
from memoranda.recall.orders import MOST_USED, most_used
from memoranda.recall.search import Mode
from memoranda.text.terms import forget_words

#: Memory that indexes may hold together.
INDEX_BYTES = 512 * 1024 * 1024
#: Passages of a shelf from which on its engine searches it, where it can.
LARGE_SHELF = 200_000
#: More passages than this are searched beside the event loop.
_MANY = 20_000
#: The longest question, in characters.
QUESTION_LENGTH = 10_000


class Recall(Holding):
    """The finder over one engine's passages. Tasks of one event loop share it."""

    def __init__(
        self, engine: Readable, *, index_bytes: int = INDEX_BYTES, forget: Callable[[], None] = forget_words
    ) -> None:
        self._engine = engine
        self._large = LargeShelves(engine) if isinstance(engine, SearchesTerms) else None
        self._limit = index_bytes
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

    @property
    def shelves(self) -> int:
        """How many shelves are held."""
        return len(self._indexes)

    async def find(
        self,
        owner: Owner,
        view: View,
        question: str,
        *,
        limit: int,
        types: frozenset[RecordType],
        only: Filter,
        mode: str = Mode.HYBRID,
        vector: NDArray[np.float32] | None = None,
        vectors: str = "",
        pinned_first: bool = False,
        why_not: Sequence[UUID] | None = None,
        now: datetime,
    ) -> Hits:
        """The best passages for a question, best first.

        ``vector`` is the question's, and ``vectors`` the name of the set that it can be compared with; without
        it, or where the book reads another set, words alone find. ``now`` is when it is asked, from which
        "last week" is counted. For each id of ``why_not`` that is no hit it is told why; where that is empty,
        for those that come next.
        """
        if len(question) > QUESTION_LENGTH:
            raise LimitReached(
                f"question: it has {len(question)} characters; the longest question has {QUESTION_LENGTH}",
                field="question",
            )
        with telemetry.span("recall"):
            if mode == MOST_USED:
                most = await most_used(self._engine, owner, view, limit, only)
                if not why_not:
                    return Hits(most)
                return Hits(most, unlisted(why_not, await self._engine.get(owner, view, why_not), most))
            read = await understood(question, vector, now)
            asked = SearchRequest(
                read,
                vectors,
                Mode(mode),
                limit,
                passage_filter(types, only),
                replace(only, types=types),
                pinned_first,
            )
            conditions = conditions_of(types, only)
            hits = await self._hits(owner, view, asked, conditions, now)
            missing = () if why_not is None else await self._missing(owner, view, why_not, asked, hits)
        telemetry.count("recalls")
        return Hits(hits, missing)

    async def _hits(
        self, owner: Owner, view: View, asked: SearchRequest, conditions: Mapping[str, Any], now: datetime
    ) -> tuple[Hit, ...]:
        while True:
            readings = await self._readings(owner, view, asked)
            if asked.mode is Mode.RECENT:
                return listed(readings, conditions)
            passages = ranked(readings, now, pinned_first=asked.pinned_first)
            hits = hits_of(passages, readings, asked.limit, conditions)
            if len(hits) == asked.limit or not asked.more or asked.spare >= MOST_REACHED:
                return hits
            # So much was folded that more must be read.
            asked.spare = 4 * (asked.spare + asked.limit)

    async def _missing(
        self, owner: Owner, view: View, ids: Sequence[UUID], asked: SearchRequest, hits: Sequence[Hit]
    ) -> tuple[MissingHit, ...]:
        before = self._letting_go
        deltas = await self._engine.since(owner, view, self._mark)
        shelves = await self._fresh(owner, view, deltas, before)
        there = await self._engine.get(owner, view, ids)
        field: Field | None = await self._glimpse(owner, view, asked, deltas, shelves, ids)
        if field is None:
            asked, field = asked.comparable(shelves), field_of(shelves)
        return await asyncio.to_thread(absences, ids, there, asked, hits, field)

    async def _glimpse(
        self,
        owner: Owner,
        view: View,
        asked: SearchRequest,
        deltas: Sequence[tuple[Shelf, ShelfDelta]],
        shelves: Sequence[ShelfIndex],
        also: Sequence[UUID] = (),
    ) -> Glimpse | None:
        """What is searched where some of the shelves are too large to be held; None where all are held."""
        large = {shelf.number: delta.mark for shelf, delta in deltas if delta.large}
        if not large or self._large is None:
            return None
        return await self._large.glimpse(owner, view, asked, large, shelves, also)

    async def _readings(self, owner: Owner, view: View, asked: SearchRequest) -> FoundRecords:
        shelves: list[ShelfIndex] = []
        # What came is taken in, and looked at in a second go; then whatever comes, what is held is searched.
        for _ in range(2):
            before = self._letting_go
            sight = await self._engine.look(owner, view, self._mark, lambda d: self._choose(asked, d))
            if sight.records is not None and self._still_held(owner, view, sight.shelves):
                return FoundRecords(asked.found, sight.records, sight.uses, sight.grounds)
            shelves = await self._fresh(owner, view, sight.shelves, before)
            if any(delta.large for _, delta in sight.shelves):
                break
        glimpse = await self._glimpse(owner, view, asked, sight.shelves, shelves)
        if glimpse is not None:
            await asyncio.to_thread(asked.search_in, glimpse)
            return await self._read(owner, view, asked)
        await self._search(shelves, asked)
        return await self._read(owner, view, asked)

    async def _read(self, owner: Owner, view: View, asked: SearchRequest) -> FoundRecords:
        """The records of what was found."""
        records = await self._engine.get(owner, view, [id for id, _ in asked.found])
        memories = [id for id, record in records.items() if record.type is RecordType.MEMORY]
        uses = await self._engine.uses(owner, view, memories) if memories else {}
        grounds = cited_by(records.values())
        return FoundRecords(
            asked.found, records, uses, await self._engine.get(owner, view, grounds) if grounds else {}
        )

    def _choose(self, asked: SearchRequest, deltas: Sequence[tuple[Shelf, ShelfDelta]]) -> list[UUID] | None:
        """Search at once where the indexes are up to date already; called in an engine's thread."""
        shelves, held = [], []
        for shelf, delta in deltas:
            index = self._indexes.get(shelf.number)
            if index is None or delta.whole or delta.large:
                return None
            shelves.append(index)
            held.append(index.held)
            if held[-1].mark != delta.mark:
                return None
        asked.search(shelves)
        # What came in meanwhile is of another moment than the records that would be read.
        return [id for id, _ in asked.found] if _hold(shelves, held) else None

    def _still_held(self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]]) -> bool:
        """Whether what was searched was not let go of meanwhile."""
        numbers = {shelf.number for shelf, _ in deltas}
        self._drop_erased(owner, view, numbers)
        if not numbers <= self._indexes.keys():
            return False
        for number in numbers:
            self._indexes.move_to_end(number)
        return True

    async def _search(self, shelves: Sequence[ShelfIndex], asked: SearchRequest) -> None:
        if sum(shelf.passages for shelf in shelves) > _MANY:
            held = [shelf.held for shelf in shelves]
            await asyncio.to_thread(asked.search, shelves)
            if _hold(shelves, held):
                return
        asked.search(shelves)

    async def _fresh(
        self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]], before: int
    ) -> list[ShelfIndex]:
        """The view's indexes as of one moment at or after the call, beginning with what was seen.

        ``before`` counts the lettings go before that was read: later ones make it worthless.
        """
        while True:
            deltas = [one for one in deltas if not one[1].large]
            self._drop_erased(owner, view, {shelf.number for shelf, _ in deltas})
            indexes = [await self._apply(owner, shelf, delta, before) for shelf, delta in deltas]
            ready = [index for index in indexes if index is not None]
            if len(ready) == len(deltas):
                self._evict(keep={shelf.number for shelf, _ in deltas})
                return ready
            before = self._letting_go
            deltas = await self._engine.since(owner, view, self._mark)

    def clear(self) -> None:
        """Drop every index and remembered word: something was erased; what is read next is built without it."""
        self._letting_go += 1
        self._indexes.clear()
        self._sizes.clear()
        self._locks.clear()
        self._held.clear()
        self._owners.clear()
        if self._large is not None:
            self._large.forget()
        self.nbytes = 0
        self._forget()


def _hold(shelves: Sequence[ShelfIndex], held: Sequence[IndexState]) -> bool:
    """Whether they still hold the same."""
    return all(shelf.held is one for shelf, one in zip(shelves, held, strict=True))
