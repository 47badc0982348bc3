"""Streams that stay open after their request: each ends with its client, with the service, and with its credential."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

from memoranda.errors import MemorandaError
from memoranda.service.answers import Refused

#: A stream whose credential has ended is ended after so many seconds at the latest, besides the time of one read.
CHECKED_SECONDS: Final = 5.0


class LongStreams:
    """The streams that are open: at most so many, and none that outlives its credential or the service."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End all streams, and refuse new ones."""
        self._stopping.set()

    async def serve(
        self, work: Callable[[], Awaitable[None]], is_allowed: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Answer with a stream; return True if it ended by itself, False if it was ended here."""
        if self._open >= self._most or self._stopping.is_set():
            raise Refused(
                503, "busy", "too many streams are open; open it in a moment", headers={"Retry-After": "1"}
            )
        limit = asyncio.timeout(None)
        watching = asyncio.create_task(self._end(limit, is_allowed))
        self._open += 1
        try:
            async with limit:
                await work()
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._open -= 1
            watching.cancel()
        return not limit.expired()

    async def _end(self, limit: asyncio.Timeout, is_allowed: Callable[[], Awaitable[bool]]) -> None:
        """Wait until the service stops or the credential has ended; then end the stream."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECKED_SECONDS):
                    await self._stopping.wait()
            try:
                if not await is_allowed():
                    break
            except MemorandaError:
                break  # nobody can tell whether it is allowed
        limit.reschedule(asyncio.get_running_loop().time())
