"""Operations of LangGraph's stores on the items of one owner, several callers' at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchItem, SearchOp
from langgraph.store.base import Item as StoreItem

from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.book.items.item_arguments import ItemPut
from memoranda.errors import InvalidInput
from memoranda.integrations.langgraph.namespace_owners import ANY, Labels, NamespaceOwners, Place
from memoranda.integrations.langgraph.store_filters import NothingMeets, conditions_of, paths_of
from memoranda.model.data.items import Item
from memoranda.model.query import Hit
from memoranda.model.records import Owner
from memoranda.text.terms import query_groups

T = TypeVar("T")
#: The most that the book returns at a time.
_PAGE = 1000
_SECONDS_A_MINUTE = 60.0
#: An item with its score; None: the question did not find it.
Scored: TypeAlias = tuple[Item, float | None]


@dataclass(slots=True, eq=False)
class Call:
    """Operations that a caller gave together, all on one owner, with their places; and their results."""

    ops: Sequence[tuple[Any, Place | None]]
    results: list[Any] = field(default_factory=list)
    failed: BaseException | None = None


class OwnerBatches:
    """Runs calls on the items of one owner: all reads first, then all writes in one operation."""

    def __init__(
        self,
        book: Book,
        owners: NamespaceOwners,
        who: Who,
        *,
        fields: list[str] | None,
        embeds: bool,
        erases: bool,
    ) -> None:
        self._book = book
        self._owners = owners
        self._who = who
        self._fields = fields
        self._embeds = embeds
        self._erases = erases
        self._lacks_vectors = embeds

    async def run(self, owner: Owner | None, calls: Sequence[Call]) -> None:
        """Run calls together. If one is refused, run each by itself, so that a caller fails only by its own mistake."""
        try:
            await self._together(owner, calls)
        except InvalidInput as exc:
            if len(calls) == 1:
                calls[0].failed = exc
            else:
                for call in calls:
                    await self.run(owner, [call])
        except Exception as exc:  # noqa: BLE001 - it is raised where each caller waits
            for call in calls:
                call.failed = exc

    async def _together(self, owner: Owner | None, calls: Sequence[Call]) -> None:
        ops = [one for call in calls for one in call.ops]
        items = await self._got(owner, [one for one in ops if isinstance(one[0], GetOp)])
        read: dict[str, Any] = {}
        for op, place in ops:
            if isinstance(op, (SearchOp, ListNamespacesOp)) and (asked := repr((op, place))) not in read:
                read[asked] = await (
                    self._searched(op, place) if isinstance(op, SearchOp) else self._listed(op, place)
                )
        await self._written(owner, [one for one in ops if isinstance(one[0], PutOp)])
        for call in calls:
            call.results = [
                _as_item(items.get((place.inner, op.key)), place)
                if isinstance(op, GetOp) and place is not None
                else None
                if isinstance(op, PutOp)
                else list(read[repr((op, place))])
                for op, place in call.ops
            ]

    # ── by name ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _got(
        self, owner: Owner | None, gets: Sequence[tuple[GetOp, Place | None]]
    ) -> dict[tuple[Labels, str], Item]:
        if owner is None or not gets:
            return {}
        #: For each address: True if one of the callers wants its time to begin anew.
        asked: dict[tuple[Labels, str], bool] = {}
        for op, place in gets:
            assert place is not None
            address = (place.inner, op.key)
            asked[address] = asked.get(address, False) or bool(op.refresh_ttl)
        found = await self._found(owner, list(asked))
        await self._renew(owner, [item for name, item in found.items() if asked[name]])
        return found

    async def _found(
        self, owner: Owner, addresses: Sequence[tuple[Labels, str]]
    ) -> dict[tuple[Labels, str], Item]:
        found: dict[tuple[Labels, str], Item] = {}
        for at in range(0, len(addresses), _PAGE):
            names = addresses[at : at + _PAGE]
            items = await self._book.items.get_many(owner, names, **self._who)
            found |= {name: item for name, item in zip(names, items, strict=True) if item is not None}
        return found

    async def _renew(self, owner: Owner, items: Sequence[Item]) -> None:
        names = [(item.namespace, item.name) for item in items if item.ttl is not None]
        for at in range(0, len(names), _PAGE):
            await self._book.items.get_many(owner, names[at : at + _PAGE], renew=True, **self._who)

    # ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _searched(self, op: SearchOp, place: Place | None) -> list[SearchItem]:
        end = op.offset + op.limit
        if op.offset < 0 or op.limit < 1:
            raise InvalidInput("limit: give a limit of at least 1 and an offset of at least 0", field="limit")
        try:
            only = conditions_of(op.filter)
        except NothingMeets:
            return []
        if self._lacks_vectors and op.query:
            # The store was given the embeddings: what it wrote is found by meaning at once, as in LangGraph's own.
            self._lacks_vectors = False
            await self._book.embed()
        if place is not None:
            chosen = (await self._ranked(place.owner, place.inner, op.query, only, end))[op.offset : end]
            if op.refresh_ttl:
                await self._renew(place.owner, [item for item, _ in chosen])
            return [_as_search_item(item, score, place.outside(item.namespace)) for item, score in chosen]
        return await self._searched_across(op, only, end)

    async def _searched_across(self, op: SearchOp, only: dict[str, Any], end: int) -> list[SearchItem]:
        """Search the items of all owners that the store may read, as far as the application's function gives them to these."""
        inner, found = tuple(op.namespace_prefix), list[Scored]()
        for owner in await self._owners.owners():
            count = end
            while True:
                ranked = await self._ranked(owner, inner, op.query, only, count)
                own = [one for one in ranked if self._owners.belongs(owner, one[0].namespace)]
                if len(own) >= end or len(ranked) < count:
                    break
                count *= 2
            found += own[:end]
        found.sort(key=lambda one: one[0].updated_at, reverse=True)
        found.sort(key=lambda one: (one[1] is None, -(one[1] or 0.0)))
        chosen = found[op.offset : end]
        if op.refresh_ttl:
            for owner, items in groupby(chosen, key=lambda one: one[0].owner):
                await self._renew(owner, [item for item, _ in items])
        return [_as_search_item(item, score, item.namespace) for item, score in chosen]

    async def _ranked(
        self, owner: Owner, inner: Labels, query: str | None, only: dict[str, Any], end: int
    ) -> list[Scored]:
        """Return the first ``end`` items: the hits of the question, then the other items, the last updated first."""
        items, who, conditions = self._book.items, self._who, only or None
        hits: Sequence[Hit] = ()
        words = 0
        if query:
            hits = list(
                await items.search(owner, query, inner, only=conditions, limit=min(end, _PAGE), **who)
            )
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
        unlike = 0.0 if query and not self._book.no_vectors_because else None
        rest = [(item, None if item.index == () else unlike) for item in listed if item.id not in there]
        return [*ranked, *rest][:end]

    # ── namespaces ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _listed(self, op: ListNamespacesOp, place: Place | None) -> list[Labels]:
        begins, ends = _conditions(op)
        items, who = self._book.items, self._who
        if place is not None and place.is_kept and len(begins) <= 1 and len(ends) <= 1:
            owner, prefix, suffix = place.owner, place.inner, ends[0] if ends else ()
            return await _pages(
                lambda limit, offset: items.namespaces(
                    owner,
                    prefix=prefix,
                    suffix=suffix,
                    max_depth=op.max_depth,
                    limit=limit,
                    offset=offset,
                    **who,
                ),
                op.offset,
                op.limit,
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
            labels[: op.max_depth]
            for labels in found
            if all(_fits(labels[: len(path)], path) for path in begins)
            and all(_fits(labels[-len(path) :], path) for path in ends)
        }
        return sorted(fitting)[op.offset : op.offset + op.limit]

    # ── writes ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _written(self, owner: Owner | None, puts: Sequence[tuple[PutOp, Place | None]]) -> None:
        if owner is None or not puts:
            return
        #: The last write of a name counts.
        last: dict[tuple[Labels, str], tuple[PutOp, Place]] = {}
        for op, place in puts:
            assert place is not None
            last[place.inner, op.key] = (op, place)
        audiences: dict[Any, list[tuple[PutOp, Place]]] = {}
        for op, place in last.values():
            audiences.setdefault(self._owners.audience_of(place.outer), []).append((op, place))
        for audience, group in audiences.items():
            await self._write(owner, audience, group)
        self._lacks_vectors = self._embeds

    async def _write(self, owner: Owner, audience: Any, group: Sequence[tuple[PutOp, Place]]) -> None:
        puts = [self._drafted(op, place) for op, place in group if op.value is not None]
        deletes = [(place.inner, op.key) for op, place in group if op.value is None]
        leaving = (
            await self._book.items.get_many(owner, deletes, **self._who) if self._erases and deletes else ()
        )
        await self._book.items.write(owner, puts, deletes, audience=audience, **self._who)
        ids = [item.id for item in leaving if item is not None]
        if ids:
            # An agent erases its own items; an application that writes as no agent, any of the owner's.
            who: Who = self._who if self._who.get("agent") else {"view": "owner"}
            await self._book.forget(owner, ids, what="record", **who)

    def _drafted(self, op: PutOp, place: Place) -> ItemPut:
        index = self._fields if op.index is None else op.index if op.index is False else paths_of(op.index)
        ttl = None if op.ttl is None else float(op.ttl) * _SECONDS_A_MINUTE
        try:
            value = dict(op.value or {})
        except (TypeError, ValueError):
            raise InvalidInput(
                f"value: give a mapping of fields, not {type(op.value).__name__}", field="value"
            ) from None
        return ItemPut(place.inner, op.key, value, index=index, ttl=ttl)


async def _pages(
    fetch: Callable[[int, int], Awaitable[Sequence[T]]], begin: int, count: int | None
) -> list[T]:
    """Fetch ``count`` of a list from a place on, or all, in as many calls as the book's limit needs."""
    found: list[T] = []
    while count is None or len(found) < count:
        size = _PAGE if count is None else min(_PAGE, count - len(found))
        page = await fetch(size, begin + len(found))
        found += page
        if len(page) < size:
            break
    return found


def _conditions(op: ListNamespacesOp) -> tuple[list[Labels], list[Labels]]:
    paths: dict[str, list[Labels]] = {"prefix": [], "suffix": []}
    for condition in op.match_conditions or ():
        if condition.match_type not in paths:
            raise InvalidInput(
                f"match_type: {condition.match_type!r} is not prefix or suffix", field="match_type"
            )
        if condition.path:
            paths[condition.match_type].append(tuple(condition.path))
    return paths["prefix"], paths["suffix"]


def _fits(labels: Labels, path: Labels) -> bool:
    return len(labels) == len(path) and all(
        wanted in (ANY, label) for label, wanted in zip(labels, path, strict=True)
    )


def _item(hit: Hit) -> Item:
    assert isinstance(hit.record, Item)
    return hit.record


def _score(hit: Hit, words: int) -> float:
    """Return the larger of the cosine and the share of the question's words that the item has: at most 1, for any question."""
    cosine = next((one.score for one in hit.scores if one.scorer == "meaning"), None)
    share = min(1.0, len(hit.words) / words) if words else 0.0
    return share if cosine is None else max(cosine, share) if share else cosine


def _as_item(item: Item | None, place: Place) -> StoreItem | None:
    if item is None:
        return None
    return StoreItem(
        value=item.value,
        key=item.name,
        namespace=place.outside(item.namespace),
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _as_search_item(item: Item, score: float | None, namespace: Labels) -> SearchItem:
    return SearchItem(
        value=item.value,
        key=item.name,
        namespace=namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )


class OwnerQueues:
    """A queue of calls for each owner: what comes in one turn of the event loop runs together."""

    def __init__(self, batches: OwnerBatches) -> None:
        self._batches = batches
        #: The owners whose calls run, with the calls that wait; owners do not wait for each other.
        self._waiting: dict[Owner | None, list[tuple[Call, asyncio.Future[None]]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, owner: Owner | None, ops: Sequence[tuple[Any, Place | None]]) -> list[Any]:
        """Run the operations of one caller on one owner and return their results."""
        loop = asyncio.get_running_loop()
        call, turn = Call(ops), loop.create_future()
        if owner in self._waiting:
            self._waiting[owner].append((call, turn))
        else:
            self._waiting[owner] = [(call, turn)]
            # A task of its own: a caller that is cancelled leaves the others' calls alone.
            task = loop.create_task(self._run_all(owner))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        await turn
        if call.failed is not None:
            raise call.failed
        return call.results

    def _taken(self, owner: Owner | None) -> list[tuple[Call, asyncio.Future[None]]]:
        """Take the first of the calls that wait, as many as the book runs well together."""
        waiting = [one for one in self._waiting[owner] if not one[1].done()]
        count, size = 0, 0
        while count < len(waiting) and (not count or size + len(waiting[count][0].ops) <= _PAGE):
            size += len(waiting[count][0].ops)
            count += 1
        self._waiting[owner] = waiting[count:]
        return waiting[:count]

    async def _run_all(self, owner: Owner | None) -> None:
        calls: list[tuple[Call, asyncio.Future[None]]] = []
        try:
            while calls := self._taken(owner):
                await self._batches.run(owner, [call for call, _ in calls])
                for _, turn in calls:
                    if not turn.done():
                        turn.set_result(None)
        finally:
            for _, turn in [*calls, *self._waiting.pop(owner)]:
                if not turn.done():
                    turn.cancel()
