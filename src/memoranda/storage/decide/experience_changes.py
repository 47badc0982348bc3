"""Decides changes to lines of experience: their evidence, and if they are in use."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    ApproveExperience,
    DoubtEvidence,
    RetireExperience,
)
from memoranda.model.experience_lines import MOST_SOURCES, MOST_USERS, Evidence, ExperienceLine
from memoranda.model.ledger import Verb
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import ErasedAmong
from memoranda.storage.use_case import Deciding, ask


def add(state: BatchState, change: AddExperience) -> Deciding[None]:
    """Add a line to an agent's experience, unless all its evidence has been forgotten."""
    line, evidence = change.line, []
    for part in line.evidence:
        left = yield from _still_there(part)
        if left is not None:
            evidence.append(left)
    if len(evidence) < len(line.evidence) and not line.outlives(evidence):
        state.ignore("erased", line.id)
        return
    held = yield from state.holder(line)
    if not isinstance(held, ExperienceLine):
        state.make(line.changed(evidence=_bounded(evidence)), Verb.ADD)
        return
    if held.retired_at is not None:
        state.ignore("retired", held.id)
        return
    # Another user's records have taught the same line already: it stays one line.
    for part in evidence:
        yield from add_evidence(state, AddEvidence(held.id, part))
    if line.approved_at is not None and held.approved_at is None:
        yield from approve(state, ApproveExperience(held.id))
    elif not evidence:
        state.ignore("present", held.id)


def add_evidence(state: BatchState, change: AddEvidence) -> Deciding[None]:
    """Add a user's records to the evidence of an experience line; records that it has already
    change nothing.
    """
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("retired", line.id)
        return
    given = yield from _still_there(change.evidence)
    if given is None:
        state.ignore("erased", line.id)
        return
    held = line.part_of(given.owner)
    if held is None and given not in _bounded([*line.evidence, given]):
        state.ignore("enough", line.id)
        return
    merged = given if held is None else _merged(held, given)
    if held is not None and merged == held:
        state.ignore("unchanged", line.id)
        return
    _put(state, line, merged, Verb.CONFIRM)


def _bounded(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return as much evidence as one line may have, always with one part that failed the privacy
    check if any did.
    """
    kept, rest = evidence[:MOST_USERS], evidence[MOST_USERS:]
    told = (
        []
        if any(part.guarded_at is None for part in kept)
        else [p for p in rest if p.guarded_at is None]
    )
    return (*kept, *told[:1])


def _still_there(evidence: Evidence) -> Deciding[Evidence | None]:
    """Return the evidence without records that were erased; None if no record is left."""
    return evidence.without((yield from ask(ErasedAmong(evidence.records))))


def _merged(held: Evidence, given: Evidence) -> Evidence:
    """Merge more evidence of one user; a privacy check with another result than before replaces the
    earlier one.
    """
    new = [id for id in given.sources if id not in held.records][
        : max(MOST_SOURCES - len(held.sources), 0)
    ]
    same = (held.guarded_at is None) == (given.guarded_at is None)
    guarded_at = held.guarded_at if same else given.guarded_at
    return held.model_copy(update={"sources": (*held.sources, *new), "guarded_at": guarded_at})


def doubt_evidence(state: BatchState, change: DoubtEvidence) -> Deciding[None]:
    """Mark records as faulty evidence of an experience line, or as valid again."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    held = line.part_of(change.owner)
    meant = set(change.records)
    if held is None or meant.isdisjoint(held.sources if change.faulty else held.faulty):
        state.ignore("unchanged", line.id)
        return
    faulty = {id for id in held.records if (change.faulty if id in meant else id in held.faulty)}
    turned = held.model_copy(
        update={"sources": _in(held, faulty, False), "faulty": _in(held, faulty, True)}
    )
    _put(state, line, turned, Verb.RETRACT if change.faulty else Verb.CONFIRM)


def _in(evidence: Evidence, some: set[UUID], inside: bool) -> tuple[UUID, ...]:
    return tuple(id for id in evidence.records if (id in some) is inside)


def _put(state: BatchState, line: ExperienceLine, part: Evidence, verb: Verb) -> None:
    """Store a line with one user's evidence replaced or added."""
    parts = {each.owner: each for each in line.evidence} | {part.owner: part}
    state.put(line.changed(evidence=tuple(parts.values())), verb)


def approve(state: BatchState, change: ApproveExperience) -> Deciding[None]:
    """Approve an experience line for every user, or withdraw the approval."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("retired", line.id)
    elif (line.approved_at is not None) is change.approved:
        state.ignore("unchanged", line.id)
    else:
        state.put(line.changed(approved_at=state.batch.at if change.approved else None), Verb.AMEND)


def retire(state: BatchState, change: RetireExperience) -> Deciding[None]:
    """Retire an experience line, so that it is no longer shown to agents."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("unchanged", line.id)
        return
    state.put(line.changed(retired_at=state.batch.at, reason=change.reason), Verb.RETIRE)
