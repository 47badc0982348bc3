"""The synchronous book: each verb runs the same verb of ``Book`` on a background event loop."""

from __future__ import annotations

import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack
from uuid import UUID

from memoranda.assembly import cancel_copy, copy
from memoranda.assembly import open as open_book
from memoranda.book import Book
from memoranda.book.book import BookOperations
from memoranda.book.input import Who
from memoranda.book.verb_fields import spelled_out
from memoranda.model.records import Audience, Owner
from memoranda.operations import Blocking
from memoranda.secrets.modes import SecretsMode
from memoranda.sync.background_loop import Loop, SyncPart
from memoranda.sync.sync_parts import (
    SyncAdmin,
    SyncAgents,
    SyncDreams,
    SyncEpisodes,
    SyncExperience,
    SyncForgetting,
    SyncItems,
    SyncJobs,
    SyncKeys,
    SyncMemories,
    SyncProfiles,
    SyncRecords,
    SyncSchemas,
    SyncThread,
    SyncWorker,
)

P = ParamSpec("P")
T = TypeVar("T")


@spelled_out
class SyncBook(SyncPart, BookOperations[Blocking]):
    """A book for programs without an event loop; ``Book`` documents its verbs."""

    def __init__(self, book: Book, loop: Loop) -> None:
        super().__init__(book, loop)
        self.book: Book = book
        self.tenant = book.tenant
        self.worker = SyncWorker(book.worker, loop)
        self.memories = SyncMemories(book.memories, loop)
        self.records = SyncRecords(book.records, loop)
        self.forgetting = SyncForgetting(book.forgetting, loop)
        self.profiles = SyncProfiles(book.profiles, loop)
        self.episodes = SyncEpisodes(book.episodes, loop)
        self.dreams = SyncDreams(book.dreams, loop)
        self.items = SyncItems(book.items, loop)
        self.experience = SyncExperience(book.experience, loop)
        self.agents = SyncAgents(book.agents, loop)
        self.schemas = SyncSchemas(book.schemas, loop)
        self.keys = SyncKeys(book.keys, loop)
        self.admin = SyncAdmin(book.admin, loop)
        self.jobs = SyncJobs(book.jobs, loop)
        self._closing = threading.Lock()
        self._is_closed = False

    @property
    def forms_by_model(self) -> bool:
        """True if a language model forms memories from conversations; False if rules do."""
        return self.book.forms_by_model

    @property
    def cannot_form_because(self) -> str:
        """The reason why this process leaves threads to another one to form; empty if it forms them
        itself.
        """
        return self.book.cannot_form_because

    @property
    def no_vectors_because(self) -> str:
        """The reason why recall compares no vectors; empty if it does."""
        return self.book.no_vectors_because

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which this book treats secrets: ``hide``, ``mask`` or ``keep``."""
        return self.book.secrets

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
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
                self._wait(self.book.close())
            finally:
                self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the book's event loop and return its result."""
        done: T = self._wait(work)
        return done

    def start_worker(self) -> None:
        """Start a worker on the background event loop; it does jobs until the book is closed."""

        async def started() -> None:
            self.book.start_worker()

        self._wait(started())

    def thread(
        self,
        owner: str | Owner,
        *,
        id: UUID | str | None = None,
        name: str | None = None,
        title: str = "",
        status: Literal["created", "running"] = "running",
        tags: Sequence[str] = (),
        audience: str | Audience | None = None,
        expires_at: datetime | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> SyncThread:
        """Create a thread, or open the one with this ``id``, or with this ``name``; each call of
        the result blocks.
        """
        made = self.book.thread(
            owner,
            id=id,
            name=name,
            title=title,
            status=status,
            tags=tags,
            audience=audience,
            expires_at=expires_at,
            operation=operation,
            **who,
        )
        return SyncThread(self._wait(made), self._loop)


def _opened(opening: Callable[P, Awaitable[Book]]) -> Callable[P, SyncBook]:
    """Return the synchronous form of ``open``."""

    @functools.wraps(opening)
    def open_sync(*args: P.args, **kwargs: P.kwargs) -> SyncBook:
        loop = Loop()
        try:
            return SyncBook(loop.run(_awaited(opening(*args, **kwargs))), loop)
        except BaseException:
            loop.close()
            raise

    open_sync.__name__ = open_sync.__qualname__ = "open_sync"
    return open_sync


def _done(work: Callable[P, Awaitable[T]], name: str) -> Callable[P, T]:
    """Return the synchronous form of a function over whole books."""

    @functools.wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        loop = Loop()
        try:
            return loop.run(_awaited(work(*args, **kwargs)))
        finally:
            loop.close()

    call.__name__ = call.__qualname__ = name
    return call


async def _awaited(work: Awaitable[T]) -> T:
    return await work


open_sync = _opened(open_book)
copy_sync = _done(copy, "copy_sync")
cancel_copy_sync = _done(cancel_copy, "cancel_copy_sync")
