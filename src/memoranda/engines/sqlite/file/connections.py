"""Connections to a book's file, its named statements, and the calls that the file's threads answer."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from queue import Empty
from typing import Any

from memoranda.engines.sqlite.file.faults import from_damage, from_sqlite, is_busy
from memoranda.errors import StorageError, VersionMismatch


@cache
def statements() -> dict[str, str]:
    """Every statement by its name."""
    text = files("memoranda.engines.sqlite").joinpath("queries.sql").read_text("utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        found[name] = "\n".join(lines).strip()
    return found


@cache
def sql(name: str, **lists: int) -> str:
    """A statement, its lists (``ids=3``) written out as placeholders."""
    statement = statements()[name]
    for list_name, length in lists.items():
        statement = statement.replace("{" + list_name + "}", ",".join("?" * length))
    return statement


#: Pages in the log before a commit also checkpoints it: 4 MB of 4 KiB pages. SQLite alone knows the log's
#: length cheaply, so the moment is its choice; many commits share the fsyncs of a checkpoint.
CHECKPOINT_PAGES = 1000
#: A log that one large write blew up is cut back to this when it starts anew.
LARGEST_IDLE_LOG_BYTES = 16 * 1024 * 1024
#: The most memory that a connection keeps pages in.
CACHE_KIBIBYTES = 8 * 1024
#: Between tries where SQLite refuses without waiting.
RETRY_SECONDS = 0.002

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


@dataclass(frozen=True, slots=True)
class Connector:
    """Makes the connections to one file."""

    path: Path
    synchronous: str
    #: How long a write waits for other processes: up to half of it in line, the rest without a turn.
    busy_seconds: float
    connect: Callable[..., sqlite3.Connection]

    @property
    def wait_seconds(self) -> float:
        """How long one wait lasts, in line or inside a statement."""
        return self.busy_seconds / 2

    def writing(self) -> sqlite3.Connection:
        connection = self._connected("mode=rw")
        try:
            _set(connection, f"synchronous={self.synchronous}", "secure_delete=ON", "foreign_keys=ON")
            _set(
                connection,
                f"wal_autocheckpoint={CHECKPOINT_PAGES}",
                f"journal_size_limit={LARGEST_IDLE_LOG_BYTES}",
            )
            if sys.platform == "darwin":
                _set(connection, "fullfsync=ON", "checkpoint_fullfsync=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def reading(self, *, immutable: bool = False) -> sqlite3.Connection:
        """``immutable`` reads a file that no one writes without making any file beside it."""
        connection = self._connected("mode=ro&immutable=1" if immutable else "mode=ro")
        try:
            _set(connection, "query_only=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self, mode: str) -> sqlite3.Connection:
        connection = self.connect(
            f"{self.path.as_uri()}?{mode}",
            uri=True,
            timeout=self.wait_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            _set(connection, "temp_store=MEMORY", "mmap_size=0", "cell_size_check=ON", "trusted_schema=OFF")
            _set(connection, f"cache_size=-{CACHE_KIBIBYTES}")
        except BaseException:
            connection.close()
            raise
        return connection


def begin_immediate(connection: sqlite3.Connection, seconds: float) -> None:
    """Begin a write transaction, waiting for other processes at most about ``seconds``."""
    persist(lambda: connection.execute("BEGIN IMMEDIATE"), seconds)


def persist(attempt: Callable[[], object], seconds: float) -> None:
    """Try again while SQLite answers busy: in some states it does so without its own waiting."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            attempt()
            return
        except sqlite3.OperationalError as exc:
            if not is_busy(exc) or time.monotonic() >= deadline:
                raise
        time.sleep(RETRY_SECONDS)


def _set(connection: sqlite3.Connection, *pragmas: str) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").close()


def check_version(connection: sqlite3.Connection, served: int, path: Path) -> None:
    """Refuse to go on with a file that another process has brought to another version meanwhile."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != served:
        raise VersionMismatch(
            f"{path} was brought from format {served} to {found} while it was open here: "
            "close it, and restart this program with the Memoranda that did it."
        )


def secret_of(connection: sqlite3.Connection) -> bytes:
    """The key; read in each transaction, for an import may have brought another."""
    return bytes(connection.execute("SELECT value FROM book WHERE name = 'secret'").fetchone()[0])


def has_secret(connection: sqlite3.Connection) -> bool:
    """Whether a book has its key yet."""
    return connection.execute("SELECT 1 FROM book WHERE name = 'secret'").fetchone() is not None


def make_secret(connection: sqlite3.Connection) -> None:
    """Another process may have been quicker; the first secret stays."""
    connection.execute("INSERT OR IGNORE INTO book (name, value) VALUES ('secret', ?)", (os.urandom(32),))


@dataclass(slots=True, eq=False)
class Call:
    """One piece of work for a thread that holds a connection, and its answer once there is one."""

    work: Callable[[sqlite3.Connection], Any]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    #: Runs by itself on the bare connection, outside any transaction.
    alone: bool = False
    result: Any = None
    error: BaseException | None = None

    @classmethod
    def of(cls, work: Callable[[sqlite3.Connection], Any], *, alone: bool = False) -> Call:
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future(), alone)

    @property
    def abandoned(self) -> bool:
        """Its caller was cancelled: a call that has not started need not start."""
        return self.answer.cancelled()

    def refuse(self, error: BaseException, path: Path) -> None:
        """The answer is an error, the driver's told in our own; every caller gets an instance of its own."""
        self.result, self.error = None, error
        if isinstance(error, sqlite3.Error):
            self.error = from_sqlite(error, path)
        elif isinstance(error, UnicodeDecodeError):
            self.error = from_damage(error, path)
        if self.error is not error:
            self.error.__cause__ = error


class Intake:
    """Where calls wait for a thread; once it is shut, whatever waits or still comes is refused.

    Not a ``SimpleQueue``: in CPython 3.11 its ``get`` with a short timeout may wait for ever.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._calls: deque[Call] = deque()
        self._changed = threading.Condition(threading.Lock())
        self._ended = False

    def put(self, call: Call) -> None:
        with self._changed:
            if not self._ended:
                self._calls.append(call)
                self._changed.notify()
                return
        self._refuse([call])

    def end(self) -> None:
        """After what waits now there is nothing more to take."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self, seconds: float | None = None) -> Call | None:
        """The next call, or None at the end; raises ``Empty`` where none came in time."""
        with self._changed:
            if not self._calls and seconds != 0:
                self._changed.wait_for(lambda: self._calls or self._ended, seconds)
            if self._calls:
                return self._calls.popleft()
            if self._ended:
                return None
        raise Empty

    def shut(self) -> None:
        """Nobody takes any more."""
        with self._changed:
            self._ended = True
            waiting = list(self._calls)
            self._calls.clear()
            self._changed.notify_all()
        self._refuse(waiting)

    def _refuse(self, calls: list[Call]) -> None:
        for call in calls:
            call.refuse(StorageError(f"{self._path} is closed: open the book again."), self._path)
        deliver(calls)


def deliver(calls: Iterable[Call]) -> None:
    """Hand the answers over, waking each event loop once for all of its calls."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Call]] = {}
    for call in calls:
        by_loop.setdefault(call.loop, []).append(call)
    for loop, answered in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, answered)
        except RuntimeError:
            # The loop was closed while its calls were under way: nobody is left to be told.
            continue


def _settle(answered: list[Call]) -> None:
    for call in answered:
        if call.answer.done():
            continue
        if call.error is None:
            call.answer.set_result(call.result)
        elif isinstance(call.error, StopIteration):
            # A future refuses to carry it, and the caller would wait for ever.
            call.answer.set_exception(RuntimeError("the work raised StopIteration"))
        else:
            call.answer.set_exception(call.error)
