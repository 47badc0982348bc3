"""Tasks: quiet when their event loop is closed, limited in time, in turn by when their request
began, and with pauses in long work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")


def quiet_task(begin: Callable[[], Awaitable[T]]) -> asyncio.Task[T]:
    """Run what a function returns as a task; Python does not complain where its loop is closed
    before it ends.
    """
    task = asyncio.get_running_loop().create_task(_Late(begin))
    task._log_destroy_pending = False  # type: ignore[attr-defined] # as asyncio does with tasks of its own
    return task


class _Late(Coroutine[Any, Any, T]):
    """A coroutine that calls its function at the first step: Python reports a real coroutine that
    was never begun.
    """

    def __init__(self, begin: Callable[[], Awaitable[T]]) -> None:
        self._begin: Callable[[], Awaitable[T]] | None = begin
        self._begun: Coroutine[Any, Any, T] | None = None

    def send(self, value: Any) -> Any:
        """Begin, or go on with the value that was waited for."""
        return self._coroutine().send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error where the coroutine stands; one that has not begun never begins."""
        return self._coroutine().throw(*error)

    def close(self) -> None:
        """End the coroutine where it stands."""
        if self._begun is not None:
            self._begun.close()

    def __await__(self) -> Generator[Any, Any, T]:
        return (yield from self._coroutine().__await__())

    def _coroutine(self) -> Coroutine[Any, Any, T]:
        if self._begun is None:
            assert self._begin is not None
            # A task that is over keeps this object, and must not keep what the function holds.
            begin, self._begin = self._begin, None
            self._begun = _awaited(begin)
        return self._begun


async def _awaited(begin: Callable[[], Awaitable[T]]) -> T:
    return await begin()


#: When the request began that a task works for; calls of tasks that it starts have its turn, too.
BEGAN: ContextVar[float] = ContextVar("memoranda_request_began")


def begin_request() -> None:
    """Note that a request begins now."""
    BEGAN.set(monotonic())


class TookTooLong(Exception):
    """A call did not return within its time limit."""


class Pauses:
    """The pauses of long work, in which the other tasks of its event loop run."""

    def __init__(self, seconds: float = 0.01) -> None:
        self._seconds = seconds
        self._since = monotonic()

    async def pause(self) -> None:
        """Let the others run if it has gone on for so long since the last pause."""
        if monotonic() - self._since >= self._seconds:
            await asyncio.sleep(0)
            self._since = monotonic()


class TimeLimit:
    """A time limit for each of several calls. A call that reaches it is cancelled and not waited
    for.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: set[asyncio.Timeout] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what a call returns; raise ``TookTooLong`` if it takes too long."""
        # A task of its own: a call that ignores its cancellation must not keep the caller.
        task = quiet_task(call)
        self._loop = asyncio.get_running_loop()
        limit = asyncio.timeout(self.seconds)
        try:
            # An answer that comes at the first step, as from a cache, needs no clock.
            await asyncio.sleep(0)
            if task.done():
                return task.result()
            async with limit:
                self._running.add(limit)
                await asyncio.wait([task])
        except TimeoutError:
            raise TookTooLong(f"no answer within {self.seconds:g} s") from None
        finally:
            self._running.discard(limit)
            if not task.done() and not self._loop.is_closed():
                task.add_done_callback(_read_result)
                task.cancel()
        return task.result()

    def shorten(self, seconds: float) -> None:
        """Lower the limit to so many seconds from now, also for calls that are running."""
        self.seconds = min(self.seconds, seconds)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if loop is not self._loop:
            # The calls of another event loop cannot be reached from here.
            return
        until = loop.time() + self.seconds
        for limit in self._running:
            when = limit.when()
            if not limit.expired() and when is not None and when > until:
                limit.reschedule(until)


def _read_result(task: asyncio.Future[T]) -> None:
    """Read the error of a task that nobody waits for, so that it is not reported as overlooked."""
    if not task.cancelled():
        task.exception()
