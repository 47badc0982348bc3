"""What callers on event loops ask of the file's threads, and how the answers come back to them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from commonplace.engines.sqlite.faults import from_sqlite
from commonplace.errors import StorageError


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
            self.error.__cause__ = error


class Intake:
    """Where calls wait for a thread; once it is shut, whatever waits or still comes is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._shut = False

    def put(self, call: Call) -> None:
        self._calls.put(call)
        if self._shut:
            self._refuse_all()

    def end(self) -> None:
        """After what waits now there is nothing more to take."""
        self._calls.put(None)

    def take(self, seconds: float | None = None) -> Call | None:
        """The next call, or None at the end; raises ``Empty`` where none came in time."""
        return self._calls.get_nowait() if seconds == 0 else self._calls.get(timeout=seconds)

    def shut(self) -> None:
        """Nobody takes any more."""
        self._shut = True
        self._refuse_all()

    def _refuse_all(self) -> None:
        refused = []
        while True:
            try:
                call = self._calls.get_nowait()
            except Empty:
                break
            if call is not None:
                call.refuse(StorageError(f"{self._path} is closed: open the book again."), self._path)
                refused.append(call)
        # The end is the end for every thread that takes from here.
        self._calls.put(None)
        deliver(refused)


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
