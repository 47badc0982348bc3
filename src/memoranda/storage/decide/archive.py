"""Decides what may be archived, brings archived memories back, and keeps their number within its
limit.
"""

from __future__ import annotations

from memoranda.errors import LimitReached
from memoranda.model.changes import Archive, Restore
from memoranda.model.ledger import Verb
from memoranda.model.memories import INSTRUCTION, Memory
from memoranda.model.records import Record, Trust
from memoranda.storage.decide.protection import written_by_person
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import CountArchived, RestingOn
from memoranda.storage.use_case import Deciding, ask


def archive(state: BatchState, change: Archive) -> Deciding[None]:
    """Archive a memory; one that changed since it was read, is protected or is cited by something
    active stays.
    """
    memory = yield from state.find(change.memory)
    why = "erased"
    if isinstance(memory, Memory):
        why = yield from _stays(state, memory, change.version)
        if not why:
            state.put(memory.changed(archived=True, reason=change.reason), Verb.ARCHIVE)
            return
    state.ignore(why, change.memory)


def is_kept(memory: Memory) -> bool:
    """True if a memory is never archived because it is unused: it is pinned, an operator's, or an
    instruction.
    """
    return memory.pinned or memory.trust is Trust.OPERATOR or memory.kind == INSTRUCTION


def _stays(state: BatchState, memory: Memory, version: int) -> Deciding[str]:
    if memory.version != version:
        return "changed"
    if not memory.counts:
        return "retracted"
    if is_kept(memory) or (memory.agent is None and (yield from written_by_person(state, memory))):
        return "protected"
    return "cited" if any(map(_is_active, (yield from ask(RestingOn((memory.id,)))))) else ""


def _is_active(record: Record) -> bool:
    return record.active if isinstance(record, Memory) else not record.withdrawn


def restore(state: BatchState, change: Restore) -> Deciding[None]:
    """Bring an archived memory back."""
    memory: Memory = yield from state.need(change.memory, Memory, "memory")
    if memory.active and memory.archived:
        state.put(memory.changed(archived=False, reason=""), Verb.RESTORE)
    else:
        state.ignore("not_archived", memory.id)


def check_cap(state: BatchState) -> Deciding[None]:
    """Raise ``LimitReached`` if the owner would have more archived memories than the limit."""
    gain = sum(_is_archived(put.record) - _is_archived(put.before) for put in state.puts())
    limit = state.batch.limits.archived_per_owner
    if gain > 0 and (held := (yield from ask(CountArchived()))) + gain > limit:
        found = (
            f" ({held}/{limit})"
            if state.batch.view.whole or state.batch.actor.kind == "system"
            else ""
        )
        raise LimitReached(
            f"Archived memories are at their limit{found}: limits.archived_per_owner = {limit}. Nothing was stored or "
            "archived: forget some archived memories, or raise the limit.",
            field="archived_per_owner",
        )


def _is_archived(record: Record | None) -> bool:
    return isinstance(record, Memory) and record.active and record.archived
