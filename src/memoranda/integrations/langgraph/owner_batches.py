"""Operations of LangGraph's stores on the items of one owner, several callers' at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchItem, SearchOp
from langgraph.store.base import Item as StoreItem

from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.book.nouns.items import ItemPut
from memoranda.errors import InvalidInput
from memoranda.model.items import Item
from memoranda.model.records import Owner
from memoranda.wire.langgraph_store import (
    PAGE,
    Labels,
    NamespaceOwners,
    Place,
    StoreReads,
    paths_of,
)

_SECONDS_A_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Call:
    """Operations that a caller gave together, all on one owner, with their places; and their
    results.
    """

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
        self._reads = StoreReads(book.items, owners, who, lambda: not book.no_vectors_because)

    async def run(self, owner: Owner | None, calls: Sequence[Call]) -> None:
        """Run calls together. If one is refused, run each by itself, so that a caller fails only by
        its own mistake.
        """
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
            if (
                isinstance(op, (SearchOp, ListNamespacesOp))
                and (asked := repr((op, place))) not in read
            ):
                read[asked] = await (
                    self._searched(op, place)
                    if isinstance(op, SearchOp)
                    else self._listed(op, place)
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

    # ── by name ───────────────────────────────────────────────────────────────────────────────────

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
        await self._reads.renew(owner, [item for name, item in found.items() if asked[name]])
        return found

    async def _found(
        self, owner: Owner, addresses: Sequence[tuple[Labels, str]]
    ) -> dict[tuple[Labels, str], Item]:
        found: dict[tuple[Labels, str], Item] = {}
        for at in range(0, len(addresses), PAGE):
            names = addresses[at : at + PAGE]
            items = await self._book.items.get_many(owner, names, **self._who)
            found |= {
                name: item for name, item in zip(names, items, strict=True) if item is not None
            }
        return found

    # ── searches and lists ────────────────────────────────────────────────────────────────────────

    async def _searched(self, op: SearchOp, place: Place | None) -> list[SearchItem]:
        if self._lacks_vectors and op.query:
            # The store was given the embeddings: what it wrote is found by meaning at once, as in
            # LangGraph's own.
            self._lacks_vectors = False
            await self._book.admin.embed()
        found = await self._reads.search(
            place,
            tuple(op.namespace_prefix),
            query=op.query,
            filter=op.filter,
            limit=op.limit,
            offset=op.offset,
            renews=bool(op.refresh_ttl),
        )
        return [_as_search_item(*one) for one in found]

    async def _listed(self, op: ListNamespacesOp, place: Place | None) -> list[Labels]:
        begins, ends = _conditions(op)
        return await self._reads.namespaces(
            place, begins, ends, max_depth=op.max_depth, limit=op.limit, offset=op.offset
        )

    # ── writes ────────────────────────────────────────────────────────────────────────────────────

    async def _written(
        self, owner: Owner | None, puts: Sequence[tuple[PutOp, Place | None]]
    ) -> None:
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

    async def _write(
        self, owner: Owner, audience: Any, group: Sequence[tuple[PutOp, Place]]
    ) -> None:
        puts = [self._drafted(op, place) for op, place in group if op.value is not None]
        deletes = [(place.inner, op.key) for op, place in group if op.value is None]
        leaving = (
            await self._book.items.get_many(owner, deletes, **self._who)
            if self._erases and deletes
            else ()
        )
        await self._book.items.write(owner, puts, deletes, audience=audience, **self._who)
        ids = [item.id for item in leaving if item is not None]
        if ids:
            # An agent erases its own items; an application that writes as no agent, any of the
            # owner's.
            who: Who = self._who if self._who.get("agent") else {"as_owner": True}
            await self._book.forget(owner, ids, what="record", **who)

    def _drafted(self, op: PutOp, place: Place) -> ItemPut:
        index = (
            self._fields
            if op.index is None
            else op.index
            if op.index is False
            else paths_of(op.index)
        )
        ttl = None if op.ttl is None else float(op.ttl) * _SECONDS_A_MINUTE
        try:
            value = dict(op.value or {})
        except (TypeError, ValueError):
            raise InvalidInput(
                f"value: give a mapping of fields, not {type(op.value).__name__}", field="value"
            ) from None
        return ItemPut(place.inner, op.key, value, index=index, ttl=ttl)


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
        while count < len(waiting) and (not count or size + len(waiting[count][0].ops) <= PAGE):
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
