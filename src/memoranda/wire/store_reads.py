"""Searches and lists of LangGraph's stores, over the items of a book or of one principal's part of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from typing import Any, Protocol, TypeAlias, TypeVar

from memoranda.book.input import Who
from memoranda.errors import InvalidInput
from memoranda.model.data.items import Item
from memoranda.model.query import Hit
from memoranda.model.records import Owner
from memoranda.text.terms import query_groups
from memoranda.wire.store_filters import NothingMeets, conditions_of
from memoranda.wire.store_owners import ANY, Labels, NamespaceOwners, Place

T = TypeVar("T")
#: The most that the book returns at a time.
PAGE = 1000
#: An item with its score; None: the question did not find it.
Scored: TypeAlias = tuple[Item, float | None]


class ReadableItems(Protocol):
    """The reading verbs of items, as a book has them."""

    @property
    def get_many(self) -> Callable[..., Awaitable[Sequence[Item | None]]]: ...
    @property
    def search(self) -> Callable[..., Awaitable[Sequence[Hit]]]: ...
    @property
    def list(self) -> Callable[..., Awaitable[Sequence[Item]]]: ...
    @property
    def namespaces(self) -> Callable[..., Awaitable[Sequence[Labels]]]: ...


class StoreReads:
    """Reads that LangGraph's stores make; ``compares`` tells if recall compares vectors."""

    def __init__(
        self, items: ReadableItems, owners: NamespaceOwners, who: Who, compares: Callable[[], bool]
    ) -> None:
        self._items = items
        self._owners = owners
        self._who = who
        self._compares = compares

    async def renew(self, owner: Owner, items: Sequence[Item]) -> None:
        """Begin the time of items anew that have one."""
        names = [(item.namespace, item.name) for item in items if item.ttl is not None]
        for at in range(0, len(names), PAGE):
            await self._items.get_many(owner, names[at : at + PAGE], renew=True, **self._who)

    # ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def search(
        self,
        place: Place | None,
        prefix: Labels,
        *,
        query: str | None,
        filter: dict[str, Any] | None,
        limit: int,
        offset: int,
        renews: bool,
    ) -> list[tuple[Item, float | None, Labels]]:
        """Return the best items below a prefix, each with its score and the store's name of its namespace."""
        end = offset + limit
        if offset < 0 or limit < 1:
            raise InvalidInput("limit: give a limit of at least 1 and an offset of at least 0", field="limit")
        try:
            only = conditions_of(filter)
        except NothingMeets:
            return []
        if place is None:
            chosen = (await self._across(prefix, query, only, end))[offset:end]
        else:
            chosen = (await self._ranked(place.owner, place.inner, query, only, end))[offset:end]
        if renews:
            for owner, items in groupby(chosen, key=lambda one: one[0].owner):
                await self.renew(owner, [item for item, _ in items])
        return [
            (item, score, item.namespace if place is None else place.outside(item.namespace))
            for item, score in chosen
        ]

    async def _across(
        self, prefix: Labels, query: str | None, only: dict[str, Any], end: int
    ) -> list[Scored]:
        """Search the items of all owners that may be read, as far as the application's function gives them to these."""
        found = list[Scored]()
        for owner in await self._owners.owners():
            count = end
            while True:
                ranked = await self._ranked(owner, prefix, query, only, count)
                own = [one for one in ranked if self._owners.belongs(owner, one[0].namespace)]
                if len(own) >= end or len(ranked) < count:
                    break
                count *= 2
            found += own[:end]
        found.sort(key=lambda one: one[0].updated_at, reverse=True)
        found.sort(key=lambda one: (one[1] is None, -(one[1] or 0.0)))
        return found

    async def _ranked(
        self, owner: Owner, inner: Labels, query: str | None, only: dict[str, Any], end: int
    ) -> list[Scored]:
        """Return the first ``end`` items: the hits of the question, then the other items, the last updated first."""
        items, who, conditions = self._items, self._who, only or None
        hits: Sequence[Hit] = ()
        words = 0
        if query:
            hits = list(await items.search(owner, query, inner, only=conditions, limit=min(end, PAGE), **who))
            words = len(query_groups(query))
            if len(hits) == end:
                return [(_item(hit), _score(hit, words)) for hit in hits]
        listed = await _pages(
            lambda limit, offset: items.list(
                owner, inner, only=conditions, limit=limit, offset=offset, **who
            ),
            0,
            end,
        )
        there = {hit.record.id for hit in hits}
        ranked: list[Scored] = [(_item(hit), _score(hit, words)) for hit in hits]
        # Where vectors are compared, an item that is no hit has one that points away from the question's.
        unlike = 0.0 if query and self._compares() else None
        rest = [(item, None if item.index == () else unlike) for item in listed if item.id not in there]
        return [*ranked, *rest][:end]

    # ── namespaces ───────────────────────────────────────────────────────────────────────────────────────────────

    async def namespaces(
        self,
        place: Place | None,
        begins: Sequence[Labels],
        ends: Sequence[Labels],
        *,
        max_depth: int | None,
        limit: int,
        offset: int,
    ) -> list[Labels]:
        """Return the store's names of the namespaces that begin and end like these, in order."""
        items, who = self._items, self._who
        if place is not None and place.is_kept and len(begins) <= 1 and len(ends) <= 1:
            owner, prefix, suffix = place.owner, place.inner, ends[0] if ends else ()
            return await _pages(
                lambda limit, offset: items.namespaces(
                    owner,
                    prefix=prefix,
                    suffix=suffix,
                    max_depth=max_depth,
                    limit=limit,
                    offset=offset,
                    **who,
                ),
                offset,
                limit,
            )
        found: set[Labels] = set()
        parties = [place.owner] if place is not None else await self._owners.owners()
        prefix = place.inner if place is not None else begins[0] if begins else ()
        for party in parties:

            def page(limit: int, offset: int, party: Owner = party) -> Awaitable[Sequence[Labels]]:
                return items.namespaces(party, prefix=prefix, limit=limit, offset=offset, **who)

            for inner in await _pages(page, 0, None):
                outer = place.outside(inner) if place is not None else inner
                if place is not None or self._owners.belongs(party, inner):
                    found.add(outer)
        fitting = {
            labels[:max_depth]
            for labels in found
            if all(_fits(labels[: len(path)], path) for path in begins)
            and all(_fits(labels[-len(path) :], path) for path in ends)
        }
        return sorted(fitting)[offset : offset + limit]


async def _pages(
    fetch: Callable[[int, int], Awaitable[Sequence[T]]], begin: int, count: int | None
) -> list[T]:
    """Fetch ``count`` of a list from a place on, or all, in as many calls as the book's limit needs."""
    found: list[T] = []
    while count is None or len(found) < count:
        size = PAGE if count is None else min(PAGE, count - len(found))
        page = await fetch(size, begin + len(found))
        found += page
        if len(page) < size:
            break
    return found


def _fits(labels: Labels, path: Labels) -> bool:
    return len(labels) == len(path) and all(
        wanted in (ANY, label) for label, wanted in zip(labels, path, strict=True)
    )


def _item(hit: Hit) -> Item:
    assert isinstance(hit.record, Item)
    return hit.record


def _score(hit: Hit, words: int) -> float:
    """Return the larger of the cosine and the share of the question's words that the item has: at most 1, for any question."""
    share = min(1.0, len(hit.words) / words) if words else 0.0
    return share if hit.cosine is None else max(hit.cosine, share) if share else hit.cosine
