"""Folding: passages that say the same, and a memory and what it rests on, become one hit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from commonplace.model.memories import Cardinality, Memory
from commonplace.model.messages import Message
from commonplace.model.query import Because, Folded
from commonplace.model.records import Record
from commonplace.recall.search import Found

#: However much says the same, no more than so many are looked at.
MOST_REACHED = 4000

_WORD = re.compile(r"\w+")


class Ranked(NamedTuple):
    """A passage that was found, with its record, and what it counts."""

    record: Record
    found: Found
    score: float


def reach(limit: int) -> int:
    """How many of the best are looked at, so that there are enough hits when some are folded."""
    return limit + max(4, limit // 2)


def enough(found: Sequence[Found], limit: int) -> list[Found] | None:
    """The best of them, as many as may be needed; None where there are too few.

    Each that repeats another's words makes room for one more; so does each memory beside what it may rest on.
    """
    kin: set[int] = set()
    spare = 0
    memories = others = 0
    for place, one in enumerate(found):
        if place >= limit + spare + min(memories, others):
            return [*found[:place], *(other for other in found[place:] if other.kin in kin)]
        spare += one.kin in kin
        kin.add(one.kin)
        memories += one.is_memory
        others += not one.is_memory
    return None


def folded(ranked: Sequence[Ranked]) -> Iterator[tuple[Ranked, tuple[Folded, ...]]]:
    """Those that stand for themselves, in their order, each with what is folded into it.

    The best of a group stands for it. Messages are the same where the same one says the very same, memories
    where case, punctuation and spacing alone tell them apart; what is done is never the same.
    """
    heads: dict[UUID, list[Folded]] = {}
    #: Of everything passed so far, what stands for it; and of every source named so far, what named it.
    standing: dict[UUID, UUID] = {}
    citing: dict[UUID, UUID] = {}
    by_kin: dict[int, list[Record]] = {}
    for one in ranked:
        record, cited = one.record, _sources(one.record)
        if (same := _same_as(record, by_kin.get(one.found.kin, ()))) is not None:
            head, because = same, Because.SAME
        elif record.id in citing:
            head, because = citing[record.id], Because.SOURCE
        elif (source := next((id for id in cited if id in standing), None)) is not None:
            head, because = standing[source], Because.CONCLUSION
        else:
            head = record.id
            heads[head] = []
            by_kin.setdefault(one.found.kin, []).append(record)
        standing[record.id] = head
        for id in cited:
            citing.setdefault(id, head)
        if head != record.id:
            heads[head].append(Folded(record, one.score, because))
    for one in ranked:
        if one.record.id in heads:
            yield one, tuple(heads[one.record.id])


def _sources(record: Record) -> tuple[UUID, ...]:
    return record.sources if isinstance(record, Memory) else ()


def _same_as(record: Record, others: Sequence[Record]) -> UUID | None:
    return next((other.id for other in others if _says(other) == _says(record)), None) if others else None


def _says(record: Record) -> tuple[object, ...]:
    """What two passages share that say the same; what happens again and again is told each time."""
    if isinstance(record, Message):
        return record.type, record.role, record.speaker, record.agent, record.content
    if isinstance(record, Memory) and record.cardinality is not Cardinality.RECURRING:
        words = " ".join(_WORD.findall(record.passage_text().casefold()))
        return record.type, record.status, record.subject, record.valid_from, record.valid_to, words
    return (record.id,)
