"""How a book's connections are made and set, and how a write transaction begins on one."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memoranda.engines.sqlite.faults import is_busy

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
