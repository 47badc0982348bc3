"""Hits: matches with their records, ranked by score and strength, folded, and with all their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.passages import Use
from memoranda.model.query import Filter, Hit
from memoranda.model.quoting import cited, source_of
from memoranda.model.records import PASSAGE_TYPES, Record, RecordType
from memoranda.recall.folding import RankedPassage, folded
from memoranda.recall.search import Match

#: A memory of full strength has a score higher by this share than one that has faded.
STRENGTH = 0.1
_NEVER = Use()


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """Matches with the records that were read for them, all of one moment."""

    found: Sequence[tuple[UUID, Match]]
    records: Mapping[UUID, Record]
    uses: Mapping[UUID, Use] = field(default_factory=dict)
    grounds: Mapping[UUID, Record] = field(default_factory=dict)


def ranked(read: FoundRecords, now: datetime, *, pinned_first: bool) -> list[RankedPassage]:
    """Return the matches that have a record, best first; the strength of a memory is taken at the full hour."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    passages = []
    for id, found in read.found:
        record = read.records.get(id)
        if record is not None:
            strength = _strength(record, read.uses, hour)
            score = found.score if strength is None else found.score * (1 + STRENGTH * strength)
            passages.append(RankedPassage(record, found, score, strength))
    if pinned_first:
        passages.sort(key=lambda one: (not getattr(one.record, "pinned", False), -one.score))
    else:
        passages.sort(key=lambda one: -one.score)
    return passages


def hits_of(
    passages: Sequence[RankedPassage], read: FoundRecords, limit: int, conditions: Mapping[str, Any]
) -> tuple[Hit, ...]:
    """Fold the passages and return at most ``limit`` hits, each with all its reasons."""
    hits: list[Hit] = []
    for one, others in folded(passages):
        if len(hits) == limit:
            break
        record, found = one.record, one.found
        hits.append(
            Hit(
                record,
                one.score,
                len(hits) + 1,
                found.words,
                found.scorer_scores,
                found.named,
                one.strength,
                0 if one.strength is None else read.uses.get(record.id, _NEVER).count,
                others,
                tuple(
                    source_of(source)
                    for id in cited(record)
                    if (source := read.grounds.get(id) or read.records.get(id)) is not None
                ),
                conditions,
            )
        )
    return tuple(hits)


def listed(read: FoundRecords, conditions: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Return the matches as hits that have a rank and no scores."""
    records = [read.records[id] for id, _ in read.found if id in read.records]
    return tuple(
        Hit(record, 0.0, rank, conditions=conditions) for rank, record in enumerate(records, start=1)
    )


def _strength(record: Record, uses: Mapping[UUID, Use], now: datetime) -> float | None:
    if not isinstance(record, Memory):
        return None
    return uses.get(record.id, _NEVER).strength_at(now, record.observed_at)


def conditions_of(types: frozenset[RecordType], only: Filter) -> dict[str, Any]:
    """Return the conditions that the caller set, by name."""
    given: dict[str, Any] = (
        {} if types == PASSAGE_TYPES else {"types": sorted(type_.value for type_ in types)}
    )
    for name in Filter.__dataclass_fields__:
        value = getattr(only, name)
        if value is None or value is False or name == "types":
            continue
        given[name] = sorted(value) if isinstance(value, frozenset) else value
    return given
