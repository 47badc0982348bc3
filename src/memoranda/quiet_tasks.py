"""Tasks that say nothing when their event loop is closed before they end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


def quiet_task(begin: Callable[[], Awaitable[T]]) -> asyncio.Task[T]:
    """Run what a function returns as a task; Python does not complain where its loop is closed before it ends."""
    task = asyncio.get_running_loop().create_task(_Late(begin))
    task._log_destroy_pending = False  # type: ignore[attr-defined] # as asyncio does with tasks of its own
    return task


class _Late(Coroutine[Any, Any, T]):
    """A coroutine that calls its function at the first step: Python reports a real coroutine that was never begun."""

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
