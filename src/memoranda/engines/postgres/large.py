"""The PostgreSQL engine's walls in front of large shelves: they are followed, measured and searched on the server."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.engines.postgres import following, jobs, searching
from memoranda.engines.postgres.following import Step
from memoranda.engines.postgres.rows import Touched
from memoranda.engines.postgres.server import Server, T, Work
from memoranda.engines.postgres.session import Session
from memoranda.errors import Busy, StorageError
from memoranda.model.jobs import FOLLOW, JobDraft
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Excerpt, Look, Measured
from memoranda.model.values import utc_now

#: How often it is looked whether a large shelf is behind: it costs a walk over all shelves.
_LOOK_SECONDS = 300.0
_SOON_SECONDS = 10.0

#: Seconds for which upkeep waits for a lock that readers hold.
_PATIENCE = 0.25

_log = logging.getLogger("memoranda.postgres")


class SearchesLargeShelves:
    """What an engine on a server does for shelves that are too large to be held in a process."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: Passages of a shelf from which on it is searched on the server, once it has been followed.
        self.large_shelf = following.LARGE
        #: Whether something met a shelf that is behind, and when it was last looked for one, in the loop's time.
        self._is_to_look, self._looked_at = False, -math.inf

    async def shelves_behind(self) -> bool:
        """Whether there is something to do for those who follow large shelves."""
        return await self._server.read(lambda s: following.is_due(s, self.large_shelf), whole=True)

    async def follow(self, touched: Sequence[Touched]) -> None:
        """Bring shelves forward that changed; what cannot be done at once, or at all, is left to workers."""
        followed, is_late = following.follows(touched, self.large_shelf)
        try:
            for shelf in followed:
                is_late |= await self._follow(shelf.owner, shelf.shelf) is not Step.DONE
            if is_late:
                await self._server.write(_tell)
        except StorageError as exc:
            # What was to be followed is kept, and is a candidate meanwhile.
            self._is_to_look = True
            _log.warning("large shelves are followed later: %s", exc)

    async def _follow(self, owner: int, shelf: int) -> Step:
        step = Step.MORE
        while step is Step.MORE:
            step = await self._server.write(
                lambda s: following.follow(s, owner, shelf, self.large_shelf), long=True
            )
        return step

    async def follow_shelves(self) -> int:
        """Make large shelves ready to be searched, or bring what searches them forward; returns how many there were."""
        await self._sweep()
        behind = await self._server.read(lambda s: following.behind(s, self.large_shelf), whole=True)
        if behind:
            await self._server.write(following.make_ready)
        for owner, shelf in behind:
            await self._follow(owner, shelf)
        index = await self._server.read(following.lacking_index, whole=True)
        if index is not None:
            await self._server.outside(*index.statements, turn=index.turn, unless=index.unless)
        return len(behind)

    async def _sweep(self) -> None:
        """Drop the tables of sets that are gone; those that somebody reads go the next time."""
        for name in await self._server.read(following.of_no_set, whole=True):
            try:
                await self._server.write(partial(_drop, name=name), patience=_PATIENCE)
            except Busy as exc:
                _log.info("table %s is dropped later: %s", name, exc)

    async def is_searched(self, session: Session, shelf: Touched) -> bool:
        """Whether a shelf is searched on the server as it stands; one that is far behind is met, and told of later."""
        if shelf.passages < self.large_shelf:
            return False
        waiting = await following.waiting(session, shelf)
        self._is_to_look |= waiting is None or waiting > following.MOST_WAITING // 2
        return waiting is not None and waiting <= following.MOST_WAITING

    async def _change_all(self, work: Work[T]) -> T:
        """Change the whole book, alone; where that left large shelves behind, workers are told."""

        async def told(session: Session) -> T:
            done = await work(session)
            await tell_if_behind(session, self.large_shelf)
            return done

        return await self._server.write(told, alone=True)

    async def look_after_shelves(self) -> None:
        """Now and then, and sooner where something met a shelf that is behind, tell workers of it."""
        now = asyncio.get_running_loop().time()
        if now < self._looked_at + (_SOON_SECONDS if self._is_to_look else _LOOK_SECONDS):
            return
        self._is_to_look, self._looked_at = False, now
        if await self.shelves_behind():
            await self._server.write(_tell)

    async def measure(
        self, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
    ) -> Measured:
        return await self._server.read(lambda s: searching.measure(s, owner, view, shelves, near))

    async def holders(
        self, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
    ) -> list[int]:
        return await self._server.read(lambda s: searching.holders(s, owner, view, shelves, words))

    async def said_within(
        self, owner: Owner, view: View, shelves: Sequence[int], stretches: Sequence[tuple[int, int]]
    ) -> int:
        return await self._server.read(lambda s: searching.said_within(s, owner, view, shelves, stretches))

    async def by_terms(self, look: Look, words: Sequence[tuple[Sequence[int], int]]) -> list[UUID]:
        return await self._server.read(lambda s: searching.by_terms(s, look, words))

    async def by_vector(self, look: Look, vectors: str, vector: NDArray[np.float32]) -> list[UUID]:
        return await self._server.read(lambda s: searching.by_vector(s, look, vectors, vector))

    async def newest(self, look: Look) -> list[UUID]:
        return await self._server.read(lambda s: searching.newest(s, look))

    async def around(self, owner: Owner, view: View, ids: Sequence[UUID], reach: int) -> Excerpt:
        return await self._server.read(lambda s: searching.around(s, owner, view, ids, reach))


async def _drop(session: Session, name: str) -> None:
    """Drop a table, or leave it: it locks every part of the vectors, one after the other, and is patient for each."""
    await session.run_text(f"SET LOCAL statement_timeout = {round(2000 * _PATIENCE)}")
    await session.run_text(f"DROP TABLE IF EXISTS {name}")


async def tell_if_behind(session: Session, least: int) -> None:
    """Tell workers where there is something to do for those who follow large shelves."""
    if await following.is_due(session, least):
        await _tell(session)


async def _tell(session: Session) -> None:
    """Tell workers that large shelves are to be followed; whoever does it at this moment does it once more."""
    if not await session.value("is_put", FOLLOW, FOLLOW):
        await jobs.put(session, 0, JobDraft(kind=FOLLOW, key=FOLLOW), utc_now())
