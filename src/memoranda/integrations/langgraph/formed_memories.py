"""A LangGraph store that shows, in one namespace, what a book formed from conversations; all else
is another store's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Unpack
from uuid import UUID

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
from memoranda.errors import InvalidInput, NotAllowed, NotFound
from memoranda.model.data_filters import RecordData, data_filter
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Owner
from memoranda.wire.langgraph_store import NothingMeets, conditions_of

#: Returns True for a value that a search may find.
Passes = Callable[[Mapping[str, Any]], bool]
#: The namespace of memories that follow no schema of the application's own.
NOTE: Final = "Note"
_PAGE: Final = 200
#: The most notes that a search goes through, without a question and with one.
_MOST: Final = 100_000
_RECALLED: Final = 1_000


@dataclass(frozen=True, slots=True)
class FormedItem:
    """A formed record as an item of its schema."""

    schema: str
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    score: float | None = None


class FormedItems:
    """Reads and changes what was formed of one owner's conversations; it stores nothing of its
    own.
    """

    def __init__(self, book: Book, who: Who) -> None:
        self._book = book
        self._who = who

    async def get(self, owner: Owner, schema: str, key: str) -> FormedItem | None:
        """Return a schema's document (its key is the name of the schema) or a note of it (an id or
        external id).

        The id of a note that a newer one replaced leads to the newer one.
        """
        if key == schema:
            return next(iter(await self._documents(owner, schema)), None)
        held = await self._memory(owner, key)
        item = None if held is None else note_item(held)
        if item is None or item.schema != schema:
            return None
        await self._given(owner, [item])
        return item

    async def search(
        self, owner: Owner, schema: str | None, query: str | None, most: int, passes: Passes | None
    ) -> list[FormedItem]:
        """Return the best notes for a question, or all notes, newest first; the documents
        follow.
        """
        found: list[FormedItem] = []
        # A book filters by the schema of a document; notes without one, and other filters, are
        # passed over here.
        only = {"schema": schema} if schema not in (None, NOTE) else {}
        most_recalled = most if passes is None and schema != NOTE else _RECALLED
        notes = (
            self._recalled(owner, query, most_recalled, only) if query else self._notes(owner, only)
        )
        async for item in notes:
            if schema in (None, item.schema) and (passes is None or passes(item.value)):
                found.append(item)
            if len(found) >= most:
                break
        await self._given(owner, found)
        if len(found) >= most:
            return found
        documents = await self._documents(owner, schema)
        return [*found, *(item for item in documents if passes is None or passes(item.value))][
            :most
        ]

    async def _given(self, owner: Owner, notes: Sequence[FormedItem]) -> None:
        """Note that an agent was given notes; of somebody who only reads nothing is noted."""
        with suppress(NotAllowed):
            keys = [one.key for one in notes]
            await self._book.memories.mark_used(owner, keys, placed=False, **self._who)

    async def schemas(self, owner: Owner) -> set[str]:
        """Return the names of the schemas that the owner has a document or a note of."""
        documents = {item.schema for item in await self._documents(owner, None)}
        return documents | {item.schema async for item in self._notes(owner, {})}

    async def put(self, owner: Owner, schema: str, key: str, value: Mapping[str, Any]) -> None:
        """Let the person set a document or a note: what a person sets is pinned, and conversations
        leave it.
        """
        if key == schema:
            await self._book.profiles.put(
                owner, value, schema=schema, audience="global", as_owner=True
            )
            return
        held = await self._memory(owner, key)
        fields = _note_fields(schema, value)
        if held is None:
            name = None if _as_id(key) else key
            await self._book.remember(
                owner, **fields, external_id=name, audience="global", as_owner=True
            )
        else:
            await self._book.update(owner, held.id, **fields, pinned=True, as_owner=True)

    async def delete(self, owner: Owner, schema: str, key: str) -> None:
        """Retract a document or a note: it is read no more, and its history stays until it is
        forgotten.
        """
        if key == schema:
            for item in await self._documents(owner, schema):
                await self._book.profiles.patch(
                    owner, unset=[*item.value], schema=schema, audience="global", as_owner=True
                )
            return
        held = await self._memory(owner, key)
        if held is not None and note_item(held).schema == schema:
            await self._book.memories.retract(
                owner, held.id, reason="deleted in the store", as_owner=True
            )

    async def _memory(self, owner: Owner, key: str) -> Memory | None:
        """Return the memory with an id, or the one that replaced it; None if the view sees none
        that holds.
        """
        seen: set[UUID] = set()
        try:
            held = await self._book.records.get(owner, key, **self._who)
            while (
                isinstance(held, Memory) and held.superseded_by is not None and held.id not in seen
            ):
                seen.add(held.id)
                held = await self._book.records.get(owner, held.superseded_by, **self._who)
        except NotFound:
            return None
        return held if isinstance(held, Memory) and held.status == "active" else None

    async def _documents(self, owner: Owner, schema: str | None) -> list[FormedItem]:
        """Return the merged document of each schema."""
        page = await self._book.records.list(owner, types="profile", limit=1000, **self._who)
        held = [one for one in page.records if isinstance(one, ProfileDocument) and one.body]
        names = dict.fromkeys([*(one.schema_name for one in held), "Profile"])
        found = []
        for name in names if schema is None else [schema]:
            body = await self._book.profiles.get(owner, name, **self._who)
            times = [
                one.recorded_at
                for one in await self._book.profiles.documents(owner, name, **self._who)
            ]
            if body and times:
                found.append(FormedItem(name, name, body, min(times), max(times)))
        return found

    async def _notes(self, owner: Owner, only: Mapping[str, Any]) -> AsyncIterator[FormedItem]:
        cursor: str | None = None
        for _ in range(_MOST // _PAGE):
            page = await self._book.records.list(
                owner,
                types="memory",
                only={"statuses": ["active", "archived"], **only},
                newest_first=True,
                cursor=cursor,
                limit=_PAGE,
                **self._who,
            )
            for record in page.records:
                if isinstance(record, Memory):
                    yield note_item(record)
            cursor = page.cursor
            if cursor is None:
                return

    async def _recalled(
        self, owner: Owner, query: str, limit: int, only: Mapping[str, Any]
    ) -> AsyncIterator[FormedItem]:
        most = max(1, min(limit, _RECALLED))
        hits = await self._book.recall(
            owner, query, types="memory", only=only, limit=most, **self._who
        )
        for hit in hits:
            if isinstance(hit.record, Memory):
                yield note_item(hit.record, hit.score)


def note_item(memory: Memory, score: float | None = None) -> FormedItem:
    """Return a memory as an item: its document if it follows a schema, or else its content and
    context.
    """
    data = memory.data if isinstance(memory.data, dict) else {}
    schema, document = data.get("schema"), data.get("document")
    if isinstance(schema, str) and isinstance(document, dict):
        name, value = schema, dict(document)
    else:
        name, value = NOTE, {"content": memory.content, "context": memory.applies_when}
    learnt = memory.observed_at
    return FormedItem(
        name, str(memory.id), value, min(learnt, memory.recorded_at), memory.recorded_at, score
    )


def _note_fields(schema: str, value: Mapping[str, Any]) -> dict[str, Any]:
    if schema != NOTE:
        content = "; ".join(
            f"{name.replace('_', ' ')}: {one}"
            for name, one in value.items()
            if one not in (None, "", [])
        )
        return {"content": content, "data": {"schema": schema, "document": dict(value)}}
    unknown = sorted(set(value) - {"content", "context"})
    if unknown or not isinstance(value.get("content"), str):
        raise InvalidInput("value: a note has a content and a context, both texts", field="value")
    return {"content": value["content"], "applies_when": value.get("context") or ""}


def _as_id(key: str) -> UUID | None:
    try:
        return UUID(key)
    except ValueError:
        return None


Labels = tuple[str, ...]


class FormedMemories(BaseStore):
    """The memories of ``(root, user, schema)`` are the book's formed records; other namespaces
    belong to ``others``.

    Nothing is stored twice: reads ask the book, so what is corrected or forgotten there is so here
    at once. The key of a patched document is its schema's name, that of a note its id. What is put
    is set by the person, and pinned: conversations leave it. Deleting takes back and keeps the
    history; ``book.forget`` erases. ``agent``, ``groups`` and ``view`` say who reads. Make it on
    the event loop of the book.
    """

    supports_ttl = True

    def __init__(
        self, book: Book, others: BaseStore, *, root: str = "memories", **who: Unpack[Who]
    ) -> None:
        as_view(who)
        self._book, self._others, self._root = book, others, root
        self._items = FormedItems(book, who)
        self._loop = asyncio.get_running_loop()
        self.ttl_config = others.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together and wait for their results; not on the thread of the book's own
        event loop.
        """
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
        """Run operations together: reads see what was there before the writes, and the last write
        of a key counts.
        """
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
                SearchItem(**self._fields(owner, item), score=item.score)
                for item in items[op.offset : most]
            ]
        assert isinstance(op, ListNamespacesOp)
        return await self._namespaces(owner, op)

    async def _namespaces(self, owner: Owner, op: ListNamespacesOp) -> list[Labels]:
        held = sorted((self._root, owner.id, name) for name in await self._items.schemas(owner))
        for condition in op.match_conditions or ():
            held = [
                one for one in held if _matches(one, condition.match_type, tuple(condition.path))
            ]
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
        """Return the owner of a namespace and what is below it; the second label names the
        owner.
        """
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
    """Return a function that says if a value meets a filter of LangGraph; None if there is no
    filter.
    """
    try:
        wanted = data_filter(None, conditions_of(filter))
    except NothingMeets:
        return lambda _: False
    return None if wanted is None else lambda value: wanted.met_by(RecordData(value))
