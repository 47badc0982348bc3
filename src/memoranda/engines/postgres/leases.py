"""Leases jobs; the job that makes vectors needs the book's exclusive lock, and must not block writers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from asyncpg import LockNotAvailableError

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.server.server import Server
from memoranda.errors import Busy
from memoranda.model.changes import Job
from memoranda.model.vectors import EMBED


async def lease(
    server: Server, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Lease the longest due job; a job that cannot be leased now does not delay other jobs."""
    due = await server.read(lambda s: jobs.due_kind(s, kinds, at), whole=True)
    if due is None:
        return None
    others = [kind for kind in kinds if kind != EMBED]
    if due != EMBED:
        return await server.write(lambda s: jobs.lease(s, others, worker, at, seconds))
    job = await _lease_alone(server, worker, at, seconds)
    return job if job is not None or not others else await lease(server, others, worker, at, seconds)


async def _lease_alone(server: Server, worker: str, at: datetime, seconds: float) -> Job | None:
    """Lease the job that makes vectors; None also while another transaction writes for long.

    The exclusive lock waits for every write that stored a passage while the job waited; a later write puts the job again.
    """
    if await server.read(lambda s: s.one("book_is_held", server.patience)) is not None:
        return None
    try:
        return await server.write(
            lambda s: jobs.lease(s, [EMBED], worker, at, seconds), alone=True, patience=server.patience
        )
    except Busy as exc:
        if isinstance(exc.__cause__, LockNotAvailableError):
            return None
        raise
