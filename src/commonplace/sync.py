"""The synchronous face: the same book for programs without an event loop, every verb one delegation."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from uuid import UUID

from commonplace.assembly import open as open_book
from commonplace.book import Book, ThreadHandle
from commonplace.book.accounts import SyncAccounts
from commonplace.book.catalogue import Keys, Named, Profiles
from commonplace.book.episodes import Episodes
from commonplace.book.experience import Experience
from commonplace.book.transfer import ImportReport
from commonplace.errors import StorageError
from commonplace.model.episodes import Episode, Overflow
from commonplace.model.erasure import ErasureReceipt
from commonplace.model.experience import ExperienceLine
from commonplace.model.facts import Findings
from commonplace.model.ledger import Entry, Receipt
from commonplace.model.messages import Message, Thread
from commonplace.model.owner import Audience, Owner
from commonplace.model.profiles import Agent, Key, ProfileDocument, Schema
from commonplace.model.query import HistoryStep, Page, Recalled, Why
from commonplace.model.records import Record
from commonplace.recall.context.compose import Context
from commonplace.recall.context.window import Window

T = TypeVar("T")
N = TypeVar("N", Agent, Schema, Key)

Progress = Callable[[int, int], None]

#: Lines of an export that are fetched together.
_LINES = 256


class _Loop:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._state = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="commonplace", daemon=True)
        self._thread.start()

    @property
    def is_mine(self) -> bool:
        """Whether the loop's thread is in this process: a forked child has none."""
        return os.getpid() == self._process

    def check_caller(self) -> None:
        """Refuse whoever would wait for ever."""
        if not self.is_mine:
            raise StorageError("the book was opened by another process: open it again in this one")
        if threading.current_thread() is self._thread:
            raise StorageError(
                "this is the book's own thread, which would wait for itself: "
                "call from another thread, or await the asynchronous book there"
            )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work on the loop, and wait for it."""
        try:
            self.check_caller()
            with self._state:
                if self._closed:
                    raise _closed()
                answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise
        try:
            return answer.result()
        except CancelledError:
            if self._closed:
                raise _closed() from None
            raise
        finally:
            answer.cancel()

    def close(self) -> None:
        """End what still runs, and the thread."""
        with self._state:
            if self._closed or not self.is_mine:
                return
            self._closed = True
            ending = asyncio.run_coroutine_threadsafe(_end_all(), self._loop)
        try:
            ending.result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _end_all() -> None:
    running = asyncio.all_tasks() - {asyncio.current_task()}
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


def _closed() -> StorageError:
    return StorageError("the book is closed: open it again")


class _Face:
    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self._run = loop.run


class SyncThread(_Face):
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: _Loop) -> None:
        super().__init__(loop)
        self.handle = handle
        self.owner = handle.owner
        self.id = handle.id

    def append(
        self, role_or_messages: str | Sequence[Mapping[str, Any]], content: str | None = None, **how: Any
    ) -> Receipt:
        return self._run(self.handle.append(role_or_messages, content, **how))

    def remember(self, content: str, **how: Any) -> Receipt:
        return self._run(self.handle.remember(content, **how))

    def get(self) -> Thread:
        return self._run(self.handle.get())

    def messages(self, **how: Any) -> Page:
        return self._run(self.handle.messages(**how))

    def newest(self, limit: int = 20) -> list[Message]:
        return self._run(self.handle.newest(limit))

    def window(self, budget: int = 2000, **how: Any) -> Window:
        return self._run(self.handle.window(budget, **how))

    def set(self, **how: Any) -> Receipt:
        return self._run(self.handle.set(**how))

    def close(self, status: str = "completed", **how: Any) -> Receipt:
        return self._run(self.handle.close(status, **how))

    def flush(self) -> None:
        self._run(self.handle.flush())

    def reform(self) -> None:
        self._run(self.handle.reform())


class SyncProfiles(_Face):
    """The profiles of a synchronous book."""

    def __init__(self, profiles: Profiles, loop: _Loop) -> None:
        super().__init__(loop)
        self._profiles = profiles

    def get(self, owner: str | Owner, schema: str = "Profile", **who: Any) -> dict[str, Any]:
        return self._run(self._profiles.get(owner, schema, **who))

    def documents(self, owner: str | Owner, schema: str = "Profile", **who: Any) -> list[ProfileDocument]:
        return self._run(self._profiles.documents(owner, schema, **who))

    def patch(self, owner: str | Owner, set: Mapping[str, Any] | None = None, **how: Any) -> Receipt:
        return self._run(self._profiles.patch(owner, set, **how))


class SyncEpisodes(_Face):
    """The episodes of a synchronous book."""

    def __init__(self, episodes: Episodes, loop: _Loop) -> None:
        super().__init__(loop)
        self._episodes = episodes

    def __call__(self, owner: str | Owner, **how: Any) -> Recalled:
        return self._run(self._episodes(owner, **how))

    def overflow(self, owner: str | Owner, id: UUID | str, **who: Any) -> Overflow | None:
        return self._run(self._episodes.overflow(owner, id, **who))

    def record(self, owner: str | Owner, **how: Any) -> Receipt:
        return self._run(self._episodes.record(owner, **how))

    def list(self, owner: str | Owner, **how: Any) -> list[Episode]:
        return self._run(self._episodes.list(owner, **how))


class SyncExperience(_Face):
    """What the agents of a synchronous book have learnt."""

    def __init__(self, experience: Experience, loop: _Loop) -> None:
        super().__init__(loop)
        self._experience = experience

    def add(self, agent: str, field: str, line: str, **how: Any) -> Receipt:
        return self._run(self._experience.add(agent, field, line, **how))

    def add_evidence(
        self, agent: str, line: UUID | str, evidence: Mapping[str, Sequence[UUID | str]], **how: Any
    ) -> Receipt:
        return self._run(self._experience.add_evidence(agent, line, evidence, **how))

    def guard(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.guard(agent, line, **how))

    def approve(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.approve(agent, line, **how))

    def list(self, agent: str, **how: Any) -> list[ExperienceLine]:
        return self._run(self._experience.list(agent, **how))

    def retire(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.retire(agent, line, **how))


class SyncNamed(_Face, Generic[N]):
    """The agents, schemas or keys of a synchronous book."""

    def __init__(self, named: Named[N], loop: _Loop) -> None:
        super().__init__(loop)
        self._named: Named[N] = named

    def put(self, name: str, **fields: Any) -> Receipt:
        return self._run(self._named.put(name, **fields))

    def get(self, name: str) -> N | None:
        return self._run(self._named.get(name))

    def list(self, limit: int = 1000) -> list[N]:
        return self._run(self._named.list(limit))


class SyncKeys(SyncNamed[Key]):
    """The keys of a synchronous book."""

    def __init__(self, keys: Keys, loop: _Loop) -> None:
        super().__init__(keys, loop)
        self._keys = keys

    def issue(self, name: str, secret: str, **fields: Any) -> Receipt:
        return self._run(self._keys.issue(name, secret, **fields))

    def revoke(self, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self._keys.revoke(id, **how))


class SyncBook(SyncAccounts, _Face):
    """A book for programs without an event loop; see ``Book`` for what each verb does."""

    def __init__(self, book: Book, loop: _Loop) -> None:
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
        """Let go of the book; closing again does nothing, nor does it in a forked child."""
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
        """Run a coroutine beside the book, on its event loop."""
        return self._run(work)

    def start_worker(self) -> None:
        async def started() -> None:
            self.book.start_worker()

        self._run(started())

    def thread(self, owner: str | Owner, **how: Any) -> SyncThread:
        return SyncThread(self._run(self.book.thread(owner, **how)), self._loop)

    def remember(self, owner: str | Owner, content: str, **how: Any) -> Receipt:
        return self._run(self.book.remember(owner, content, **how))

    def remember_all(
        self, owner: str | Owner, statements: Sequence[Mapping[str, Any]], **how: Any
    ) -> Receipt:
        return self._run(self.book.remember_all(owner, statements, **how))

    def supersede(self, owner: str | Owner, loser: UUID | str, winner: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.supersede(owner, loser, winner, **how))

    def corroborate(self, owner: str | Owner, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.corroborate(owner, id, **how))

    def amend(self, owner: str | Owner, id: UUID | str, fields: Mapping[str, Any], **how: Any) -> Receipt:
        return self._run(self.book.amend(owner, id, fields, **how))

    def share(self, owner: str | Owner, id: UUID | str, audience: str | Audience, **how: Any) -> Receipt:
        return self._run(self.book.share(owner, id, audience, **how))

    def retract(self, owner: str | Owner, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.retract(owner, id, **how))

    def retract_from(self, owner: str | Owner, source: UUID | str, **how: Any) -> Receipt:
        return self._run(self.book.retract_from(owner, source, **how))

    def undo(self, owner: str | Owner, position: int, **how: Any) -> Receipt:
        return self._run(self.book.undo(owner, position, **how))

    def mark_used(self, owner: str | Owner, ids: Iterable[UUID | str], **who: Any) -> int:
        return self._run(self.book.mark_used(owner, ids, **who))

    def recall(self, owner: str | Owner, question: str, **how: Any) -> Recalled:
        return self._run(self.book.recall(owner, question, **how))

    def context(self, owner: str | Owner, query: str | None = None, **how: Any) -> Context:
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
        return self._each(self.book.export(owner))

    def import_(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
        return self._run(self.book.import_(lines, progress))

    def backup(self, target: str | Path, progress: Progress | None = None) -> Findings:
        return self._run(self.book.backup(target, progress))

    def verify(self, progress: Progress | None = None) -> Findings:
        return self._run(self.book.verify(progress))

    def rebuild(self, progress: Progress | None = None) -> Mapping[str, int]:
        return self._run(self.book.rebuild(progress))

    def embed(self, progress: Callable[[int], None] | None = None) -> int:
        return self._run(self.book.embed(progress))

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        return self._run(self.book.reembed(progress))

    def _each(self, lines: AsyncIterator[str]) -> Iterator[str]:
        """What comes asynchronously, a handful at a time."""
        while handful := self._run(_some(lines)):
            yield from handful


async def _some(lines: AsyncIterator[str]) -> list[str]:
    handful: list[str] = []
    async for line in lines:
        handful.append(line)
        if len(handful) == _LINES:
            break
    return handful


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
