"""The synchronous book: each verb runs the same verb of ``Book`` on a background event loop."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from memoranda.assembly import DEFAULT_FILE, cancel_copy
from memoranda.assembly import copy as copy_book
from memoranda.assembly import open as open_book
from memoranda.book import Book
from memoranda.book.admin.book_copy import CopyReport
from memoranda.book.admin.transfer import ImportReport
from memoranda.model.book_facts import BookFacts, Findings
from memoranda.model.language_models import Spent
from memoranda.model.ledger import Entry, ErasureReceipt, Receipt, Scrubbed
from memoranda.model.query import HistoryStep, Hits, Page, Why
from memoranda.model.records import Audience, Owner, Record
from memoranda.recall.context.composer import Context
from memoranda.sync.background_loop import Loop, SyncPart
from memoranda.sync.sync_parts import (
    SyncEpisodes,
    SyncExperience,
    SyncKeys,
    SyncNamed,
    SyncProfiles,
    SyncThread,
)

T = TypeVar("T")


Progress = Callable[[int, int], None]

#: Lines of an export that are fetched at once.
_LINES = 256


class SyncBook(SyncPart):
    """A book for programs without an event loop; ``Book`` documents its verbs."""

    def __init__(self, book: Book, loop: Loop) -> None:
        super().__init__(loop)
        self.book: Book = book
        self.tenant = book.tenant
        self.profile = SyncProfiles(book.profile, loop)
        self.episodes = SyncEpisodes(book.episodes, loop)
        self.experience = SyncExperience(book.experience, loop)
        self.agents = SyncNamed(book.agents, loop)
        self.schemas = SyncNamed(book.schemas, loop)
        self.keys = SyncKeys(book.keys, loop)
        self._closing = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the book. A second call does nothing, and neither does a call in a forked child."""
        if not self._loop.is_mine:
            return
        self._loop.check_caller()
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            try:
                self._run(self.book.close())
            finally:
                self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the book's event loop and return its result."""
        return self._run(work)

    def start_worker(self) -> None:
        """Start a worker on the background event loop; it does jobs until the book is closed."""

        async def started() -> None:
            self.book.start_worker()

        self._run(started())

    def thread(self, owner: str | Owner, **how: Any) -> SyncThread:
        """Begin a thread, or take up the one with this ``id`` or ``name``; the result blocks on each call."""
        return SyncThread(self._run(self.book.thread(owner, **how)), self._loop)

    def remember(self, owner: str | Owner, content: str, **how: Any) -> Receipt:
        return self._run(self.book.remember(owner, content, **how))

    def remember_all(
        self, owner: str | Owner, statements: Sequence[Mapping[str, Any]], **how: Any
    ) -> Receipt:
        return self._run(self.book.remember_all(owner, statements, **how))

    def supersede(self, owner: str | Owner, loser: UUID | str, winner: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.supersede(owner, loser, winner, **how))

    def confirm(self, owner: str | Owner, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.confirm(owner, id, **how))

    def amend(self, owner: str | Owner, id: UUID | str, fields: Mapping[str, Any], **how: Any) -> Receipt:
        return self._run(self.book.amend(owner, id, fields, **how))

    def share(self, owner: str | Owner, id: UUID | str, audience: str | Audience, **how: Any) -> Receipt:
        return self._run(self.book.share(owner, id, audience, **how))

    def retract(self, owner: str | Owner, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.retract(owner, id, **how))

    def retract_source(self, owner: str | Owner, source: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.retract_source(owner, source, **how))

    def undo(self, owner: str | Owner, position: int, **how: Any) -> Receipt:
        return self._run(self.book.undo(owner, position, **how))

    def mark_used(self, owner: str | Owner, ids: Iterable[UUID | str], **who: Any) -> int:
        return self._run(self.book.mark_used(owner, ids, **who))

    def recall(self, owner: str | Owner, question: str, **how: Any) -> Hits:
        return self._run(self.book.recall(owner, question, **how))

    def context(self, owner: str | Owner, query: str | None = None, **how: Any) -> Context:
        """Return the text for an agent to read before it answers; ``thread`` may be a SyncThread."""
        thread = how.get("thread")
        given = how | {"thread": thread.handle} if isinstance(thread, SyncThread) else how
        return self._run(self.book.context(owner, query, **given))

    def get(self, owner: str | Owner, id: UUID | str, **how: Any) -> Record:
        return self._run(self.book.get(owner, id, **how))

    def list(self, owner: str | Owner, **how: Any) -> Page:
        return self._run(self.book.list(owner, **how))

    def count(self, owner: str | Owner, **how: Any) -> int:
        return self._run(self.book.count(owner, **how))

    def why(self, owner: str | Owner, id: UUID | str, **how: Any) -> Why:
        return self._run(self.book.why(owner, id, **how))

    def history(self, owner: str | Owner, id: UUID | str, **how: Any) -> Sequence[HistoryStep]:
        return self._run(self.book.history(owner, id, **how))

    def ledger(self, owner: str | Owner, **how: Any) -> Sequence[Entry]:
        return self._run(self.book.ledger(owner, **how))

    def operation(self, owner: str | Owner, operation: str, **who: Any) -> Receipt | None:
        return self._run(self.book.operation(owner, operation, **who))

    def forget(
        self, owner: str | Owner, ids: Iterable[UUID | str] | UUID | str = (), **how: Any
    ) -> ErasureReceipt:
        return self._run(self.book.forget(owner, ids, **how))

    def export(self, owner: str | Owner | None = None) -> Iterator[str]:
        """Yield the lines of the book, or of one owner's part; up to 256 are fetched from the loop at once."""
        return self._each(self.book.export(owner))

    def import_(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
        return self._run(self.book.import_(lines, progress))

    def backup(self, target: str | Path, progress: Progress | None = None) -> Findings:
        return self._run(self.book.backup(target, progress))

    def verify(self, progress: Progress | None = None) -> Findings:
        return self._run(self.book.verify(progress))

    def rebuild(self, progress: Progress | None = None) -> Mapping[str, int]:
        return self._run(self.book.rebuild(progress))

    def usage(self, owner: str | Owner | None = None, **how: Any) -> Sequence[Spent]:
        return self._run(self.book.usage(owner, **how))

    def owners(self) -> Sequence[Owner]:
        return self._run(self.book.owners())

    def facts(self) -> BookFacts:
        return self._run(self.book.facts())

    def scrub(self) -> Scrubbed:
        return self._run(self.book.scrub())

    def embed(self, progress: Callable[[int], None] | None = None) -> int:
        return self._run(self.book.embed(progress))

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        return self._run(self.book.reembed(progress))

    def _each(self, lines: AsyncIterator[str]) -> Iterator[str]:
        """Iterate over asynchronous lines, reading a batch at a time."""
        while batch := self._run(_some(lines)):
            yield from batch


async def _some(lines: AsyncIterator[str]) -> list[str]:
    batch: list[str] = []
    async for line in lines:
        batch.append(line)
        if len(batch) == _LINES:
            break
    return batch


def open_sync(address: str | Path = DEFAULT_FILE, **how: Any) -> SyncBook:
    """Open a book for a program without an event loop; takes what ``open`` takes."""
    loop = Loop()

    async def opened() -> Book:
        return await open_book(address, **how)

    try:
        return SyncBook(loop.run(opened()), loop)
    except BaseException:
        loop.close()
        raise


def copy_sync(source: str | Path, target: str | Path, **how: Any) -> CopyReport:
    """Copy a book for a program without an event loop; takes what ``copy`` takes."""
    loop = Loop()
    try:
        return loop.run(copy_book(source, target, **how))
    finally:
        loop.close()


def cancel_copy_sync(source: str | Path, target: str | Path) -> None:
    """Cancel an unfinished copy, for a program without an event loop."""
    loop = Loop()
    try:
        loop.run(cancel_copy(source, target))
    finally:
        loop.close()
