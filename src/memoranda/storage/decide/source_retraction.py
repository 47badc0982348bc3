"""Decides how everything derived from one source alone follows it: when it is faulty, and when it
loses readers.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from uuid import UUID

from memoranda.errors import Conflict, InvalidInput
from memoranda.model.changes import RetractSource
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Episode, Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Audience, Record, those_of
from memoranda.storage.decide.protection import protected_from_act
from memoranda.storage.decide.source_lists import (
    some_at_a_time,
    sources_among,
    unlisted_sources,
    with_short_past,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.episode_links import EpisodeLinks, threads_of
from memoranda.storage.questions import InThread, RestingOn
from memoranda.storage.use_case import Deciding, ask

#: In the note of an entry: the source that proved faulty.
FAULTY = "faulty"
#: The most records that an error names.
_NAMED = 20
_NOT_HELD = (MemoryStatus.RETRACTED, MemoryStatus.UNDONE)


def retract_source(state: BatchState, change: RetractSource) -> Deciding[None]:
    """Retract everything derived only from a source or linked to it, and report what stays because
    it has other sources.
    """
    source: Record = yield from state.need(change.source, Record, "source")
    if not isinstance(source, (Message, Episode)):
        raise InvalidInput(
            f"source: a {source.type.value} cannot be retracted as a source; name a message or an episode",
            field="source",
        )
    state.note[FAULTY] = [str(source.id)]
    linked, covered = (
        (yield from _linked(state, source)) if isinstance(source, Episode) else ([], frozenset())
    )
    own = frozenset(record.id for record in linked)
    fallen: dict[UUID, Record] = {source.id: source}
    staying: dict[UUID, Record] = {}
    wave = [source.id]
    while wave:
        found: list[UUID] = []
        resting = yield from _resting(state, tuple(wave))
        for record in (*resting, *(linked if source.id in wave else ())):
            if record.id in fallen:
                continue
            if (
                yield from still_bears(
                    state, record, {*fallen, *covered} if record.id in own else fallen
                )
            ):
                staying[record.id] = record
            else:
                fallen[record.id] = record
                staying.pop(record.id, None)
                found.append(record.id)
        wave = found
    before = len(state.puts()), len(state.ignored)
    yield from _settle(
        state, change, [record for record in fallen.values() if record is not source], staying
    )
    yield from _take_fields(state, frozenset(fallen))
    if (len(state.puts()), len(state.ignored)) == before:
        state.ignore("not_a_source", source.id)


def _linked(state: BatchState, episode: Episode) -> Deciding[tuple[list[Memory], frozenset[UUID]]]:
    """Return the memories linked to an episode, and the ids of its messages and thread."""
    inside = () if episode.thread is None else (yield from ask(InThread(episode.thread)))
    yield from state.fetch(inside)
    there = [record for id in inside if (record := state.current(id)) is not None]
    said = episode.sources or tuple(record.id for record in there if isinstance(record, Message))
    covered = frozenset((*said, *(() if episode.thread is None else (episode.thread,))))
    resting = yield from _resting(state, tuple(covered))
    seen = [one for one in there if one.audience.readable_by(state.batch.view) and _held(one)]
    memories = list({one.id: one for one in those_of(Memory, (*resting, *seen))}.values())
    sources = tuple({source for memory in memories for source in memory.sources})
    yield from state.fetch(sources)
    others = yield from _resting(state, sources)
    links = EpisodeLinks(those_of(Episode, (episode, *seen, *others)))
    found = [
        memory
        for memory in memories
        if links.of(memory, threads_of(memory, map(state.current, memory.sources))) == episode.id
    ]
    return found, covered


def _settle(
    state: BatchState, change: RetractSource, fallen: list[Record], staying: dict[UUID, Record]
) -> Deciding[None]:
    for record in fallen:
        if isinstance(record, Episode):
            state.ignore("immutable", record.id)
        elif isinstance(record, Memory) and (yield from protected_from_act(state, record)):
            state.ignore("protected", record.id)
        elif isinstance(record, Memory) and record.active:
            state.put(
                record.changed(status=MemoryStatus.RETRACTED, reason=change.reason), Verb.RETRACT
            )
    for id in staying:
        state.ignore("grounded", id)


def _take_fields(state: BatchState, fallen: frozenset[UUID]) -> Deciding[None]:
    """Take the fields, and the items of lists, out of profiles that come from these alone."""
    for record in (yield from ask(RestingOn(tuple(fallen)))):
        if not isinstance(record, ProfileDocument) or record.owner != state.batch.owner:
            continue
        yield from state.fetch((record.id,))
        held = state.current(record.id)
        if (
            not isinstance(held, ProfileDocument)
            or held.withdrawn
            or not held.audience.readable_by(state.batch.view)
        ):
            continue
        left = held.without(lambda _: fallen)
        body, grounds = ({}, {}) if left is None else (left.body, left.grounds)
        if body != held.body:
            pinned = tuple(name for name in held.pinned if name in body)
            taken = held.changed(body=body, grounds=grounds, pinned=pinned).following(held)
            state.put((yield from with_short_past(state, taken)), Verb.PATCH)


def _resting(state: BatchState, ids: tuple[UUID, ...]) -> Deciding[list[Record]]:
    """Return the owner's memories and episodes that the view may see and that cite one of these
    records.
    """
    found: list[Record] = []
    for record in (yield from ask(RestingOn(ids))):
        if isinstance(record, (Memory, Episode)) and record.owner == state.batch.owner:
            yield from state.fetch((record.id,))
            held = state.current(record.id)
            if held is None or not (yield from sources_among(state, held, ids)):
                continue  # an earlier version rested on it, which was taken back since
            if held.audience.readable_by(state.batch.view) and _held(held):
                found.append(held)
    return found


def still_bears(state: BatchState, record: Record, fallen: Container[UUID]) -> Deciding[bool]:
    """True if a record still has an active source that is not faulty."""
    if (yield from _any_held(state, record.stands_on(), fallen)):
        return True
    for some in some_at_a_time((yield from unlisted_sources(state, record))):
        if (yield from _any_held(state, some, fallen)):
            return True
    return False


def _any_held(state: BatchState, ids: Sequence[UUID], fallen: Container[UUID]) -> Deciding[bool]:
    others = [id for id in ids if id not in fallen]
    yield from state.fetch(others)
    return any((ground := state.current(id)) is not None and _held(ground) for id in others)


def _held(record: Record) -> bool:
    """True if a record still counts as a source. A superseded statement does; a retracted one does
    not.
    """
    return not record.withdrawn and not (isinstance(record, Memory) and record.status in _NOT_HELD)


def narrow_with(state: BatchState, memory: Memory, readers: Audience) -> Deciding[None]:
    """Limit the readers of records derived from one memory to its readers.

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
    """Return the visible records derived from these with wider audiences than ``readers``."""
    view, found = state.batch.view, []
    for record in (yield from ask(RestingOn(ids))):
        if record.owner != state.batch.owner or record.withdrawn:
            continue
        yield from state.fetch((record.id,))
        held = state.current(record.id)
        if (
            held is None
            or not held.audience.readable_by(view)
            or held.audience.within(readers, view)
        ):
            continue
        if (yield from sources_among(state, held, ids)):
            found.append(held)
    return found


def _stands_otherwise(
    state: BatchState, record: Record, fallen: dict[UUID, Record]
) -> Deciding[bool]:
    """True if a record has other sources too. A profile needs them for every field."""
    if isinstance(record, ProfileDocument):
        left = record.without(lambda _: fallen)
        return left is not None and left.body == record.body
    return (yield from still_bears(state, record, fallen))


def _is_stuck(state: BatchState, record: Record, changed: Record) -> Deciding[bool]:
    """True if a record cannot be given fewer readers: its thread or schema sets them, or it is not
    this view's to narrow.
    """
    view = state.batch.view
    if isinstance(record, ProfileDocument) or (
        isinstance(record, Episode) and record.thread is not None
    ):
        return True
    if not isinstance(record, (Memory, Episode)) or not changed.audience.within(
        record.audience, view
    ):
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
        "with as_owner=True if they are another agent's"
    )
