"""Decides changes to records with a unique name: agents, schemas and keys."""

from __future__ import annotations

from memoranda.errors import Conflict
from memoranda.model.changes import (
    PutNamed,
    RevokeKey,
)
from memoranda.model.ledger import Verb
from memoranda.model.profiles import Key
from memoranda.storage.decide.state import BatchState
from memoranda.storage.use_case import Deciding


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
