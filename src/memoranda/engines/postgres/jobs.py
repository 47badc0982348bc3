"""Jobs in the PostgreSQL tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.engines.postgres.server.session import Row, Session
from memoranda.model.changes import Job, JobDraft, JobState, told
from memoranda.model.values import due_at, micros, moment, new_id
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage.rows import owner_of

#: Seconds that are longer than any wait; in microseconds they still fit into a column.
_LONGEST_WAIT = 1e12

#: Microseconds: a caller's clock that differs less from the server's is taken for a clock that is a little wrong.
_NEAR = 3_600_000_000


async def put(session: Session, owner_no: int, draft: JobDraft, at: datetime, id: UUID | None = None) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and records."""
    longest = None if draft.max_wait is None else int(min(draft.max_wait, _LONGEST_WAIT) * 1_000_000)
    await session.run(
        "put_job",
        id=(id or new_id()).bytes,
        owner=owner_no,
        kind=draft.kind,
        key=draft.key,
        payload=json.dumps(draft.payload, ensure_ascii=False),
        records=[id.bytes for id in draft.records],
        at=micros(at),
        run_at=micros(due_at(at, draft.delay)),
        max_wait=longest,
        insists=draft.insists,
    )


async def make_embedding_due(session: Session, at: datetime) -> None:
    """Add a job that computes vectors for new passages to each set of vectors that has no such job waiting."""
    for row in await session.all("sets_not_due", EMBED):
        await put(session, 0, embed_job(row[0]), at)


async def due_kind(session: Session, kinds: Sequence[str], at: datetime) -> str | None:
    """Return the kind of the longest due job, or None; a read, so that an idle worker writes nothing."""
    kind: str | None = await session.value("due_job", kinds=list(kinds), now=await _lease_clock(session, at))
    return kind


async def lease(
    session: Session, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Lease the longest due job to a worker, skipping jobs that another worker is leasing at this moment."""
    now = await _lease_clock(session, at)
    left, taken = list(kinds), list[int]()
    while (kind := await session.value("due_job", kinds=left, now=now)) is not None:
        due = await session.one("take_due_job", kind=kind, now=now, taken=taken)
        if due is None:
            left.remove(kind)
            continue
        id, owner = due
        if owner and not await _lock_owner(session, id, owner, now):
            taken.append(owner)
            continue
        await session.run("lease_job", worker, _lease_end(now, seconds), id)
        row = await session.one("one_job", id)
        assert row is not None
        kept = await session.value("kept_with_job", id)
        return job_of(row) if kept is None else replace(job_of(row), kept=json.loads(kept))
    return None


async def _lease_clock(session: Session, at: datetime) -> int:
    """Return the time by which leases are counted: the server's, since the clocks of workers differ."""
    now: int = await session.value("lease_clock", at=micros(at), near=_NEAR)
    return now


def _lease_end(now: int, seconds: float) -> int:
    return now + int(min(seconds, _LONGEST_WAIT) * 1_000_000)


async def _lock_owner(session: Session, id: bytes, owner: int, now: int) -> bool:
    """Try to lock an owner for a lease; False if another job of the owner is leased or being leased."""
    if not await session.value("lock_owner_for_lease", owner):
        return False
    # Checked again: another lease may have been committed since the job was chosen.
    return await session.one("owner_is_busy", owner, id, now) is None


async def renew(session: Session, job: Job, at: datetime, seconds: float) -> bool:
    """Extend a lease; False if it was lost."""
    until = _lease_end(await _lease_clock(session, at), seconds)
    return await session.run("renew_job", until, *_lease_of(job)) > 0


async def finish(session: Session, job: Job) -> bool:
    """Delete a finished job, or make it due again if it was put again while it ran; False if the lease was lost."""
    lease = _lease_of(job)
    if await session.run("finish_job", *lease):
        return True
    requeued = await session.run("requeue_job", *lease) > 0
    if requeued:
        await session.run("delete_kept", lease[0])
    return requeued


async def fail(session: Session, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
    """Return a failed job to the queue, or mark it dead if there is no time to retry; False if the lease was lost."""
    id, worker, attempts = _lease_of(job)
    failed = await session.run(
        "fail_job",
        state=(JobState.DEAD if retry_at is None else JobState.WAITING).value,
        run_at=micros(retry_at or at),
        error=told(error),
        id=id,
        worker=worker,
        attempts=attempts,
    )
    return failed > 0


async def postpone(session: Session, job: Job, at: datetime, reason: str) -> bool:
    """Return a job to the queue until a given time, without counting an attempt."""
    id, worker, attempts = _lease_of(job)
    put_off = await session.run(
        "postpone_job", at=micros(at), reason=told(reason), id=id, worker=worker, attempts=attempts
    )
    return put_off > 0


async def keep(session: Session, job: Job, text: str, records: Sequence[UUID]) -> bool:
    """Store a model's answer with a leased job; False if the lease was lost or a record it quotes was erased."""
    about = list({id.bytes for id in records})
    if await session.value("how_many_are", about) < len(about):
        return False
    return await session.run("keep_with_job", about, text, *_lease_of(job)) > 0


async def delete_kept_about(session: Session, doomed: Collection[bytes]) -> list[bytes]:
    """Delete the answers stored with jobs that quote any of these records; returns the jobs' ids."""
    return [row[0] for row in await session.all("delete_kept_about", list(doomed))]


async def listed(session: Session, state: JobState | None, limit: int) -> list[Job]:
    """Return the jobs in a state, or all if it is None."""
    rows = await session.all("jobs_in_state", state=state.value if state else None, limit=limit)
    return [job_of(row) for row in rows]


async def replay(session: Session, id: UUID, at: datetime) -> bool:
    """Make a dead or postponed job due now."""
    return await session.run("replay_job", id=id.bytes, at=micros(at)) > 0


async def drop(session: Session, id: UUID) -> bool:
    """Delete a dead job."""
    return await session.run("drop_job", id.bytes) > 0


def job_of(row: Row) -> Job:
    """Build a ``Job`` from a row."""
    (id, kind, key, tenant, owner_kind, owner_id, era, payload, records, state, run_at, first_at) = row[:12]
    attempts, generation, worker, leased_until, error, postponed = row[12:]
    return Job(
        UUID(bytes=id),
        kind,
        key,
        None if owner_id is None else owner_of(tenant, owner_kind, owner_id),
        None if era is None else UUID(bytes=era),
        json.loads(payload),
        tuple(UUID(bytes=record) for record in records),
        JobState(state),
        moment(run_at),
        moment(first_at),
        attempts,
        generation,
        worker,
        None if leased_until is None else moment(leased_until),
        error,
        postponed,
    )


def _lease_of(job: Job) -> tuple[bytes, str | None, int]:
    return (job.id.bytes, job.worker, job.attempts)
