"""A question as recall puts it to its indexes, and the search that it asks for."""

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
from memoranda.recall.folding import enough
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.search import Match, Mode, SearchQuestion, search
from memoranda.settle.codec import TAKEN_BACK
from memoranda.text.terms import query_groups

#: The longest question whose words are read on the event loop, in characters.
_LONG_QUESTION = 1_000

#: What is read beside what was asked for, in the ordinary case; and what is looked at for repetitions.
SPARE = 2
_TWINS = 4
#: However much is folded, no more than so many are looked at.
MOST_REACHED = 4000

#: What is read when no status is asked for: memories that are held, and what has no status.
_READ: frozenset[str | None] = HELD | {None}
_WITHDRAWN = frozenset({"withdrawn"})
_MEMORIES = frozenset({RecordType.MEMORY.value})


@dataclass(slots=True)
class SearchRequest:
    """A question, and what was found for it."""

    question: SearchQuestion
    #: The set whose vectors the question's can be compared with.
    vectors: str
    mode: Mode
    limit: int
    only: PassageFilter
    #: The same as an engine knows it.
    conditions: Filter
    pinned_first: bool = False
    #: How many more of the best are read than are asked for: strength may lift them, folds make room for them.
    spare: int = SPARE
    #: What was found, best first, and whether there is more.
    found: list[tuple[UUID, Match]] = made(default_factory=list)
    more: bool = False

    def search(self, shelves: Sequence[ShelfIndex]) -> None:
        """Find what answers it on these shelves."""
        self.comparable(shelves).search_in(field_of(shelves), self)

    def search_in(self, field: Field, told: SearchRequest | None = None) -> None:
        """Find what answers it in a field, and tell it."""
        told = told or self
        best = self.best_in(field, self.limit) if self.mode is Mode.RECENT else self._enough(field, told)
        if self.pinned_first:
            pinned = replace(self.only, types=_MEMORIES, pinned=True)
            if self.only.types is None or self.only.types & _MEMORIES:
                first = self.best_in(field, self.limit, pinned)
                there = {hit.id for hit in first}
                best = first + [hit for hit in best if hit.id not in there]
        told.found = [(UUID(bytes=hit.id), hit) for hit in best]

    def _enough(self, field: Field, told: SearchRequest) -> list[Match]:
        """As many of the best as leave enough hits once what says the same is folded."""
        most = self.limit + self.spare + _TWINS
        while True:
            found = self.best_in(field, most)
            chosen = enough(found, self.limit, self.spare)
            told.more = len(found) == most or chosen is not None
            if chosen is not None or len(found) < most or most >= MOST_REACHED:
                return found if chosen is None else chosen
            most *= 4

    def comparable(self, shelves: Sequence[ShelfIndex]) -> SearchRequest:
        """The same, as it can be asked of these shelves."""
        if any(shelf.vectors not in ("", self.vectors) for shelf in shelves):
            # Another embedding's set has taken over: words alone, until the asker has noticed.
            return replace(self, question=replace(self.question, vector=None))
        return self

    def best(self, shelves: Sequence[ShelfIndex], limit: int) -> list[Match]:
        """So many of the best on these shelves."""
        return self.comparable(shelves).best_in(field_of(shelves), limit)

    def best_in(self, field: Field, limit: int, only: PassageFilter | None = None) -> list[Match]:
        """So many of the best of a field."""
        only = self.only if only is None else only
        return search(field, self.question, limit=limit, only=only, mode=self.mode)


async def understood(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    """A question's words and times; a long one is read beside the event loop."""
    if len(question) > _LONG_QUESTION:
        return await asyncio.to_thread(_understood, question, vector, now)
    return _understood(question, vector, now)


def _understood(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    return SearchQuestion(query_groups(question), vector, times_of(question, now))


def passage_filter(types: frozenset[RecordType], only: Filter) -> PassageFilter:
    """A reader's conditions as an index knows them."""
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
