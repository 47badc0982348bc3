"""Notifies the workers of an open book when any process commits a due job; workers also look by
themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import asyncpg

from memoranda.engines.postgres.server.connector import Connector
from memoranda.engines.postgres.server.faults import LOST
from memoranda.errors import InvalidInput

Wake = Callable[[], None]

#: Notices within so many seconds become one.
_TOGETHER_SECONDS = 0.05
#: Seconds between attempts to listen again.
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
#: Seconds between checks that the connection still works; a connection that only listens would not
#: notice its loss.
_ASKING_SECONDS = 30.0
#: Characters of a channel's name that a server uses.
_NAME_LENGTH = 63

_log = logging.getLogger("memoranda.postgres")


class JobListener:
    """Listens for notices of due jobs on its own connection, as long as any worker wants them."""

    def __init__(self, connector: Connector, schema: str) -> None:
        self._connector = connector
        #: The channel that the statements ``put_job`` and ``replay_job`` use.
        self.channel = f"memoranda_{schema}"[:_NAME_LENGTH]
        self._wakes: list[Wake] = []
        self._listening: asyncio.Task[None] | None = None
        #: Cancelled tasks that are still closing their connection.
        self._ending: set[asyncio.Task[None]] = set()
        self._pausing: asyncio.TimerHandle | None = None
        self._is_due = False

    def when_due(self, wake: Wake) -> Callable[[], None]:
        """Call ``wake`` in this event loop when jobs are due; returns a function that ends this."""
        self._wakes.append(wake)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

        def leave() -> None:
            if wake in self._wakes:
                self._wakes.remove(wake)
            if not self._wakes:
                self._stop()

        return leave

    async def close(self) -> None:
        """Stop listening."""
        self._wakes.clear()
        self._stop()
        if self._ending:
            await asyncio.wait(self._ending)

    def _stop(self) -> None:
        if self._pausing is not None:
            self._pausing.cancel()
            self._pausing = None
        if self._listening is not None:
            self._listening.cancel()
            self._ending.add(self._listening)
            self._listening.add_done_callback(self._ending.discard)
            self._listening = None

    async def _listen(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                connection = await self._connector.connect()
                try:
                    await self._subscribe(connection)
                    pause = _FIRST_PAUSE_SECONDS
                    # A job may have become due before the connection listened.
                    self._notice()
                    await self._until_lost(connection)
                finally:
                    connection.terminate()
            except (asyncpg.PostgresError, InvalidInput, *LOST) as exc:
                # A file of certificates or passwords may be missing only while it is replaced.
                _log.info(
                    "no notices from the server; workers look for jobs by themselves: %s", exc
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _subscribe(self, connection: Any) -> None:
        async with asyncio.timeout(self._connector.silence):
            await connection.add_listener(self.channel, self._notice)

    async def _until_lost(self, connection: Any) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        while not connection.is_closed():
            try:
                await asyncio.wait_for(lost.wait(), _ASKING_SECONDS)
            except TimeoutError:
                await connection.execute("SELECT 1", timeout=self._connector.silence)

    def _notice(self, *_: object) -> None:
        """Notify workers at once, and once more for all notices that come shortly after."""
        self._is_due = True
        if self._pausing is None:
            self._wake()

    def _wake(self) -> None:
        self._pausing = None
        if not self._is_due:
            return
        self._is_due = False
        self._pausing = asyncio.get_running_loop().call_later(_TOGETHER_SECONDS, self._wake)
        for wake in self._wakes:
            wake()
