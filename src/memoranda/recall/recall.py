"""Recall: brings the indexes of a view up to date, searches them for a question, and reads the
records found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda import telemetry
from memoranda.errors import LimitReached
from memoranda.model.passages import Shelf, ShelfDelta, cited_by
from memoranda.model.query import Filter, Hit, Hits, MissingHit
from memoranda.model.records import Owner, RecordType, View
from memoranda.ports import Readable, SearchesLargeShelves
from memoranda.recall.absences import absences, unlisted
from memoranda.recall.hits import (
    MOST_USED,
    FoundRecords,
    conditions_of,
    hits_of,
    listed,
    most_used,
    ranked,
    sure,
)
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.indexed_views import IndexedViews, beside
from memoranda.recall.large import CandidateField, LargeShelfSearch
from memoranda.recall.request import MOST_CANDIDATES, SearchRequest, parse_question, passage_filter
from memoranda.recall.scoring.fields import Field
from memoranda.recall.scoring.search import Mode
from memoranda.text.terms import forget_words

#: Default of ``recall.index_bytes``: most memory that all indexes may take together.
INDEX_BYTES = 512 * 1024 * 1024
#: Default of ``recall.large_shelf``: shelves with at least so many passages are searched by the
#: engine, if it can.
LARGE_SHELF = 200_000
#: The longest question, in characters.
QUESTION_LENGTH = 10_000


class Recall(IndexedViews):
    """Finds passages of one engine for questions. Tasks of one event loop share it."""

    def __init__(
        self,
        engine: Readable,
        *,
        index_bytes: int = INDEX_BYTES,
        forget: Callable[[], None] = forget_words,
    ) -> None:
        super().__init__(engine, index_bytes=index_bytes, forget=forget)
        self._large = (
            LargeShelfSearch(engine.large_shelves)
            if isinstance(engine, SearchesLargeShelves)
            else None
        )

    @property
    def shelves(self) -> int:
        """The number of shelves whose indexes are cached."""
        return len(self.cache)

    @property
    def nbytes(self) -> int:
        """Bytes that the cached indexes take."""
        return self.cache.nbytes

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
        at_least: float | None = None,
        why_not: Sequence[UUID] | None = None,
        now: datetime,
    ) -> Hits:
        """Return the best passages for a question, best first.

        ``vector`` is the question's vector and ``vectors`` names the set that it can be compared
        with. Without a vector, or if the book reads another set, recall uses words alone.
        ``at_least`` leaves out hits with less confidence. ``now`` is the moment of the question:
        "last week" counts from it. ``why_not`` lists ids: for each that is no hit the result says
        why. If it is empty, the result says why for the passages that come right after the hits.
        """
        if len(question) > QUESTION_LENGTH:
            raise LimitReached(
                f"question: it has {len(question)} characters; shorten it to at most {QUESTION_LENGTH}",
                field="query",
            )
        with telemetry.span("recall"):
            if mode == MOST_USED:
                most = await most_used(self._engine, owner, view, limit, only)
                if not why_not:
                    return Hits(most)
                found = Hits(most)
                found.missing = unlisted(
                    why_not, await self._engine.get(owner, view, why_not), most
                )
                return found
            request = SearchRequest(
                await parse_question(question, vector, now),
                vectors,
                Mode(mode),
                limit,
                passage_filter(types, only, now),
                only if only.types == types else replace(only, types=types),
                pinned_first,
                at_least=at_least,
            )
            conditions = conditions_of(types, only)
            hits = sure(await self._hits(owner, view, request, conditions, now), at_least)
            missing = (
                () if why_not is None else await self._missing(owner, view, why_not, request, hits)
            )
        telemetry.count("recalls")
        found = Hits(hits)
        found.missing = missing
        found.reads = request.reads
        return found

    def clear(self) -> None:
        """Drop every index and every cached word, because something was erased."""
        if self._large is not None:
            self._large.forget()
        self.cache.clear()

    async def _hits(
        self,
        owner: Owner,
        view: View,
        request: SearchRequest,
        conditions: Mapping[str, Any],
        now: datetime,
    ) -> tuple[Hit, ...]:
        while True:
            found = await self._found(owner, view, request)
            if request.mode is Mode.RECENT:
                return listed(found, conditions, now)
            passages = ranked(found, now, pinned_first=request.pinned_first)
            hits = hits_of(passages, found, request.limit, conditions, now)
            if len(hits) == request.limit or not request.more or request.spare >= MOST_CANDIDATES:
                return hits
            # Folding left too few hits: read more candidates.
            request.spare = 4 * (request.spare + request.limit)

    async def _missing(
        self,
        owner: Owner,
        view: View,
        ids: Sequence[UUID],
        request: SearchRequest,
        hits: Sequence[Hit],
    ) -> tuple[MissingHit, ...]:
        clears = self.cache.clears
        deltas = await self._engine.since(owner, view, self.cache.mark)
        shelves = await self._updated(owner, view, deltas, clears)
        there = await self._engine.get(owner, view, ids)
        choose = partial(self._candidates, owner, view, request, deltas, shelves, ids)
        field: Field | None = await self._reading_data(owner, view, choose)
        if field is None:
            request, field = request.comparable(shelves), field_of(shelves)
        explain = partial(asyncio.to_thread, absences, ids, there, request, hits, field)
        return await self._reading_data(owner, view, explain)

    async def _candidates(
        self,
        owner: Owner,
        view: View,
        request: SearchRequest,
        deltas: Sequence[tuple[Shelf, ShelfDelta]],
        shelves: Sequence[ShelfIndex],
        also: Sequence[UUID] = (),
    ) -> CandidateField | None:
        """Return the candidates of a view that has shelves too large for memory; None if no shelf
        is too large.
        """
        large = {shelf.number: delta.mark for shelf, delta in deltas if delta.large}
        if not large or self._large is None:
            return None
        return await self._large.candidates(owner, view, request, large, shelves, also)

    async def _found(self, owner: Owner, view: View, request: SearchRequest) -> FoundRecords:
        """Search the view's indexes, and read the records of the matches."""
        shelves: list[ShelfIndex] = []
        # The first pass applies the deltas and the second one searches. If others wrote in between,
        # what is cached is searched as it is.
        for _ in range(2):
            clears = self.cache.clears
            sight = await self.cache.look(self._engine, owner, view, request.pick)
            numbers = {shelf.number for shelf, _ in sight.shelves}
            if sight.records is not None and self.cache.touch(owner, view, numbers):
                return FoundRecords(request.found, sight.records, sight.uses, sight.grounds)
            shelves = await self._updated(owner, view, sight.shelves, clears)
            if any(delta.large for _, delta in sight.shelves):
                break
        choose = partial(self._candidates, owner, view, request, sight.shelves, shelves)
        candidates = await self._reading_data(owner, view, choose)
        if candidates is not None:
            await self._reading_data(
                owner, view, partial(asyncio.to_thread, request.search_in, candidates)
            )
        else:
            await self._reading_data(owner, view, partial(beside, shelves, request.pick))
        return await self._read(owner, view, request)

    async def _read(self, owner: Owner, view: View, request: SearchRequest) -> FoundRecords:
        """Read the records of the matches, with their uses and the sources that they cite."""
        records = await self._engine.get(owner, view, [id for id, _ in request.found])
        memories = [id for id, record in records.items() if record.type is RecordType.MEMORY]
        uses = await self._engine.uses(owner, view, memories) if memories else {}
        cited = cited_by(records.values())
        return FoundRecords(
            request.found,
            records,
            uses,
            await self._engine.get(owner, view, cited) if cited else {},
        )
