"""Decides changes to profiles, agents, schemas, service keys and experience, and imports of
records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    ApproveExperience,
    DoubtEvidence,
    Import,
    PatchProfile,
    PutNamed,
    RetireExperience,
    RevokeKey,
)
from memoranda.model.experience_lines import MOST_SOURCES, MOST_USERS, Evidence, ExperienceLine
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import Grounds, Key, ProfileDocument, of_change, places, said_again
from memoranda.model.records import Record
from memoranda.model.unlisted import are_counted, unlisted_of
from memoranda.model.values import comparable
from memoranda.storage.decide.protection import external_holder
from memoranda.storage.decide.redaction import Removed, quotes_left
from memoranda.storage.decide.source_lists import (
    Lost,
    with_groups,
    with_short_lists,
    with_short_past,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import ErasedAmong, ErasedEras, PlaceTaken
from memoranda.storage.use_case import Deciding, ask

#: The value of a field that is not there.
_NOTHING = object()


def patch_profile(state: BatchState, change: PatchProfile) -> Deciding[None]:
    """Set and unset fields of a profile; a field that a person set can only be changed by a
    person.
    """
    batch = state.batch
    if not change.audience.readable_by(batch.view):
        raise NotFound(
            "audience: this view may not read profiles of that audience; choose one that includes this view"
        )
    fresh = ProfileDocument(
        id=change.id, owner=batch.owner, audience=change.audience, schema_name=change.schema_name
    )
    held = yield from state.holder(fresh)
    document = held if isinstance(held, ProfileDocument) else fresh
    yield from state.fetch(change.sources)
    for source in change.sources:
        ground = yield from state.need(source, Record, "sources")
        if not document.audience.within(ground.audience, batch.view):
            raise InvalidInput(
                "sources: the profile has a wider audience than this source; leave the source out",
                field="sources",
            )
    patched = yield from with_short_lists(state, _patched(state, document, change), change.sources)
    if held is None:
        state.make(patched, Verb.PATCH)
    elif _same(patched, document):
        state.ignore("unchanged", document.id)
    else:
        state.put((yield from with_short_past(state, patched.following(document))), Verb.PATCH)


def _patched(state: BatchState, document: ProfileDocument, change: PatchProfile) -> ProfileDocument:
    body, grounds = dict(document.body), dict(document.grounds)
    for name in dict.fromkeys((*change.set, *change.unset, *change.again)):
        if name in document.pinned and not change.pin:
            if name in change.set or name in change.unset:
                state.ignore("pinned", document.id, name)
            continue
        before, held = body.get(name, _NOTHING), document.grounds_of(name)
        entries: Grounds = ()
        if name in change.set:
            body[name] = change.set[name]
            # A field that a person sets has no sources any more.
            entries = (
                ()
                if change.pin
                else of_change(before, held, body[name], _given(change, name, body[name]))
            )
        elif name in change.unset:
            body.pop(name, None)
        else:
            entries = held
        if name in change.again and name in body and any(entries):
            given = _given(change, name, body[name])
            entries = said_again(body[name], entries, change.again[name], given)
        grounds.pop(name, None)
        if any(entries):
            grounds[name] = entries
    pinned = document.pinned
    if change.pin:
        pinned = tuple(sorted({*pinned, *change.set} - set(change.unset)))
    schema_hash = change.schema_hash or document.schema_hash
    patched: ProfileDocument = document.changed(
        body=body, grounds=grounds, pinned=pinned, schema_hash=schema_hash
    )
    return patched


def _given(change: PatchProfile, name: str, value: Any) -> Grounds:
    """Return the sources that a change has for each place of a field's value; all of them where it
    names none.
    """
    named = change.grounds.get(name, ())
    return named if len(named) == places(value) else (change.sources,) * places(value)


def _same(one: ProfileDocument, other: ProfileDocument) -> bool:
    """True if two profiles have the same fields, pins and sources; a changed schema alone makes no
    new version.
    """
    return (
        comparable(one.body) == comparable(other.body)
        and one.pinned == other.pinned
        and one.grounds == other.grounds
    )


def put_named(state: BatchState, change: PutNamed) -> Deciding[None]:
    """Make an agent, a schema or a service key, or replace the one of that name."""
    record = change.record
    held = yield from state.holder(record)
    if held is None:
        state.make(record, Verb.PUT)
        return
    if isinstance(held, Key):
        raise Conflict(
            f"name: a key called {held.name!r} is in use; revoke it first, or choose another name"
        )
    replacing = record.changed(id=held.id, version=held.version, recorded_at=held.recorded_at)
    if replacing == held:
        state.ignore("unchanged", held.id)
    else:
        state.put(replacing, Verb.PUT)


def revoke_key(state: BatchState, change: RevokeKey) -> Deciding[None]:
    """Revoke a key, so that it opens the service no more."""
    key: Key = yield from state.need(change.key, Key, "key")
    at = change.at or state.batch.at
    if key.revoked_at is not None and key.revoked_at <= at:
        state.ignore("unchanged", key.id)
        return
    state.put(key.changed(revoked_at=at), Verb.REVOKE)


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


def add(state: BatchState, change: AddExperience) -> Deciding[None]:
    """Add a line to an agent's experience, unless all its evidence has been forgotten."""
    line, evidence = change.line, []
    for part in line.evidence:
        left = yield from _still_there(part)
        if left is not None:
            evidence.append(left)
    if len(evidence) < len(line.evidence) and not line.outlives(evidence):
        state.ignore("erased", line.id)
        return
    held = yield from state.holder(line)
    if not isinstance(held, ExperienceLine):
        state.make(line.changed(evidence=_bounded(evidence)), Verb.ADD)
        return
    # Another user's records have taught the same line already: it stays one line.
    for part in evidence:
        yield from add_evidence(state, AddEvidence(held.id, part))
    if line.approved_at is not None and held.approved_at is None:
        yield from approve(state, ApproveExperience(held.id))
    elif not evidence:
        state.ignore("present", held.id)


def add_evidence(state: BatchState, change: AddEvidence) -> Deciding[None]:
    """Add a user's records to the evidence of an experience line; records that it has already
    change nothing.
    """
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("retired", line.id)
        return
    given = yield from _still_there(change.evidence)
    if given is None:
        state.ignore("erased", line.id)
        return
    held = line.part_of(given.owner)
    if held is None and given not in _bounded([*line.evidence, given]):
        state.ignore("enough", line.id)
        return
    merged = given if held is None else _merged(held, given)
    if held is not None and merged == held:
        state.ignore("unchanged", line.id)
        return
    _put(state, line, merged, Verb.CONFIRM)


def _bounded(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return as much evidence as one line may have, always with one part that failed the privacy
    check if any did.
    """
    kept, rest = evidence[:MOST_USERS], evidence[MOST_USERS:]
    told = (
        []
        if any(part.guarded_at is None for part in kept)
        else [p for p in rest if p.guarded_at is None]
    )
    return (*kept, *told[:1])


def _still_there(evidence: Evidence) -> Deciding[Evidence | None]:
    """Return the evidence without records that were erased; None if no record is left."""
    return evidence.without((yield from ask(ErasedAmong(evidence.records))))


def _merged(held: Evidence, given: Evidence) -> Evidence:
    """Merge more evidence of one user; a privacy check with another result than before replaces the
    earlier one.
    """
    new = [id for id in given.sources if id not in held.records][
        : max(MOST_SOURCES - len(held.sources), 0)
    ]
    same = (held.guarded_at is None) == (given.guarded_at is None)
    guarded_at = held.guarded_at if same else given.guarded_at
    return held.model_copy(update={"sources": (*held.sources, *new), "guarded_at": guarded_at})


def doubt_evidence(state: BatchState, change: DoubtEvidence) -> Deciding[None]:
    """Mark records as faulty evidence of an experience line, or as valid again."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    held = line.part_of(change.owner)
    meant = set(change.records)
    if held is None or meant.isdisjoint(held.sources if change.faulty else held.faulty):
        state.ignore("unchanged", line.id)
        return
    faulty = {id for id in held.records if (change.faulty if id in meant else id in held.faulty)}
    turned = held.model_copy(
        update={"sources": _in(held, faulty, False), "faulty": _in(held, faulty, True)}
    )
    _put(state, line, turned, Verb.RETRACT if change.faulty else Verb.CONFIRM)


def _in(evidence: Evidence, some: set[UUID], inside: bool) -> tuple[UUID, ...]:
    return tuple(id for id in evidence.records if (id in some) is inside)


def _put(state: BatchState, line: ExperienceLine, part: Evidence, verb: Verb) -> None:
    """Store a line with one user's evidence replaced or added."""
    parts = {each.owner: each for each in line.evidence} | {part.owner: part}
    state.put(line.changed(evidence=tuple(parts.values())), verb)


def approve(state: BatchState, change: ApproveExperience) -> Deciding[None]:
    """Approve an experience line for every user, or withdraw the approval."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("retired", line.id)
    elif (line.approved_at is not None) is change.approved:
        state.ignore("unchanged", line.id)
    else:
        state.put(line.changed(approved_at=state.batch.at if change.approved else None), Verb.AMEND)


def retire(state: BatchState, change: RetireExperience) -> Deciding[None]:
    """Retire an experience line, so that it is no longer shown to agents."""
    line: ExperienceLine = yield from state.need(change.line, ExperienceLine, "line")
    if line.retired_at is not None:
        state.ignore("unchanged", line.id)
        return
    state.put(line.changed(retired_at=state.batch.at, reason=change.reason), Verb.RETIRE)
