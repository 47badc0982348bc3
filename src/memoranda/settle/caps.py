"""Limits: how many statements one run may write and one owner may have, and which are evicted."""

from __future__ import annotations

from collections.abc import Iterable

from memoranda.errors import LimitReached
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.questions import CountActive, CountRun, Deciding, OldestOwn
from memoranda.model.records import Record
from memoranda.settle.desk import BatchState, ask


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


def held_gain(before: Record | None, after: Record | None) -> int:
    """Return by how much a change moves the count of active memories."""
    was = isinstance(before, Memory) and before.active
    now = isinstance(after, Memory) and after.active
    return int(now) - int(was)


def _evict(state: BatchState, leaving: Iterable[Memory]) -> None:
    for memory in leaving:
        state.loaded[memory.id] = memory
        state.put(
            memory.changed(status=MemoryStatus.EVICTED, reason="made room at the owner's cap"), Verb.EVICT
        )
