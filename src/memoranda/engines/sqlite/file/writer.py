"""The one thread that writes a file, and the turns in which processes write."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

from memoranda.engines.sqlite.file.connections import (
    Call,
    Connector,
    Intake,
    begin_immediate,
    check_version,
    deliver,
)
from memoranda.errors import StorageError

if sys.platform != "win32":  # There processes wait as SQLite does.
    import fcntl


class Turnstile:
    """Two advisory locks beside the book: whoever is next in line, and whose turn it is.

    A turn is a courtesy, not a protection: SQLite's own lock guards the file. So whoever gets no turn in time
    goes on without one, and so do programs that know of no turns. The system frees both when a process dies.
    """

    def __init__(self, book: Path) -> None:
        self._state = threading.Condition()
        self._locks = _opened(book)
        self._wanted = False
        self._mine = False
        self._closed = False
        #: Waits inside the system where the turn is not free at once: such a wait has no time limit.
        self._doorman: threading.Thread | None = None
        self._queueing = False
        #: How often the turn was not free at once.
        self.waits = 0

    def take(self, seconds: float) -> bool:
        """True once the turn is ours; False where it did not come in time, or there are no such locks."""
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
        """Give the turn to the next in line."""
        with self._state:
            if self._locks is not None:
                fcntl.flock(self._locks[1], fcntl.LOCK_UN)

    def close(self) -> None:
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
            # Some network file systems have no such locks, or lose them.
            self._put_away()
            return False
        return True

    def _call_doorman(self) -> None:
        if self._locks is None:
            return
        if self._doorman is None:
            self._doorman = threading.Thread(target=self._wait_in_line, name="memoranda-turn", daemon=True)
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
        """Wait for the turn, our own state unlocked; if nobody here wants it by then, it goes on."""
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
        # The folder takes no new files: SQLite will say so when it needs one.
        if following is not None:
            os.close(following)
        return None


#: The most operations of one commit.
LARGEST_GROUP = 256
#: The longest that a group waits for callers who came together with others last time.
LONGEST_GATHERING_SECONDS = 0.002


@dataclass(slots=True)
class Counters:
    """What the writer did since the file was opened."""

    #: Transactions committed, each of them one fsync of the log.
    commits: int = 0
    #: Operations that these commits hold.
    writes: int = 0
    #: Operations that failed, and left nothing.
    rolled_back: int = 0
    #: The most operations that one commit held.
    largest_group: int = 0
    #: How often another process had the turn.
    waits: int = 0


class Writer:
    """Owns the writing connection; everything that touches it runs on its thread."""

    def __init__(
        self, connection: sqlite3.Connection, connector: Connector, turns: Turnstile, version: int
    ) -> None:
        self.counters = Counters()
        self._connection = connection
        self._connector = connector
        self._turns = turns
        self._version = version
        self._intake = Intake(connector.path)
        #: What ended a gathering without belonging to the group: a call for itself, or the end.
        self._aside: list[Call | None] = []
        self._last_group = 0
        self._last_commit_seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="memoranda-writer", daemon=True)
        self._thread.start()

    def submit(self, call: Call) -> None:
        self._intake.put(call)

    def finish(self) -> None:
        """Answer what waits, close the connection, and refuse what still comes."""
        self._intake.end()
        self._thread.join()

    def _run(self) -> None:
        try:
            while (call := self._aside.pop() if self._aside else self._intake.take()) is not None:
                group = [call]
                try:
                    self._in_turn(group)
                except BaseException as exc:
                    # Not even undoing worked: nothing may pass for committed, and this thread can do no more.
                    for unsure in group:
                        unsure.refuse(exc, self._connector.path)
                    raise
                finally:
                    deliver(group)
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
                self._commit([call for call in group if not call.abandoned], deadline - time.monotonic())
        finally:
            if turn:
                self._turns.release()
            self.counters.waits = self._turns.waits

    def _gather(self, group: list[Call], patience: float) -> None:
        """Let everything join that waits already, and those who are about to come.

        Where the last group was larger, its callers are on their way back: they are waited for as long as the
        fsync took that they would cause by themselves. A lone writer's last group was one: nothing waits.
        """
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

    # ── one commit ──────────────────────────────────────────────────────────────────────────────────────────────

    def _commit(self, group: list[Call], seconds: float) -> None:
        if not group:
            return
        try:
            begin_immediate(self._connection, seconds)
            check_version(self._connection, self._version, self._connector.path)
            for call in group:
                self._do_within(call)
            began = time.monotonic()
            self._connection.execute("COMMIT")
            self._last_commit_seconds = time.monotonic() - began
        except (sqlite3.Error, StorageError) as exc:
            self._undo_all(group, exc)
        self._count(group)

    def _do_within(self, call: Call) -> None:
        """Do one operation of the group; where it fails, it alone is taken back."""
        connection = self._connection
        connection.execute("SAVEPOINT operation")
        try:
            call.result = call.work(connection)
        except BaseException as exc:  # whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._connector.path)
            if not connection.in_transaction:
                # A full disk or a failing one makes SQLite undo everything, the others' operations too.
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
