"""Settles a batch: each change in turn, then the guardrails that hold for all of them together."""

from __future__ import annotations

from typing import assert_never

from memoranda.errors import InvalidInput
from memoranda.model import changes as c
from memoranda.model.questions import Deciding
from memoranda.settle import caps, experience, memories, others, retracting, threads, undoing
from memoranda.settle.desk import Desk, Settlement


def settle(batch: c.Batch) -> Deciding[Settlement]:
    """Decide what a batch does; raises a typed error where it may do nothing."""
    desk = Desk(batch)
    yield from desk.check_expectations()
    superseding: list[memories.Pair] = []
    for desk.item, change in enumerate(batch.changes):
        yield from _one(desk, change, superseding)
    yield from memories.supersede_all(desk, superseding)
    yield from caps.check_run(desk)
    yield from caps.check_cap(desk)
    return Settlement(desk.standing(), desk.ignored, desk.tails, batch.jobs, {**batch.note, **desk.note})


def _one(desk: Desk, change: c.Change, superseding: list[memories.Pair]) -> Deciding[None]:
    match change:
        case c.Append():
            yield from threads.append(desk, change)
        case c.OpenThread():
            yield from threads.open_thread(desk, change)
        case c.SetThread():
            yield from threads.set_thread(desk, change)
        case c.CloseThread():
            yield from threads.close(desk, change)
        case c.MarkFormed():
            yield from threads.mark_formed(desk, change)
        case c.SummariseThread():
            yield from threads.summarise(desk, change)
        case c.RecordEpisode():
            yield from threads.record_episode(desk, change)
        case c.Remember():
            superseding += yield from memories.remember(desk, change)
        case c.Supersede():
            superseding.append(memories.Pair(desk.item, change.winner, change.loser))
        case c.Confirm():
            yield from memories.confirm(desk, change)
        case c.Retract():
            yield from memories.retract(desk, change)
        case c.RetractSource():
            yield from retracting.retract_source(desk, change)
        case c.Amend():
            yield from memories.amend(desk, change)
        case c.ChangeAudience():
            yield from memories.change_audience(desk, change)
        case c.PatchProfile():
            yield from others.patch_profile(desk, change)
        case c.AddExperience():
            yield from experience.add(desk, change)
        case c.AddEvidence():
            yield from experience.add_evidence(desk, change)
        case c.DoubtEvidence():
            yield from experience.doubt_evidence(desk, change)
        case c.ApproveExperience():
            yield from experience.approve(desk, change)
        case c.RetireExperience():
            yield from experience.retire(desk, change)
        case c.PutNamed():
            yield from others.put_named(desk, change)
        case c.RevokeKey():
            yield from others.revoke_key(desk, change)
        case c.Import():
            yield from others.import_record(desk, change)
        case c.Undo():
            if len(desk.batch.changes) > 1:
                raise InvalidInput("an undo is an operation of its own; send it alone", field="changes")
            yield from undoing.undo(desk, change)
        case _:
            assert_never(change)
