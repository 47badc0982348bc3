"""A recall request as the indexes take it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as made
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.language.words import LANGUAGES, table, words
from memoranda.model.memories import STANDING
from memoranda.model.query import Filter, Times
from memoranda.model.records import PASSAGE_TYPES, RecordType
from memoranda.model.values import micros
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.hits import enough_to_fold
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring.fields import Field
from memoranda.recall.scoring.matches import Match
from memoranda.recall.scoring.ranking import asks_you
from memoranda.recall.scoring.scorers import near_terms
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from memoranda.storage.rows import TAKEN_BACK
from memoranda.text.terms import query_groups

#: Tokens of words without which, and without a number, a question names no time.
_NAMING: Final = re.compile(r"DAY:|UU?:|S:|WEEKEND|HOL:|N:\d+ U:")
_WORD: Final = re.compile(r"\w+")
#: Shorter names of weekdays are other words as well: "do", "so".
_LONG_NAME: Final = 5
#: Letters that are one as small letters, too.
_LOOKALIKES: Final = str.maketrans("ſİı\u212a", "siik")


def times_of(question: str, now: datetime) -> Times:
    """Return the times that a question names; a day also counts as its month and its year, each as
    a separate time.

    So passages near a named day are found too, by its month, if there are none of that day.
    """
    text = question.translate(_LOOKALIKES).lower().replace("’", "'")
    said = _WORD.findall(text)
    if _time_words().isdisjoint(said) and not any(word[0].isdigit() for word in said):
        return ()
    from memoranda.recall.named_times import times_in  # noqa: PLC0415 - few questions name one

    return times_in(question, text, now)


@cache
def _time_words() -> frozenset[str]:
    phrases = [
        *chain(*(table(language, "months") for language in LANGUAGES)),
        *(
            [name for name in names if len(name) >= _LONG_NAME]
            for language in LANGUAGES
            for names in table(language, "weekdays")
        ),
        *(
            listed.split("|")
            for language in LANGUAGES
            for token, listed in words(language).items()
            if _NAMING.match(token)
        ),
    ]
    return frozenset(_WORD.findall(phrase)[-1] for phrase in chain(*phrases))


#: Questions longer than this, in characters, are parsed in another thread.
_LONG_QUESTION = 1_000

#: Candidates read beyond the limit: strength may lift some of them, and folding needs replacements.
SPARE = 2
#: Candidates examined beyond those, because some repeat others.
_REPEATED = 4
#: Most candidates examined for one request, however many are folded.
MOST_CANDIDATES = 4000

#: The statuses read if the caller names none: those of current memories, and None for records
#: without a status.
_READ: frozenset[str | None] = STANDING | {None}
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
    #: The least confidence of a hit.
    at_least: float | None = None
    #: Candidates read beyond the limit.
    spare: int = SPARE
    #: The matches, best first, and whether there are more.
    found: list[tuple[UUID, Match]] = made(default_factory=list)
    more: bool = False
    #: The name of the set of vectors that the book reads; empty if no passage told.
    reads: str = ""

    def search(self, shelves: Sequence[ShelfIndex]) -> None:
        """Search these shelves' indexes and store the matches in ``found``."""
        self.comparable(shelves).search_in(field_of(shelves), self)

    def pick(self, shelves: Sequence[ShelfIndex]) -> list[UUID]:
        """Search these shelves' indexes, store the matches in ``found``, and return their ids."""
        self.search(shelves)
        return [id for id, _ in self.found]

    def search_in(self, field: Field, result: SearchRequest | None = None) -> None:
        """Search a field (a sequence of passages) and store the matches in ``result``, by default
        in this request.
        """
        result = result or self
        best = (
            self.best_in(field, self.limit)
            if self.mode is Mode.RECENT
            else self._enough(field, result)
        )
        if self.pinned_first:
            pinned = replace(self.only, types=_MEMORIES, pinned=True)
            if self.only.types is None or self.only.types & _MEMORIES:
                first = self.best_in(field, self.limit, pinned)
                there = {hit.id for hit in first}
                best = first + [hit for hit in best if hit.id not in there]
        result.found = [(UUID(bytes=hit.id), hit) for hit in best]

    def _enough(self, field: Field, result: SearchRequest) -> list[Match]:
        """Return enough of the best matches to fill the limit after repetitions are folded into one
        hit.
        """
        most = self.limit + self.spare + _REPEATED
        while True:
            found = self.best_in(field, most)
            chosen = enough_to_fold(found, self.limit, self.spare)
            result.more = len(found) == most or chosen is not None
            if chosen is not None or len(found) < most or most >= MOST_CANDIDATES:
                return found if chosen is None else chosen
            most *= 4

    def comparable(self, shelves: Sequence[ShelfIndex]) -> SearchRequest:
        """Return this request; without its vector if the vectors of these shelves cannot be
        compared with it.
        """
        names = {shelf.vectors for shelf in shelves} - {""}
        others = names - {self.vectors}
        self.reads = min(others or names, default="")
        if others:
            # Recall has switched to another embedding's set: search by words until the caller has
            # that embedder.
            return replace(self, question=replace(self.question, vector=None))
        return self

    def best(self, shelves: Sequence[ShelfIndex], limit: int) -> list[Match]:
        """Return the best ``limit`` matches in these shelves' indexes."""
        return self.comparable(shelves).best_in(field_of(shelves), limit)

    def best_in(self, field: Field, limit: int, only: PassageFilter | None = None) -> list[Match]:
        """Return the best ``limit`` matches in a field of passages; ``only`` replaces the request's
        own filter.
        """
        only = self.only if only is None else only
        return search(
            field, self.question, limit=limit, only=only, mode=self.mode, vectors=self.vectors
        )


async def parse_question(
    question: str, vector: NDArray[np.float32] | None, now: datetime
) -> SearchQuestion:
    """Find the words and times that a question names; a long one is parsed in an operating-system
    thread.
    """
    if len(question) > _LONG_QUESTION:
        return await asyncio.to_thread(_parsed, question, vector, now)
    return _parsed(question, vector, now)


def _parsed(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    groups = query_groups(question)
    return SearchQuestion(
        groups, vector, times_of(question, now), near_terms(groups), asks_you(question)
    )


def passage_filter(
    types: frozenset[RecordType], only: Filter, now: datetime | None = None
) -> PassageFilter:
    """Convert the caller's conditions into the filter that the in-memory indexes take."""
    of_now = only.as_of is None and only.known_at is None
    return PassageFilter(
        types=frozenset(type_.value for type_ in types),
        kinds=None if only.kinds is None else frozenset(only.kinds),
        kind_prefix=only.kind_prefix,
        statuses=frozenset(only.statuses)
        if only.statuses is not None
        else _READ
        if of_now
        else None,
        not_statuses=TAKEN_BACK if only.as_of is not None else None if of_now else _WITHDRAWN,
        threads=None if only.thread is None else frozenset({only.thread.bytes}),
        since=None if only.since is None else micros(only.since),
        until=None if only.until is None else micros(only.until),
        valid_at=None if only.valid_at is None else micros(only.valid_at),
        as_of=None if only.as_of is None else micros(only.as_of),
        current_at=None if only.current_at is None else micros(only.current_at),
        read_at=None if now is None else micros(now),
        known_at=None if only.known_at is None else micros(only.known_at),
        agents=None if only.agent is None else frozenset({only.agent}),
        keys=only.keys,
        subjects=None if only.subject is None else frozenset({only.subject}),
        trusts=only.trust,
        tags=only.tags,
        pinned=only.pinned,
        data=only.data,
    )


def listing_filter(only: Filter, now: datetime | None) -> PassageFilter:
    """Convert conditions into the filter of the passages that a list shows: of every status, unless
    one is asked for.
    """
    filter = passage_filter(PASSAGE_TYPES if only.types is None else only.types, only, now)
    refused = _WITHDRAWN if only.as_of is None else TAKEN_BACK
    return replace(filter, statuses=only.statuses, not_statuses=refused)
