"""The memory service of Google's Agent Development Kit (ADK) over a book: what was said in
sessions, and statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from memoranda.book import Book
from memoranda.errors import InvalidInput, installing
from memoranda.integrations.native_threads import NativeItem, NativeThread, clean
from memoranda.integrations.tools import Scope, digest
from memoranda.model.messages import Message, Role
from memoranda.model.query import Hit
from memoranda.secrets.masks import shown
from memoranda.text.origins import origin, stranger

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types
except ImportError as error:
    raise ImportError(
        f"the memory service of Google's ADK needs it: {installing('google-adk')}"
    ) from error

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

__all__ = ["MemorandaMemoryService", "Scope"]

#: The key of an event's own form in a message's ``native``.
FORM: Final = "google_adk"
#: The thread of events that are added without a session.
_NO_SESSION: Final = "events of no session"
#: Authors of entries that the book wrote itself.
_MEMORY: Final = "memory"


class MemorandaMemoryService(BaseMemoryService):
    """Finds what was said in a user's sessions and what is remembered of the user, by words and by
    meaning.
    """

    def __init__(
        self,
        book: Book,
        scope_of: Callable[[str, str], Scope],
        *,
        limit: int = 10,
        types: Sequence[str] = ("message", "memory"),
    ) -> None:
        """Take the scope of an ``app_name`` and ``user_id`` from the application; a thread in it is
        not used.

        ``limit`` is the most entries that a search returns, and ``types`` the types of records that
        it finds.
        """
        self._book = book
        self._scope_of = scope_of
        self._limit = limit
        self._types = tuple(types)

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet, in a thread of their own."""
        await self._add(session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that are not stored yet; ``custom_metadata`` is not used."""
        await self._add(app_name, user_id, events, session_id)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember each entry's text as a statement; an entry with an id is remembered once.

        ``kind``, ``key`` and ``audience`` of ``custom_metadata`` are those of the statements; an
        entry's own come first.
        """
        scope = self._scope_of(app_name, user_id)
        for entry in memories:
            given = {**(custom_metadata or {}), **entry.custom_metadata}
            fields: dict[str, Any] = {
                name: given[name] for name in ("kind", "key", "audience") if name in given
            }
            operation = None if entry.id is None else digest(FORM, app_name, user_id, entry.id)
            content = _words(entry.content)
            if not content:
                raise InvalidInput(
                    "memories: an entry has no text; a memory is a statement", field="memories"
                )
            await self._book.remember(
                scope.owner, content, operation=operation, **scope.who, **fields
            )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what answers the query, best first; nothing for a query without words."""
        scope = self._scope_of(app_name, user_id)
        question = clean(query).strip()
        if not question:
            return SearchMemoryResponse()
        found = await self._book.recall(
            scope.owner, question, types=self._types, limit=self._limit, **scope.who
        )
        return SearchMemoryResponse(memories=[self._entry(hit, scope) for hit in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erase an entry by the id that a search gave it, with everything that was made from it
        alone.
        """
        if memory_id:
            scope = self._scope_of(app_name, user_id)
            await self._book.forget(scope.owner, memory_id, **scope.who)

    async def _add(self, app: str, user: str, events: Sequence[Event], session: str | None) -> None:
        scope = replace(self._scope_of(app, user), thread=digest(FORM, app, session or _NO_SESSION))
        title = session or _NO_SESSION
        said = [item for item in (_native(event, title) for event in events) if item is not None]
        await NativeThread(self._book, scope, FORM, title=title).add_each(said)

    def _entry(self, hit: Hit, scope: Scope) -> MemoryEntry:
        # Recall leaves the forms of frameworks whole; a model reads these.
        (record,) = shown([hit.record], self._book.secrets)
        own = (
            NativeThread(self._book, scope, FORM).item_of(record)
            if isinstance(record, Message)
            else None
        )
        more = {"type": record.type.value, "score": hit.score}
        if own is not None and isinstance(record, Message):
            content = types.Content.model_validate(own["content"])
            more |= {"session_id": own["session_id"], "event_id": own["event_id"]}
            author, at = [own["author"], *stranger(record.trust)], record.observed_at
        else:
            text = record.passage_text() or ""
            author = origin(record) if isinstance(record, Message) else [_MEMORY, *origin(record)]
            at = getattr(record, "observed_at", record.recorded_at)
            content = types.Content(parts=[types.Part(text=text)], role="user")
        return MemoryEntry(
            id=str(record.id),
            content=content,
            author=", ".join(author),
            timestamp=at.isoformat(),
            custom_metadata=more,
        )


def _words(content: types.Content | None) -> str:
    """Return the text of a content; the model's thoughts are left out."""
    parts = (content.parts if content is not None else None) or []
    return " ".join(part.text for part in parts if part.text and not part.thought).strip()


def _native(event: Event, session: str) -> NativeItem | None:
    """Return what is stored of an event; None where it has no text."""
    text = _words(event.content)
    if not text:
        return None
    content = event.content.model_dump(mode="json", exclude_none=True)
    item = {"content": content, "author": event.author, "event_id": event.id, "session_id": session}
    role: Role = "user" if event.author == "user" else "assistant"
    at = None if event.timestamp is None else datetime.fromtimestamp(event.timestamp, UTC)
    known = event.id or digest(event.author, event.timestamp, content)
    return NativeItem(item, role, text, known, at)
