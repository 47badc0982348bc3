"""The PostgreSQL engine: one book on a server for many processes, with all protocols of ``ports``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.postgres import (
    batches,
    costs,
    erasure,
    jobs,
    leases,
    maintenance,
    pieces,
    reads,
    scrub,
    vector_sets,
)
from memoranda.engines.postgres.large.shelves import LargeShelves
from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Answers, Session, Writes, upkeep
from memoranda.model.book_facts import BookFacts, ServerFacts
from memoranda.model.changes import Job
from memoranda.model.ledger import Entry, ErasureReceipt, Scrubbed, Target
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, HistoryStep, Page
from memoranda.model.records import Owner, Record, View
from memoranda.model.vectors import Embedding, VectorSet
from memoranda.ports import Scan
from memoranda.storage.copies import end_arrival
from memoranda.storage.questions import Deciding, Write
from memoranda.storage.rows import owner_of, record_of
from memoranda.storage.store import Store

#: Places that may still contain erased content, and that no book can see.
UNSEEN = (
    "exports and copies that others made of this book",
    "the server's log of changes (pg_wal), archives of it, replicas and backups",
    "the server's log of messages, where it is set to write parameters down",
    "snapshots and freed blocks of the server's disk",
)


A = TypeVar("A")

_ANSWERS: Answers = {
    **batches.ANSWERS,
    **pieces.ANSWERS,
    **costs.ANSWERS,
    **maintenance.ANSWERS,
    **jobs.ANSWERS,
}
_WRITES: Writes = {
    **batches.WRITES,
    **costs.WRITES,
    **maintenance.WRITES,
    **jobs.WRITES,
    **pieces.WRITES,
}


async def _run(on: Session, deciding: Deciding[A]) -> A:
    """Run a use case to its end: answer each question, then carry out its writes in order; returns its result."""
    writes: list[Write] = []
    try:
        step = next(deciding)
        while True:
            if isinstance(step, Write):
                writes.append(step)
                step = next(deciding)
            else:
                step = deciding.send(await _ANSWERS[type(step)](on, step))
    except StopIteration as done:
        found: A = done.value
    for write in writes:
        await _WRITES[type(write)](on, write)
    return found


class PostgresEngine(Store):
    """A book in a schema of a PostgreSQL database."""

    name = "postgresql"

    def __init__(self, server: Server) -> None:
        self._server = server
        self.large_shelves = LargeShelves(server)

    @classmethod
    async def open(cls, url: str, **options: Any) -> PostgresEngine:
        """Open a book, or make one; ``options`` are those of ``Server.open``."""
        server = await Server.open(url, **options)
        try:
            if not options.get("read_only"):
                await server.write(lambda s: s.run("make_secret", os.urandom(32)), guarded=False)
        except BaseException:
            await server.close()
            raise
        return cls(server)

    @property
    def address(self) -> str:
        return self._server.place

    @property
    def server(self) -> Server:
        """Return the open server."""
        return self._server

    async def close(self) -> None:
        await self._server.close()

    async def read(self, make: Callable[[], Deciding[A]], *, whole: bool = False, long: bool = False) -> A:
        return await self._server.read(lambda s: _run(s, make()), whole=whole, long=long)

    async def write(
        self,
        make: Callable[[], Deciding[A]],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> A:
        return await self._server.write(
            lambda s: _run(s, make()),
            alone=alone,
            long=long,
            repeatable=repeatable,
            guarded=guarded,
            patience=patience,
        )

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        return await self._server.read(lambda s: reads.get(s, owner, view, ids))

    async def scan(self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
        asked = Scan(owner, view, filter, cursor, limit)
        return await self._server.read(lambda s: reads.scan(s, asked))

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        return await self._server.read(lambda s: reads.scans(s, asked))

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        return await self._server.read(lambda s: reads.count(s, owner, view, filter))

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        return await self._server.read(lambda s: reads.history(s, owner, view, id))

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        return await self._server.read(lambda s: reads.entries(s, owner, after, limit))

    # ── passages and aids ────────────────────────────────────────────────────────────────────────────────────────

    async def since(
        self, owner: Owner, view: View, cached: Callable[[int], int | None]
    ) -> list[tuple[Shelf, ShelfDelta]]:
        return await self._server.read(
            lambda s: reads.since(s, owner, view, cached, self.large_shelves.is_searched)
        )

    async def look(
        self, owner: Owner, view: View, cached: Callable[[int], int | None], choose: Choose
    ) -> Sight:
        return await self._server.read(
            lambda s: reads.look(s, owner, view, cached, choose, self.large_shelves.is_searched)
        )

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        return await self._server.write(lambda s: vector_sets.note_use(s, owner, view, uses))

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        return await self._server.read(lambda s: reads.uses(s, owner, view, ids))

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        return await self._server.read(lambda s: reads.most_used(s, owner, view, filter, limit))

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        rows = await self._server.read(lambda s: s.all("stale_terms", rule, limit), whole=True, long=True)
        return [record_of(row) for row in rows]

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes]) -> int:
        return await self._server.write(lambda s: vector_sets.put_terms(s, rule, terms))

    async def vector_sets(self) -> list[VectorSet]:
        return await self._server.read(vector_sets.listed)

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        if (found := await self._server.read(lambda s: vector_sets.find(s, embedding))) is not None:
            return found
        # With the exclusive lock: passages stored at this moment would not be listed as missing in the new set.
        return await self._server.write(lambda s: vector_sets.begin(s, embedding), alone=True)

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        return await self._server.read(
            lambda s: vector_sets.lacking(s, embedding, limit), whole=True, long=True
        )

    async def put_vectors(self, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
        there, touched = await self._server.write(lambda s: vector_sets.put(s, embedding, vectors))
        await self.large_shelves.after_vectors(touched)
        return there

    async def switch_set(self, embedding: Embedding) -> bool:
        async def work(session: Session) -> bool:
            is_switched = await vector_sets.switch(session, embedding)
            await self.large_shelves.put_job_if_behind(session)
            return is_switched

        return await self._server.write(work, alone=True)

    async def drop_set(self, embedding: Embedding) -> bool:
        return await self._server.write(lambda s: vector_sets.drop(s, embedding), alone=True)

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def lease(self, kinds: Sequence[str], worker: str, at: datetime, seconds: float) -> Job | None:
        await self.large_shelves.before_lease(kinds)
        return await leases.lease(self, self._server, kinds, worker, at, seconds)

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        return self._server.listener.when_due(wake)

    # ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        erased = await self._server.write(lambda s: erasure.erase(s, target, at), alone=True)
        owner_of.cache_clear()
        pending = scrub.PENDING if erased.removed or target.everything else ""
        return ErasureReceipt(
            owner=target.owner,
            at=at,
            removed=dict(erased.removed),
            kept=erased.kept,
            state="pending" if pending else "complete",
            pending_because=pending,
            still_in=(),
            unchecked=UNSEEN,
            not_found=erased.unknown,
            ids=erased.ids,
            era=erased.era,
            superseded=erased.superseded,
        )

    async def scrub(self) -> Scrubbed:
        return await scrub.scrub(self._server)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def rebuild(self, progress: Callable[[int, int], None] | None = None) -> Mapping[str, int]:
        done = await super().rebuild(progress)
        await self._server.write(self.large_shelves.put_job_if_behind)
        return done

    async def facts(self) -> BookFacts:
        ((size,),) = await self._server.read(lambda s: s.text(upkeep()["bytes"]), whole=True, long=True)
        counts = asdict(await self.counts())
        return BookFacts(
            engine=self.name, address=self._server.place, format=self._server.version, bytes=size, **counts
        )

    async def examine(self) -> ServerFacts:
        """Return the server's version, settings and present connections."""
        return await self._server.read(maintenance.examine, whole=True)

    # ── copies ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def end_arrival(self, copy: str) -> None:
        async def work(session: Session) -> None:
            await _run(session, end_arrival(copy))
            await self.large_shelves.put_job_if_behind(session)

        await self._server.write(work, alone=True, guarded=False)
