"""Decides a batch: each change in turn, then the limits for all of them together."""

from __future__ import annotations

from typing import assert_never

from memoranda.errors import InvalidInput
from memoranda.model import changes as c
from memoranda.model.questions import Deciding
from memoranda.settle import caps, experience, memories, others, retracting, threads, undoing
from memoranda.settle.desk import BatchState, Decision


def decide_batch(batch: c.Batch) -> Deciding[Decision]:
    """Decide what a batch does; raises a typed error where it may do nothing."""
    state = BatchState(batch)
    yield from state.check_expectations()
    superseding: list[memories.Pair] = []
    for state.item, change in enumerate(batch.changes):
        yield from _one(state, change, superseding)
    if superseding:
        yield from memories.supersede_all(state, superseding)
    yield from caps.check_run(state)
    yield from caps.check_cap(state)
    return Decision(state.puts(), state.ignored, state.tails, batch.jobs, {**batch.note, **state.note})


def _one(state: BatchState, change: c.Change, superseding: list[memories.Pair]) -> Deciding[None]:
    match change:
        case c.Append():
            yield from threads.append(state, change)
        case c.OpenThread():
            yield from threads.open_thread(state, change)
        case c.SetThread():
            yield from threads.set_thread(state, change)
        case c.CloseThread():
            yield from threads.close(state, change)
        case c.MarkFormed():
            yield from threads.mark_formed(state, change)
        case c.SummariseThread():
            yield from threads.summarise(state, change)
        case c.RecordEpisode():
            yield from threads.record_episode(state, change)
        case c.Remember():
            superseding += yield from memories.remember(state, change)
        case c.Supersede():
            superseding.append(memories.Pair(state.item, change.winner, change.loser))
        case c.Confirm():
            yield from memories.confirm(state, change)
        case c.Retract():
            yield from memories.retract(state, change)
        case c.RetractSource():
            yield from retracting.retract_source(state, change)
        case c.Amend():
            yield from memories.amend(state, change)
        case c.ChangeAudience():
            yield from memories.change_audience(state, change)
        case c.PatchProfile():
            yield from others.patch_profile(state, change)
        case c.AddExperience():
            yield from experience.add(state, change)
        case c.AddEvidence():
            yield from experience.add_evidence(state, change)
        case c.DoubtEvidence():
            yield from experience.doubt_evidence(state, change)
        case c.ApproveExperience():
            yield from experience.approve(state, change)
        case c.RetireExperience():
            yield from experience.retire(state, change)
        case c.PutNamed():
            yield from others.put_named(state, change)
        case c.RevokeKey():
            yield from others.revoke_key(state, change)
        case c.Import():
            yield from others.import_record(state, change)
        case c.Undo():
            if len(state.batch.changes) > 1:
                raise InvalidInput(
                    "an undo must be the only change of its operation; send it alone", field="changes"
                )
            yield from undoing.undo(state, change)
        case _:
            assert_never(change)
