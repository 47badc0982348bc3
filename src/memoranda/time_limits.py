"""A time limit for calls of an application's own code, which may never return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from memoranda.quiet_tasks import quiet_task

T = TypeVar("T")


class TookTooLong(Exception):
    """A call did not return within its time limit."""


class TimeLimit:
    """A time limit for each of several calls. A call that reaches it is cancelled and not waited for."""

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
