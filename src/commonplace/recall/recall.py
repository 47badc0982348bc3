"""Finds passages for a question: brings the view's indexes up to date, searches them, and fetches what was found."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from commonplace import telemetry
from commonplace.errors import LimitReached
from commonplace.model.memories import MemoryStatus
from commonplace.model.owner import Audience, Owner, View
from commonplace.model.query import Filter, Hit
from commonplace.model.records import RecordType
from commonplace.model.values import micros, utc_now
from commonplace.ports import Passages, Records, Shelf, ShelfDelta
from commonplace.recall.dates import times_of
from commonplace.recall.filters import PassageFilter
from commonplace.recall.index import ShelfIndex, field_of
from commonplace.recall.search import Found, Mode, Question, search
from commonplace.settle.codec import TAKEN_BACK
from commonplace.text.terms import forget_words, query_groups

#: Memory that indexes may hold together.
INDEX_BYTES = 512 * 1024 * 1024
#: More passages than this are searched, and more rows taken in, beside the event loop.
_MANY = 20_000
_MANY_ROWS = 500
#: The longest question, in characters, and the longest whose words are read on the event loop.
QUESTION_LENGTH = 10_000
_LONG_QUESTION = 1_000

#: What is read when no status is asked for: memories that are held, and what has no status.
HELD: frozenset[str | None] = frozenset({None, MemoryStatus.ACTIVE.value})
_WITHDRAWN = frozenset({"withdrawn"})


@dataclass(slots=True)
class _Asked:
    """A question, and what was found for it."""

    question: Question
    #: The set whose vectors the question's can be compared with.
    vectors: str
    mode: Mode
    limit: int
    only: PassageFilter
    found: list[tuple[UUID, Found]] = field(default_factory=list)

    def search(self, shelves: Sequence[ShelfIndex]) -> None:
        question = self.question
        if any(shelf.vectors not in ("", self.vectors) for shelf in shelves):
            # Another embedding's set has taken over: words alone, until the asker has noticed.
            question = replace(question, vector=None)
        hits = search(field_of(shelves), question, limit=self.limit, only=self.only, mode=self.mode)
        self.found = [(UUID(bytes=hit.id), hit) for hit in hits]


class Recall:
    """The finder over one engine's passages. Tasks of one event loop share it."""

    def __init__(
        self,
        records: Records,
        passages: Passages,
        *,
        index_bytes: int = INDEX_BYTES,
        forget: Callable[[], None] = forget_words,
    ) -> None:
        self._records = records
        self._passages = passages
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
        now: datetime | None = None,
    ) -> list[Hit]:
        """The best passages for a question, best first.

        ``vector`` is the question's, and ``vectors`` the name of the set that it can be compared with; without
        it, or where the book reads another set, words alone find. ``now`` is when it is asked, from which
        "last week" is counted.
        """
        if len(question) > QUESTION_LENGTH:
            raise LimitReached(
                f"question: it has {len(question)} characters; the longest question has {QUESTION_LENGTH}",
                field="question",
            )
        with telemetry.span("recall"):
            read = await _read(question, vector, utc_now() if now is None else now)
            asked = _Asked(read, vectors, Mode(mode), limit, _passage_filter(types, only))
            before = self._letting_go
            sight = await self._passages.look(owner, view, self._mark, lambda d: self._choose(asked, d))
            if sight.records is not None and self._still_held(owner, view, sight.shelves):
                found, records = asked.found, sight.records
            else:
                shelves = await self._fresh(owner, view, sight.shelves, before)
                found = await self._search(shelves, asked)
                records = await self._records.get(owner, view, [id for id, _ in found])
        telemetry.count("recalls")
        hits: list[Hit] = []
        for id, scored in found:
            record = records.get(id)
            if record is not None:
                hits.append(Hit(record, scored.score, len(hits) + 1, scored.words))
        return hits

    def _choose(self, asked: _Asked, deltas: Sequence[tuple[Shelf, ShelfDelta]]) -> list[UUID] | None:
        """Search at once where the indexes are up to date already; called in an engine's thread."""
        shelves = []
        for shelf, delta in deltas:
            index = self._indexes.get(shelf.number)
            if index is None or delta.whole or index.mark != delta.mark:
                return None
            shelves.append(index)
        asked.search(shelves)
        return [id for id, _ in asked.found]

    def _still_held(self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]]) -> bool:
        """Whether what was searched was not let go of meanwhile."""
        numbers = {shelf.number for shelf, _ in deltas}
        self._drop_erased(owner, view, numbers)
        if not numbers <= self._indexes.keys():
            return False
        for number in numbers:
            self._indexes.move_to_end(number)
        return True

    async def _search(self, shelves: Sequence[ShelfIndex], asked: _Asked) -> list[tuple[UUID, Found]]:
        if sum(shelf.passages for shelf in shelves) > _MANY:
            await asyncio.to_thread(asked.search, shelves)
        else:
            asked.search(shelves)
        return asked.found

    async def _fresh(
        self, owner: Owner, view: View, deltas: Sequence[tuple[Shelf, ShelfDelta]], before: int
    ) -> list[ShelfIndex]:
        """The view's indexes as of one moment at or after the call, beginning with what was seen.

        ``before`` counts the lettings go before that was read: later ones make it worthless.
        """
        while True:
            self._drop_erased(owner, view, {shelf.number for shelf, _ in deltas})
            indexes = [await self._apply(owner, shelf, delta, before) for shelf, delta in deltas]
            ready = [index for index in indexes if index is not None]
            if len(ready) == len(deltas):
                self._evict(keep={shelf.number for shelf, _ in deltas})
                return ready
            before = self._letting_go
            deltas = await self._passages.since(owner, view, self._mark)

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

    def let_go(self) -> None:
        """Drop every index and remembered word: something was erased; what is read next is built without it."""
        self._letting_go += 1
        self._indexes.clear()
        self._sizes.clear()
        self._locks.clear()
        self._held.clear()
        self._owners.clear()
        self.nbytes = 0
        self._forget()

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


async def _read(question: str, vector: NDArray[np.float32] | None, now: datetime) -> Question:
    if len(question) > _LONG_QUESTION:
        return await asyncio.to_thread(_understood, question, vector, now)
    return _understood(question, vector, now)


def _understood(question: str, vector: NDArray[np.float32] | None, now: datetime) -> Question:
    return Question(query_groups(question), vector, times_of(question, now))


async def _take_in(index: ShelfIndex, delta: ShelfDelta) -> None:
    if len(delta.rows) > _MANY_ROWS:
        await asyncio.to_thread(index.apply, delta)
    else:
        index.apply(delta)


def _passage_filter(types: frozenset[RecordType], only: Filter) -> PassageFilter:
    of_now = only.as_of is None and only.known_at is None
    return PassageFilter(
        types=frozenset(type_.value for type_ in types),
        kinds=None if only.kinds is None else frozenset(only.kinds),
        statuses=frozenset(only.statuses) if only.statuses is not None else HELD if of_now else None,
        not_statuses=TAKEN_BACK if only.as_of is not None else None if of_now else _WITHDRAWN,
        threads=None if only.thread is None else frozenset({only.thread.bytes}),
        since=None if only.since is None else micros(only.since),
        until=None if only.until is None else micros(only.until),
        valid_at=None if only.valid_at is None else micros(only.valid_at),
        as_of=None if only.as_of is None else micros(only.as_of),
        known_at=None if only.known_at is None else micros(only.known_at),
        agents=None if only.agent is None else frozenset({only.agent}),
        keys=only.keys,
        subjects=None if only.subject is None else frozenset({only.subject}),
        trusts=only.trust,
        tags=only.tags,
    )
