"""Decides a batch: each change in turn, then the limits for all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from memoranda.errors import LimitReached
from memoranda.model import changes as c
from memoranda.model.items import DeleteItem, PutItem, RenewItem
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import KeepTaskSummary, SummariseThread
from memoranda.model.values import EXPIRE, EXPIRING
from memoranda.storage.decide import (
    archive,
    experience_changes,
    hide,
    import_changes,
    item_changes,
    memory_changes,
    named_changes,
    profile_changes,
    source_retraction,
    thread_changes,
    undo,
)
from memoranda.storage.decide.capacity import make_room
from memoranda.storage.decide.state import BatchState, Decision, item_gain
from memoranda.storage.questions import CountActive, CountRun
from memoranda.storage.use_case import Deciding, ask

_HOUR: Final = 3600.0


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
                f"Maximum writes per run ({limit}) reached. Try again in the next turn.",
                field="statements",
            )


def check_caps(state: BatchState) -> Deciding[None]:
    """Keep each agent's memories, and the owner's, within the limits: archive some, or raise
    ``LimitReached``.
    """
    gains: dict[str | None, int] = {}
    for put in state.puts():
        for record, one in ((put.before, -1), (put.record, 1)):
            if isinstance(record, Memory) and record.counts:
                gains[record.agent] = gains.get(record.agent, 0) + one
    most = max(gains.values(), default=0)
    if most <= 0:
        return
    held, net, limits = (yield from ask(CountActive())), sum(gains.values()), state.batch.limits
    # No agent has more memories than the owner has, so most writes need no count of one agent's.
    of_owner = limits.memories_per_owner
    if held + most <= limits.memories_per_agent and (of_owner is None or held + net <= of_owner):
        return
    gaining = {agent: gain for agent, gain in gains.items() if gain > 0}
    yield from make_room(state, gaining, held, net)


def decide_batch(batch: c.Batch) -> Deciding[Decision]:
    """Decide what a batch does; raises a typed error if the batch is refused."""
    state = BatchState(batch)
    yield from state.check_expectations()
    superseding: list[memory_changes.Pair] = []
    # A night has many of them.
    yield from state.fetch(
        one.memory for one in batch.changes if isinstance(one, (c.Archive, c.Restore))
    )
    for state.item, change in enumerate(batch.changes):
        yield from _decide(state, change, superseding)
    if superseding:
        yield from memory_changes.supersede_all(state, superseding)
    yield from check_run(state)
    yield from check_caps(state)
    yield from archive.check_cap(state)
    more_items = sum(item_gain(put.before, put.record) for put in state.puts())
    if more_items > 0:
        yield from item_changes.check_cap(state, more_items)
    return Decision(
        state.puts(),
        state.ignored,
        state.tails,
        (*batch.jobs, *_expiring(state)),
        {**batch.note, **state.note},
    )


def _expiring(state: BatchState) -> Iterator[c.JobDraft]:
    """Yield the jobs that erase what expires, one for each hour of which something of this batch
    expires.
    """
    for put in state.puts():
        end = getattr(put.record, "expires_at", None)
        if (
            end is None
            or put.record.type not in EXPIRING
            or end == getattr(put.before, "expires_at", None)
        ):
            continue
        hour = end.replace(minute=0, second=0, microsecond=0)
        delay = (hour - state.batch.at).total_seconds() + _HOUR
        yield c.JobDraft(EXPIRE, hour.strftime("%Y-%m-%dT%H"), delay=max(delay, 0.0))


def _decide(
    state: BatchState, change: c.Change, superseding: list[memory_changes.Pair]
) -> Deciding[None]:
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
        case KeepTaskSummary():
            yield from thread_changes.keep_task_summary(state, change)
        case SummariseThread():
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
        case c.Archive():
            yield from archive.archive(state, change)
        case c.Restore():
            yield from archive.restore(state, change)
        case c.RetractSource():
            yield from source_retraction.retract_source(state, change)
        case c.Hide():
            yield from hide.hide(state, change)
        case c.Amend():
            yield from memory_changes.amend(state, change)
        case c.ChangeAudience():
            yield from memory_changes.change_audience(state, change)
        case c.PatchProfile():
            yield from profile_changes.patch_profile(state, change)
        case PutItem() | DeleteItem() | RenewItem():
            yield from item_changes.change_item(state, change)
        case c.AddExperience():
            yield from experience_changes.add(state, change)
        case c.AddEvidence():
            yield from experience_changes.add_evidence(state, change)
        case c.DoubtEvidence():
            yield from experience_changes.doubt_evidence(state, change)
        case c.ApproveExperience():
            yield from experience_changes.approve(state, change)
        case c.RetireExperience():
            yield from experience_changes.retire(state, change)
        case c.PutNamed():
            yield from named_changes.put_named(state, change)
        case c.RevokeKey():
            yield from named_changes.revoke_key(state, change)
        case c.Import():
            yield from import_changes.import_record(state, change)
        case c.Undo():
            yield from undo.undo(state, change)
        case _:
            assert_never(change)
