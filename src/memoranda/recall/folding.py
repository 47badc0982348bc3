"""Folding: passages that say the same, and a memory and what it rests on, become one hit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from memoranda.model.memories import Cardinality, Memory
from memoranda.model.messages import Message
from memoranda.model.query import Because, Folded
from memoranda.model.quoting import MOST_CITED
from memoranda.model.records import Record
from memoranda.model.values import canonical
from memoranda.recall.search import Match

#: Signs that end a sentence, behind a word; any other sign may be what tells two statements apart.
_END = re.compile(r"(?<=\w)[.!…]+$")


class RankedPassage(NamedTuple):
    """A passage that was found, with its record, and what it counts."""

    record: Record
    found: Match
    score: float
    #: Of a memory, as it was counted.
    strength: float | None


def enough(found: Sequence[Match], limit: int, spare: int) -> list[Match] | None:
    """The best of them, so many more than asked for where memories are among them; None where there are too few.

    Each that repeats another's words makes room for one more, and comes with those that it repeats.
    """
    kin: set[int] = set()
    again = more = 0
    for place, one in enumerate(found):
        if place >= limit + again + more:
            return [*found[:place], *(other for other in found[place:] if other.kin in kin)]
        again += one.kin in kin
        more = spare if one.is_memory else more
        kin.add(one.kin)
    return None


def folded(ranked: Sequence[RankedPassage]) -> Iterator[tuple[RankedPassage, tuple[Folded, ...]]]:
    """Those that stand for themselves, in their order, each with what is folded into it.

    The best of a group stands for it, and all others of the group have to do with that one, not with each other.
    """
    if not _may_fold(ranked):
        for one in ranked:
            yield one, ()
        return
    heads: dict[UUID, list[Folded]] = {}
    #: Of every source that a head names, the first of those heads.
    citing: dict[UUID, UUID] = {}
    by_kin: dict[int, list[Record]] = {}
    for one in ranked:
        record, sources = one.record, _sources(one.record)
        if (same := _same_as(record, by_kin.get(one.found.kin, ()))) is not None:
            heads[same].append(Folded(record, one.score, Because.SAME))
        elif record.id in citing:
            heads[citing[record.id]].append(Folded(record, one.score, Because.SOURCE))
        elif len(sources) == 1 and sources[0] in heads:
            heads[sources[0]].append(Folded(record, one.score, Because.CONCLUSION))
        else:
            heads[record.id] = []
            by_kin.setdefault(one.found.kin, []).append(record)
            for id in sources:
                citing.setdefault(id, record.id)
    for one in ranked:
        if one.record.id in heads:
            yield one, tuple(heads[one.record.id])


def _may_fold(ranked: Sequence[RankedPassage]) -> bool:
    """Whether any has the words of another, or names a source."""
    if len({one.found.kin for one in ranked}) < len(ranked):
        return True
    return any(one.strength is not None and _sources(one.record) for one in ranked)


def _sources(record: Record) -> tuple[UUID, ...]:
    """What a memory rests on; of one that rests on many, they say more than it does, and stand beside it."""
    if isinstance(record, Memory) and len(record.sources) <= MOST_CITED:
        return record.sources
    return ()


def _same_as(record: Record, others: Sequence[Record]) -> UUID | None:
    return next((other.id for other in others if _says(other) == _says(record)), None) if others else None


def _says(record: Record) -> tuple[object, ...]:
    """What two passages share that say the same; what happens again and again is told each time."""
    if isinstance(record, Message):
        return record.type, record.role, record.speaker, record.agent, record.trust, record.content
    if isinstance(record, Memory) and record.cardinality is not Cardinality.RECURRING:
        words = _END.sub("", " ".join(record.passage_text().casefold().split()))
        around = (record.kind, record.subject, record.applies_when, canonical(record.data), record.trust)
        return (record.type, record.status, record.valid_from, record.valid_to, *around, words)
    return (record.id,)
