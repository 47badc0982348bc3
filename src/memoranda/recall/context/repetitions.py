"""Repetitions between the blocks of a context: of what two blocks would tell, the better-sourced
one stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias
from uuid import UUID

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record, RecordType
from memoranda.recall.context.blocks import ContextEntry, FieldPlace, merged
from memoranda.recall.context.same_statements import (
    Statement,
    of_memory,
    of_value,
    own_words,
    statement_of,
)
from memoranda.text.scripts import comparable_text

#: What an entry tells: a record, or a field of a schema.
Key: TypeAlias = UUID | tuple[str, str]


def key_of(entry: ContextEntry) -> Key:
    """Return what an entry tells."""
    return (entry.order[0], entry.order[1]) if entry.type is RecordType.PROFILE else entry.id


def each_once(messages: Sequence[Message], known: Iterable[Record]) -> list[Message]:
    """Return the messages that are not known, without those that have the same words as one before
    them.
    """
    ids, found = {record.id for record in known}, dict[str, Message]()
    for message in messages:
        if message.id not in ids:
            found.setdefault(comparable_text(message.content), message)
    return [*found.values()]


class _Told(NamedTuple):
    """A statement of a profile or of an agent's experience."""

    key: Key
    statement: Statement
    sources: int
    #: The place of an item in a list.
    item: FieldPlace | None = None
    #: The record that a field was taken from: where it is a memory, both are one statement.
    source: UUID | None = None


class Repetitions:
    """Finds the statements that the profile, the memories and the experience of one context tell
    twice.
    """

    def __init__(
        self,
        experience: Sequence[ExperienceLine],
        profile: Sequence[ProfileDocument],
        memories: Sequence[Memory],
        standing: Sequence[UUID],
    ) -> None:
        #: What is left out → what tells it.
        self.told_by: dict[Key, Key] = {}
        #: Items of lists that a memory tells.
        self.items: set[FieldPlace] = set()
        self._statements: dict[Key, Statement] = {}
        if not memories or not (experience or profile):
            return
        self._own = frozenset(
            word for one in profile for word in own_words(one.owner.id, one.body)
        ) or own_words(memories[0].owner.id, {})
        by_word: dict[str, list[_Told]] = {}
        held: dict[UUID | None, list[_Told]] = {}
        for told in (*self._of_profile(profile), *_of_experience(experience)):
            held.setdefault(told.source, []).append(told)
            for word in told.statement.words:
                by_word.setdefault(word, []).append(told)
        for memory in memories:
            statement = of_memory(memory, self._own)
            near = {id(told): told for word in statement.words for told in by_word.get(word, ())}
            near |= {id(told): told for told in held.get(memory.id, ())}
            for told in near.values():
                same = statement.same_as(told.statement) and not (memory.subject and told.item)
                if told.source == memory.id:
                    # One statement: the memory stays where it says more than the value of the field
                    # that it holds.
                    more = not same or memory.id in standing or _has_more(memory)
                    self.told_by |= {told.key: memory.id} if more else {memory.id: told.key}
                elif same:
                    self._decide(memory, told, memory.id in standing)
        self._drop_emptied(profile)

    def _of_profile(self, profile: Sequence[ProfileDocument]) -> Iterator[_Told]:
        for (schema, field), document in merged(profile).items():
            value, grounds = document.body[field], document.grounds_of(field)
            if isinstance(value, (list, tuple)):
                for at, (item, sources) in enumerate(zip(value, grounds, strict=True)):
                    place = FieldPlace(schema, field, at)
                    yield _Told(
                        (schema, field), of_value(field, item, self._own), len(sources), place
                    )
            else:
                source = grounds[0][0] if len(grounds[0]) == 1 else None
                yield _Told(
                    (schema, field),
                    of_value(field, value, self._own),
                    len(grounds[0]),
                    source=source,
                )

    def _decide(self, memory: Memory, told: _Told, standing: bool) -> None:
        says_more = (
            standing or memory.pinned or memory.valid_to is not None or bool(memory.applies_when)
        )
        if not says_more and memory.source_count <= told.sources:
            self.told_by[memory.id] = told.key
        elif told.item is not None:
            self.items.add(told.item)
        else:
            self.told_by[told.key] = memory.id

    def _drop_emptied(self, profile: Sequence[ProfileDocument]) -> None:
        """Leave a list whole if memories tell all its items: then they are left out for it."""
        for (schema, field), document in merged(profile).items():
            value = document.body[field]
            if isinstance(value, (list, tuple)):
                places = {FieldPlace(schema, field, at) for at in range(len(value))}
                if places <= self.items:
                    self.items -= places


def _has_more(memory: Memory) -> bool:
    """True if a memory says when it applies, is valid, or happened."""
    times = (memory.valid_from, memory.valid_to, memory.happened)
    return bool(memory.applies_when) or any(time is not None for time in times)


def _of_experience(experience: Sequence[ExperienceLine]) -> Iterator[_Told]:
    for line in experience:
        yield _Told(line.id, statement_of(line.line), len(line.stands_on()))


def statements_of(
    memories: Sequence[Memory],
    experience: Sequence[ExperienceLine],
    profile: Sequence[ProfileDocument],
) -> dict[Key, list[Statement]]:
    """Return what each record and field of a context tells."""
    found: dict[Key, list[Statement]] = {memory.id: [of_memory(memory, ())] for memory in memories}
    found |= {line.id: [statement_of(line.line)] for line in experience}
    for place, document in merged(profile).items():
        value = document.body[place[1]]
        values = value if isinstance(value, (list, tuple)) else [value]
        found[place] = [of_value(place[1], one, ()) for one in values]
    return found
