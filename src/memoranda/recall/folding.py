"""Folding: passages with the same statement, and a memory and its source, become one hit."""

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

#: Punctuation that ends a sentence. Any other sign may be the difference between two statements.
_END = re.compile(r"(?<=\w)[.!…]+$")


class RankedPassage(NamedTuple):
    """A match with its record and its final score."""

    record: Record
    found: Match
    score: float
    #: The strength of a memory that went into the score; None for other records.
    strength: float | None


def enough_to_fold(found: Sequence[Match], limit: int, spare: int) -> list[Match] | None:
    """Return the first matches, enough to fill ``limit`` hits after folding; None if there are too few.

    ``spare`` more are returned if memories are among them. Each match that repeats the words of an earlier one allows
    one more, and every other match with the same words is returned too.
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
    """Yield the passages that become hits, in their order, each with the passages folded into it.

    The best passage of a group becomes the hit. The others are related to that one, not to each other.
    """
    if not _may_fold(ranked):
        for one in ranked:
            yield one, ()
        return
    heads: dict[UUID, list[Folded]] = {}
    #: For each source that a hit cites, the first hit that cites it.
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
    """True if two passages have the same words, or one cites a source."""
    if len({one.found.kin for one in ranked}) < len(ranked):
        return True
    return any(one.strength is not None and _sources(one.record) for one in ranked)


def _sources(record: Record) -> tuple[UUID, ...]:
    """Return a memory's sources, unless there are many: those say more than the memory and stay hits of their own."""
    if isinstance(record, Memory) and len(record.sources) <= MOST_CITED:
        return record.sources
    return ()


def _same_as(record: Record, others: Sequence[Record]) -> UUID | None:
    return next((other.id for other in others if _says(other) == _says(record)), None) if others else None


def _says(record: Record) -> tuple[object, ...]:
    """Return a value that is equal for passages to fold. Recurring memories are never folded."""
    if isinstance(record, Message):
        return record.type, record.role, record.speaker, record.agent, record.trust, record.content
    if isinstance(record, Memory) and record.cardinality is not Cardinality.RECURRING:
        words = _END.sub("", " ".join(record.passage_text().casefold().split()))
        around = (record.kind, record.subject, record.applies_when, canonical(record.data), record.trust)
        return (record.type, record.status, record.valid_from, record.valid_to, *around, words)
    return (record.id,)
