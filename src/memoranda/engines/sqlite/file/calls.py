"""Calls: work that Python threads do on their connections, queued by turn, with answers for event
loops.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from memoranda.engines.sqlite.file.faults import from_damage, from_sqlite, is_undecodable
from memoranda.errors import StorageError
from memoranda.tasks import BEGAN

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
        """Make a call whose answer arrives in the running event loop; raise RuntimeError if no loop
        runs.
        """
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future(), alone)

    @property
    def abandoned(self) -> bool:
        """True if the caller was cancelled, so that the call need not start."""
        return self.answer.cancelled()

    def do(
        self, connection: sqlite3.Connection, *, undo: Callable[[], object] | None = None
    ) -> None:
        """Do the work; if a stored text is damaged, ``undo`` what was done and do it again without
        that text.
        """
        try:
            self.result = self.work(connection)
        except (sqlite3.OperationalError, UnicodeDecodeError) as exc:
            if not is_undecodable(exc):
                raise
            if undo is not None:
                undo()
            connection.text_factory = _text_or_damaged
            try:
                self.result = self.work(connection)
            finally:
                connection.text_factory = str

    def refuse(self, error: BaseException, path: Path) -> None:
        """Answer with an error; a driver's error is translated, and every caller gets its own
        instance.
        """
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

    The oldest request is next: one that needs several calls does not wait behind all others each
    time.

    Not a ``SimpleQueue``: in CPython 3.11 its ``get`` with a short timeout may wait for ever.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        #: Those that wait: a heap, in which equal turns are in the order of their numbers.
        self.calls: list[tuple[float, int, Call]] = []
        self._numbers = count()
        self._changed = threading.Condition(threading.Lock())
        self._ended = False

    def put(self, call: Call) -> None:
        """Append a call to the queue; after the end, answer it with an error instead."""
        with self._changed:
            if not self._ended:
                heappush(self.calls, (call.turn, next(self._numbers), call))
                self._changed.notify()
                return
        self._refuse([call])

    def end(self) -> None:
        """Accept no more calls; the waiting ones are still done."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self, seconds: float | None = None) -> Call | None:
        """Return the next call, or None at the end; raise ``Empty`` if none came in time."""
        with self._changed:
            if not self.calls and seconds != 0:
                self._changed.wait_for(lambda: self.calls or self._ended, seconds)
            if self.calls:
                return heappop(self.calls)[-1]
            if self._ended:
                return None
        raise Empty

    def shut(self) -> None:
        """Refuse all waiting calls and all new ones."""
        with self._changed:
            self._ended = True
            waiting = [call for *_, call in sorted(self.calls)]
            self.calls.clear()
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
