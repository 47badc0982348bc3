"""A pytest plugin that gives the session tests of the OpenAI Agents SDK our session under the name
of theirs.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import agents
from agents.memory import SessionSettings

import memoranda
from memoranda.integrations.openai_agents import MemorandaSession, Scope

#: The books of one process, by address: theirs share a file, too.
_books: dict[str, tuple[memoranda.Book, int]] = {}
_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, daemon=True).start()


def _at_once(doing: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(doing, _loop).result(60)


class OurSession(MemorandaSession):
    """A session that opens its book from a path, as theirs does, and is called from any event
    loop.
    """

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.address = "memory://" if str(db_path) == ":memory:" else str(db_path)
        book = (
            _books[self.address][0] if self.address in _books else _at_once(_opened(self.address))
        )
        count = _books.get(self.address, (book, 0))[1]
        if self.address != "memory://":
            _books[self.address] = (book, count + 1)
        super().__init__(
            book, Scope("tester", "agent", thread=session_id), session_settings=session_settings
        )

    async def get_items(self, limit: int | None = None) -> Any:
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(super().get_items(limit), _loop)
        )

    async def add_items(self, items: Any, *, operation: str | None = None) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(super().add_items(items), _loop))

    async def pop_item(self) -> Any:
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(super().pop_item(), _loop)
        )

    async def clear_session(self) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(super().clear_session(), _loop))

    def close(self) -> None:
        book, count = _books.pop(self.address, (self.book, 1))
        if count > 1:
            _books[self.address] = (book, count - 1)
        else:
            _at_once(book.close())


async def _opened(address: str) -> memoranda.Book:
    return await memoranda.open(address, worker=False)


agents.SQLiteSession = OurSession
