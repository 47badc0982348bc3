"""Connections to a book's file, its named SQL statements, and the readers, which do calls on
connections.
"""

from __future__ import annotations

import math
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from memoranda.engines.sqlite.file.calls import Call, Intake, deliver
from memoranda.engines.sqlite.file.faults import is_busy
from memoranda.errors import MemorandaError, VersionMismatch
from memoranda.first_use import dataclass
from memoranda.model.book_rows import ARRIVAL, DEPARTURE
from memoranda.model.data_filters import body_meets
from memoranda.model.records import Audience
from memoranda.storage.sql_files import named_statements
from memoranda.storage.use_case import OwnerBase, Question, Write

T = TypeVar("T")


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
    """Return an SQL statement by its name, with lists (``ids=3`` for three ids) expanded to
    placeholders.
    """
    statement = statements()[name]
    for list_name, length in lists.items():
        statement = statement.replace("{" + list_name + "}", ",".join("?" * length))
    return statement


#: Pages in the log before a commit also checkpoints it: 4 MB of 4 KiB pages. SQLite alone knows the
#: log's length cheaply, so the moment is its choice; many commits share the fsyncs of a checkpoint.
CHECKPOINT_PAGES = 1000
#: A log that grew in one large write is truncated to this size when it restarts.
LARGEST_IDLE_LOG_BYTES = 16 * 1024 * 1024
#: The most memory for the page cache of a connection.
CACHE_KIBIBYTES = 8 * 1024
#: Seconds between attempts when SQLite refuses without waiting.
RETRY_SECONDS = 0.002

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def _id_of(hexadecimal: str | None) -> bytes | None:
    """Return an id that is stored as text; not every SQLite can."""
    return None if hexadecimal is None else bytes.fromhex(hexadecimal)


@dataclass(frozen=True, slots=True)
class Connector:
    """Makes the connections to one file."""

    path: Path
    synchronous: str
    #: Seconds that a write waits for other processes: up to half of it in line, the rest without a
    #: turn.
    busy_seconds: float
    connect: Callable[..., sqlite3.Connection]

    @property
    def wait_seconds(self) -> float:
        """The seconds that one wait may last, for a turn to write or inside a statement."""
        return self.busy_seconds / 2

    def writing(self) -> sqlite3.Connection:
        """Open a connection for writing to a file that exists; deleted content is overwritten with
        zeros.
        """
        connection = self._connected("mode=rw")
        try:
            _set(
                connection, f"synchronous={self.synchronous}", "secure_delete=ON", "foreign_keys=ON"
            )
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
        """Open a connection for reading; ``immutable`` creates no other files, and is for a file
        that nobody writes.
        """
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
            _set(
                connection,
                "temp_store=MEMORY",
                "mmap_size=0",
                "cell_size_check=ON",
                "trusted_schema=OFF",
            )
            _set(connection, f"cache_size=-{CACHE_KIBIBYTES}")
            connection.create_function("id_of", 1, _id_of, deterministic=True)
            connection.create_function("meets_data", 3, body_meets, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection


def begin_immediate(connection: sqlite3.Connection, seconds: float) -> None:
    """Begin a write transaction; wait for other processes at most about ``seconds``."""
    persist(lambda: connection.execute("BEGIN IMMEDIATE"), seconds)


def persist(attempt: Callable[[], object], seconds: float) -> None:
    """Retry a call for up to ``seconds`` while SQLite reports busy, which it sometimes does without
    waiting.
    """
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
        #: Number and revision of the shelves that were read in this transaction, by the owner's
        #: number and the audience.
        self.shelves: dict[tuple[int, Audience], tuple[int, int]] = {}
        self._standing: Standing | None = None

    def standing(self) -> Standing:
        """Return what the operation found of the whole book; read once, since no question sees the
        operation's own writes.
        """
        if self._standing is None:
            row = self.one("standing")
            assert row is not None
            secret, departure, arrival, restricts = row
            stored = (DEPARTURE, departure), (ARRIVAL, arrival)
            marks = {name: value for name, value in stored if value is not None}
            self._standing = Standing(bytes(secret), marks, bool(restricts))
        return self._standing

    def secret(self) -> bytes:
        """Return the key of the book's digests; read in each transaction, because an import may
        have replaced it.
        """
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

    def many(
        self, name: str, items: Sequence[Any], *fixed: Any, list_name: str = "ids"
    ) -> list[Row]:
        """Return all rows of a statement with a long list, read in parts; ``fixed`` values precede
        the list.
        """
        return [
            row for part in self._parts(name, items, fixed, list_name) for row in part.fetchall()
        ]

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


#: A statement is interrupted after so many seconds; it is checked after so many of SQLite's
#: instructions.
_MOST_SECONDS, _INSTRUCTIONS = 0.01, 5_000
#: After so many reads in a row that took so many seconds each, as on a slow disk, threads do all
#: reads for a while.
_SLOW_READS, _SLOW_SECONDS, _REST_SECONDS = 3, 0.03, 30.0


class BriefReader:
    """A connection whose reads run on the thread of their caller, as long as they are brief: to
    wake another takes longer.
    """

    def __init__(
        self, connection: sqlite3.Connection, begin: Callable[[sqlite3.Connection], None]
    ) -> None:
        # SQLite must not wait here for other processes, because the event loop would wait, too.
        connection.execute("PRAGMA busy_timeout=0")
        connection.set_progress_handler(self._is_over, _INSTRUCTIONS)
        self._connection: sqlite3.Connection | None = connection
        self._begin = begin
        self._using = threading.Lock()
        self._until = self._rests_until = 0.0
        self._slow_reads = 0

    def read(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """Return what a work reads on one snapshot; None if a thread has to do it, because it takes
        long or SQLite fails.
        """
        began = monotonic()
        if began < self._rests_until or not self._using.acquire(blocking=False):
            return None
        try:
            if self._connection is None:
                return None
            self._until = began + _MOST_SECONDS
            try:
                return (work(self._connection),) if self._begins(self._connection) else None
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._note(began, monotonic())
        except (sqlite3.Error, UnicodeDecodeError):
            return None
        finally:
            self._using.release()

    def _begins(self, connection: sqlite3.Connection) -> bool:
        """Begin to read; False if the program has a guard that forbids SQLite on the event loop,
        now and from then on.
        """
        try:
            self._begin(connection)
        except (sqlite3.Error, MemorandaError):
            raise
        except Exception:  # noqa: BLE001 - each guard raises an error of its own
            self._rests_until = math.inf
            return False
        return True

    def close(self) -> None:
        """Close the connection, once nobody reads; later reads are for a thread."""
        with self._using:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _note(self, began: float, ended: float) -> None:
        """Note how long a read took."""
        self._slow_reads = self._slow_reads + 1 if ended - began > _SLOW_SECONDS else 0
        if self._slow_reads == _SLOW_READS:
            self._slow_reads, self._rests_until = 0, ended + _REST_SECONDS

    def _is_over(self) -> bool:
        return monotonic() > self._until


class Readers:
    """A file's reader threads. Each has its own connection, and a free one takes the next call.

    The first connection is for brief reads.
    """

    def __init__(self, connections: Sequence[sqlite3.Connection], path: Path, version: int) -> None:
        self._path = path
        self._version = version
        self._intake = Intake(path)
        brief, *connections = connections
        self._brief = BriefReader(brief, self._begin)
        self._threads = [
            threading.Thread(
                target=self._run, args=(connection,), name="memoranda-reader", daemon=True
            )
            for connection in connections
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call) -> None:
        """Queue a call for the next free connection; after ``finish`` it is answered with an
        error.
        """
        self._intake.put(call)

    def read_briefly(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """Return what a brief work reads; None if a thread has to do it, or others wait for one."""
        return None if self._intake.calls else self._brief.read(work)

    def finish(self) -> None:
        """Answer waiting calls, close the connections, and refuse later calls."""
        self._intake.end()
        for thread in self._threads:
            thread.join()
        self._brief.close()

    def _run(self, connection: sqlite3.Connection) -> None:
        try:
            while (call := self._intake.take()) is not None:
                try:
                    if not call.abandoned:
                        self._read(connection, call)
                finally:
                    deliver([call])
                    # While it waits, a thread must not keep the book of its last call alive.
                    del call
        finally:
            connection.close()
            self._intake.shut()

    def _read(self, connection: sqlite3.Connection, call: Call) -> None:
        try:
            self._begin(connection)
            call.do(connection)
        except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._path)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _begin(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        # The first read of the file also fixes the snapshot.
        check_version(connection, self._version, self._path)
