"""Large shelves of an open book: the times at which their indexes are updated, and recall's
searches.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.large import search, tables
from memoranda.engines.postgres.large.tables import Step
from memoranda.engines.postgres.reads import ShelfState
from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Session
from memoranda.errors import Busy, StorageError
from memoranda.model.changes import FOLLOW, JobDraft
from memoranda.model.records import Owner, View
from memoranda.model.values import utc_now
from memoranda.ports import CandidateQuery, ShelfStatistics, Surroundings

#: Seconds between two checks whether an index is behind, each of which reads all large shelves;
#: less after a read met one.
_CHECK_SECONDS = 300.0
_SOON_SECONDS = 10.0

#: Seconds to wait for a lock that readers hold.
_PATIENCE = 0.25

_log = logging.getLogger("memoranda.postgres")


class LargeShelves:
    """The index of large shelves of one open book."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: A shelf with at least so many passages is searched on the server, once it is indexed.
        self.threshold = tables.LARGE
        #: True if a read met an index that is behind; and when that was last checked, in the loop's
        #: time.
        self._check_soon, self._checked_at = False, -math.inf

    # ── what the engine calls ─────────────────────────────────────────────────────────────────────

    async def is_searched(self, session: Session, shelf: ShelfState) -> bool:
        """True if the server searches this shelf; False if it is small, or if its index is too far
        out of date.
        """
        if shelf.passages < self.threshold:
            return False
        waiting = await tables.count_waiting(session, shelf)
        self._check_soon |= waiting is None or waiting > tables.MOST_WAITING // 2
        return waiting is not None and waiting <= tables.MOST_WAITING

    async def after_vectors(self, changed: Sequence[ShelfState]) -> None:
        """Index the changed passages of large shelves; after a failure a worker's job does the
        rest.
        """
        indexed, is_late = tables.indexed_of(changed, self.threshold)
        try:
            for shelf in indexed:
                is_late |= await self._index(shelf.owner, shelf.shelf) is not Step.DONE
            if is_late:
                await self._server.write(_put_job)
        except StorageError as exc:
            # Nothing is lost: passages that are not indexed are candidates of every search.
            self._check_soon = True
            _log.warning("the index of large shelves is updated later: %s", exc)

    async def before_lease(self, kinds: Sequence[str]) -> None:
        """Add an indexing job if an index is out of date; checked from time to time when workers
        ask for such jobs.
        """
        if FOLLOW not in kinds:
            return
        now = asyncio.get_running_loop().time()
        if now < self._checked_at + (_SOON_SECONDS if self._check_soon else _CHECK_SECONDS):
            return
        self._check_soon, self._checked_at = False, now
        if await self.is_behind():
            await self._server.write(_put_job)

    async def put_job_if_behind(self, session: Session) -> None:
        """Add an indexing job in the same transaction, if an index is out of date."""
        if await tables.is_due(session, self.threshold):
            await _put_job(session)

    # ── what workers call ─────────────────────────────────────────────────────────────────────────

    async def is_behind(self) -> bool:
        return await self._server.read(lambda s: tables.is_due(s, self.threshold), whole=True)

    async def update(self) -> int:
        await self._drop_unused_tables()
        behind = await self._server.read(lambda s: tables.behind(s, self.threshold), whole=True)
        if behind:
            await self._server.write(tables.make_table)
        for owner, shelf in behind:
            await self._index(owner, shelf)
        index = await self._server.read(tables.missing_index, whole=True)
        if index is not None:
            await self._server.outside(*index.statements, turn=index.turn, unless=index.unless)
        return len(behind)

    async def _index(self, owner: int, shelf: int) -> Step:
        step = Step.MORE
        while step is Step.MORE:
            step = await self._server.write(
                lambda s: tables.index_some(s, owner, shelf, self.threshold), long=True
            )
        return step

    async def _drop_unused_tables(self) -> None:
        """Drop the tables of removed sets of vectors; one that a transaction still reads is dropped
        the next time.
        """
        for name in await self._server.read(tables.unused_tables, whole=True):
            try:
                await self._server.write(partial(_drop, name=name), patience=_PATIENCE)
            except Busy as exc:
                _log.info("table %s is dropped later: %s", name, exc)

    # ── what recall calls ─────────────────────────────────────────────────────────────────────────

    async def measure(
        self, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
    ) -> ShelfStatistics:
        return await self._server.read(lambda s: search.measure(s, owner, view, shelves, near))

    async def count_holders(
        self, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
    ) -> list[int]:
        return await self._server.read(
            lambda s: search.count_holders(s, owner, view, shelves, words)
        )

    async def count_within(
        self, owner: Owner, view: View, shelves: Sequence[int], stretches: Sequence[tuple[int, int]]
    ) -> int:
        return await self._server.read(
            lambda s: search.count_within(s, owner, view, shelves, stretches)
        )

    async def find_by_terms(
        self, query: CandidateQuery, words: Sequence[tuple[Sequence[int], int]]
    ) -> list[UUID]:
        return await self._server.read(lambda s: search.by_terms(s, query, words))

    async def find_by_vector(
        self, query: CandidateQuery, vectors: str, vector: NDArray[np.float32]
    ) -> list[UUID]:
        return await self._server.read(lambda s: search.by_vector(s, query, vectors, vector))

    async def find_newest(self, query: CandidateQuery) -> list[UUID]:
        return await self._server.read(lambda s: search.newest(s, query))

    async def surroundings(
        self, owner: Owner, view: View, ids: Sequence[UUID], reach: int
    ) -> Surroundings:
        return await self._server.read(lambda s: search.surroundings(s, owner, view, ids, reach))


async def _drop(session: Session, name: str) -> None:
    """Drop a table, or give up after a short wait: the drop must lock each partition of the vectors
    in turn.
    """
    await session.run_text(f"SET LOCAL statement_timeout = {round(2000 * _PATIENCE)}")
    await session.run_text(f"DROP TABLE IF EXISTS {name}")


async def _put_job(session: Session) -> None:
    """Add the job that updates the index, unless one waits; a running job will then run once
    more.
    """
    if not await session.value("is_put", FOLLOW, FOLLOW):
        await jobs.put(session, 0, JobDraft(kind=FOLLOW, key=FOLLOW), utc_now())
