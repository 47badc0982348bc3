"""Hits: what was found, with its records: strength counted, what says the same folded, the reasons told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.model.memories import Memory, Use
from memoranda.model.query import Filter, Hit
from memoranda.model.quoting import cited, source_of
from memoranda.model.records import PASSAGE_TYPES, Record, RecordType
from memoranda.recall.folding import RankedPassage, folded
from memoranda.recall.search import Match

#: How much more a memory of full strength counts than one that has faded.
STRENGTH = 0.1
_NEVER = Use()


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """What was read for a search, all of one moment."""

    found: Sequence[tuple[UUID, Match]]
    records: Mapping[UUID, Record]
    uses: Mapping[UUID, Use] = field(default_factory=dict)
    grounds: Mapping[UUID, Record] = field(default_factory=dict)


def ranked(readings: FoundRecords, now: datetime, *, pinned_first: bool) -> list[RankedPassage]:
    """What was found and is there, best first, each memory by its strength at the hour that it is."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    passages = []
    for id, found in readings.found:
        record = readings.records.get(id)
        if record is not None:
            strength = _strength(record, readings.uses, hour)
            score = found.score if strength is None else found.score * (1 + STRENGTH * strength)
            passages.append(RankedPassage(record, found, score, strength))
    if pinned_first:
        passages.sort(key=lambda one: (not getattr(one.record, "pinned", False), -one.score))
    else:
        passages.sort(key=lambda one: -one.score)
    return passages


def hits_of(
    passages: Sequence[RankedPassage], readings: FoundRecords, limit: int, conditions: Mapping[str, Any]
) -> tuple[Hit, ...]:
    """So many hits, each with all its reasons."""
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
                found.arms,
                found.named,
                one.strength,
                0 if one.strength is None else readings.uses.get(record.id, _NEVER).count,
                others,
                tuple(
                    source_of(source)
                    for id in cited(record)
                    if (source := readings.grounds.get(id) or readings.records.get(id)) is not None
                ),
                conditions,
            )
        )
    return tuple(hits)


def listed(readings: FoundRecords, conditions: Mapping[str, Any]) -> tuple[Hit, ...]:
    """What was found as hits that nothing but their order tells of."""
    records = [readings.records[id] for id, _ in readings.found if id in readings.records]
    return tuple(
        Hit(record, 0.0, rank, conditions=conditions) for rank, record in enumerate(records, start=1)
    )


def _strength(record: Record, uses: Mapping[UUID, Use], now: datetime) -> float | None:
    if not isinstance(record, Memory):
        return None
    return uses.get(record.id, _NEVER).strength_at(now, record.observed_at)


def conditions_of(types: frozenset[RecordType], only: Filter) -> dict[str, Any]:
    """The conditions of a reader that were set, by name."""
    told: dict[str, Any] = {} if types == PASSAGE_TYPES else {"types": sorted(type_.value for type_ in types)}
    for name in Filter.__dataclass_fields__:
        value = getattr(only, name)
        if value is None or value is False or name == "types":
            continue
        told[name] = sorted(value) if isinstance(value, frozenset) else value
    return told
