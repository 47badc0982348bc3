"""Decides changes to items: a new value under a name, a deletion, a renewed time; and the limit of
items.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from memoranda.errors import Conflict, LimitReached, NotAllowed, NotFound, Stale
from memoranda.model.items import DeleteItem, Item, ItemChange, PutItem, RenewItem
from memoranda.model.ledger import Verb
from memoranda.model.records import STRANGERS
from memoranda.model.values import comparable, expired, micros
from memoranda.storage.decide.protection import refuse_trust
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import CountItems
from memoranda.storage.use_case import Deciding, ask

_TICK: Final = timedelta(microseconds=1)
#: What stays with a value that is stored again.
_OF_THE_VALUE: Final = ("updated_at", "agent", "trust", "removed")


def change_item(state: BatchState, change: ItemChange) -> Deciding[None]:
    """Decide one change to an item."""
    match change:
        case PutItem():
            yield from put_item(state, change)
        case DeleteItem():
            yield from delete_item(state, change)
        case RenewItem():
            yield from renew_item(state, change)


def put_item(state: BatchState, change: PutItem) -> Deciding[None]:
    """Store an item, or a new value of the one with its name and audience; an equal value changes
    nothing.
    """
    item, batch = change.item, state.batch
    refuse_trust(state, item.trust)
    if not item.audience.readable_by(batch.view):
        raise NotFound(
            "audience: this view may not read items of that audience; choose one that includes this view"
        )
    held = yield from state.holder(item)
    living = held if isinstance(held, Item) and not expired(held, batch.at) else None
    _check_version(item, living, change.expect)
    if not isinstance(held, Item):
        state.make(item, Verb.PUT, terms=change.terms)
        return
    if living is None:
        # What has expired is gone, although upkeep has not erased it yet. The receipt names the new
        # item first.
        state.make(item, Verb.PUT, terms=change.terms)
        state.put(held.changed(withdrawn=True), Verb.RETRACT)
        return
    if item.trust in STRANGERS and living.trust not in STRANGERS:
        raise NotAllowed(
            f"trust: {item.name!r} was not stored by a tool or a web page, so neither may replace it; choose another name"
        )
    same = comparable(item.value) == comparable(living.value) and item.index == living.index
    if same and item.ttl == living.ttl and (item.ttl is None or living.renewed(batch.at) is None):
        state.ignore("unchanged", living.id)
        return
    replacing = item.changed(
        id=living.id,
        created_at=living.created_at,
        # No two values have the same moment, by which a redaction knows them.
        updated_at=max(item.updated_at, living.updated_at + _TICK),
    )
    if same:
        replacing = replacing.changed(**{name: getattr(living, name) for name in _OF_THE_VALUE})
    state.put(replacing, Verb.PUT)


def _check_version(item: Item, living: Item | None, expect: int | None) -> None:
    """Raise ``Conflict`` or ``Stale`` unless the item has the version that the caller read."""
    found = 0 if living is None else living.version
    if expect is None or expect == found:
        return
    if expect == 0:
        raise Conflict(f"name: there is an item {item.name!r} already; read it, then decide")
    told = "it is not there any more" if living is None else f"it has version {found} now"
    raise Stale(
        f"expect: item {item.name!r} does not have version {expect}: {told}; read it again, then decide"
    )


def delete_item(state: BatchState, change: DeleteItem) -> Deciding[None]:
    """Take an item out of every read."""
    item: Item = yield from state.need(change.item, Item, "item")
    _check_version(item, item, change.expect)
    state.put(item.changed(withdrawn=True), Verb.RETRACT)


def renew_item(state: BatchState, change: RenewItem) -> Deciding[None]:
    """Begin the time of an item anew, unless hardly any of it has passed."""
    item = yield from state.find(change.item)
    renewed = item.renewed(state.batch.at) if isinstance(item, Item) else None
    if renewed is None:
        state.ignore("unchanged", change.item)
    else:
        state.put(renewed, Verb.AMEND)


def check_cap(state: BatchState, gain: int) -> Deciding[None]:
    """Raise ``LimitReached`` if so many more items exceed what an owner may have; no item makes
    room.
    """
    found, most = (yield from ask(CountItems())), state.batch.limits.items_per_owner
    if found + gain > most:
        # What has expired takes no place, although upkeep has not erased it yet.
        found = yield from ask(CountItems(micros(state.batch.at)))
    if found + gain > most:
        raise LimitReached(
            f"items: this owner has {found} items, and {gain} more exceed the limit of {most} (limits.items_per_owner). "
            "Nothing was stored: delete some, or raise the limit.",
            field="items_per_owner",
        )
