"""The pool of connections of one open book."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from memoranda.engines.postgres.server.connector import Connection, Connector
from memoranda.engines.postgres.server.faults import LOST
from memoranda.errors import Busy, StorageError

#: A connection that was idle for longer is closed.
_LONGEST_IDLE_SECONDS = 300.0
#: A connection is replaced after this time, because hosts change their addresses and a session's
#: cached plans grow.
_LONGEST_LIFE_SECONDS = 3600.0


class Pool:
    """At most ``most`` connections; a caller that waits longer than ``wait`` seconds for one gets
    ``Busy``.
    """

    def __init__(self, connector: Connector, most: int, wait: float, place: str) -> None:
        self._connector = connector
        self._most = most
        self._wait = wait
        self._place = place
        self._turns = asyncio.Semaphore(most)
        #: Each with the time since when it is idle, longest first.
        self._idle: list[tuple[Connection, float]] = []
        self._born: dict[Connection, float] = {}
        self._closed = False

    async def take(self) -> Connection:
        """Return a connection for the caller's exclusive use until ``give_back``."""
        self._refuse_closed()
        try:
            async with asyncio.timeout(self._wait):
                await self._turns.acquire()
        except TimeoutError:
            raise Busy(
                f"{self._place}: all {self._most} connections of this book are in use: try again, "
                "or allow more in its address (connections=…)."
            ) from None
        try:
            return await self._found()
        except BaseException:
            self._turns.release()
            raise

    async def _found(self) -> Connection:
        self._refuse_closed()
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
            self._end(connection)
        connection = await self._connector.connect()
        self._born[connection] = asyncio.get_running_loop().time()
        return connection

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool; it is closed if it is too old or its state is
        unknown.
        """
        now = asyncio.get_running_loop().time()
        is_fit = (
            not self._closed and not connection.is_closed() and not connection.is_in_transaction()
        )
        if is_fit and now - self._born[connection] < _LONGEST_LIFE_SECONDS:
            self._idle.append((connection, now))
        else:
            self._end(connection)
        while self._idle and now - self._idle[0][1] > _LONGEST_IDLE_SECONDS:
            self._end(self._idle.pop(0)[0])
        self._turns.release()

    def close_idle(self) -> None:
        """Close all idle connections: an error that broke one has probably broken the others."""
        while self._idle:
            self._end(self._idle.pop()[0])

    async def close(self) -> None:
        """Wait a bounded time for open transactions, and close every connection."""
        self._closed = True
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait):
                while taken < self._most:
                    await self._turns.acquire()
                    taken += 1
        with suppress(TimeoutError, *LOST):
            async with asyncio.timeout(self._wait):
                await asyncio.gather(*(connection.close() for connection, _ in self._idle))
        for connection in list(self._born):
            self._end(connection)
        for _ in range(taken):  # callers that still wait get the error of a closed book
            self._turns.release()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StorageError("the book is closed: open it again")

    def _end(self, connection: Connection) -> None:
        self._born.pop(connection, None)
        connection.terminate()
