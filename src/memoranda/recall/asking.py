"""A recall request in the form in which indexes are searched, and the search itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as made
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.memories import HELD
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.model.values import micros
from memoranda.recall.dates import times_of
from memoranda.recall.fields import Field
from memoranda.recall.filters import PassageFilter
from memoranda.recall.folding import enough_to_fold
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.search import Match, Mode, SearchQuestion, search
from memoranda.settle.codec import TAKEN_BACK
from memoranda.text.terms import query_groups

#: Questions longer than this, in characters, are parsed in another thread.
_LONG_QUESTION = 1_000

#: Candidates read beyond the limit: strength may lift some of them, and folding needs replacements.
SPARE = 2
#: Candidates examined beyond those, because some repeat others.
_REPEATED = 4
#: Most candidates examined for one request, however many are folded.
MOST_CANDIDATES = 4000

#: The statuses read if the caller names none: those of current memories, and None for records without a status.
_READ: frozenset[str | None] = HELD | {None}
_WITHDRAWN = frozenset({"withdrawn"})
_MEMORIES = frozenset({RecordType.MEMORY.value})


@dataclass(slots=True)
class SearchRequest:
    """One recall request and its matches."""

    question: SearchQuestion
    #: The name of the set of vectors that the question's vector can be compared with.
    vectors: str
    mode: Mode
    limit: int
    only: PassageFilter
    #: The same conditions as ``only``, in the form that engines take.
    conditions: Filter
    pinned_first: bool = False
    #: Candidates read beyond the limit.
    spare: int = SPARE
    #: The matches, best first, and whether there are more.
    found: list[tuple[UUID, Match]] = made(default_factory=list)
    more: bool = False

    def search(self, shelves: Sequence[ShelfIndex]) -> None:
        """Search these shelves and keep the matches in ``found``."""
        self.comparable(shelves).search_in(field_of(shelves), self)

    def search_in(self, field: Field, result: SearchRequest | None = None) -> None:
        """Search a field and keep the matches in ``result``, by default in this request."""
        result = result or self
        best = self.best_in(field, self.limit) if self.mode is Mode.RECENT else self._enough(field, result)
        if self.pinned_first:
            pinned = replace(self.only, types=_MEMORIES, pinned=True)
            if self.only.types is None or self.only.types & _MEMORIES:
                first = self.best_in(field, self.limit, pinned)
                there = {hit.id for hit in first}
                best = first + [hit for hit in best if hit.id not in there]
        result.found = [(UUID(bytes=hit.id), hit) for hit in best]

    def _enough(self, field: Field, result: SearchRequest) -> list[Match]:
        """Return so many of the best matches that enough hits remain after folding."""
        most = self.limit + self.spare + _REPEATED
        while True:
            found = self.best_in(field, most)
            chosen = enough_to_fold(found, self.limit, self.spare)
            result.more = len(found) == most or chosen is not None
            if chosen is not None or len(found) < most or most >= MOST_CANDIDATES:
                return found if chosen is None else chosen
            most *= 4

    def comparable(self, shelves: Sequence[ShelfIndex]) -> SearchRequest:
        """Return this request, without its vector if these shelves have vectors of another set."""
        if any(shelf.vectors not in ("", self.vectors) for shelf in shelves):
            # Recall has switched to another embedding's set: search by words until the caller has that embedder.
            return replace(self, question=replace(self.question, vector=None))
        return self

    def best(self, shelves: Sequence[ShelfIndex], limit: int) -> list[Match]:
        """Return the best ``limit`` matches on these shelves."""
        return self.comparable(shelves).best_in(field_of(shelves), limit)

    def best_in(self, field: Field, limit: int, only: PassageFilter | None = None) -> list[Match]:
        """Return the best ``limit`` matches of a field."""
        only = self.only if only is None else only
        return search(field, self.question, limit=limit, only=only, mode=self.mode)


async def parse_question(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    """Find the words and times that a question names; a long question is parsed in another thread."""
    if len(question) > _LONG_QUESTION:
        return await asyncio.to_thread(_parsed, question, vector, now)
    return _parsed(question, vector, now)


def _parsed(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    return SearchQuestion(query_groups(question), vector, times_of(question, now))


def passage_filter(types: frozenset[RecordType], only: Filter) -> PassageFilter:
    """Convert the conditions of a caller into the filter that indexes take."""
    of_now = only.as_of is None and only.known_at is None
    return PassageFilter(
        types=frozenset(type_.value for type_ in types),
        kinds=None if only.kinds is None else frozenset(only.kinds),
        statuses=frozenset(only.statuses) if only.statuses is not None else _READ if of_now else None,
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
        pinned=only.pinned,
    )
