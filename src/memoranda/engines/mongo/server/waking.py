"""Wakes the workers of an open book when any process commits a due job; workers also look by
themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pymongo.errors import PyMongoError

Wake = Callable[[], None]

#: Seconds between attempts to listen again.
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
#: Changes after which a job may be leased: it was added, put again, or given back.
_DUE: list[Any] = [
    {
        "$match": {
            "$or": [
                {"operationType": {"$in": ["insert", "replace"]}},
                {"updateDescription.updatedFields.generation": {"$exists": True}},
                {"updateDescription.updatedFields.state": "waiting"},
            ]
        }
    },
    {"$project": {"_id": 1}},
]

_log = logging.getLogger("memoranda.mongodb")


class JobWatcher:
    """Follows the changes of jobs as long as any worker wants it."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self._wakes: list[Wake] = []
        self._watching: asyncio.Task[None] | None = None

    def when_due(self, wake: Wake) -> Callable[[], None]:
        """Call ``wake`` in this event loop when jobs are due; returns a function that ends this."""
        self._wakes.append(wake)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

        def leave() -> None:
            if wake in self._wakes:
                self._wakes.remove(wake)
            if not self._wakes and self._watching is not None:
                self._watching.cancel()
                self._watching = None

        return leave

    async def close(self) -> None:
        """Stop watching."""
        self._wakes.clear()
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def _watch(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                async with await self._db.jobs.watch(_DUE) as changes:
                    pause = _FIRST_PAUSE_SECONDS
                    # A job may have become due before the stream began.
                    self._wake()
                    async for _ in changes:
                        self._wake()
            except PyMongoError as exc:
                _log.info(
                    "no notices from the server; workers look for jobs by themselves: %s",
                    type(exc).__name__,
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _wake(self) -> None:
        for wake in list(self._wakes):
            wake()
