"""Wakes the workers of an open book when any process commits a job that is due; nothing rests on it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import asyncpg

from memoranda.engines.postgres.faults import LOST
from memoranda.engines.postgres.way import Way
from memoranda.errors import InvalidInput

Wake = Callable[[], None]

#: What comes within so many seconds is one waking.
_TOGETHER_SECONDS = 0.05
#: Between tries to listen again.
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
#: Whoever only listens does not notice that nobody speaks any more.
_ASKING_SECONDS = 30.0
#: As far as a server reads a channel's name.
_NAME_LENGTH = 63

_log = logging.getLogger("memoranda.postgres")


class Waking:
    """Listens, on a connection of its own, while there is anybody to be woken."""

    def __init__(self, way: Way, schema: str) -> None:
        self._way = way
        #: As ``put_job`` and ``replay_job`` name it.
        self.channel = f"memoranda_{schema}"[:_NAME_LENGTH]
        self._wakes: list[Wake] = []
        self._listening: asyncio.Task[None] | None = None
        #: Those that were told to end, and have a connection to end first.
        self._ending: set[asyncio.Task[None]] = set()
        self._pausing: asyncio.TimerHandle | None = None
        self._is_due = False

    def when_due(self, wake: Wake) -> Callable[[], None]:
        """Call ``wake`` in this event loop from now on; what is returned ends that."""
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
        """Listen no more."""
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
                connection = await self._way.connect()
                try:
                    await self._hear(connection)
                    pause = _FIRST_PAUSE_SECONDS
                    # Something may have come due while nobody listened.
                    self._notice()
                    await self._until_lost(connection)
                finally:
                    connection.terminate()
            except (asyncpg.PostgresError, InvalidInput, *LOST) as exc:
                # A file of certificates or passwords, too, may be missing only while it is replaced.
                _log.info("workers look for jobs by themselves until the server is heard again: %s", exc)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _hear(self, connection: Any) -> None:
        async with asyncio.timeout(self._way.silence):
            await connection.add_listener(self.channel, self._notice)

    async def _until_lost(self, connection: Any) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        while not connection.is_closed():
            try:
                await asyncio.wait_for(lost.wait(), _ASKING_SECONDS)
            except TimeoutError:
                await connection.execute("SELECT 1", timeout=self._way.silence)

    def _notice(self, *_: object) -> None:
        """Wake at once, and then once more for all that comes shortly after."""
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
