"""Contradictions: memories that say different things where one value holds at a time. They are
computed when read, and never stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.memories import Cardinality, Memory
from memoranda.text.scripts import comparable_text

#: The most words of a value in a statement without a key, and of the statement.
_VALUE, _STATEMENT = 4, 12
#: The fewest words that two statements without a key share.
_SHARED: Final = 2
#: A value holds no statement of its own.
_VERBS: Final = frozenset(
    "is are was were has have ist sind war hat es está son tiene est sont".split()
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A key or a relation under which a reader reads several values."""

    key: str | None
    subject: str | None
    #: The memories, the newest first.
    ids: tuple[UUID, ...]
    #: Without a key: the words that the memories share, such as "lives in …".
    shared: str | None = None


def contradictions(memories: Iterable[Memory], now: datetime | None = None) -> list[Contradiction]:
    """Return the contradictions among memories that one reader reads: nobody learns of what others
    alone read.
    """
    current = [one for one in memories if one.active and (now is None or one.holds_at(now))]
    return [
        Contradiction(group[0].key, group[0].subject, tuple(one.id for one in group))
        for group in contradicting(current)
    ] + [
        Contradiction(None, group[0].subject, tuple(one.id for one in group), " ".join(words))
        for words, group in _without_key(current)
    ]


def contradicting(memories: Iterable[Memory], now: datetime | None = None) -> list[list[Memory]]:
    """Return the memories of each key with several values, the newest first."""
    found: dict[tuple[str, str | None, str], list[Memory]] = {}
    for one in memories:
        if one.key is not None and one.active and (now is None or one.holds_at(now)):
            found.setdefault((one.key.casefold(), one.subject, one.applies_when), []).append(one)
    return [_newest_first(group) for group in found.values() if len(set(map(value_of, group))) > 1]


def _newest_first(group: Iterable[Memory]) -> list[Memory]:
    return sorted(group, key=lambda one: (one.observed_at, one.id), reverse=True)


def _without_key(memories: Iterable[Memory]) -> Iterator[tuple[tuple[str, ...], list[Memory]]]:
    """Yield statements that differ in their value only, at least one of them without a key, with
    the words that they share.
    """
    single = [one for one in memories if one.cardinality is Cardinality.ONE]
    if all(one.key is not None for one in single):
        return
    found: dict[tuple[str | None, str, tuple[str, ...]], dict[UUID, Memory]] = {}
    for one in single:
        for words in _relations(comparable_text(one.content).split()):
            found.setdefault((one.subject, one.applies_when, words), {})[one.id] = one
    seen: list[set[UUID]] = []
    # The largest groups first, and of equal ones what shares most words.
    for (_, _, words), group in sorted(
        found.items(), key=lambda item: (len(item[1]), len(item[0][2])), reverse=True
    ):
        keys = {one.key and one.key.casefold() for one in group.values()}
        if (
            None in keys
            and len(keys) <= 2
            and len({comparable_text(one.content) for one in group.values()}) > 1
            and not any(group.keys() <= ids for ids in seen)
        ):
            seen.append(set(group))
            yield words, _newest_first(group.values())


def _relations(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a statement without its value: its last words, or a number between others."""
    if len(words) <= _STATEMENT:
        for length in range(1, min(_VALUE, len(words) - _SHARED) + 1):
            if words[-length] in _VERBS:
                break
            yield (*words[:-length], "…")
        if len(words) > _SHARED:
            for place, word in enumerate(words[1:-1], 1):
                if word.isdecimal():
                    yield (*words[:place], "…", *words[place + 1 :])


def value_of(memory: Memory) -> str:
    """Return the value that a memory has under its key, in a form that is equal for equal
    values.
    """
    data = memory.data if isinstance(memory.data, dict) else {}
    # The value of an entry of EDDI's, or of a profile's field.
    holder = data.get("entry", data)
    if not isinstance(holder, dict) or "value" not in holder:
        return comparable_text(memory.content)
    value = holder["value"]
    return comparable_text(value) if isinstance(value, str) else json.dumps(value, sort_keys=True)
