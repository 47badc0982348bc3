"""The reader threads of a file, and brief reads, which run on the thread of their caller."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeVar

from memoranda.engines.sqlite.file.connections import Call, Intake, check_version, deliver

T = TypeVar("T")

#: A statement is interrupted after so many seconds; it is checked after so many of SQLite's instructions.
_MOST_SECONDS, _INSTRUCTIONS = 0.01, 5_000
#: After so many reads in a row that took so many seconds each, as on a slow disk, threads do all reads for a while.
_SLOW_READS, _SLOW_SECONDS, _REST_SECONDS = 3, 0.03, 30.0


class BriefReader:
    """A connection whose reads run on the thread of their caller, as long as they are brief: to wake another takes longer."""

    def __init__(self, connection: sqlite3.Connection, begin: Callable[[sqlite3.Connection], None]) -> None:
        # SQLite must not wait here for other processes, because the event loop would wait, too.
        connection.execute("PRAGMA busy_timeout=0")
        connection.set_progress_handler(self._is_over, _INSTRUCTIONS)
        self._connection: sqlite3.Connection | None = connection
        self._begin = begin
        self._using = threading.Lock()
        self._until = self._rests_until = 0.0
        self._slow_reads = 0

    def read(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """Return what a work reads on one snapshot; None if a thread has to do it, because it takes long or SQLite fails."""
        began = monotonic()
        if began < self._rests_until or not self._using.acquire(blocking=False):
            return None
        try:
            if self._connection is None:
                return None
            self._until = began + _MOST_SECONDS
            try:
                self._begin(self._connection)
                return (work(self._connection),)
            except (sqlite3.Error, UnicodeDecodeError):
                return None
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._note(began, monotonic())
        finally:
            self._using.release()

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
            threading.Thread(target=self._run, args=(connection,), name="memoranda-reader", daemon=True)
            for connection in connections
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call) -> None:
        """Queue a call for the next free connection; after ``finish`` it is answered with an error."""
        self._intake.put(call)

    def read_briefly(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """Return what a brief work reads; None if a thread has to do it, or others wait for one."""
        return self._brief.read(work) if self._intake.is_empty else None

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
