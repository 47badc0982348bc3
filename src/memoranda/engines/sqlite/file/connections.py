"""Connections to a book's file, its named SQL statements, and the calls that Python threads do on connections."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any, NamedTuple

from memoranda.engines.sqlite.file.faults import from_damage, from_sqlite, is_busy, is_undecodable
from memoranda.errors import StorageError, VersionMismatch
from memoranda.model.book_rows import ARRIVAL, DEPARTURE
from memoranda.model.data.data_filters import body_meets
from memoranda.model.records import Audience
from memoranda.request_turns import BEGAN
from memoranda.storage.sql_files import named_statements
from memoranda.storage.use_case import OwnerBase, Question, Write


@cache
def statements() -> dict[str, str]:
    """Return every SQL statement by its name, except those for whole tables."""
    return named_statements("memoranda.engines.sqlite", "queries.sql")


@cache
def upkeep() -> dict[str, str]:
    """Return the statements that read or write whole tables, by their names and in their order."""
    return named_statements("memoranda.engines.sqlite", "upkeep.sql")


@cache
def sql(name: str, **lists: int) -> str:
    """Return an SQL statement by its name, with lists (``ids=3`` for three ids) expanded to placeholders."""
    statement = statements()[name]
    for list_name, length in lists.items():
        statement = statement.replace("{" + list_name + "}", ",".join("?" * length))
    return statement


#: Pages in the log before a commit also checkpoints it: 4 MB of 4 KiB pages. SQLite alone knows the log's
#: length cheaply, so the moment is its choice; many commits share the fsyncs of a checkpoint.
CHECKPOINT_PAGES = 1000
#: A log that grew in one large write is truncated to this size when it restarts.
LARGEST_IDLE_LOG_BYTES = 16 * 1024 * 1024
#: The most memory for the page cache of a connection.
CACHE_KIBIBYTES = 8 * 1024
#: Seconds between attempts when SQLite refuses without waiting.
RETRY_SECONDS = 0.002

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


@dataclass(frozen=True, slots=True)
class Connector:
    """Makes the connections to one file."""

    path: Path
    synchronous: str
    #: Seconds that a write waits for other processes: up to half of it in line, the rest without a turn.
    busy_seconds: float
    connect: Callable[..., sqlite3.Connection]

    @property
    def wait_seconds(self) -> float:
        """The seconds that one wait may last, for a turn to write or inside a statement."""
        return self.busy_seconds / 2

    def writing(self) -> sqlite3.Connection:
        """Open a connection for writing to a file that exists; deleted content is overwritten with zeros."""
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
        """Open a connection for reading; ``immutable`` creates no other files, and is for a file that nobody writes."""
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
            connection.create_function("meets_data", 3, body_meets, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection


def begin_immediate(connection: sqlite3.Connection, seconds: float) -> None:
    """Begin a write transaction; wait for other processes at most about ``seconds``."""
    persist(lambda: connection.execute("BEGIN IMMEDIATE"), seconds)


def persist(attempt: Callable[[], object], seconds: float) -> None:
    """Retry a call for up to ``seconds`` while SQLite reports busy, which it sometimes does without waiting."""
    deadline = monotonic() + seconds
    while True:
        try:
            attempt()
            return
        except sqlite3.OperationalError as exc:
            if not is_busy(exc) or monotonic() >= deadline:
                raise
        time.sleep(RETRY_SECONDS)


def _set(connection: sqlite3.Connection, *pragmas: str) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").close()


def check_version(connection: sqlite3.Connection, served: int, path: Path) -> None:
    """Raise an error if another process has upgraded the file since it was opened."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != served:
        raise VersionMismatch(
            f"{path} was brought from format {served} to {found} while it was open here: "
            "close it, and restart this program with the Memoranda that did it."
        )


Row = tuple[Any, ...]

#: The most placeholders of one statement; longer lists need several statements.
MANY = 500


class Standing(NamedTuple):
    """Facts of the whole book that an operation reads before it writes."""

    #: The key of the book's digests.
    secret: bytes
    #: The marks of a book that was moved, or that is a copy in the making.
    marks: dict[str, bytes]
    #: True if the processing of some owner's data is restricted.
    restricts: bool


class Session:
    """A connection with an open transaction, for one operation."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        #: The number of the owner that the questions are about; -1 if that owner has no row.
        self.no = -1
        #: The same owner.
        self.base: OwnerBase | None = None
        #: Number and revision of the shelves that were read in this transaction, by audience.
        self.shelves: dict[Audience, tuple[int, int]] = {}
        self._standing: Standing | None = None

    def standing(self) -> Standing:
        """Return what the operation found of the whole book; read once, since no question sees the operation's own writes."""
        if self._standing is None:
            row = self.one("standing")
            assert row is not None
            secret, departure, arrival, restricts = row
            stored = (DEPARTURE, departure), (ARRIVAL, arrival)
            marks = {name: value for name, value in stored if value is not None}
            self._standing = Standing(bytes(secret), marks, bool(restricts))
        return self._standing

    def secret(self) -> bytes:
        """Return the key of the book's digests; read in each transaction, because an import may have replaced it."""
        row = self.connection.execute("SELECT value FROM book WHERE name = 'secret'").fetchone()
        return bytes(row[0])

    def all(self, name: str, *values: Any, **named: Any) -> list[Row]:
        """Return all rows of a named statement."""
        return self.connection.execute(sql(name), named or values).fetchall()

    def one(self, name: str, *values: Any, **named: Any) -> Row | None:
        """Return the first row of a named statement; None if there is none."""
        row: Row | None = self.connection.execute(sql(name), named or values).fetchone()
        return row

    def value(self, name: str, *values: Any, **named: Any) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = self.connection.execute(sql(name), named or values).fetchone()
        return None if row is None else row[0]

    def run(self, name: str, *values: Any, **named: Any) -> int:
        """Run a named statement; returns the number of affected rows."""
        return self.connection.execute(sql(name), named or values).rowcount

    def many(self, name: str, items: Sequence[Any], *fixed: Any, list_name: str = "ids") -> list[Row]:
        """Return all rows of a statement with a long list, read in parts; ``fixed`` values precede the list."""
        return [row for part in self._parts(name, items, fixed, list_name) for row in part.fetchall()]

    def run_many(self, name: str, items: Sequence[Any], *fixed: Any, list_name: str = "ids") -> int:
        """Run a statement with a long list, in parts; returns the number of affected rows."""
        return sum(part.rowcount for part in self._parts(name, items, fixed, list_name))

    def _parts(
        self, name: str, items: Sequence[Any], fixed: Sequence[Any], list_name: str
    ) -> Iterator[sqlite3.Cursor]:
        wanted = list(dict.fromkeys(items))
        for start in range(0, len(wanted), MANY):
            part = wanted[start : start + MANY]
            yield self.connection.execute(sql(name, **{list_name: len(part)}), (*fixed, *part))


#: The functions that answer questions, and those that carry out writes.
Answers = dict[type[Question[Any]], Callable[[Session, Any], Any]]
Writes = dict[type[Write], Callable[[Session, Any], None]]


#: A call goes before those that came at most so many seconds earlier, so that none waits for ever.
MOST_SECONDS_EARLIER = 1.0


def _turn() -> float:
    """Return the turn of a call: when its request began; now, outside of requests."""
    now = monotonic()
    return max(BEGAN.get(now), now - MOST_SECONDS_EARLIER)


@dataclass(slots=True, eq=False)
class Call:
    """Work that a Python thread does on its connection, and the future that gets its result."""

    work: Callable[[sqlite3.Connection], Any]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    #: True if it runs alone on the connection, outside any transaction.
    alone: bool = False
    #: The lowest is next.
    turn: float = field(default_factory=_turn)
    result: Any = None
    error: BaseException | None = None

    @classmethod
    def of(cls, work: Callable[[sqlite3.Connection], Any], *, alone: bool = False) -> Call:
        """Make a call whose answer arrives in the running event loop; raise RuntimeError if no loop runs."""
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future(), alone)

    @property
    def abandoned(self) -> bool:
        """True if the caller was cancelled, so that the call need not start."""
        return self.answer.cancelled()

    def do(self, connection: sqlite3.Connection, *, undo: str = "") -> None:
        """Do the work; if a stored text is damaged, ``undo`` what was done and do it again without that text."""
        try:
            self.result = self.work(connection)
        except (sqlite3.OperationalError, UnicodeDecodeError) as exc:
            if not is_undecodable(exc):
                raise
            if undo:
                connection.execute(undo)
            connection.text_factory = _text_or_damaged
            try:
                self.result = self.work(connection)
            finally:
                connection.text_factory = str

    def refuse(self, error: BaseException, path: Path) -> None:
        """Answer with an error; a driver's error is translated, and every caller gets its own instance."""
        self.result, self.error = None, error
        if isinstance(error, sqlite3.Error):
            self.error = from_sqlite(error, path)
        elif isinstance(error, UnicodeDecodeError):
            self.error = from_damage(error, path)
        if self.error is not error and not is_undecodable(error):
            # Without that one: the driver's error quotes the damaged text.
            self.error.__cause__ = error


def _text_or_damaged(stored: bytes) -> str:
    """Return a stored text; for one that is not UTF-8 a sign that no record can be read from."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return "\ufffd"


class Intake:
    """The calls that wait for a Python thread; after it is shut, waiting and new calls are refused.

    The oldest request is next: one that needs several calls does not wait behind all others each time.

    Not a ``SimpleQueue``: in CPython 3.11 its ``get`` with a short timeout may wait for ever.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        #: A heap, in which equal turns are in the order of their numbers.
        self._calls: list[tuple[float, int, Call]] = []
        self._numbers = count()
        self._changed = threading.Condition(threading.Lock())
        self._ended = False

    def put(self, call: Call) -> None:
        """Append a call to the queue; after the end, answer it with an error instead."""
        with self._changed:
            if not self._ended:
                heappush(self._calls, (call.turn, next(self._numbers), call))
                self._changed.notify()
                return
        self._refuse([call])

    @property
    def is_empty(self) -> bool:
        """True if no call waits."""
        return not self._calls

    def end(self) -> None:
        """Accept no more calls; the waiting ones are still done."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self, seconds: float | None = None) -> Call | None:
        """Return the next call, or None at the end; raise ``Empty`` if none came in time."""
        with self._changed:
            if not self._calls and seconds != 0:
                self._changed.wait_for(lambda: self._calls or self._ended, seconds)
            if self._calls:
                return heappop(self._calls)[-1]
            if self._ended:
                return None
        raise Empty

    def shut(self) -> None:
        """Refuse all waiting calls and all new ones."""
        with self._changed:
            self._ended = True
            waiting = [call for *_, call in sorted(self._calls)]
            self._calls.clear()
            self._changed.notify_all()
        self._refuse(waiting)

    def _refuse(self, calls: list[Call]) -> None:
        for call in calls:
            call.refuse(StorageError(f"{self._path} is closed: open the book again."), self._path)
        deliver(calls)


def deliver(calls: Iterable[Call]) -> None:
    """Deliver the results of calls; each event loop is woken once for all of its calls."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Call]] = {}
    for call in calls:
        by_loop.setdefault(call.loop, []).append(call)
    for loop, answered in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, answered)
        except RuntimeError:
            # The loop was closed while its calls ran: nobody waits for the answers.
            continue


def _settle(answered: list[Call]) -> None:
    for call in answered:
        if call.answer.done():
            continue
        if call.error is None:
            call.answer.set_result(call.result)
        elif isinstance(call.error, StopIteration):
            # A future refuses this exception, and the caller would wait for ever.
            call.answer.set_exception(RuntimeError("the work raised StopIteration"))
        else:
            call.answer.set_exception(call.error)
