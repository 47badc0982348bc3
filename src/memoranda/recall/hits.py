"""Hits: matches with their records, ranked; repetitions and cited sources are folded into the best
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass, expression
from memoranda.model.data_filters import DataFilter
from memoranda.model.memories import HELD, Cardinality, Memory
from memoranda.model.messages import Message
from memoranda.model.passages import MOST_CITED, UNUSED, Use, cited
from memoranda.model.query import Because, Filter, Folded, Hit
from memoranda.model.records import PASSAGE_TYPES, Owner, Record, RecordType, View
from memoranda.model.values import canonical
from memoranda.ports import Readable
from memoranda.recall.scoring.matches import Match
from memoranda.text.excerpts import find_excerpt
from memoranda.text.origins import source_of
from memoranda.text.written_days import is_past

#: Punctuation that ends a sentence. Any other sign may be the difference between two statements.
_END = expression(r"(?<=\w)[.!…]+$")


class RankedPassage(NamedTuple):
    """A match with its record and its final score: the best match has 1, and more by its
    strength.
    """

    record: Record
    found: Match
    score: float
    #: The strength of a memory that went into the score; None for other records.
    strength: float | None


def enough_to_fold(found: Sequence[Match], limit: int, spare: int) -> list[Match] | None:
    """Return enough of the first matches to fill ``limit`` hits after repetitions are folded in;
    None if too few.

    ``spare`` more are returned if memories are among them. Each match that repeats the words of an
    earlier one allows one more, and every other match with the same words is returned too.
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

    The best passage of a group becomes the hit. The others are related to that one, not to each
    other.
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
    """Return a memory's sources, unless there are many: those say more than the memory and stay
    hits of their own.
    """
    if isinstance(record, Memory) and len(record.sources) <= MOST_CITED:
        return record.sources
    return ()


def _same_as(record: Record, others: Sequence[Record]) -> UUID | None:
    return (
        next((other.id for other in others if _says(other) == _says(record)), None)
        if others
        else None
    )


def _says(record: Record) -> tuple[object, ...]:
    """Return a value that is equal for passages to fold. Recurring memories are never folded."""
    if isinstance(record, Message):
        return record.type, record.role, record.speaker, record.agent, record.trust, record.content
    if isinstance(record, Memory) and record.cardinality is not Cardinality.RECURRING:
        words = _END.sub("", " ".join(record.passage_text().casefold().split()))
        around = (
            record.kind,
            record.subject,
            record.applies_when,
            canonical(record.data),
            record.trust,
            record.disputes,
        )
        times = (record.valid_from, record.valid_to, record.happened)
        return (record.type, record.status, *times, *around, words)
    return (record.id,)


#: A memory of full strength has a score higher by this share than one that has faded.
STRENGTH = 0.1


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """Matches with the records that were read for them, their uses, and the records that they
    cite.
    """

    found: Sequence[tuple[UUID, Match]]
    records: Mapping[UUID, Record]
    uses: Mapping[UUID, Use] = field(default_factory=dict)
    grounds: Mapping[UUID, Record] = field(default_factory=dict)

    @property
    def whole(self) -> float:
        """The best score of all matches."""
        return whole_of(match for _, match in self.found)


def whole_of(found: Iterable[Match]) -> float:
    """Return the best score of these matches, which is shown as 1."""
    return max((match.score for match in found), default=0.0) or 1.0


def ranked(read: FoundRecords, now: datetime, *, pinned_first: bool) -> list[RankedPassage]:
    """Return the matches that have a record, best first; the strength of a memory is taken at the
    full hour.
    """
    hour = now.replace(minute=0, second=0, microsecond=0)
    whole = read.whole
    passages = []
    for id, found in read.found:
        record = read.records.get(id)
        if record is not None:
            strength = _strength(record, read.uses, hour)
            score = found.score / whole * (1 + STRENGTH * (strength or 0.0))
            passages.append(RankedPassage(record, found, score, strength))
    if pinned_first:
        passages.sort(key=lambda one: (not getattr(one.record, "pinned", False), -one.score))
    else:
        passages.sort(key=lambda one: -one.score)
    return passages


def hits_of(
    passages: Sequence[RankedPassage],
    read: FoundRecords,
    limit: int,
    conditions: Mapping[str, Any],
    now: datetime,
) -> tuple[Hit, ...]:
    """Fold the passages and return at most ``limit`` hits, each with all its reasons."""
    hits: list[Hit] = []
    whole = read.whole
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
                found.cosine,
                one.strength,
                0 if one.strength is None else read.uses.get(record.id, UNUSED).count,
                others,
                tuple(
                    [
                        source_of(source, record)
                        for id in cited(record)
                        if (source := read.grounds.get(id) or read.records.get(id)) is not None
                    ]
                ),
                conditions,
                terms_of(found, whole, one.strength),
                found.near_words,
                found.confidence,
                _past(record, now),
                find_excerpt,
            )
        )
    return tuple(hits)


def terms_of(found: Match, whole: float, strength: float | None) -> tuple[tuple[str, float], ...]:
    """Return the terms of a hit's score, with what its strength adds."""
    more = STRENGTH * (strength or 0.0) * found.score / whole
    return (*found.terms(whole), ("strength", more)) if more else found.terms(whole)


def sure(hits: Sequence[Hit], least: float | None) -> tuple[Hit, ...]:
    """Return the hits with at least this confidence, ranked anew."""
    if least is None:
        return tuple(hits)
    kept = [hit for hit in hits if hit.confidence is not None and hit.confidence >= least]
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1))


def listed(read: FoundRecords, conditions: Mapping[str, Any], now: datetime) -> tuple[Hit, ...]:
    """Return the matches as hits with a rank but without scores."""
    records = [read.records[id] for id, _ in read.found if id in read.records]
    return tuple(
        Hit(
            record,
            0.0,
            rank,
            conditions=conditions,
            past=_past(record, now),
            find_excerpt=find_excerpt,
        )
        for rank, record in enumerate(records, start=1)
    )


def _past(record: Record, now: datetime) -> bool:
    return isinstance(record, Memory) and is_past(record, now)


def _strength(record: Record, uses: Mapping[UUID, Use], now: datetime) -> float | None:
    if not isinstance(record, Memory):
        return None
    return uses.get(record.id, UNUSED).strength_at(now, record.observed_at)


def conditions_of(types: frozenset[RecordType], only: Filter) -> dict[str, Any]:
    """Return the conditions that the caller set, by name."""
    given: dict[str, Any] = (
        {} if types == PASSAGE_TYPES else {"types": sorted(type_.value for type_ in types)}
    )
    for name in Filter.__dataclass_fields__:
        value = getattr(only, name)
        if value is None or value is False or name in ("types", "current_at"):
            continue
        if isinstance(value, DataFilter):
            given |= value.as_given()
            continue
        given[name] = sorted(value) if isinstance(value, frozenset) else value
    return given


#: The mode's name.
MOST_USED = "most_used"
#: One place in so many is for the newest memories.
_NEWEST_SHARE = 5


async def most_used(
    engine: Readable, owner: Owner, view: View, limit: int, only: Filter
) -> tuple[Hit, ...]:
    """Return the memories most often used; some of the ``limit`` hits are reserved for the newest
    memories.
    """
    statuses = HELD if only.statuses is None else only.statuses
    of_memories = replace(only, types=frozenset({RecordType.MEMORY}), statuses=statuses)
    reserved = max(1, limit // _NEWEST_SHARE) if limit > 1 else 0
    most = await engine.most_used(owner, view, of_memories, limit - reserved)
    page = await engine.scan(owner, view, replace(of_memories, newest_first=True), None, limit)
    newest = [record.id for record in page.records if record.id not in most]
    ids = [*most, *newest[: limit - len(most)]]
    records = await engine.get(owner, view, ids)
    uses = await engine.uses(owner, view, ids)
    conditions = conditions_of(frozenset({RecordType.MEMORY}), only)
    found = [(record, uses[id].count if id in uses else 0) for id, record in records.items()]
    return tuple(
        Hit(
            record, float(count), rank, uses=count, conditions=conditions, find_excerpt=find_excerpt
        )
        for rank, (record, count) in enumerate(found, start=1)
    )
