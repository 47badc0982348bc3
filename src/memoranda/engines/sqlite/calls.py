"""What callers on event loops ask of the file's threads, and how the answers come back to them."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from memoranda.engines.sqlite.faults import from_damage, from_sqlite
from memoranda.errors import StorageError


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
