"""Decides what a memory that loses readers takes with it: what rests on it alone loses them too."""

from __future__ import annotations

from uuid import UUID

from memoranda.errors import Conflict
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Audience, Record
from memoranda.storage.decide.source_lists import sources_among
from memoranda.storage.decide.source_retraction import still_bears
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import RestingOn
from memoranda.storage.use_case import Deciding, ask

#: The most records that an error names.
_NAMED = 20


def narrow_with(state: BatchState, memory: Memory, readers: Audience) -> Deciding[None]:
    """Give the readers of a memory to everything that rests on it alone and has more readers, as far as the view sees.

    Raise ``Conflict`` with the list of records for which that is impossible.
    """
    if memory.audience.within(readers, state.batch.view):
        return
    narrowed: dict[UUID, Record] = {memory.id: memory}
    staying: dict[UUID, Record] = {}
    wave = [memory.id]
    while wave:
        found: list[UUID] = []
        for record in (yield from _wider(state, tuple(wave), readers)):
            if record.id in narrowed:
                continue
            if (yield from _stands_otherwise(state, record, narrowed)):
                staying[record.id] = record
            else:
                narrowed[record.id] = record
                staying.pop(record.id, None)
                found.append(record.id)
        wave = found
    del narrowed[memory.id]
    stuck: list[Record] = []
    for record in narrowed.values():
        changed: Record = record.changed(audience=readers)
        if (yield from _is_stuck(state, record, changed)):
            stuck.append(record)
        else:
            state.put(changed, Verb.SHARE)
    if stuck:
        raise _refusal(stuck)
    for id in staying:
        state.ignore("grounded", id)


def _wider(state: BatchState, ids: tuple[UUID, ...], readers: Audience) -> Deciding[list[Record]]:
    """Return the owner's records that the view sees, that rest on one of these, and that others than ``readers`` read."""
    view, found = state.batch.view, []
    for record in (yield from ask(RestingOn(ids))):
        if record.owner != state.batch.owner or record.withdrawn:
            continue
        yield from state.fetch((record.id,))
        held = state.current(record.id)
        if held is None or not held.audience.readable_by(view) or held.audience.within(readers, view):
            continue
        if (yield from sources_among(state, held, ids)):
            found.append(held)
    return found


def _stands_otherwise(state: BatchState, record: Record, fallen: dict[UUID, Record]) -> Deciding[bool]:
    """True if a record has other sources too; of a profile, if every field has."""
    if isinstance(record, ProfileDocument):
        left = record.without(lambda _: fallen)
        return left is not None and left.body == record.body
    return (yield from still_bears(state, record, fallen))


def _is_stuck(state: BatchState, record: Record, changed: Record) -> Deciding[bool]:
    """True if a record cannot be given fewer readers: its thread or schema sets them, or it is not this view's to narrow."""
    view = state.batch.view
    if isinstance(record, ProfileDocument) or (isinstance(record, Episode) and record.thread is not None):
        return True
    if not isinstance(record, (Memory, Episode)) or not changed.audience.within(record.audience, view):
        return True
    if not (view.whole or record.agent == view.agent):
        return True
    holder = yield from state.holder(changed)
    return holder is not None and holder.id != record.id


def _refusal(stuck: list[Record]) -> Conflict:
    listed = ", ".join(f"{record.type.value} {record.id}" for record in stuck[:_NAMED])
    more = f" and {len(stuck) - _NAMED} more" if len(stuck) > _NAMED else ""
    return Conflict(
        f"audience: these rest on it alone and would keep more readers: {listed}{more}; retract or forget them first, or ask "
        "with view='owner' if they are another agent's"
    )
