"""Leases jobs; the job that makes vectors needs the book's exclusive lock, and must not block
writers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import LockNotAvailableError

from memoranda.engines.postgres.server.server import Server
from memoranda.errors import Busy
from memoranda.model.changes import Job
from memoranda.model.vectors import EMBED
from memoranda.storage.store import Store
from memoranda.storage.use_cases.jobs import find_due, lease_job


async def lease(
    store: Store,
    server: Server,
    kinds: Sequence[str],
    worker: str,
    at: datetime,
    seconds: float,
    tenant: str | None,
    only: UUID | None = None,
) -> Job | None:
    """Lease the longest due job; a job that cannot be leased now does not delay other jobs."""
    due = await store.read(lambda: find_due(kinds, at, tenant, only), whole=True)
    if due is None:
        return None
    others = [kind for kind in kinds if kind != EMBED]
    if due != EMBED:
        return await store.write(lambda: lease_job(others, worker, at, seconds, tenant, only))
    job = await _lease_alone(store, server, worker, at, seconds)
    if job is not None or not others:
        return job
    return await lease(store, server, others, worker, at, seconds, tenant, only)


async def _lease_alone(
    store: Store, server: Server, worker: str, at: datetime, seconds: float
) -> Job | None:
    """Lease the job that makes vectors; None also while another transaction writes for long.

    The exclusive lock waits for every write that stored a passage while the job waited; a later
    write puts the job again.
    """
    patience = server.patience
    if await server.read(lambda s: s.one("book_is_held", patience)) is not None:
        return None
    try:
        return await store.write(
            lambda: lease_job([EMBED], worker, at, seconds), alone=True, patience=patience
        )
    except Busy as exc:
        if isinstance(exc.__cause__, LockNotAvailableError):
            return None
        raise
