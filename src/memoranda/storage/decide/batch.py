"""Decides a batch: each change in turn, then the limits for all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from memoranda.errors import InvalidInput, LimitReached
from memoranda.model import changes as c
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.storage.decide import memory_changes, other_changes, thread_changes, undo
from memoranda.storage.decide.state import BatchState, Decision, held_gain
from memoranda.storage.questions import CountActive, CountRun, OldestOwn
from memoranda.storage.use_case import Deciding, ask


def check_run(state: BatchState) -> Deciding[None]:
    """Refuse more statements than one run, or one call, may write."""
    limit = state.batch.limits.writes_per_run
    counts: dict[bytes | None, int] = {}
    for put in state.puts():
        if put.verb is Verb.REMEMBER:
            counts[put.run] = counts.get(put.run, 0) + 1
    for run, count in counts.items():
        before = 0 if run is None else (yield from ask(CountRun(run)))
        if before + count > limit:
            raise LimitReached(
                f"Maximum writes per run ({limit}) reached. Try again in the next turn.", field="statements"
            )


def check_cap(state: BatchState) -> Deciding[None]:
    """Keep the owner's memories within the limit: evict the writer's own oldest memories, or raise ``LimitReached``."""
    net = sum(held_gain(put.before, put.record) for put in state.puts())
    if net <= 0:
        return
    limits = state.batch.limits
    held = yield from ask(CountActive())
    over = held + net - limits.memories_per_owner
    if over <= 0:
        return
    made = [p.record for p in state.puts() if p.verb is Verb.REMEMBER and isinstance(p.record, Memory)]
    # Only new statements evict others; an undo or an import needs free room.
    if limits.at_capacity == "reject" or not made:
        raise LimitReached(
            f"Memory capacity reached ({held}/{limits.memories_per_owner}). Cannot store more: forget or retract "
            "some, or raise the limit.",
            field="memories_per_owner",
        )
    busy = {put.record.id for put in state.puts()}
    agent = made[-1].agent
    oldest = yield from ask(OldestOwn(agent, over + len(busy)))
    leaving = [memory for memory in oldest if memory.id not in busy][:over]
    if len(leaving) < over:
        raise LimitReached(
            f"Memory capacity reached ({held}/{limits.memories_per_owner}), and only {len(leaving)} of the {over} "
            "that would have to go are this agent's own and not pinned. Forget or retract some, or raise the limit.",
            field="memories_per_owner",
        )
    _evict(state, leaving)


def _evict(state: BatchState, leaving: Iterable[Memory]) -> None:
    for memory in leaving:
        state.loaded[memory.id] = memory
        state.put(
            memory.changed(status=MemoryStatus.EVICTED, reason="made room at the owner's cap"), Verb.EVICT
        )


def decide_batch(batch: c.Batch) -> Deciding[Decision]:
    """Decide what a batch does; raises a typed error if the batch is refused."""
    state = BatchState(batch)
    yield from state.check_expectations()
    superseding: list[memory_changes.Pair] = []
    for state.item, change in enumerate(batch.changes):
        yield from _one(state, change, superseding)
    if superseding:
        yield from memory_changes.supersede_all(state, superseding)
    yield from check_run(state)
    yield from check_cap(state)
    return Decision(state.puts(), state.ignored, state.tails, batch.jobs, {**batch.note, **state.note})


def _one(state: BatchState, change: c.Change, superseding: list[memory_changes.Pair]) -> Deciding[None]:
    match change:
        case c.Append():
            yield from thread_changes.append(state, change)
        case c.OpenThread():
            yield from thread_changes.open_thread(state, change)
        case c.SetThread():
            yield from thread_changes.set_thread(state, change)
        case c.CloseThread():
            yield from thread_changes.close(state, change)
        case c.MarkFormed():
            yield from thread_changes.mark_formed(state, change)
        case c.SummariseThread():
            yield from thread_changes.summarise(state, change)
        case c.RecordEpisode():
            yield from thread_changes.record_episode(state, change)
        case c.Remember():
            superseding += yield from memory_changes.remember(state, change)
        case c.Supersede():
            superseding += yield from memory_changes.supersede(state, change)
        case c.Confirm():
            yield from memory_changes.confirm(state, change)
        case c.Retract():
            yield from memory_changes.retract(state, change)
        case c.RetractSource():
            yield from memory_changes.retract_source(state, change)
        case c.Amend():
            yield from memory_changes.amend(state, change)
        case c.ChangeAudience():
            yield from memory_changes.change_audience(state, change)
        case c.PatchProfile():
            yield from other_changes.patch_profile(state, change)
        case c.AddExperience():
            yield from other_changes.add(state, change)
        case c.AddEvidence():
            yield from other_changes.add_evidence(state, change)
        case c.DoubtEvidence():
            yield from other_changes.doubt_evidence(state, change)
        case c.ApproveExperience():
            yield from other_changes.approve(state, change)
        case c.RetireExperience():
            yield from other_changes.retire(state, change)
        case c.PutNamed():
            yield from other_changes.put_named(state, change)
        case c.RevokeKey():
            yield from other_changes.revoke_key(state, change)
        case c.Import():
            yield from other_changes.import_record(state, change)
        case c.Undo():
            if len(state.batch.changes) > 1:
                raise InvalidInput(
                    "an undo must be the only change of its operation; send it alone", field="changes"
                )
            yield from undo.undo(state, change)
        case _:
            assert_never(change)
