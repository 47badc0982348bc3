"""Leases jobs: that of making vectors needs the book alone, and keeps nobody waiting who writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from asyncpg import LockNotAvailableError

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.server import Server
from memoranda.errors import Busy
from memoranda.model.jobs import Job
from memoranda.model.vectors import EMBED


async def lease(
    server: Server, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Lease the longest due job; one that cannot be leased now stands in no other's way."""
    due = await server.read(lambda s: jobs.due_kind(s, kinds, at), whole=True)
    if due is None:
        return None
    others = [kind for kind in kinds if kind != EMBED]
    if due != EMBED:
        return await server.write(lambda s: jobs.lease(s, others, worker, at, seconds))
    job = await _lease_alone(server, worker, at, seconds)
    return job if job is not None or not others else await lease(server, others, worker, at, seconds)


async def _lease_alone(server: Server, worker: str, at: datetime, seconds: float) -> Job | None:
    """Lease the making of vectors; None, too, while somebody writes for long.

    Whoever stored a passage beside the waiting job has committed by then; whoever comes later puts it anew.
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
