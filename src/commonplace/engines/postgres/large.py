"""The PostgreSQL engine's walls in front of large shelves: they are followed, measured and searched on the server."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from commonplace.engines.postgres import following, jobs, searching
from commonplace.engines.postgres.rows import Touched
from commonplace.engines.postgres.server import Server
from commonplace.engines.postgres.session import Session
from commonplace.model.jobs import FOLLOW, JobDraft
from commonplace.model.owner import Owner, View
from commonplace.model.passages import Excerpt, Look, Measured
from commonplace.model.values import utc_now


class SearchesLargeShelves:
    """What an engine on a server does for shelves that are too large to be held in a process."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: Passages of a shelf from which on it is searched on the server, once it has been followed.
        self.large_shelf = following.LARGE

    async def shelves_behind(self) -> bool:
        """Whether a large shelf is not followed up to its mark."""
        return bool(await self._server.read(lambda s: following.behind(s, self.large_shelf), whole=True))

    async def follow(self, touched: Sequence[Touched]) -> None:
        """Bring shelves forward that changed; of those that have become large, workers are told."""
        followed, is_new = following.follows(touched, self.large_shelf)
        for shelf in followed:
            await self._follow(shelf.owner, shelf.shelf)
        if is_new:
            draft = JobDraft(kind=FOLLOW, key=FOLLOW)
            await self._server.write(lambda s: jobs.put(s, 0, draft, utc_now()))

    async def _follow(self, owner: int, shelf: int) -> None:
        async def step(session: Session) -> bool:
            return await following.follow(session, owner, shelf, self.large_shelf)

        while await self._server.write(step):
            pass

    async def follow_shelves(self) -> int:
        """Make large shelves ready to be searched, or bring what searches them forward; returns how many there were."""
        behind = await self._server.read(lambda s: following.behind(s, self.large_shelf), whole=True)
        for owner, shelf in behind:
            await self._follow(owner, shelf)
        return len(behind)

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
