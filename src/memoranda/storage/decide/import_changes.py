"""Decides what an import stores of a record: its sources, its place, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from memoranda.errors import InvalidInput
from memoranda.model.changes import (
    Import,
)
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.model.unlisted import are_counted, unlisted_of
from memoranda.storage.decide.protection import external_holder
from memoranda.storage.decide.redaction import Removed, quotes_left
from memoranda.storage.decide.source_lists import (
    Lost,
    with_groups,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import ErasedAmong, ErasedEras, PlaceTaken
from memoranda.storage.use_case import Deciding, ask


def import_record(state: BatchState, change: Import) -> Deciding[None]:
    """Import a record unchanged; one that was erased here, or exists here already, is ignored."""
    record: Record = change.record.changed(owner=state.batch.owner)
    if change.era is not None and change.era in (yield from ask(ErasedEras((change.era,)))):
        state.ignore("erased", record.id)
        return
    if record.id in (yield from ask(ErasedAmong((record.id,)))):
        state.ignore("erased", record.id)
        return
    yield from state.fetch((record.id,))
    present = state.current(record.id)
    if present is not None:
        state.ignore("present" if present == record else "differs", record.id)
        return
    if (yield from state.holder(record)) is not None or (
        yield from external_holder(state, record)
    ) is not None:
        state.ignore("taken", record.id)
        return
    grounded = yield from _grounded(state, record, change.unlisted)
    if grounded is None:
        state.ignore("sourceless", record.id)
        return
    record = grounded
    if isinstance(record, Memory) and record.quotes:
        record = yield from _without_removed_words(state, record)
    if isinstance(record, Message):
        seated = yield from _seated(state, record)
        if seated is None:
            state.ignore("place", record.id)
            return
        record = seated
    if isinstance(record, Thread):
        # Places up to formed_through were used, even if their messages are not imported; they are
        # never used again.
        state.tails[record.id] = record.formed_through
    state.keep(record, change.terms)


def _without_removed_words(state: BatchState, memory: Memory) -> Deciding[Memory]:
    """Return an imported memory without quotes of words that were taken out of their messages
    here.
    """
    yield from state.fetch(one.message for one in memory.quotes)
    said = (state.current(one.message) for one in memory.quotes)
    removed = {
        one.id: Removed(one, one, (), "")
        for one in said
        if isinstance(one, Message) and one.removed
    }
    return memory.changed(quotes=quotes_left(memory, removed))  # type: ignore[no-any-return]


def _grounded(
    state: BatchState, record: Record, unlisted: Mapping[UUID, Sequence[UUID]]
) -> Deciding[Record | None]:
    """Return an imported record without the sources that were erased here, or None if no source is
    left.
    """
    thread: UUID | None = record.thread if isinstance(record, Message) else None
    if thread is not None:
        yield from state.fetch((thread,))
        return None if state.current(thread) is None else record
    members = _checked_members(record, unlisted)
    sources = (*record.rests_on(), *(source for some in members.values() for source in some))
    if not sources:
        return record
    erased = yield from ask(ErasedAmong(sources))
    if isinstance(record, (Memory, ProfileDocument)):
        return _with_members(state, record, erased, members)
    if isinstance(record, ExperienceLine):
        return record.without(erased) if erased else record
    if isinstance(record, Episode):
        # An episode summarises all its sources, so it is dropped if one is erased.
        return None if erased else record
    return record if len(erased) < len(sources) else None


def _checked_members(
    record: Record, unlisted: Mapping[UUID, Sequence[UUID]]
) -> dict[UUID, frozenset[UUID]]:
    """Return the sources of each group of an imported record; raise InvalidInput if they are not
    those that it counts.
    """
    members = {id: frozenset(sources) for id, sources in unlisted.items()}
    if not are_counted(record, members):
        raise InvalidInput(
            "unlisted: these are not the sources that the record counts; give those of its export",
            field="unlisted",
        )
    return members


def _with_members(
    state: BatchState,
    record: Memory | ProfileDocument,
    erased: frozenset[UUID],
    members: dict[UUID, frozenset[UUID]],
) -> Record | None:
    """Return an imported record without erased sources, or None if no source is left; link those
    that it does not list.
    """
    left: Record | None = record
    if erased:
        lost = Lost(erased, members)
        left = (
            record.without(lost) if isinstance(record, Memory) else record.without(lambda _: lost)
        )
        if left is None:
            return None
        members = {group.id: members[group.id] - erased for group in unlisted_of(left)}
        left = with_groups(left, members, record.version)
    for id, sources in members.items():
        state.link(record.id, id, sources)
    return left


def _seated(state: BatchState, message: Message) -> Deciding[Message | None]:
    """Return an imported message with a place in its thread (by default the next); None if its
    place is taken.
    """
    end = yield from state.end_of(message.thread)
    if end is None:
        return None
    message = message.changed(audience=end.audience)
    if not message.seq:
        seated: Message = message.changed(seq=state.next_place(message.thread, end))
        return seated
    before = (put.record for put in state.puts())
    if any(
        isinstance(m, Message) and (m.thread, m.seq) == (message.thread, message.seq)
        for m in before
    ):
        return None
    if (yield from ask(PlaceTaken(message.thread, message.seq))):
        return None
    state.tails[message.thread] = max(state.tails.get(message.thread, end.tail), message.seq)
    return message
