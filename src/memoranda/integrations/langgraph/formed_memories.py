"""A LangGraph store that shows, in one namespace, what a book formed from conversations; all else is another store's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from memoranda.book import Book
from memoranda.book.input import Who, as_view, owner_named
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.integrations.langgraph.formed_items import FormedItem, FormedItems, Passes
from memoranda.model.data.data_filters import RecordData, data_filter
from memoranda.model.records import Owner
from memoranda.wire.store_filters import NothingMeets, conditions_of

Labels = tuple[str, ...]


class FormedMemories(BaseStore):
    """The memories of ``(root, user, schema)`` are the book's formed records; other namespaces belong to ``others``.

    Nothing is stored twice: reads ask the book, so what is corrected or forgotten there is so here at once. The key of a
    patched document is its schema's name, that of a note its id. What is put is set by the person, and pinned: conversations
    leave it. Deleting takes back and keeps the history; ``book.forget`` erases. ``agent``, ``groups`` and ``view`` say
    who reads. Make it on the event loop of the book.
    """

    supports_ttl = True

    def __init__(self, book: Book, others: BaseStore, *, root: str = "memories", **who: Unpack[Who]) -> None:
        as_view(who)
        self._book, self._others, self._root = book, others, root
        self._items = FormedItems(book, who)
        self._loop = asyncio.get_running_loop()
        self.ttl_config = others.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together and wait for their results; not on the thread of the book's own event loop."""
        try:
            here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            raise asyncio.InvalidStateError(
                "a synchronous call would block the event loop of this store's book: use the method with 'a' before its name"
            )
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together: reads see what was there before the writes, and the last write of a key counts."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        if asyncio.get_running_loop() is not self._loop:
            work = asyncio.run_coroutine_threadsafe(self._run(listed), self._loop)
            return await asyncio.wrap_future(work)
        return await self._run(listed)

    async def _run(self, ops: list[Op]) -> list[Result]:
        results: list[Result] = [None] * len(ops)
        formed = [at for at, op in enumerate(ops) if _labels(op)[:1] == (self._root,)]
        writes: dict[tuple[Labels, str], PutOp] = {}
        for at in formed:
            op = ops[at]
            if isinstance(op, PutOp):
                writes.pop((op.namespace, op.key), None)
                writes[op.namespace, op.key] = op
            else:
                results[at] = await self._read(op)
        left = [at for at in range(len(ops)) if at not in set(formed)]
        if left:
            answers = await self._others.abatch([ops[at] for at in left])
            for at, answer in zip(left, answers, strict=True):
                results[at] = answer
        for write in writes.values():
            await self._write(write)
        return results

    async def _read(self, op: Op) -> Result:
        owner, below = self._place(_labels(op))
        if isinstance(op, GetOp):
            found = await self._items.get(owner, below[0], op.key) if len(below) == 1 else None
            return None if found is None else Item(**self._fields(owner, found))
        if isinstance(op, SearchOp):
            if len(below) > 1:
                return []
            schema = below[0] if below else None
            most = op.offset + op.limit
            items = await self._items.search(owner, schema, op.query, most, _passing(op.filter))
            return [
                SearchItem(**self._fields(owner, item), score=item.score) for item in items[op.offset : most]
            ]
        assert isinstance(op, ListNamespacesOp)
        return await self._namespaces(owner, op)

    async def _namespaces(self, owner: Owner, op: ListNamespacesOp) -> list[Labels]:
        held = sorted((self._root, owner.id, name) for name in await self._items.schemas(owner))
        for condition in op.match_conditions or ():
            held = [one for one in held if _matches(one, condition.match_type, tuple(condition.path))]
        cut = list(dict.fromkeys(one[: op.max_depth] for one in held))
        return cut[op.offset : op.offset + op.limit]

    async def _write(self, op: PutOp) -> None:
        owner, below = self._place(op.namespace)
        if len(below) != 1:
            raise InvalidInput(
                f"namespace: {op.namespace!r} is no namespace of memories; use ({self._root!r}, user, schema)",
                field="namespace",
            )
        if op.value is None:
            await self._items.delete(owner, below[0], op.key)
            return
        if op.ttl is not None:
            raise InvalidInput(
                "ttl: memories stay; limits.kind_days says how long a kind is kept", field="ttl"
            )
        await self._items.put(owner, below[0], op.key, op.value)

    def _place(self, labels: Labels) -> tuple[Owner, Labels]:
        """Return the owner of a namespace and what is below it; the second label names the owner."""
        if len(labels) < 2 or "*" in labels[:2]:
            raise NotAllowed(
                f"namespace: {labels!r} names no user; memories are read of one user at a time: ({self._root!r}, user)"
            )
        return owner_named(labels[1], self._book.tenant), labels[2:]

    def _fields(self, owner: Owner, item: FormedItem) -> dict[str, Any]:
        return {
            "namespace": (self._root, owner.id, item.schema),
            "key": item.key,
            "value": item.value,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
        }


def _labels(op: Op) -> Labels:
    """Return an operation's namespace, or the longest of its prefixes."""
    if isinstance(op, (GetOp, PutOp)):
        return tuple(op.namespace)
    if isinstance(op, SearchOp):
        return tuple(op.namespace_prefix)
    begins = [tuple(one.path) for one in op.match_conditions or () if one.match_type == "prefix"]
    return max(begins, key=len, default=())


def _matches(labels: Labels, end: str, path: Labels) -> bool:
    part = labels[: len(path)] if end == "prefix" else labels[len(labels) - len(path) :]
    return len(labels) >= len(path) and all(
        wanted in ("*", one) for one, wanted in zip(part, path, strict=True)
    )


def _passing(filter: Mapping[str, Any] | None) -> Passes | None:
    """Return a function that says if a value meets a filter of LangGraph; None if there is no filter."""
    try:
        wanted = data_filter(None, conditions_of(filter))
    except NothingMeets:
        return lambda _: False
    return None if wanted is None else lambda value: wanted.met_by(RecordData(value))
