"""An event loop on a background thread, for programs without one."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, Concatenate, ParamSpec, TypeVar

from memoranda.errors import StorageError

P = ParamSpec("P")
T = TypeVar("T")


class Loop:
    """An event loop on a background thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._state = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memoranda", daemon=True)
        self._thread.start()

    @property
    def is_mine(self) -> bool:
        """True if the loop's thread runs in this process; a forked child has no copy of it."""
        return os.getpid() == self._process

    def check_caller(self) -> None:
        """Raise StorageError if the caller would wait for itself forever, or is in a forked process."""
        if not self.is_mine:
            raise StorageError("the book was opened in another process: open it again in this one")
        if threading.current_thread() is self._thread:
            raise StorageError(
                "this call comes from the book's own thread, which would wait for itself: "
                "call from another thread, or await the asynchronous book"
            )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result."""
        try:
            self.check_caller()
            with self._state:
                if self._closed:
                    raise _closed()
                answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise
        try:
            return answer.result()
        except CancelledError:
            if self._closed:
                raise _closed() from None
            raise
        finally:
            answer.cancel()

    def close(self) -> None:
        """Cancel the running tasks, and end the thread."""
        with self._state:
            if self._closed or not self.is_mine:
                return
            self._closed = True
            ending = asyncio.run_coroutine_threadsafe(_end_all(), self._loop)
        try:
            ending.result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _end_all() -> None:
    running = asyncio.all_tasks() - {asyncio.current_task()}
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


def _closed() -> StorageError:
    return StorageError("the book is closed: open it again")


class SyncPart:
    """Base class for synchronous wrappers, such as a thread's: each runs its verbs on the book's event loop."""

    def __init__(self, behind: Any, loop: Loop) -> None:
        self._behind = behind
        self._loop = loop
        self._run = loop.run


def blocking(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Return a verb as a call that blocks, for a class whose ``_behind`` has it: same parameters, same documentation."""

    @functools.wraps(verb)
    def call(self: SyncPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        # By its name: the book of a service has verbs of its own.
        own: Callable[P, Coroutine[Any, Any, T]] = getattr(self._behind, verb.__name__)
        return self._run(own(*args, **kwargs))

    return call
