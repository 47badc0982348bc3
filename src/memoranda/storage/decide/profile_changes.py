"""Decides changes to profiles: which fields are set, by whom, and from which sources."""

from __future__ import annotations

from typing import Any

from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import (
    PatchProfile,
)
from memoranda.model.ledger import Verb
from memoranda.model.profiles import Grounds, ProfileDocument, of_change, places, said_again
from memoranda.model.records import Record
from memoranda.model.values import comparable
from memoranda.storage.decide.source_lists import (
    with_short_lists,
    with_short_past,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.use_case import Deciding

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
