"""Finds the memories that a call means by words, such as "my salary and my address", or by a
key.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from memoranda.book.forgetting.facts import PERSON, words_of
from memoranda.book.forgetting.look import says_the_same
from memoranda.book.input import Who, as_text, as_view
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.first_use import expression
from memoranda.model.memories import Memory
from memoranda.model.query import Filter, Hit, Hits
from memoranda.model.quotations import quote
from memoranda.model.records import Owner, Record, RecordType, View, those_of
from memoranda.ports import Engine
from memoranda.text.similarity import terms_in

#: A memory is meant if it has a word of the question and scores so many times as much as the next
#: one.
_CLEAR: Final = 1.5
#: Memories that are shown where a question may mean several, and of one key.
_CANDIDATES: Final = 10
_OF_KEY: Final = 1000
#: What joins the names of several facts.
_JOINS: Final = expression(
    r"\s*[,;&]\s*(?:(?:and|und|y|et)\s+)?|\s+(?:and|und|y|et)\s+", re.IGNORECASE
)

#: Recall, as a book has it.
Recall = Callable[..., Awaitable[Hits]]


@dataclass(frozen=True, slots=True)
class Meant:
    """The memories that are meant; or those that may be, where that is not clear."""

    memories: tuple[Memory, ...]
    scores: Mapping[UUID, float] = field(default_factory=dict)
    #: The argument that is not clear, and what it says.
    unclear: tuple[str, str] | None = None

    def sure(self) -> tuple[UUID, ...]:
        """Return the ids of the memories; raise ``NotFound`` or ``Conflict`` where it is not clear
        which are meant.
        """
        if self.unclear is None:
            return tuple(memory.id for memory in self.memories)
        name, said = self.unclear
        if not self.memories:
            lacks = "answers" if name == "about" else "has the key"
            raise NotFound(
                f"{name}: no memory that this view sees {lacks} {said!r}; nothing was forgotten"
            )
        listed = "; ".join(f"{memory.id} {quote(memory.content, 80)!r}" for memory in self.memories)
        raise Conflict(
            f"{name}: {said!r} may mean several memories, and nothing was forgotten; give the id of one: {listed}"
        )


async def meant(
    engine: Engine,
    recall: Recall,
    owner: Owner,
    who: Who,
    *,
    about: str | None = None,
    key: str | None = None,
) -> Meant:
    """Return the memories that words mean, or the memory with a key."""
    if about is None:
        return await _with_key(engine, owner, as_view(who), as_text(key, "key").strip())
    if not as_text(about, "about").strip():
        raise InvalidInput(
            "about: it is empty; say what to look for, as in about='where I live'", field="about"
        )
    whole = await _answering(engine, recall, owner, about, who)
    parts = [part for part in _JOINS.split(about) if words_of(part)]
    if len(parts) < 2 or (whole.unclear is None and _has_each(whole.memories[0], parts)):
        return whole
    found = [await _answering(engine, recall, owner, part, who) for part in parts]
    if unclear := next((one for one in found if one.unclear is not None), None):
        return unclear
    memories = {memory.id: memory for one in found for memory in one.memories}
    return Meant(
        tuple(memories.values()), {id: one.scores[id] for one in found for id in one.scores}
    )


async def _answering(engine: Engine, recall: Recall, owner: Owner, about: str, who: Who) -> Meant:
    """Return the memory that a question means; or the memories that it may mean, unclear."""
    hits = await recall(owner, about, limit=_CANDIDATES, types="memory", **who)
    scores = {hit.id: hit.score for hit in hits}
    by_words = [hit for hit in hits if hit.words]
    is_clear = by_words and by_words[0] is hits[0] and _is_clear(by_words, hits)
    records = await engine.get(owner, as_view(who), list(scores))
    found = those_of(Memory, [records[id] for id in scores if id in records])
    if is_clear and _is_of_whom(about, hits[0].record) and hits[0].id in records:
        return Meant((found[0],), scores)
    return Meant(tuple(found), scores, ("about", about))


def _has_each(memory: Memory, parts: Sequence[str]) -> bool:
    """True if a memory has a word of each part of a question: then the question names one fact."""
    told = terms_in(memory.passage_text())
    return all(any(not forms.isdisjoint(told) for _, forms in words_of(part)) for part in parts)


async def _with_key(engine: Engine, owner: Owner, view: View, key: str) -> Meant:
    """Return the memory that has a key, or had it last; with all that say the same under it."""
    only = Filter(types=frozenset({RecordType.MEMORY}), keys=frozenset({key}), newest_first=True)
    held = those_of(Memory, (await engine.scan(owner, view, only, None, _OF_KEY)).records)
    found = [memory for memory in held if memory.active] or held[:1]
    if found and all(says_the_same(memory, found[0]) for memory in found):
        return Meant(tuple(found))
    return Meant(tuple(found[:_CANDIDATES]), unclear=("key", key))


def _is_of_whom(about: str, record: Record) -> bool:
    """True if a memory is about the person whom a question names, such as "my sister's age", or
    about the owner if it names none.
    """
    said = " ".join(
        filter(None, (getattr(record, "subject", None), record.passage_text()))
    ).replace("_", " ")
    asked = {found[0].casefold() for found in PERSON.finditer(about)}
    told = {found[0].casefold() for found in PERSON.finditer(said)}
    return asked <= told if asked else PERSON.match(said) is None


def _is_clear(by_words: Sequence[Hit], hits: Sequence[Hit]) -> bool:
    return len(by_words) == 1 or hits[0].score >= _CLEAR * hits[1].score
