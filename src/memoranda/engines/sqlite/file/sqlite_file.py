"""One open SQLite file: one Python thread writes (several calls in one commit), others read from
snapshots.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from memoranda.engines.sqlite.file.calls import Call
from memoranda.engines.sqlite.file.connections import SYNCHRONOUS, Connector, Readers
from memoranda.engines.sqlite.file.copies import (
    copy_unnamed,
    discard,
    make_private,
    name_copy,
    sync_folder,
)
from memoranda.engines.sqlite.file.faults import translated
from memoranda.engines.sqlite.file.migrations import Migrations, bring_forward, check_standing, look
from memoranda.engines.sqlite.file.writer import Counters, Turnstile, Writer
from memoranda.errors import InvalidInput, NotABook, ReadOnly, StorageError, VersionMismatch
from memoranda.model.query import Progress, Prove

T = TypeVar("T")


#: The number of reading connections: one for brief calls, and one for each reading thread.
_READERS = 3
#: Seconds that a checkpoint waits for readers; writers wait, too.
CHECKPOINT_WAIT_SECONDS = 0.5

#: Held while a file is made: closing that file drops the locks of any connection that this process
#: has on it.
_making = threading.Lock()


class SqliteFile:
    """One file with a writer thread and several reader threads."""

    def __init__(
        self, connector: Connector, turns: Turnstile | None, writer: Writer | None, readers: Readers
    ) -> None:
        self._connector = connector
        self._turns = turns
        self._writer = writer
        self._readers = readers
        self._closing = threading.Lock()
        self._closed = False
        #: A forked child inherits the object, but not the threads, and SQLite forbids it the
        #: connections.
        self._process = os.getpid()

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        migrations: Migrations,
        read_only: bool = False,
        create: bool = True,
        synchronous: str = "FULL",
        busy_seconds: float = 30.0,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> SqliteFile:
        """Open a file, make it if it is missing, and upgrade it to the latest version.

        ``busy_seconds`` bounds a wait for other processes, half of it in line and half without a
        turn.
        """
        if synchronous not in SYNCHRONOUS:
            raise InvalidInput(
                f"synchronous is one of {', '.join(SYNCHRONOUS)}, not {synchronous!r}.",
                field="synchronous",
            )
        where = _checked(path)
        connector = Connector(where, synchronous, busy_seconds, connect)

        def opened() -> SqliteFile:
            with translated(where):
                _find_or_make(where, create=create and not read_only)
                if read_only:
                    return _opened_to_read(connector, migrations)
                return _opened_to_write(connector, migrations, create=create)

        opening = _in_own_thread(opened)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unwanted)
            raise

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._connector.path

    @property
    def counters(self) -> Counters:
        """The writer's counters."""
        return replace(self._writer.counters) if self._writer else Counters()

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the work in a transaction that it may share with others, and return when that is
        durable.

        Where it raises, what it wrote is taken back, and nothing of the others'. A cancelled write
        has been committed whole or not at all.
        """
        call = Call.of(work)
        self._writing().submit(call)
        answer: T = await call.answer
        return answer

    async def read(self, work: Callable[[sqlite3.Connection], T], *, brief: bool = False) -> T:
        """Run the work on one consistent snapshot; the work must not keep a cursor open.

        ``brief`` work may run on the thread of the event loop, and perhaps a second time in another
        one.
        """
        self._check_process()
        if brief:
            # Other tasks go on in between, and a caller who was cancelled or is late ends here.
            await asyncio.sleep(0)
            if (found := self._readers.read_briefly(work)) is not None:
                return found[0]
        call = Call.of(work)
        self._readers.submit(call)
        answer: T = await call.answer
        return answer

    async def checkpoint(self) -> bool:
        """Move the write-ahead log into the file and empty it; False if a reader still needs it:
        try again later.
        """
        call = Call.of(self._empty_log, alone=True)
        self._writing().submit(call)
        emptied: bool = await call.answer
        return emptied

    async def rewrite(self) -> None:
        """Rewrite the whole file, because deleted rows may still have copies in unused parts of
        pages.

        The new pages go through the log: a checkpoint has to follow before the old ones are gone.
        """
        call = Call.of(_vacuum, alone=True)
        self._writing().submit(call)
        await call.answer

    async def backup(
        self, target: Path, progress: Progress | None = None, prove: Prove | None = None
    ) -> None:
        """Copy the book while it is in use, and check the copy; ``progress`` gets the pages done
        and the total.

        ``prove`` may refuse the copy before it gets its name. An error or a cancellation before
        that leaves nothing behind.
        """
        self._check_process()
        target = target.absolute()
        loop = asyncio.get_running_loop()
        given_up = threading.Event()

        def report(done: int, total: int) -> None:
            if given_up.is_set():
                raise StorageError(f"The backup to {target} was cancelled; nothing of it was kept.")
            if progress is not None:
                loop.call_soon_threadsafe(progress, done, total)

        def copy() -> Path:
            with translated(target):
                return copy_unnamed(self._connector, target, report)

        def name(partial: Path) -> None:
            with translated(target):
                name_copy(partial, target)

        copying = _in_own_thread(copy)
        try:
            partial = await asyncio.shield(copying)
        except asyncio.CancelledError:
            given_up.set()
            await asyncio.wait([copying])
            if copying.exception() is None:
                discard(copying.result())
            raise
        try:
            if prove is not None:
                await prove(partial)
        except BaseException:
            discard(partial)
            raise
        naming = asyncio.ensure_future(asyncio.to_thread(name, partial))
        try:
            await asyncio.shield(naming)
        except asyncio.CancelledError:
            await asyncio.wait([naming])
            raise

    async def close(self) -> None:
        """Finish waiting calls, and close every connection; closing again does nothing."""
        if os.getpid() != self._process:
            # Closing the parent's connections here would damage the file; they end with the child.
            return
        await asyncio.shield(_in_own_thread(self.close_now))

    def close_now(self) -> None:
        """Close from a Python thread without an event loop; waiting calls are finished first."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._readers.finish()
            # The writer closes last, because the last connection to close also empties the log.
            if self._writer is not None:
                self._writer.finish()
            if self._turns is not None:
                self._turns.close()

    def __del__(self) -> None:
        # An object whose making failed has no such attributes.
        if not getattr(self, "_closed", True) and self._process == os.getpid():
            warnings.warn(
                f"{self.path} was not closed: close the book, or use it in a with statement",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StorageError(
                f"{self._connector.path} was opened by another process: open the book again in this one."
            )

    def _writing(self) -> Writer:
        self._check_process()
        if self._writer is None:
            raise ReadOnly(
                f"{self._connector.path} was opened to be read only: open it without read_only to write."
            )
        return self._writer

    def _empty_log(self, connection: sqlite3.Connection) -> bool:
        connection.execute(f"PRAGMA busy_timeout={int(CHECKPOINT_WAIT_SECONDS * 1000)}")
        try:
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            connection.execute(f"PRAGMA busy_timeout={int(self._connector.wait_seconds * 1000)}")
        return not busy


def _vacuum(connection: sqlite3.Connection) -> None:
    connection.execute("VACUUM")


def _checked(path: str | Path) -> Path:
    if "\0" in str(path):
        raise InvalidInput("The path contains a NUL character: remove it.", field="path")
    where = Path(path).resolve()
    if not where.parent.is_dir():
        raise InvalidInput(f"The folder {where.parent} is not there: make it first.", field="path")
    return where


def _find_or_make(path: Path, *, create: bool) -> None:
    with _making:
        if path.exists():
            if not path.is_file():
                raise NotABook(
                    f"{path} is not a file: give the path of a book, or of a file that is not there yet."
                )
            return
        if not create:
            raise NotABook(
                f"There is no book at {path}: check the path, or open it so that it is created."
            )
        try:
            make_private(path)
        except FileExistsError:
            return
        sync_folder(path.parent)


def _opened_to_write(connector: Connector, migrations: Migrations, *, create: bool) -> SqliteFile:
    path = connector.path
    if not os.access(path, os.W_OK):
        raise ReadOnly(
            f"{path} cannot be written by this user: change its mode, or open it with read_only=True."
        )
    # Before the first connection. If another file is there by then, the first commit raises an
    # error.
    found_there = os.stat(path)
    with ExitStack() as opened:
        turns = Turnstile(path)
        opened.callback(turns.close)
        writer = opened.enter_context(closing(connector.writing()))
        found = look(writer)
        check_standing(found, migrations, path)
        if found.is_empty and not create:
            raise NotABook(
                f"{path} is empty: check the path, or open it so that a book is created there."
            )
        if found.version < migrations.latest or not found.has_log:
            bring_forward(writer, connector, turns, migrations)
        reading = [opened.enter_context(closing(connector.reading())) for _ in range(_READERS)]
        opened.pop_all()
        return SqliteFile(
            connector,
            turns,
            Writer(writer, connector, turns, migrations.latest, found_there),
            Readers(reading, path, migrations.latest),
        )


def _opened_to_read(connector: Connector, migrations: Migrations) -> SqliteFile:
    path = connector.path
    with ExitStack() as opened:
        immutable = _nobody_can_write_beside(path)
        reading = [
            opened.enter_context(closing(connector.reading(immutable=immutable)))
            for _ in range(_READERS)
        ]
        found = look(reading[0])
        check_standing(found, migrations, path)
        if found.is_empty:
            raise NotABook(
                f"{path} is empty: open it once without read_only, and a book is created there."
            )
        if found.version < migrations.latest:
            raise VersionMismatch(
                f"{path} has format {found.version}, and this program reads {migrations.latest}: "
                "open it once without read_only to upgrade it."
            )
        opened.pop_all()
        return SqliteFile(connector, None, None, Readers(reading, path, migrations.latest))


def _nobody_can_write_beside(path: Path) -> bool:
    """True if the folder cannot be written and no log is there: SQLite cannot make its index then,
    nor needs it.
    """
    log = Path(f"{path}-wal")
    return not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def _close_unwanted(opening: asyncio.Future[SqliteFile]) -> None:
    """Close a file whose opening was cancelled."""
    if not opening.cancelled() and opening.exception() is None:
        threading.Thread(target=opening.result().close_now, name="memoranda-closing").start()


def _in_own_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run work in a thread of its own: those of the event loop may all be busy with calls of the
    application.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="memoranda-file")
    try:
        return asyncio.get_running_loop().run_in_executor(pool, work)
    finally:
        pool.shutdown(wait=False)
