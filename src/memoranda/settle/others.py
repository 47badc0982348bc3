"""What becomes of changes to profiles, agents, schemas and keys, and of imported records."""

from __future__ import annotations

from uuid import UUID

from memoranda.errors import Conflict, Erased, InvalidInput, NotFound
from memoranda.model.changes import (
    Import,
    PatchProfile,
    PutNamed,
    RevokeKey,
)
from memoranda.model.episodes import Episode
from memoranda.model.experience import ExperienceLine
from memoranda.model.grounds import Grounds, of_change, said_again
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import Key, ProfileDocument
from memoranda.model.questions import Deciding, ErasedAmong, ErasedEras, PlaceTaken, ask
from memoranda.model.records import Record
from memoranda.model.values import comparable
from memoranda.settle.desk import Desk

#: The value of a field that is not there.
_NOTHING = object()


def patch_profile(desk: Desk, change: PatchProfile) -> Deciding[None]:
    """Set and unset fields of a profile; what a person set only a person changes."""
    batch = desk.batch
    if not change.audience.readable_by(batch.view):
        raise NotFound("audience: this view does not see profiles of that audience")
    fresh = ProfileDocument(
        id=change.id, owner=batch.owner, audience=change.audience, schema_name=change.schema_name
    )
    held = yield from desk.holder(fresh.slot())
    document = held if isinstance(held, ProfileDocument) else fresh
    for source in change.sources:
        ground = yield from desk.need(source, Record, "sources")
        if not document.audience.within(ground.audience, batch.view):
            raise InvalidInput(
                "sources: the profile is read more widely than this source may be", field="sources"
            )
    patched = _patched(desk, document, change)
    if held is None:
        desk.make(patched, Verb.PATCH)
    elif _same(patched, document):
        desk.ignore("unchanged", document.id)
    else:
        desk.put(patched.following(document), Verb.PATCH)


def _patched(desk: Desk, document: ProfileDocument, change: PatchProfile) -> ProfileDocument:
    body, grounds = dict(document.body), dict(document.grounds)
    for name in dict.fromkeys((*change.set, *change.unset, *change.again)):
        if name in document.pinned and not change.pin:
            if name in change.set or name in change.unset:
                desk.ignore("pinned", document.id, name)
            continue
        before, held = body.get(name, _NOTHING), document.grounds_of(name)
        entries: Grounds = ()
        if name in change.set:
            body[name] = change.set[name]
            # What a person sets stands by itself, whatever it was derived from before.
            entries = () if change.pin else of_change(before, held, body[name], change.sources)
        elif name in change.unset:
            body.pop(name, None)
        else:
            entries = held
        if name in change.again and name in body and any(entries):
            entries = said_again(body[name], entries, change.again[name], change.sources)
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


def _same(one: ProfileDocument, other: ProfileDocument) -> bool:
    """Whether two documents hold the same on the same grounds; a new schema alone makes no new version."""
    return (
        comparable(one.body) == comparable(other.body)
        and one.pinned == other.pinned
        and one.grounds == other.grounds
    )


def put_named(desk: Desk, change: PutNamed) -> Deciding[None]:
    """Make an agent, a schema or a key, or replace the one of that name."""
    record = change.record
    held = yield from desk.holder(record.slot())
    if held is None:
        desk.make(record, Verb.PUT)
        return
    if isinstance(held, Key):
        raise Conflict(
            f"name: a key called {held.name!r} is in service; revoke it first, or choose another name"
        )
    replacing = record.changed(id=held.id, version=held.version, recorded_at=held.recorded_at)
    if replacing == held:
        desk.ignore("unchanged", held.id)
    else:
        desk.put(replacing, Verb.PUT)


def revoke_key(desk: Desk, change: RevokeKey) -> Deciding[None]:
    """End a key's service."""
    key: Key = yield from desk.need(change.key, Key, "key")
    if key.revoked_at is not None:
        desk.ignore("unchanged", key.id)
        return
    desk.put(key.changed(revoked_at=desk.batch.at), Verb.REVOKE)


def import_record(desk: Desk, change: Import) -> Deciding[None]:
    """Bring in a record as it was; what was erased here, or is here already, stays as it is."""
    record: Record = change.record.changed(owner=desk.batch.owner)
    if change.era is not None and change.era in (yield from ask(ErasedEras((change.era,)))):
        desk.ignore("erased", record.id)
        return
    if record.id in (yield from ask(ErasedAmong((record.id,)))):
        desk.ignore("erased", record.id)
        return
    yield from desk.fetch((record.id,))
    present = desk.current(record.id)
    if present is not None:
        desk.ignore("present" if present == record else "differs", record.id)
        return
    if (yield from desk.holder(record.slot())) is not None:
        desk.ignore("taken", record.id)
        return
    grounded = yield from _grounded(desk, record)
    if grounded is None:
        desk.ignore("sourceless", record.id)
        return
    record = grounded
    if isinstance(record, Message):
        seated = yield from _seated(desk, record)
        if seated is None:
            desk.ignore("place", record.id)
            return
        record = seated
    if isinstance(record, Thread):
        # Places that were formed were given out, whether their messages come along or not: they are not used again.
        desk.tails[record.id] = record.formed_through
    desk.keep(record, change.terms)


def _grounded(desk: Desk, record: Record) -> Deciding[Record | None]:
    """A derived record as it may stand here, if anything is left of it; what was erased here does not bear it."""
    sources = record.rests_on()
    thread: UUID | None = record.thread if isinstance(record, Message) else None
    if thread is not None:
        yield from desk.fetch((thread,))
        return None if desk.current(thread) is None else record
    if not sources:
        return record
    erased = yield from ask(ErasedAmong(sources))
    if isinstance(record, (Memory, ProfileDocument, ExperienceLine)):
        return record.without(erased) if erased else record
    if isinstance(record, Episode):
        # It tells of all that it rests on, and goes with any of it.
        return None if erased else record
    return record if len(erased) < len(sources) else None


def _seated(desk: Desk, message: Message) -> Deciding[Message | None]:
    """An imported message at its own place, or at the next where it has none; None where its place is taken."""
    end = yield from desk.end_of(message.thread)
    if end is None:
        return None
    message = message.changed(audience=end.audience)
    if not message.seq:
        seated: Message = message.changed(seq=desk.next_place(message.thread, end))
        return seated
    before = (put.record for put in desk.standing())
    if any(isinstance(m, Message) and (m.thread, m.seq) == (message.thread, message.seq) for m in before):
        return None
    if (yield from ask(PlaceTaken(message.thread, message.seq))):
        return None
    desk.tails[message.thread] = max(desk.tails.get(message.thread, end.tail), message.seq)
    return message


def refuse_old_era(wanted: UUID | None, era: UUID | None) -> None:
    """Refuse work that was begun before its owner was erased."""
    if wanted is not None and wanted != era:
        raise Erased(
            "this work was begun before its owner's records were erased; it ends here, begin anew if wanted"
        )
