"""Contradictions: memories of one key that say different things. They are computed when read, and
never stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.memories import Memory
from memoranda.text.scripts import comparable_text


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A key under which a reader reads several values."""

    key: str
    subject: str | None
    #: The memories, the newest first.
    ids: tuple[UUID, ...]


def contradictions(memories: Iterable[Memory], now: datetime | None = None) -> list[Contradiction]:
    """Return the contradictions among memories that one reader reads: nobody learns of what others
    alone read.
    """
    return [
        Contradiction(group[0].key or "", group[0].subject, tuple(one.id for one in group))
        for group in contradicting(memories, now)
    ]


def contradicting(memories: Iterable[Memory], now: datetime | None = None) -> list[list[Memory]]:
    """Return the memories of each contradiction, the newest first."""
    found: dict[tuple[str, str | None, str], list[Memory]] = {}
    for one in memories:
        if one.key is not None and one.active and (now is None or one.holds_at(now)):
            found.setdefault((one.key.casefold(), one.subject, one.applies_when), []).append(one)
    return [
        sorted(group, key=lambda one: (one.observed_at, one.id), reverse=True)
        for group in found.values()
        if len(set(map(value_of, group))) > 1
    ]


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
