"""The synchronous face: the same book for programs without an event loop, every verb one delegation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from commonplace.assembly import open as open_book
from commonplace.book import Book, ThreadHandle
from commonplace.model.ledger import Receipt
from commonplace.model.owner import Owner
from commonplace.model.query import HistoryStep, Hit, Page, Why
from commonplace.model.records import Record
from commonplace.ports import BookFacts, ErasureReceipt

T = TypeVar("T")


class _Loop:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="commonplace", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SyncThread:
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: _Loop) -> None:
        self.handle = handle
        self.id = handle.id
        self._run = loop.run

    def append(
        self, role_or_messages: str | Sequence[Mapping[str, Any]], content: str | None = None, **how: Any
    ) -> Receipt:
        return self._run(self.handle.append(role_or_messages, content, **how))

    def remember(self, content: str, **how: Any) -> Receipt:
        return self._run(self.handle.remember(content, **how))

    def messages(self, **how: Any) -> Page:
        return self._run(self.handle.messages(**how))

    def set(self, **how: Any) -> Receipt:
        return self._run(self.handle.set(**how))

    def close(self, status: str = "completed", **how: Any) -> Receipt:
        return self._run(self.handle.close(status, **how))


class SyncBook:
    """A book for programs without an event loop; see ``Book`` for what each verb does."""

    def __init__(self, book: Book, loop: _Loop) -> None:
        self.book = book
        self._loop = loop
        self._run = loop.run

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._run(self.book.close())
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run any coroutine of the book, for verbs that have no line here."""
        return self._run(work)

    def thread(self, owner: str | Owner, **how: Any) -> SyncThread:
        return SyncThread(self._run(self.book.thread(owner, **how)), self._loop)

    def remember(self, owner: str | Owner, content: str, **how: Any) -> Receipt:
        return self._run(self.book.remember(owner, content, **how))

    def remember_all(
        self, owner: str | Owner, statements: Sequence[Mapping[str, Any]], **how: Any
    ) -> Receipt:
        return self._run(self.book.remember_all(owner, statements, **how))

    def recall(self, owner: str | Owner, question: str, **how: Any) -> Sequence[Hit]:
        return self._run(self.book.recall(owner, question, **how))

    def get(self, owner: str | Owner, id: UUID | str, **how: Any) -> Record:
        return self._run(self.book.get(owner, id, **how))

    def list(self, owner: str | Owner, **how: Any) -> Page:
        return self._run(self.book.list(owner, **how))

    def why(self, owner: str | Owner, id: UUID | str, **how: Any) -> Why:
        return self._run(self.book.why(owner, id, **how))

    def history(self, owner: str | Owner, id: UUID | str, **how: Any) -> Sequence[HistoryStep]:
        return self._run(self.book.history(owner, id, **how))

    def retract(self, owner: str | Owner, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.retract(owner, id, **how))

    def undo(self, owner: str | Owner, position: int, **how: Any) -> Receipt:
        return self._run(self.book.undo(owner, position, **how))

    def forget(
        self, owner: str | Owner, ids: Iterable[UUID | str] | UUID | str = (), **how: Any
    ) -> ErasureReceipt:
        return self._run(self.book.forget(owner, ids, **how))

    def facts(self) -> BookFacts:
        return self._run(self.book.facts())


def open_sync(address: str | Path = "commonplace.db", **how: Any) -> SyncBook:
    """Open a book for a program without an event loop; takes what ``open`` takes."""
    loop = _Loop()

    async def opened() -> Book:
        return await open_book(address, **how)

    try:
        return SyncBook(loop.run(opened()), loop)
    except BaseException:
        loop.close()
        raise
