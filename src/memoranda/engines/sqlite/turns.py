"""The turnstile at which processes queue before they write: SQLite's own waiting starves the unlucky."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

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
