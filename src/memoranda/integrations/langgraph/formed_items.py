"""Formed records as items: a document for each patched schema, and a note for each memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Owner

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
    """Reads and changes what was formed of one owner's conversations; it stores nothing of its own."""

    def __init__(self, book: Book, who: Who) -> None:
        self._book = book
        self._who = who

    async def get(self, owner: Owner, schema: str, key: str) -> FormedItem | None:
        """Return a schema's document (its key is the name of the schema) or a note of it (an id or external id).

        The id of a note that a newer one replaced leads to the newer one.
        """
        if key == schema:
            return next(iter(await self._documents(owner, schema)), None)
        held = await self._memory(owner, key)
        item = None if held is None else note_item(held)
        return item if item is not None and item.schema == schema else None

    async def search(
        self, owner: Owner, schema: str | None, query: str | None, most: int, passes: Passes | None
    ) -> list[FormedItem]:
        """Return the best notes for a question, or all notes, newest first; the documents follow."""
        found: list[FormedItem] = []
        # A book filters by the schema of a document; notes without one, and other filters, are passed over here.
        only = {"schema": schema} if schema not in (None, NOTE) else {}
        most_recalled = most if passes is None and schema != NOTE else _RECALLED
        notes = self._recalled(owner, query, most_recalled, only) if query else self._notes(owner, only)
        async for item in notes:
            if schema in (None, item.schema) and (passes is None or passes(item.value)):
                found.append(item)
            if len(found) >= most:
                return found
        documents = await self._documents(owner, schema)
        return [*found, *(item for item in documents if passes is None or passes(item.value))][:most]

    async def schemas(self, owner: Owner) -> set[str]:
        """Return the names of the schemas that the owner has a document or a note of."""
        documents = {item.schema for item in await self._documents(owner, None)}
        return documents | {item.schema async for item in self._notes(owner, {})}

    async def put(self, owner: Owner, schema: str, key: str, value: Mapping[str, Any]) -> None:
        """Let the person set a document or a note: what a person sets is pinned, and conversations leave it."""
        if key == schema:
            await self._book.profile.put(owner, value, schema=schema, audience="global", as_owner=True)
            return
        held = await self._memory(owner, key)
        fields = _note_fields(schema, value)
        if held is None:
            name = None if _as_id(key) else key
            await self._book.remember(owner, **fields, external_id=name, audience="global", as_owner=True)
        else:
            await self._book.update(owner, held.id, **fields, pinned=True, as_owner=True)

    async def delete(self, owner: Owner, schema: str, key: str) -> None:
        """Retract a document or a note: it is read no more, and its history stays until it is forgotten."""
        if key == schema:
            for item in await self._documents(owner, schema):
                await self._book.profile.patch(
                    owner, unset=[*item.value], schema=schema, audience="global", as_owner=True
                )
            return
        held = await self._memory(owner, key)
        if held is not None and note_item(held).schema == schema:
            await self._book.retract(owner, held.id, reason="deleted in the store", as_owner=True)

    async def _memory(self, owner: Owner, key: str) -> Memory | None:
        """Return the memory with an id, or the one that replaced it; None if the view sees none that holds."""
        seen: set[UUID] = set()
        try:
            held = await self._book.get(owner, key, **self._who)
            while isinstance(held, Memory) and held.superseded_by is not None and held.id not in seen:
                seen.add(held.id)
                held = await self._book.get(owner, held.superseded_by, **self._who)
        except NotFound:
            return None
        return held if isinstance(held, Memory) and held.status == "active" else None

    async def _documents(self, owner: Owner, schema: str | None) -> list[FormedItem]:
        """Return the merged document of each schema."""
        page = await self._book.list(owner, types="profile", limit=1000, **self._who)
        held = [one for one in page.records if isinstance(one, ProfileDocument) and one.body]
        names = dict.fromkeys([*(one.schema_name for one in held), "Profile"])
        found = []
        for name in names if schema is None else [schema]:
            body = await self._book.profile.get(owner, name, **self._who)
            times = [one.recorded_at for one in await self._book.profile.documents(owner, name, **self._who)]
            if body and times:
                found.append(FormedItem(name, name, body, min(times), max(times)))
        return found

    async def _notes(self, owner: Owner, only: Mapping[str, Any]) -> AsyncIterator[FormedItem]:
        cursor: str | None = None
        for _ in range(_MOST // _PAGE):
            page = await self._book.list(
                owner,
                types="memory",
                only={"statuses": ["active"], **only},
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
        hits = await self._book.recall(owner, query, types="memory", only=only, limit=most, **self._who)
        for hit in hits:
            if isinstance(hit.record, Memory):
                yield note_item(hit.record, hit.score)


def note_item(memory: Memory, score: float | None = None) -> FormedItem:
    """Return a memory as an item: its document if it follows a schema, or else its content and context."""
    data = memory.data if isinstance(memory.data, dict) else {}
    schema, document = data.get("schema"), data.get("document")
    if isinstance(schema, str) and isinstance(document, dict):
        name, value = schema, dict(document)
    else:
        name, value = NOTE, {"content": memory.content, "context": memory.applies_when}
    learnt = memory.observed_at
    return FormedItem(name, str(memory.id), value, min(learnt, memory.recorded_at), memory.recorded_at, score)


def _note_fields(schema: str, value: Mapping[str, Any]) -> dict[str, Any]:
    if schema != NOTE:
        content = "; ".join(
            f"{name.replace('_', ' ')}: {one}" for name, one in value.items() if one not in (None, "", [])
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
