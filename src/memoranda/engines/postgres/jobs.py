"""Jobs in the PostgreSQL tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.engines.postgres.session import Row, Session
from memoranda.model.ids import new_id
from memoranda.model.jobs import Job, JobDraft, JobState, due_at, told
from memoranda.model.values import micros, moment
from memoranda.model.vectors import EMBED, embed_job
from memoranda.settle.rows import owner_of

#: Seconds that reach beyond the last moment from any; their microseconds fit into a column.
_LONGEST_WAIT = 1e12

#: A caller's clock that is no further from the server's, in microseconds, is meant to be the time, and only goes wrong.
_NEAR = 3_600_000_000


async def put(session: Session, owner_no: int, draft: JobDraft, at: datetime) -> None:
    """Put a job, or put the waiting one off."""
    longest = None if draft.max_wait is None else int(min(draft.max_wait, _LONGEST_WAIT) * 1_000_000)
    await session.run(
        "put_job",
        id=new_id().bytes,
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
    """New passages came: whoever can makes their vectors. A job that waits already will meet them."""
    for row in await session.all("sets_not_due", EMBED):
        await put(session, 0, embed_job(row[0]), at)


async def due_kind(session: Session, kinds: Sequence[str], at: datetime) -> str | None:
    """What sort of job is to be leased, if any; asked first, so that an idle worker writes nothing."""
    kind: str | None = await session.value("due_job", kinds=list(kinds), now=await _judged(session, at))
    return kind


async def lease(
    session: Session, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Take the longest due job for one worker; what another is taking at this moment is passed over."""
    now = await _judged(session, at)
    left, taken = list(kinds), list[int]()
    while (kind := await session.value("due_job", kinds=left, now=now)) is not None:
        due = await session.one("take_due_job", kind=kind, now=now, taken=taken)
        if due is None:
            left.remove(kind)
            continue
        id, owner = due
        if owner and not await _has_turn(session, id, owner, now):
            taken.append(owner)
            continue
        await session.run("lease_job", worker, _lasting(now, seconds), id)
        row = await session.one("one_job", id)
        assert row is not None
        kept = await session.value("kept_with_job", id)
        return job_of(row) if kept is None else replace(job_of(row), kept=json.loads(kept))
    return None


async def _judged(session: Session, at: datetime) -> int:
    """When it is, for leases: workers on several machines have several clocks, and the server has one."""
    now: int = await session.value("judged_moment", at=micros(at), near=_NEAR)
    return now


def _lasting(now: int, seconds: float) -> int:
    return now + int(min(seconds, _LONGEST_WAIT) * 1_000_000)


async def _has_turn(session: Session, id: bytes, owner: int, now: int) -> bool:
    """Whether nobody is leasing, or has leased, another job of the owner's."""
    if not await session.value("take_turn_of_owner", owner):
        return False
    # Asked again: another's lease may have become visible since the job was chosen.
    return await session.one("owner_is_busy", owner, id, now) is None


async def renew(session: Session, job: Job, at: datetime, seconds: float) -> bool:
    """Prolong a lease."""
    until = _lasting(await _judged(session, at), seconds)
    return await session.run("renew_job", until, *_lease_of(job)) > 0


async def finish(session: Session, job: Job) -> bool:
    """Take a done job away, or make it due again if it was put anew meanwhile."""
    lease = _lease_of(job)
    if await session.run("finish_job", *lease):
        return True
    requeued = await session.run("requeue_job", *lease) > 0
    if requeued:
        await session.run("delete_kept", lease[0])
    return requeued


async def fail(session: Session, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
    """Give a job back, or up."""
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
    """Give a job back that cannot be done before a moment."""
    id, worker, attempts = _lease_of(job)
    put_off = await session.run(
        "postpone_job", at=micros(at), reason=told(reason), id=id, worker=worker, attempts=attempts
    )
    return put_off > 0


async def keep(session: Session, job: Job, text: str, records: Sequence[UUID]) -> bool:
    """Keep a text with a leased job while all that it tells of is there."""
    about = list({id.bytes for id in records})
    if await session.value("how_many_are", about) < len(about):
        return False
    return await session.run("keep_with_job", about, text, *_lease_of(job)) > 0


async def let_go_of_kept(session: Session, doomed: Collection[bytes]) -> list[bytes]:
    """Take away what is kept about records; returns the jobs that it was kept with."""
    return [row[0] for row in await session.all("delete_kept_about", list(doomed))]


async def listed(session: Session, state: JobState | None, limit: int) -> list[Job]:
    """Jobs in a state, or all."""
    rows = await session.all("jobs_in_state", state=state.value if state else None, limit=limit)
    return [job_of(row) for row in rows]


async def replay(session: Session, id: UUID, at: datetime) -> bool:
    """Make a job due that is dead, or waits for later."""
    return await session.run("replay_job", id=id.bytes, at=micros(at)) > 0


async def drop(session: Session, id: UUID) -> bool:
    """Throw a dead job away."""
    return await session.run("drop_job", id.bytes) > 0


def job_of(row: Row) -> Job:
    """A job of a row."""
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
