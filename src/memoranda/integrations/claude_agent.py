"""The session store of the Claude Agent SDK over a book: transcripts in threads, each entry as it
was written.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from memoranda.book import Book
from memoranda.errors import InvalidInput, Stale, installing
from memoranda.integrations.native_threads import NativeItem, NativeThread, texts, threads_tagged
from memoranda.integrations.tools import Scope, digest
from memoranda.model.messages import Message, Role, Thread
from memoranda.model.records import those_of

try:
    from claude_agent_sdk import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
        fold_session_summary,
    )
except ImportError as error:
    raise ImportError(
        f"the store of the Claude Agent SDK needs it: {installing('claude-agent')}"
    ) from error

__all__ = ["MemorandaSessionStore", "Scope"]

#: The key of an entry's own form in a message's ``native``, and of a session's summary in its
#: thread's state.
FORM: Final = "claude_agent"
#: Why an entry of a user's type may be no words of the user.
_NOT_SAID: Final = ("isMeta", "isCompactSummary", "isSidechain")
_PAGE: Final = 1000


@dataclass
class MemorandaSessionStore:
    """Keeps transcripts of the Claude Agent SDK: pass it as ``session_store`` in
    ``ClaudeAgentOptions``.
    """

    book: Book
    #: The owner and agent of all projects, or a function of the ``project_key``; a thread in it is
    #: not used.
    scope: Scope | Callable[[str], Scope]
    _in_order: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append entries; one with a ``uuid`` that is stored, or was forgotten, is left out."""
        sub = "subpath" in key
        async with self._in_order:
            await self._thread(key).add_each(
                [_native(cast(Any, entry), sub=sub) for entry in entries]
            )

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return a transcript's entries in order; None where nothing was written."""
        thread = self._thread(key)
        found = [thread.item_of(message) for message in await thread.messages()]
        return [cast(Any, entry) for entry in found if entry is not None] or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project with the time of their last entry."""
        return [
            {"session_id": thread.title, "mtime": _written(newest)}
            for thread, newest in await self._sessions(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the summary of each session; entries since the last call are folded into it
        first.
        """
        scope = self._scope(project_key)
        summaries: list[SessionSummaryEntry] = []
        for thread, newest in await self._sessions(project_key):
            handle = await self.book.thread(scope.owner, id=thread.id, **scope.who)
            kept = thread.state.get(FORM) or {"through": 0, "data": {}}
            data, through = kept["data"], kept["through"]
            key: SessionKey = {"project_key": project_key, "session_id": thread.title}
            native = NativeThread(self.book, scope, FORM)
            while through < newest.seq:
                page = await handle.messages(first=through + 1, last=newest.seq, limit=_PAGE)
                said = those_of(Message, page.records)
                entries = [entry for entry in map(native.item_of, said) if entry is not None]
                before: SessionSummaryEntry = {"session_id": thread.title, "mtime": 0, "data": data}
                data = fold_session_summary(before if through else None, key, cast(Any, entries))[
                    "data"
                ]
                through = said[-1].seq if page.cursor is not None and said else newest.seq
            if through != kept["through"]:
                try:
                    state = {**thread.state, FORM: {"through": through, "data": data}}
                    await handle.set(state=state, expect=thread.version)
                except Stale:
                    # Another call has stored it, or something else of the thread: the next one
                    # stores it.
                    pass
            summaries.append({"session_id": thread.title, "mtime": _written(newest), "data": data})
        return summaries

    async def delete(self, key: SessionKey) -> None:
        """Erase a transcript, and with a session all its subagents' transcripts; what was formed
        from them goes, too.
        """
        scope = self._scope(key["project_key"])
        ids = (
            {thread.id for thread in await self._subthreads(key)}
            if "subpath" not in key
            else set[UUID]()
        )
        own = await self._thread(key).there()
        ids |= set() if own is None else {own.id}
        if ids:
            await self.book.forget(scope.owner, ids, **scope.who)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of a session's subagents."""
        return [thread.title for thread in await self._subthreads(key)]

    def _scope(self, project_key: str) -> Scope:
        return self.scope if isinstance(self.scope, Scope) else self.scope(project_key)

    def _thread(self, key: SessionKey) -> NativeThread:
        project, session, sub = key["project_key"], key["session_id"], key.get("subpath")
        if not session or sub == "":
            raise InvalidInput(
                "key: session_id and subpath need characters; leave subpath out for a session"
            )
        name = digest(FORM, project, session, *([] if sub is None else [sub]))
        tag = _tag(project) if sub is None else _tag(project, session)
        scope = replace(self._scope(project), thread=name)
        return NativeThread(
            self.book, scope, FORM, tags=(tag,), title=session if sub is None else sub
        )

    async def _subthreads(self, key: SessionKey | SessionListSubkeysKey) -> list[Thread]:
        tag = _tag(key["project_key"], key["session_id"])
        return await threads_tagged(self.book, self._scope(key["project_key"]), tag)

    async def _sessions(self, project: str) -> list[tuple[Thread, Message]]:
        """Return the sessions of a project that have entries, each with its newest."""
        scope, found = self._scope(project), []
        for thread in await threads_tagged(self.book, scope, _tag(project)):
            handle = await self.book.thread(scope.owner, id=thread.id, **scope.who)
            found += [(thread, message) for message in await handle.newest(1)]
        return found


def _tag(*key: str) -> str:
    return digest("session of a project" if len(key) == 1 else "subagent of a session", *key)


def _written(message: Message) -> int:
    """Return when a message was stored, in milliseconds since 1970."""
    return int(message.recorded_at.timestamp() * 1000)


def _native(entry: Mapping[str, Any], *, sub: bool) -> NativeItem:
    said = entry.get("message")
    content = said.get("content") if isinstance(said, Mapping) else None
    at = entry.get("timestamp")
    try:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else None
    except ValueError:
        moment = None
    return NativeItem(
        entry,
        _role(entry, content, sub=sub),
        texts(content, _block),
        str(entry["uuid"]) if entry.get("uuid") else None,
        moment if moment is not None and moment.tzinfo is not None else None,
    )


def _role(entry: Mapping[str, Any], content: Any, *, sub: bool) -> Role:
    """Return the role of an entry; whatever is not known to be the user's or the assistant's is a
    tool's.
    """
    if entry.get("type") == "assistant":
        return "assistant"
    results = isinstance(content, list) and any(_sort(block) == "tool_result" for block in content)
    not_said = sub or results or any(entry.get(name) for name in _NOT_SAID)
    return "user" if entry.get("type") == "user" and not not_said else "tool"


def _sort(block: Any) -> str:
    return str(block.get("type", "")) if isinstance(block, Mapping) else ""


def _block(block: Mapping[str, Any]) -> str | None:
    """Return the words of a block of content; thoughts have none here."""
    if isinstance(block.get("text"), str):
        return cast(str, block["text"])
    if _sort(block) == "tool_use":
        return f"({block.get('name', 'tool')} {json.dumps(block.get('input'))})"
    return texts(block.get("content"), _block) if _sort(block) == "tool_result" else None
