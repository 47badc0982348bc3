"""The book of the service: opened once for each event loop, with the worker that forms what is
scheduled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

import memoranda
from memoranda.book import Book, ThreadHandle
from memoranda.integrations.langgraph import ChatModels, FormedMemories, MemorandaStore, owner_at
from memory_service.chat import DEMO, chat_model
from memory_service.configuration import DEFAULT_TYPES, MemoryType

#: The agent whose conversations these are. Its settings say how they are formed.
AGENT = "chatbot"
_open: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Future[Book]] = WeakKeyDictionary()


async def open_book() -> Book:
    """Return the open book of this event loop. ``MEMORANDA_BOOK`` and ``MEMORY_MODEL`` say which,
    and what forms it.
    """
    loop = asyncio.get_running_loop()
    if loop not in _open:
        _open[loop] = asyncio.ensure_future(_opened())
    return await asyncio.shield(_open[loop])


async def _opened() -> Book:
    model = ChatModels(chat_model(os.environ.get("MEMORY_MODEL", DEMO)))
    book = await memoranda.open(os.environ.get("MEMORANDA_BOOK", "memories.db"), models=model)
    # Whoever formed the book before: from now on it is this model.
    await book.jobs.form_with()
    for one in DEFAULT_TYPES:
        await _define(book, one)
    return book


async def _define(book: Book, memory_type: MemoryType) -> None:
    """Store the default document's schema, so that a person's edits are checked."""
    held = await book.schemas.get(memory_type.name)
    if memory_type.update_mode == "patch" and (
        held is None or held.parameters != memory_type.parameters
    ):
        fields = memory_type.model_dump(include={"description", "parameters", "update_mode"})
        await book.schemas.put(memory_type.name, trigger="request", agents=[AGENT], **fields)


async def close_book() -> None:
    """Close the book of this event loop, if it is open; what is scheduled stays in it."""
    opening = _open.pop(asyncio.get_running_loop(), None)
    if opening is not None:
        await (await opening).close()


@asynccontextmanager
async def make_store() -> AsyncIterator[FormedMemories]:
    """Yield the store of the server: memories under ``("memories", user_id, name)``, and items of
    all other namespaces.
    """
    book = await open_book()
    others = MemorandaStore(book, owner_of=owner_at(1), agent=AGENT)
    try:
        yield FormedMemories(book, others, agent=AGENT)
    finally:
        await close_book()


async def thread_of(user_id: str, thread_id: str) -> ThreadHandle:
    """Return the book's thread of a conversation. All agents of the user may read what is formed
    from it.
    """
    book = await open_book()
    return await book.thread(user_id, agent=AGENT, name=thread_id, audience="global")


async def record(thread: ThreadHandle, messages: Sequence[AnyMessage]) -> None:
    """Store messages of a conversation in the book, each once, however often a run is repeated."""
    for message in messages:
        text = message.text if isinstance(message.text, str) else message.text()
        role = {HumanMessage: "user", AIMessage: "assistant"}.get(type(message))
        if role is not None and text.strip():
            await thread.append(role, text, operation=f"message {message.id}")
