"""The verbs of a book over items: store, read, list, search and delete values under names in
namespaces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import takewhile
from typing import Any, Final, Literal, TypeAlias, Unpack
from uuid import UUID

from pydantic import ValidationError

from memoranda.book.input import (
    Conditions,
    Who,
    as_actor,
    as_audience,
    as_bounded,
    as_count,
    as_filter,
    as_flag,
    as_labels,
    as_limit,
    as_view,
    owner_named,
)
from memoranda.book.services import RecordVerbs, Services
from memoranda.book.verb_fields import spelled_out
from memoranda.door import check_operation
from memoranda.errors import InvalidInput, NotFound
from memoranda.first_use import dataclass
from memoranda.model.changes import Change
from memoranda.model.items import (
    ITEM_NAME_LENGTH,
    LABELS,
    DeleteItem,
    Item,
    PutItem,
    RenewItem,
    expiry_of,
    item_link,
    namespace_of,
)
from memoranda.model.ledger import Receipt
from memoranda.model.query import Filter, Hits
from memoranda.model.records import WIDEST_FIRST, Audience, Owner, RecordType, Trust, View, those_of
from memoranda.model.service_records import CALLER
from memoranda.model.values import new_id, refused
from memoranda.operations import Part, Role, W, no_offer, offer
from memoranda.ports import Lists
from memoranda.secrets.masks import MASK

#: The paths that an item is found by: None for all of its text, False for none.
Index: TypeAlias = Sequence[str] | Literal[False] | None


@dataclass(frozen=True, slots=True)
class ItemPut:
    """A value to store under a name, as ``book.items.write`` takes it."""

    namespace: Sequence[str]
    name: str
    value: Any
    index: Index = None
    #: Seconds, or a timedelta; None: it stays.
    ttl: float | timedelta | None = None
    #: True asks that there is no item of this name.
    new: bool = False


def spelled(draft: ItemPut) -> list[Any]:
    """Return a put as its request has it; the digest of a repeated operation is made of it."""
    ttl = draft.ttl.total_seconds() if isinstance(draft.ttl, timedelta) else draft.ttl
    index = list(draft.index) if draft.index else draft.index
    # A field that is not given is no part of the request, so requests of before have the same
    # digest.
    return [
        list(draft.namespace),
        draft.name,
        draft.value,
        index,
        ttl,
        *(["new"] if draft.new else []),
    ]


def item_name(name: str) -> str:
    """Return an item's name after its check."""
    return as_bounded(name, ITEM_NAME_LENGTH, "name")


def seconds_of(ttl: float | timedelta | None, at: str) -> float | None:
    """Return a time to live in seconds."""
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if seconds is None:
        return None
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, (int, float))
        or not 0 < seconds <= 1e12
    ):
        raise InvalidInput(
            f"{at}ttl: give seconds above 0, or a timedelta, not {ttl!r}", field=f"{at}ttl"
        )
    return float(seconds)


def paths_of(index: Index, at: str) -> tuple[str, ...] | None:
    """Return the paths to index as an item has them."""
    if index is None:
        return None
    if index is False:
        return ()
    if isinstance(index, (str, bool)) or not isinstance(index, Sequence):
        raise InvalidInput(f"{at}index: give a list of paths, or False", field=f"{at}index")
    return tuple(index)


def trust_of(given: str | Trust | None, view: View) -> Trust:
    """Return the trust that a call names, or that of its writer."""
    if given is None:
        return Trust.USER if view.agent is None else Trust.ASSISTANT
    try:
        return Trust(given)
    except ValueError:
        known = ", ".join(trust.value for trust in Trust)
        raise InvalidInput(f"trust: {given!r} is none of {known}", field="trust") from None


#: The most items that one call reads by name.
MOST_NAMES: Final = 1000
#: A namespace and a name.
Address: TypeAlias = tuple[Sequence[str], str]
_ITEMS: Final = frozenset({RecordType.ITEM})


@spelled_out
class Items(RecordVerbs, Part[W]):
    """The items of a book: values of any JSON type, each under a name in a namespace. None ever
    makes room for another.
    """

    def __init__(
        self, services: Services, recall: Callable[..., Awaitable[Hits]], lists: Lists
    ) -> None:
        super().__init__(services)
        self._recall = recall
        self._lists = lists

    @offer(
        Role.EDITOR,
        "PUT /items/{name}",
        example={"namespace": ["notes"], "value": {"text": "buy tea"}},
    )
    async def put(
        self,
        owner: str | Owner,
        namespace: Sequence[str],
        name: str,
        value: Any,
        *,
        index: Index = None,
        ttl: float | timedelta | None = None,
        audience: str | Audience | None = None,
        trust: str | Trust | None = None,
        expect: int | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Store a value under a name, or replace the one that is there; an equal value changes
        nothing.

        ``index`` names the paths whose text recall finds, such as ``title`` or ``parts[*].text``;
        without it all text is found, with False none. ``ttl`` is the time in seconds after which it
        is gone. ``expect`` is the version that was read, and 0 asks that there is none; another
        version raises ``Stale`` or ``Conflict``.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        readers = await self._services.audience_of(audience, view)
        draft = ItemPut(namespace, name, value, index, ttl)
        item = self._made(draft, party, view, readers, trust, "")
        change = PutItem(item, expect=None if expect is None else as_count(expect, "expect"))
        request = [
            "put item",
            *spelled(draft),
            str(audience),
            None if trust is None else str(trust),
            expect,
        ]
        return await self._write(party, view, change, request, operation)

    @offer(Role.EDITOR, "POST /items", batch=("puts", "deletes"))
    async def write(
        self,
        owner: str | Owner,
        puts: Iterable[ItemPut] = (),
        deletes: Iterable[Address] = (),
        *,
        audience: str | Audience | None = None,
        trust: str | Trust | None = None,
        expect: Mapping[UUID, int] | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Store and delete several items in one operation: all of it or nothing. A name that is not
        there is not deleted.

        ``expect`` names the versions of items by their ids; another version raises ``Stale``, and
        an item where a put is ``new`` raises ``Conflict``.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        readers = await self._services.audience_of(audience, view)
        drafts, leaving = list(puts), list(deletes)
        _check_once([*((one.namespace, one.name) for one in drafts), *leaving])
        found = await self._named(party, view, leaving, readers if audience is not None else None)
        made = [
            self._made(one, party, view, readers, trust, f"puts[{at}].")
            for at, one in enumerate(drafts)
        ]
        changes: Sequence[Change] = [
            *(
                PutItem(item, expect=0 if draft.new else None)
                for item, draft in zip(made, drafts, strict=True)
            ),
            *(DeleteItem(item.id) for item in found if item is not None),
        ]
        written, said = [spelled(one) for one in drafts], None if trust is None else str(trust)
        gone = [[list(namespace), name] for namespace, name in leaving]
        request = ["write items", written, gone, str(audience), said]
        return await self._services.write(party, view, changes, request, operation, expect)

    @offer(Role.EDITOR, "DELETE /items/{name}")
    async def delete(
        self,
        owner: str | Owner,
        namespace: Sequence[str],
        name: str,
        *,
        audience: str | Audience | None = None,
        expect: int | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Take an item out of every read. Its history stays, and ``undo`` brings it back;
        ``book.forget`` erases it.

        Raise ``NotFound`` if the view sees no item of that name.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        request = [
            "delete item",
            list(as_labels(namespace)),
            item_name(name),
            str(audience),
            expect,
        ]
        readers = as_audience(audience, view)
        found = (await self._named(party, view, [(namespace, name)], readers))[0]
        if found is None and operation is not None:
            # A repeated deletion gets the receipt of the first one.
            by, named = as_actor(view), check_operation(operation)
            if await self._services.engine.find_operation(party, named, by) is not None:
                return await self._services.write(party, view, [], request, operation)
        if found is None:
            raise NotFound(f"name: this view sees no item {name!r} in that namespace")
        change = DeleteItem(found.id, None if expect is None else as_count(expect, "expect"))
        return await self._write(party, view, change, request, operation)

    @offer(Role.VIEWER, "GET /items/{name}")
    async def get(
        self: Items,
        owner: str | Owner,
        namespace: Sequence[str],
        name: str,
        *,
        renew: bool = False,
        **who: Unpack[Who],
    ) -> Item | None:
        """Return the named item, or None.

        With ``renew`` its time, if it has one, begins anew; a viewer's read renews nothing.
        """
        return (await self.get_many(owner, [(namespace, name)], renew=renew, **who))[0]

    @offer(Role.VIEWER, "POST /items/get")
    async def get_many(
        self: Items,
        owner: str | Owner,
        names: Iterable[Address],
        *,
        renew: bool = False,
        **who: Unpack[Who],
    ) -> Sequence[Item | None]:
        """Return the items of several names, in their order; None for a name that the view sees no
        item of.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        found = await self._named(party, view, list(names))
        if as_flag(renew, "renew") and CALLER.get().writes:
            await self.renew(party, [one for one in found if one is not None], view)
        return found

    @offer(Role.VIEWER, "GET /items")
    async def list(
        self,
        owner: str | Owner,
        namespace: Sequence[str] = (),
        *,
        only: Conditions | None = None,
        limit: int = 100,
        offset: int = 0,
        **who: Unpack[Who],
    ) -> Sequence[Item]:
        """Return the items in a namespace and below it, the last updated first; of a name each one
        that the view sees.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        filter = _below(namespace, only)
        found = await self._lists.newest(
            party, view, filter, as_limit(limit), as_count(offset, "offset")
        )
        return those_of(Item, found)

    @offer(Role.VIEWER, "POST /items/search")
    async def search(
        self,
        owner: str | Owner,
        query: str,
        namespace: Sequence[str] = (),
        *,
        only: Conditions | None = None,
        limit: int = 10,
        offset: int = 0,
        mode: str = "hybrid",
        **who: Unpack[Who],
    ) -> Hits:
        """Return the items in a namespace and below it that best answer a query, as ``recall``
        finds them, and whole as ``get`` does.
        """
        chosen: Conditions = {**(only or {}), "namespace": namespace}
        found = await self._recall(
            owner, query, types="item", only=chosen, limit=limit, offset=offset, mode=mode, **who
        )
        # A program may store what it read, so it gets no mask in place of what is stored.
        ids = [hit.record.id for hit in found if MASK.search(str(getattr(hit.record, "value", "")))]
        if ids:
            party, view = owner_named(owner, self._services.tenant), as_view(who)
            whole = await self._services.engine.get(party, view, ids)
            found[:] = [replace(hit, record=whole.get(hit.record.id, hit.record)) for hit in found]
        return found

    @offer(Role.VIEWER, "GET /item-count")
    async def count(
        self,
        owner: str | Owner,
        namespace: Sequence[str] = (),
        *,
        only: Conditions | None = None,
        **who: Unpack[Who],
    ) -> int:
        """Return how many items are in a namespace and below it."""
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        return await self._lists.count(party, view, _below(namespace, only))

    @offer(Role.VIEWER, "GET /namespaces")
    async def namespaces(
        self,
        owner: str | Owner,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
        **who: Unpack[Who],
    ) -> Sequence[tuple[str, ...]]:
        """Return the namespaces that have items, in order; ``*`` in a prefix or a suffix stands for
        any label.

        ``max_depth`` shortens longer ones to so many labels, each once.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        begins, ends = as_labels(prefix, "prefix", 0), as_labels(suffix, "suffix", 0)
        # The labels before the first "*" narrow what is read.
        below = _below(tuple(takewhile(lambda label: label != "*", begins)))
        depth = LABELS if max_depth is None else as_count(max_depth, "max_depth", 1)
        found = {
            labels[:depth]
            for labels in [
                namespace_of(kind or "") for kind in await self._lists.kinds(party, view, below)
            ]
            if _fits(labels[: len(begins)], begins)
            and (not ends or _fits(labels[-len(ends) :], ends))
        }
        begin = as_count(offset, "offset")
        return sorted(found)[begin : begin + as_limit(limit)]

    @no_offer("reads renew items with renew=True")
    async def renew(self, owner: Owner, items: Iterable[Item], view: View) -> None:
        """Begin the time of items anew that have one."""
        now = self._services.door.clock()
        changes = [RenewItem(one.id) for one in items if one.renewed(now) is not None]
        if changes:
            await self._services.write(owner, view, changes, ["renew items"], None)

    async def _named(
        self, owner: Owner, view: View, names: Sequence[Address], readers: Audience | None = None
    ) -> Sequence[Item | None]:
        """Return the item of each name that the view sees first: its own, its groups',
        everybody's.
        """
        if len(names) > MOST_NAMES:
            raise InvalidInput(
                f"names: {len(names)} names; give at most {MOST_NAMES} at a time", field="names"
            )
        asked = [(as_labels(namespace), item_name(name)) for namespace, name in names]
        if not asked:
            return []
        links = frozenset(item_link(owner, *one) for one in asked)
        scan = partial(self._services.engine.scan, owner, view, Filter(types=_ITEMS, sources=links))
        page = await scan(None, _AT_ONCE)
        records = [*page]
        while page.cursor is not None:
            page = await scan(page.cursor, _AT_ONCE)
            records += page
        found: dict[Address, Item] = {}
        seen = [
            one for one in those_of(Item, records) if readers is None or one.audience == readers
        ]
        for item in sorted(seen, key=_first, reverse=True):
            found[item.namespace, item.name] = item
        return [found.get(one) for one in asked]

    def _made(
        self,
        draft: ItemPut,
        owner: Owner,
        view: View,
        readers: Audience,
        trust: str | Trust | None,
        at: str,
    ) -> Item:
        now = self._services.door.clock()
        ttl = seconds_of(draft.ttl, at)
        try:
            return Item(
                id=new_id(),
                owner=owner,
                audience=readers,
                namespace=as_labels(draft.namespace, f"{at}namespace"),
                name=draft.name,
                value=draft.value,
                index=paths_of(draft.index, at),
                agent=view.agent,
                trust=trust_of(trust, view),
                created_at=now,
                updated_at=now,
                ttl=ttl,
                expires_at=expiry_of(ttl, now),
            )
        except ValidationError as exc:
            raise refused(exc, at=at.removesuffix(".")) from exc


#: Items that are read at a time: one trip unless the names are many and each has items of many
#: audiences.
_AT_ONCE: Final = 10_000


def _below(namespace: Sequence[str], only: Conditions | None = None) -> Filter:
    """Return the condition on items in a namespace and below it, and others on them."""
    return as_filter(_ITEMS, {**(only or {}), "namespace": namespace})


def _first(item: Item) -> tuple[int, float, UUID]:
    """Return the order in which a reader takes one of several items of a name."""
    return -WIDEST_FIRST.index(item.audience.kind), -item.updated_at.timestamp(), item.id


def _check_once(addresses: Iterable[Address]) -> None:
    """Raise ``InvalidInput`` if a name is given twice."""
    seen: set[Address] = set()
    for namespace, name in addresses:
        address = as_labels(namespace), item_name(name)
        if address in seen:
            raise InvalidInput(
                f"name: {name!r} is given twice; give each name once in a call", field="name"
            )
        seen.add(address)


def _fits(labels: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if labels are the wanted ones, of which ``*`` is any."""
    return len(labels) == len(wanted) and all(
        one in ("*", label) for label, one in zip(labels, wanted, strict=True)
    )
