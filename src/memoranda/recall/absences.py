"""Explanations: why a passage is not among the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from uuid import UUID

import numpy as np

from memoranda.model.memories import Memory
from memoranda.model.query import Hit, MissingHit, WhyMissing
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.hits import whole_of
from memoranda.recall.request import SearchRequest
from memoranda.recall.scoring.fields import Field
from memoranda.recall.scoring.matches import Match
from memoranda.recall.scoring.search import Mode

_NOTHING = PassageFilter()
#: The least difference of a term that is told.
_VISIBLE = 0.001
#: The public names of conditions that have another name in an index.
_CALLED = {
    "threads": "thread",
    "agents": "agent",
    "subjects": "subject",
    "trusts": "trust",
    "not_statuses": "as_of",
    "current_at": "include_ended",
    "kind_prefix": "namespace",
}


def absences(
    ids: Sequence[UUID],
    records: Mapping[UUID, Record],
    asked: SearchRequest,
    hits: Sequence[Hit],
    field: Field,
) -> tuple[MissingHit, ...]:
    """Explain why each of these ids is no hit; without ids, explain it for the passages right after
    the hits.

    ``records`` has the ids that the view may see, and ``field`` has all passages of the view.
    """
    shown = {hit.id for hit in hits}
    every = _every(asked, field)
    asked_after = ids or list(every)
    wanted = [id for id in asked_after if id not in shown]
    if not ids:
        # As many as the caller's limit.
        wanted = wanted[: asked.limit]
    return tuple(_missing_hit(id, records.get(id), asked, hits, field, every) for id in wanted)


def unlisted(
    ids: Sequence[UUID], records: Mapping[UUID, Record], hits: Sequence[Hit]
) -> tuple[MissingHit, ...]:
    """Explain why these ids are not among the returned memories that were used most."""
    shown = {hit.id for hit in hits}
    missing = []
    for id in ids:
        record = records.get(id)
        if id in shown:
            continue
        if record is None:
            missing.append(_unknown(id))
        elif not isinstance(record, Memory):
            missing.append(
                MissingHit(id, WhyMissing.FILTERED, "it is not a memory; only memories are counted")
            )
        elif not record.active:
            missing.append(MissingHit(id, WhyMissing.FILTERED, f"it is {record.status.value}"))
        else:
            why = "others were used more, or are newer, or it does not meet a condition"
            missing.append(MissingHit(id, WhyMissing.OUTRANKED, why))
    return tuple(missing)


def _unknown(id: UUID) -> MissingHit:
    return MissingHit(id, WhyMissing.UNKNOWN, "this view can see no record with this id")


def _every(asked: SearchRequest, field: Field) -> dict[UUID, tuple[int, Match]]:
    """Return every match of the request by id, with its rank."""
    found = asked.best_in(field, field.living) if field.living else []
    return {UUID(bytes=one.id): (rank, one) for rank, one in enumerate(found, start=1)}


def _missing_hit(
    id: UUID,
    record: Record | None,
    asked: SearchRequest,
    hits: Sequence[Hit],
    field: Field,
    every: Mapping[UUID, tuple[int, Match]],
) -> MissingHit:
    if id in every:
        rank, found = every[id]
        if asked.mode is Mode.RECENT:
            return MissingHit(
                id, WhyMissing.OUTRANKED, f"others are newer: its rank is {rank}", rank
            )
        if asked.at_least is not None and (found.confidence or 0.0) < asked.at_least:
            why = (
                f"its confidence {found.confidence or 0.0:.2f} is below at_least {asked.at_least:g}"
            )
            return _missing_match(id, WhyMissing.UNSURE, why, every)
        return _outranked(id, hits, every)
    if record is None:
        return _unknown(id)
    if record.type not in PASSAGE_TYPES:
        sort = record.type.value
        return MissingHit(
            id,
            WhyMissing.NOT_A_PASSAGE,
            f"its type is {sort}; recall finds messages, memories and episodes only",
        )
    if unmet := _unmet(id, asked.only, field):
        return MissingHit(
            id, WhyMissing.FILTERED, f"it does not meet these conditions: {', '.join(unmet)}"
        )
    return MissingHit(id, WhyMissing.NO_MATCH, _unlike(asked))


def _missing_match(
    id: UUID, because: WhyMissing, why: str, every: Mapping[UUID, tuple[int, Match]]
) -> MissingHit:
    """Return the explanation for a match, with its score and its terms on the scale of the hits."""
    rank, found = every[id]
    whole = whole_of(match for _, match in every.values())
    return MissingHit(id, because, why, rank, found.score / whole, found.terms(whole))


def _outranked(
    id: UUID, hits: Sequence[Hit], every: Mapping[UUID, tuple[int, Match]]
) -> MissingHit:
    for hit in hits:
        for other in hit.folded:
            if other.record.id == id:
                why = f"it is folded into the hit {hit.id}: {other.because.value}"
                return _missing_match(id, WhyMissing.FOLDED, why, every)
    missing = _missing_match(id, WhyMissing.OUTRANKED, "", every)
    why = f"others match better: its rank is {missing.rank} and its score {missing.score:.3f}"
    if hits:
        why += f"; the last hit's score is {hits[-1].score:.3f}{_compared(missing, hits[-1])}"
    return replace(missing, reason=why)


def _compared(missing: MissingHit, hit: Hit) -> str:
    """Say which terms make the difference to a hit, the largest first."""
    mine, others = dict(missing.terms), dict(hit.terms)
    more = {name: others.get(name, 0.0) - mine.get(name, 0.0) for name in others | mine}
    told = [
        f"{name} {abs(amount):.3f} {'more' if amount > 0 else 'less'}"
        for name, amount in sorted(more.items(), key=lambda one: -abs(one[1]))
        if abs(amount) >= _VISIBLE
    ]
    return f" ({', '.join(told)})" if told else ""


def _unlike(asked: SearchRequest) -> str:
    if asked.mode is Mode.MEANING and asked.question.vector is None:
        return "the question has no vector"
    if asked.question.vector is None:
        return "neither it nor its neighbours contain a word of the question"
    return "it contains no word of the question, and its vector is not near the question's or not made yet"


def _unmet(id: UUID, only: PassageFilter, field: Field) -> list[str]:
    """Return the names of the conditions that a passage does not meet."""
    ids = field.ids(field.there).view("V16")
    here = field.there[np.flatnonzero(ids == np.void(id.bytes))]
    unmet = []
    for part in fields(PassageFilter):
        condition = getattr(only, part.name)
        if condition == part.default or part.name == "read_at":
            continue
        for name, one in condition.each() if part.name == "data" else [(part.name, condition)]:
            admitted = field.admitted(replace(_NOTHING, **{part.name: one}))
            if not np.isin(here, admitted).any():
                unmet.append(_CALLED.get(name, name))
    return list(dict.fromkeys(unmet))
