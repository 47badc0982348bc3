"""Keeps the callers' own ids of records unique among an owner's records of one type and audience."""

from __future__ import annotations

from memoranda.errors import Conflict
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Episode
from memoranda.model.records import Record, external_link
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import RestingOn
from memoranda.storage.use_case import Deciding, ask


def external_id_of(record: Record) -> str | None:
    """Return the caller's own id of a record; None if it has none, or if its creation was undone."""
    if not isinstance(record, (Memory, Episode)) or record.withdrawn:
        return None
    undone = isinstance(record, Memory) and record.status is MemoryStatus.UNDONE
    return None if undone else record.external_id


def external_holder(state: BatchState, record: Record) -> Deciding[Record | None]:
    """Return the other record of this type and audience that has the same external id; None if there is none."""
    own = external_id_of(record)
    if own is None:
        return None
    written = {put.record.id: put.record for put in state.puts()}
    stored = yield from ask(RestingOn((external_link(state.batch.owner, record.type, own),)))
    there = {other.id: other for other in stored if other.owner == state.batch.owner} | written
    for id, other in there.items():
        same = (other.type, external_id_of(other), other.audience) == (record.type, own, record.audience)
        if same and id != record.id:
            return other
    return None


def refuse_taken(state: BatchState, record: Record, at: str = "external_id") -> Deciding[None]:
    """Raise ``Conflict`` if another record of this type and audience has the same external id."""
    other = yield from external_holder(state, record)
    if other is None:
        return
    named = (
        f"{other.type.value} {other.id}" if other.audience.readable_by(state.batch.view) else "another record"
    )
    raise Conflict(
        f"{at}: {named} has the external id {external_id_of(record)!r} there; choose another one, or correct that record"
    )


def check_external_ids(state: BatchState) -> Deciding[None]:
    """Raise ``Conflict`` if a record that this batch writes has an external id that another record has now."""
    for put in state.puts():
        yield from refuse_taken(state, put.record, "position")
