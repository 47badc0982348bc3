"""The PostgreSQL engine: one book on a server for many processes, with all protocols of
``ports``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
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
    service_rows,
    vector_sets,
)
from memoranda.engines.postgres.large.shelves import LargeShelves
from memoranda.engines.postgres.reads import ShelfState
from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Answers, Session, Writes, upkeep
from memoranda.errors import ReadOnly, StorageError
from memoranda.model.changes import Job
from memoranda.model.ledger import ErasureReceipt, Erasures, Scrubbed
from memoranda.model.query import BookFacts
from memoranda.model.server_facts import ServerFacts
from memoranda.ports import Engine
from memoranda.storage.store import Store
from memoranda.storage.use_case import Deciding, Write

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
    **erasure.ANSWERS,
    **jobs.ANSWERS,
    **vector_sets.ANSWERS,
    **service_rows.ANSWERS,
}
_WRITES: Writes = {
    **batches.WRITES,
    **costs.WRITES,
    **maintenance.WRITES,
    **erasure.WRITES,
    **jobs.WRITES,
    **pieces.WRITES,
    **service_rows.WRITES,
}


class PostgresEngine(Store):
    """A book in a schema of a PostgreSQL database."""

    name = "postgresql"
    takes_moments = False

    def __init__(self, server: Server) -> None:
        self._server = server
        self.large_shelves = LargeShelves(server)
        self._answers = _ANSWERS | reads.answers(self.large_shelves.is_searched)
        put_job = self.large_shelves.put_job_if_behind
        self._writes = _WRITES | vector_sets.writes(put_job) | pieces.writes(put_job)

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

    async def read(
        self, make: Callable[[], Deciding[A]], *, whole: bool = False, long: bool = False, **_: Any
    ) -> A:
        return await self._server.read(lambda s: self.run(s, make()), whole=whole, long=long)

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
        changed: list[ShelfState] = []

        async def work(on: Session) -> A:
            found = await self.run(on, make())
            changed[:] = on.changed_shelves
            return found

        found = await self._server.write(
            work, alone=alone, long=long, repeatable=repeatable, guarded=guarded, patience=patience
        )
        if changed:
            await self.large_shelves.after_vectors(changed)
        return found

    async def run(self, on: Session, deciding: Deciding[A]) -> A:
        """Run a use case to its end: answer each question, then carry out its writes in order;
        returns its result.
        """
        writes: list[Write] = []
        try:
            step = next(deciding)
            while True:
                if isinstance(step, Write):
                    writes.append(step)
                    step = next(deciding)
                else:
                    step = deciding.send(await self._answers[type(step)](on, step))
        except StopIteration as done:
            found: A = done.value
        for write in writes:
            await self._writes[type(write)](on, write)
        return found

    async def at_one_moment(self, work: Callable[[Engine], Awaitable[A]]) -> A:
        return await self._server.read(lambda on: work(_Moment(self, on)), whole=True, long=True)

    # ── jobs ──────────────────────────────────────────────────────────────────────────────────────

    async def lease(
        self,
        kinds: Sequence[str],
        worker: str,
        at: datetime,
        seconds: float,
        tenant: str | None = None,
        only: UUID | None = None,
    ) -> Job | None:
        await self.large_shelves.before_lease(kinds)
        return await leases.lease(self, self._server, kinds, worker, at, seconds, tenant, only)

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        return self._server.listener.when_due(wake)

    # ── erasure ───────────────────────────────────────────────────────────────────────────────────

    def upkeep_of(self, erasures: Erasures, at: datetime) -> list[Write]:
        return [scrub.mark_erasure()]

    async def finish_erasure(self, receipt: ErasureReceipt, *, changed: bool) -> ErasureReceipt:
        try:
            pending = scrub.PENDING if changed or await scrub.is_needed(self._server) else ""
        except StorageError as exc:
            # The erasure itself is committed.
            pending = f"{scrub.PENDING}; the server did not say more: {exc}"
        state = "pending" if pending else "complete"
        return replace(receipt, state=state, pending_because=pending, unchecked=UNSEEN)

    async def scrub(self) -> Scrubbed:
        return await scrub.scrub(self._server)

    # ── keeping ───────────────────────────────────────────────────────────────────────────────────

    async def facts(self, tenant: str | None = None) -> BookFacts:
        ((size,),) = await self._server.read(
            lambda s: s.text(upkeep()["bytes"]), whole=True, long=True
        )
        counts = asdict(await self.counts(tenant))
        return BookFacts(
            engine=self.name,
            address=self._server.place,
            format=self._server.version,
            bytes=size,
            details={"vectors": counts.pop("vectors")},
            **counts,
        )

    async def examine(self) -> ServerFacts:
        """Return the server's version, settings and present connections."""
        return await self._server.read(maintenance.examine, whole=True)


class _Moment(Store):
    """The book as one transaction sees it: it is read, and never written."""

    name = PostgresEngine.name

    def __init__(self, engine: PostgresEngine, on: Session) -> None:
        self._engine = engine
        self._on = on

    @property
    def address(self) -> str:
        return self._engine.address

    async def close(self) -> None:
        """Do nothing: the transaction ends with its call."""

    async def read(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        return await self._engine.run(self._on, make())

    async def write(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        raise ReadOnly(f"{self.address} is read as it was at one moment: write to the book itself")

    async def scrub(self) -> Scrubbed:
        raise ReadOnly(f"{self.address} is read as it was at one moment: scrub the book itself")

    async def facts(self, tenant: str | None = None) -> BookFacts:
        return await self._engine.facts(tenant)
