"""Jobs in the PostgreSQL tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.engines.postgres.server.session import Answers, Row, Session, Writes
from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import JobDraft
from memoranda.model.values import micros
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.job_rows import job_columns
from memoranda.storage.rows import owner_of

#: Microseconds: a caller's clock that differs less from the server's is taken for a clock that is a
#: little wrong.
_NEAR = 3_600_000_000


async def put(
    session: Session, owner_no: int, draft: JobDraft, at: datetime, id: UUID | None = None
) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and
    records.
    """
    records = [id.bytes for id in draft.records]
    await session.run("put_job", **job_columns(draft, at, id), owner=owner_no, records=records)


def piece_of(row: Row) -> JobPiece:
    """Return a job as it is stored, without its answer, from the columns that begin a row."""
    return JobPiece._make((*row[:4], tuple(row[4]), *row[5:16], None))


def _row(row: Row) -> u.JobRow:
    tenant, kind, id, era = row[16:20]
    owner = None if id is None else owner_of(tenant, kind, id)
    return u.JobRow(piece_of(row), owner, None if era is None else UUID(bytes=era))


async def _job_at(on: Session, question: u.JobAt) -> u.JobRow | None:
    row = await on.one("one_job", question.id.bytes)
    return None if row is None else _row(row)


async def _job_of(on: Session, question: u.JobOf) -> u.JobRow | None:
    tenant, owner_kind, owner = question.owner.parts
    row = await on.one(
        "job_of",
        tenant=tenant,
        owner_kind=owner_kind,
        owner=owner,
        kind=question.kind,
        key=question.key,
    )
    return None if row is None else _row(row)


async def _jobs_in(on: Session, question: u.JobsIn) -> list[u.JobRow]:
    tenant, owner_kind, owner = (
        (None, None, None) if question.owner is None else question.owner.parts
    )
    rows = await on.all(
        "jobs_in_state",
        state=question.state,
        limit=question.limit,
        tenant=tenant,
        owner_kind=owner_kind,
        owner=owner,
    )
    return [_row(row) for row in rows]


async def _now(on: Session, question: u.Now) -> int:
    """Return the server's time, since the clocks of workers differ."""
    now: int = await on.value("lease_clock", at=micros(question.at), near=_NEAR)
    return now


async def _due_kind(on: Session, question: u.DueKind) -> str | None:
    only = None if question.only is None else question.only.bytes
    kind: str | None = await on.value(
        "due_job", kinds=list(question.kinds), now=question.now, tenant=question.tenant, only=only
    )
    return kind


async def _due_job(on: Session, question: u.DueJob) -> u.JobRow | None:
    """Return the longest due job, skipping those that another worker is leasing at this moment."""
    kinds, taken, now, tenant = list(question.kinds), list[int](), question.now, question.tenant
    only = None if question.only is None else question.only.bytes
    while (
        kind := await on.value("due_job", kinds=kinds, now=now, tenant=tenant, only=only)
    ) is not None:
        due = await on.one(
            "take_due_job", kind=kind, now=now, taken=taken, tenant=tenant, only=only
        )
        if due is None:
            kinds.remove(kind)
            continue
        id, owner = due
        if owner and not await _lock_owner(on, id, owner, now):
            taken.append(owner)
            continue
        row = await on.one("one_job", id)
        assert row is not None
        found, kept = _row(row), await on.value("kept_with_job", id)
        return (
            found if kept is None else replace(found, piece=found.piece._replace(kept=((), kept)))
        )
    return None


async def _lock_owner(session: Session, id: bytes, owner: int, now: int) -> bool:
    """Try to lock an owner for a lease; False if another job of the owner is leased or being
    leased.
    """
    if not await session.value("lock_owner_for_lease", owner):
        return False
    # Checked again: another lease may have been committed since the job was chosen.
    return await session.one("owner_is_busy", owner, id, now) is None


async def _about(on: Session, question: u.JobsAbout) -> list[JobPiece]:
    rows = await on.all("jobs_about", [id.bytes for id in question.ids])
    return [
        piece_of(row)._replace(kept=None if row[16] is None else (tuple(row[16]), ""))
        for row in rows
    ]


async def _save(on: Session, write: w.SaveJob) -> None:
    await on.run("save_job", **write.row.piece._asdict(), wakes=write.wakes)


async def _drop(on: Session, write: w.DropJobs) -> None:
    await on.run("delete_jobs", list(write.ids))


async def _silence(on: Session, write: w.SilenceJobs) -> None:
    await on.run("silence_jobs", list(write.ids))


async def _keep(on: Session, write: w.KeepAnswer) -> None:
    await on.run("keep_with_job", write.job, list(write.about), write.text)


async def _forget(on: Session, write: w.ForgetKept) -> None:
    await on.run("delete_kept", list(write.ids))


ANSWERS: Answers = {
    u.JobAt: _job_at,
    u.JobOf: _job_of,
    u.JobsIn: _jobs_in,
    u.Now: _now,
    u.DueKind: _due_kind,
    u.DueJob: _due_job,
    u.JobsAbout: _about,
}
WRITES: Writes = {
    w.SaveJob: _save,
    w.DropJobs: _drop,
    w.SilenceJobs: _silence,
    w.KeepAnswer: _keep,
    w.ForgetKept: _forget,
}
