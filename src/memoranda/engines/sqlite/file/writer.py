"""The one Python thread that writes a file, and the turns by which several processes write it in
order.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

from memoranda.engines.sqlite.file.calls import Call, Intake, deliver
from memoranda.engines.sqlite.file.connections import Connector, begin_immediate, check_version
from memoranda.engines.sqlite.file.faults import refuse_moved
from memoranda.errors import StorageError

if sys.platform != "win32":  # On Windows, processes wait as SQLite does.
    import fcntl


class Turnstile:
    """The turns of processes to write: two advisory locks, one for the writing process, one for the
    next in line.

    A turn protects nothing: SQLite's own lock guards the file. So a process that gets no turn in
    time goes on without one, as programs without turns do. The system frees both locks when a
    process dies.
    """

    def __init__(self, book: Path) -> None:
        self._state = threading.Condition()
        self._locks = _opened(book)
        self._wanted = False
        self._mine = False
        self._closed = False
        #: The thread that waits in the system call if the turn is not free: that wait has no time
        #: limit.
        self._doorman: threading.Thread | None = None
        self._queueing = False
        #: How often the turn was not free at once.
        self.waits = 0

    def take(self, seconds: float) -> bool:
        """Wait for this process's turn to write; False if it did not come in time, or the system
        has no such locks.
        """
        with self._state:
            if self._locks is None:
                return False
            if not self._queueing and self._free_at_once():
                return True
            self.waits += 1
            self._wanted = True
            self._call_doorman()
            self._state.wait_for(lambda: self._mine or self._locks is None, seconds)
            self._wanted = False
            mine, self._mine = self._mine, False
            return mine

    def release(self) -> None:
        """Give the turn to write to the next process in line."""
        with self._state:
            if self._locks is not None:
                fcntl.flock(self._locks[1], fcntl.LOCK_UN)

    def close(self) -> None:
        """Wake those who wait for the turn, and close the lock files, or let the thread that waits
        for them do so.
        """
        with self._state:
            self._closed = True
            self._state.notify_all()
            if not self._queueing:
                self._put_away()

    def _free_at_once(self) -> bool:
        assert self._locks is not None
        following, turn = self._locks
        try:
            fcntl.flock(following, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                fcntl.flock(following, fcntl.LOCK_UN)
        except BlockingIOError:
            return False
        except OSError:
            # Some network file systems do not support these locks, or lose them.
            self._put_away()
            return False
        return True

    def _call_doorman(self) -> None:
        if self._locks is None:
            return
        if self._doorman is None:
            self._doorman = threading.Thread(
                target=self._wait_in_line, name="memoranda-turn", daemon=True
            )
            self._doorman.start()
        self._state.notify_all()

    def _wait_in_line(self) -> None:
        with self._state:
            while True:
                self._state.wait_for(lambda: (self._wanted and not self._mine) or self._closed)
                if self._closed or self._locks is None:
                    return
                self._queue_up(self._locks)

    def _queue_up(self, locks: tuple[int, int]) -> None:
        """Wait for the turn with our own state unlocked; release it if nobody here wants it any
        more.
        """
        following, turn = locks
        self._queueing = True
        self._state.release()
        try:
            fcntl.flock(following, fcntl.LOCK_EX)
            fcntl.flock(turn, fcntl.LOCK_EX)
            fcntl.flock(following, fcntl.LOCK_UN)
            failed = False
        except OSError:
            failed = True
        finally:
            self._state.acquire()
            self._queueing = False
        if failed or self._closed:
            self._put_away()
        elif self._wanted:
            self._mine = True
        else:
            fcntl.flock(turn, fcntl.LOCK_UN)
        self._state.notify_all()

    def _put_away(self) -> None:
        if self._locks is not None:
            for lock in self._locks:
                os.close(lock)
        self._locks = None


def _opened(book: Path) -> tuple[int, int] | None:
    if sys.platform == "win32":
        return None
    following: int | None = None
    try:
        following = os.open(f"{book}-turns-next", os.O_RDWR | os.O_CREAT, 0o600)
        return following, os.open(f"{book}-turns", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        # The folder cannot take new files; SQLite raises the error when it needs one.
        if following is not None:
            os.close(following)
        return None


#: The most operations of one commit.
LARGEST_GROUP = 256
#: The longest time that a group waits for callers of the last group to come back.
LONGEST_GATHERING_SECONDS = 0.002


@dataclass(slots=True)
class Counters:
    """Counters of the writer since the file was opened."""

    #: Committed transactions; each is one fsync of the log.
    commits: int = 0
    #: Operations in these commits.
    writes: int = 0
    #: Operations that failed and were rolled back.
    rolled_back: int = 0
    #: The most operations in one commit so far.
    largest_group: int = 0
    #: How often another process had the turn.
    waits: int = 0


class Writer:
    """Owns the writing connection; all use of it runs on its thread."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        connector: Connector,
        turns: Turnstile,
        version: int,
        opened: os.stat_result,
    ) -> None:
        self.counters = Counters()
        self._connection = connection
        self._connector = connector
        self._turns = turns
        self._version = version
        #: The file that was at the path when it was opened.
        self._opened = opened
        self._intake = Intake(connector.path)
        #: The call that ended the gathering and is not part of the group: one that runs alone, or
        #: the end.
        self._aside: list[Call | None] = []
        self._last_group = 0
        self._last_commit_seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="memoranda-writer", daemon=True)
        self._thread.start()

    def submit(self, call: Call) -> None:
        """Queue a call for the writer's thread; after ``finish`` it is answered with an error."""
        self._intake.put(call)

    def finish(self) -> None:
        """Answer waiting calls, close the connection, and refuse later calls."""
        self._intake.end()
        self._thread.join()

    def _run(self) -> None:
        try:
            while (call := self._aside.pop() if self._aside else self._intake.take()) is not None:
                group = [call]
                try:
                    self._in_turn(group)
                except BaseException as exc:
                    # Even the rollback failed: nothing counts as committed, and this thread cannot
                    # continue.
                    for unsure in group:
                        unsure.refuse(exc, self._connector.path)
                    raise
                finally:
                    deliver(group)
                    # While it waits, the thread must not keep the book of its last calls alive.
                    del call, group
        finally:
            self._connection.close()
            self._intake.shut()

    def _in_turn(self, group: list[Call]) -> None:
        alone = group[0].alone
        if not alone:
            self._gather(group, min(self._last_commit_seconds, LONGEST_GATHERING_SECONDS))
        deadline = time.monotonic() + self._connector.busy_seconds
        turn = self._turns.take(self._connector.wait_seconds)
        try:
            if alone:
                self._do_alone(group[0])
            else:
                self._gather(group, 0.0)
                self._commit(
                    [call for call in group if not call.abandoned], deadline - time.monotonic()
                )
        finally:
            if turn:
                self._turns.release()
            self.counters.waits = self._turns.waits

    def _gather(self, group: list[Call], patience: float) -> None:
        """Gather the waiting calls, and calls that are about to come.

        Where the last group was larger, its callers are on their way back: they are waited for as
        long as the fsync took that they would cause by themselves. A lone writer's last group was
        one: nothing waits.
        """
        if not self._intake.calls and (not patience or len(group) >= self._last_group):
            return
        until = time.monotonic() + patience
        while len(group) < LARGEST_GROUP and not self._aside:
            left = until - time.monotonic() if patience and len(group) < self._last_group else 0.0
            try:
                call = self._intake.take(max(left, 0.0))
            except Empty:
                return
            if call is None or call.alone:
                self._aside.append(call)
            else:
                group.append(call)

    def _do_alone(self, call: Call) -> None:
        if call.abandoned:
            return
        try:
            call.result = call.work(self._connection)
        except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._connector.path)

    # ── one commit ────────────────────────────────────────────────────────────────────────────────

    def _commit(self, group: list[Call], seconds: float) -> None:
        if not group:
            return
        try:
            self._begin(seconds)
            if len(group) == 1:
                self._do_only(group[0], seconds)
            else:
                for call in group:
                    self._do_within(call)
            if self._connection.in_transaction:
                refuse_moved(self._connector.path, self._opened)
                began = time.monotonic()
                self._connection.execute("COMMIT")
                self._last_commit_seconds = time.monotonic() - began
        except (sqlite3.Error, StorageError) as exc:
            self._undo_all(group, exc)
        self._count(group)

    def _begin(self, seconds: float) -> None:
        begin_immediate(self._connection, seconds)
        check_version(self._connection, self._version, self._connector.path)

    def _do_only(self, call: Call, seconds: float) -> None:
        """Do the only call of a transaction; if it fails, roll back. It needs no savepoint, which
        copies each page it changes.
        """

        def begin_again() -> None:
            self._connection.execute("ROLLBACK")
            self._begin(seconds)

        try:
            call.do(self._connection, undo=begin_again)
        except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._connector.path)
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _do_within(self, call: Call) -> None:
        """Do one call of a group that commits together; if it fails, only this call is rolled
        back.
        """
        connection = self._connection
        connection.execute("SAVEPOINT operation")
        try:
            call.do(connection, undo=lambda: connection.execute("ROLLBACK TO operation"))
        except BaseException as exc:  # whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._connector.path)
            if not connection.in_transaction:
                # If the disk is full or fails, SQLite rolls back the whole transaction, including
                # the others' operations.
                raise _undone_by(exc) from exc
            connection.execute("ROLLBACK TO operation")
        connection.execute("RELEASE operation")

    def _undo_all(self, group: list[Call], exc: sqlite3.Error | StorageError) -> None:
        for call in group:
            if call.error is None:
                call.refuse(exc, self._connector.path)
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _count(self, group: list[Call]) -> None:
        written = sum(call.error is None for call in group)
        self._last_group = len(group)
        self.counters.rolled_back += len(group) - written
        if written:
            self.counters.commits += 1
            self.counters.writes += written
            self.counters.largest_group = max(self.counters.largest_group, written)


def _undone_by(exc: BaseException) -> sqlite3.Error | StorageError:
    if isinstance(exc, sqlite3.Error):
        return exc
    return StorageError("Another operation of the same commit ended the transaction: try again.")
