"""The adapters of this folder behind two functions: say something in a session, and read back what
was said there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from google.adk.events.event import Event
from google.genai import types

import memoranda
from memoranda.integrations.claude_agent import MemorandaSessionStore
from memoranda.integrations.google_adk import MemorandaMemoryService
from memoranda.integrations.memory_files import MemoryFiles
from memoranda.integrations.native_threads import NativeThread
from memoranda.integrations.openai_agents import MemorandaSession, Scope
from memoranda.integrations.tools import digest


@dataclass(frozen=True)
class Adapter:
    """One adapter: ``say`` stores texts in an owner's session, each known by its words; ``heard``
    reads them back.
    """

    name: str
    say: Callable[[memoranda.Book, str, str, Sequence[str]], Awaitable[None]]
    heard: Callable[[memoranda.Book, str, str], Awaitable[list[str]]]
    #: The type of record that a text becomes.
    type: str = "message"

    def __repr__(self) -> str:
        return self.name


def _session(book: memoranda.Book, owner: str, session: str) -> MemorandaSession:
    return MemorandaSession(book, Scope(owner, "agent", thread=session))


async def _say_openai(book: memoranda.Book, owner: str, session: str, said: Sequence[str]) -> None:
    for text in said:
        item: Any = {"role": "user", "content": text}
        await _session(book, owner, session).add_items(
            [item], operation=digest("test", session, text)
        )


async def _heard_openai(book: memoranda.Book, owner: str, session: str) -> list[str]:
    items: list[Any] = [*await _session(book, owner, session).get_items()]
    return [item["content"] for item in items]


def _store(book: memoranda.Book, owner: str) -> MemorandaSessionStore:
    return MemorandaSessionStore(book, lambda project: Scope(project, "agent"))


async def _say_claude(book: memoranda.Book, owner: str, session: str, said: Sequence[str]) -> None:
    entries: list[Any] = [
        {"type": "user", "uuid": f"{session} {text}", "message": {"content": text}} for text in said
    ]
    await _store(book, owner).append({"project_key": owner, "session_id": session}, entries)


async def _heard_claude(book: memoranda.Book, owner: str, session: str) -> list[str]:
    entries: Any = await _store(book, owner).load({"project_key": owner, "session_id": session})
    return [entry["message"]["content"] for entry in entries or ()]


def _service(book: memoranda.Book) -> MemorandaMemoryService:
    return MemorandaMemoryService(book, lambda app, user: Scope(user, app), limit=1000)


async def _say_adk(book: memoranda.Book, owner: str, session: str, said: Sequence[str]) -> None:
    events = [
        Event(
            id=f"{session} {text}",
            author="user",
            timestamp=1_700_000_000.0 + place,
            content=types.Content(parts=[types.Part(text=text)], role="user"),
        )
        for place, text in enumerate(said)
    ]
    told: Any = SimpleNamespace(app_name="app", user_id=owner, id=session, events=events)
    await _service(book).add_session_to_memory(told)


async def _heard_adk(book: memoranda.Book, owner: str, session: str) -> list[str]:
    scope = Scope(owner, "app", thread=digest("google_adk", "app", session))
    return [message.content for message in await NativeThread(book, scope, "google_adk").messages()]


async def _say_files(book: memoranda.Book, owner: str, session: str, said: Sequence[str]) -> None:
    files = MemoryFiles(book, Scope(owner, "agent"), ("memories", session))
    for text in said:
        command = {"command": "create", "path": f"/memories/{digest(text)}", "file_text": text}
        await files.run(command, operation=digest("test", session, text))


async def _heard_files(book: memoranda.Book, owner: str, session: str) -> list[str]:
    items = await book.items.list(owner, ("memories", session), limit=1000, agent="agent")
    return [item.value for item in sorted(items, key=lambda item: (item.created_at, item.id))]


ADAPTERS = (
    Adapter("openai", _say_openai, _heard_openai),
    Adapter("claude", _say_claude, _heard_claude),
    Adapter("adk", _say_adk, _heard_adk),
    Adapter("files", _say_files, _heard_files, "item"),
)
