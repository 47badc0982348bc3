"""An event loop on a background thread, for programs without one."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from memoranda.errors import StorageError

T = TypeVar("T")


class Loop:
    """An event loop on a background thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._state = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="memoranda", daemon=True
        )
        self._thread.start()

    @property
    def is_mine(self) -> bool:
        """True if the loop's thread runs in this process; a forked child has no copy of it."""
        return os.getpid() == self._process

    def check_caller(self) -> None:
        """Raise StorageError if the caller would wait for itself forever, or is in a forked
        process.
        """
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
    """The blocking side of a part of a book: each declared operation runs the same operation of the
    part on its event loop.
    """

    _behind: Any
    _loop: Loop
    _wait: Callable[[Coroutine[Any, Any, Any]], Any]

    def __init__(self, behind: Any, loop: Loop) -> None:
        # A thread's handle refuses what is set.
        vars(self).update(_behind=behind, _loop=loop, _wait=loop.run)

    def __init_subclass__(cls) -> None:
        for name in {name for kind in cls.__mro__ for name in vars(kind)} - vars(cls).keys():
            function = getattr(cls, name)
            if inspect.iscoroutinefunction(function) and hasattr(function, "declared"):
                setattr(cls, name, _blocking(name, function))


def _blocking(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation as a call that blocks: same parameters, same documentation."""

    @functools.wraps(function)
    def call(self: SyncPart, /, *args: Any, **kwargs: Any) -> Any:
        # By its name: the book of a service has operations of its own.
        return self._wait(getattr(self._behind, name)(*args, **kwargs))

    return call
