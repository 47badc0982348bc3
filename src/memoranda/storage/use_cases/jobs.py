"""The life of a job: it is added, leased, renewed, and ends or returns to the queue; a model's
answer is stored with it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import Job, JobDraft, JobState, storable_reason
from memoranda.model.language_models import Spent
from memoranda.model.records import Owner
from memoranda.model.values import due_at, micros, moment
from memoranda.storage.upkeep_questions import (
    DueJob,
    DueKind,
    JobAt,
    JobOf,
    JobRow,
    JobsIn,
    Now,
    OwnersOfRecords,
)
from memoranda.storage.use_case import Deciding, ask
from memoranda.storage.use_cases.costs import note_spent
from memoranda.storage.writes import DropJobs, ForgetKept, KeepAnswer, PutJob, SaveJob

_WAITING, _LEASED, _DEAD = JobState.WAITING.value, JobState.LEASED.value, JobState.DEAD.value


def job_of(row: JobRow) -> Job:
    """Build a job from its row."""
    piece = row.piece
    return Job(
        UUID(bytes=piece.id),
        piece.kind,
        piece.key,
        row.owner,
        row.era,
        json.loads(piece.payload),
        tuple(UUID(bytes=id) for id in piece.records),
        JobState(piece.state),
        moment(piece.run_at),
        moment(piece.first_at),
        piece.attempts,
        piece.generation,
        piece.worker,
        None if piece.leased_until is None else moment(piece.leased_until),
        piece.error,
        piece.postponed,
        None if piece.kept is None else json.loads(piece.kept[1]),
    )


def put_job(draft: JobDraft, at: datetime) -> Deciding[None]:
    """Add a job of the book's own upkeep."""
    yield PutJob(None, draft, at)


def find_due(
    kinds: Sequence[str], at: datetime, tenant: str | None = None, only: UUID | None = None
) -> Deciding[str | None]:
    """Return the kind of the longest due job, or None; workers ask this first, so that an idle one
    writes nothing.
    """
    now = yield from ask(Now(at))
    return (yield from ask(DueKind(tuple(kinds), now, tenant, only)))


def lease_job(
    kinds: Sequence[str],
    worker: str,
    at: datetime,
    seconds: float,
    tenant: str | None = None,
    only: UUID | None = None,
) -> Deciding[Job | None]:
    """Lease the longest due job to one worker, or ``only`` one job if it is due."""
    now = yield from ask(Now(at))
    row = yield from ask(DueJob(tuple(kinds), now, tenant, only))
    if row is None:
        return None
    job = row.piece
    leased = job._replace(
        state=_LEASED,
        worker=worker,
        leased_until=_after(now, seconds),
        attempts=job.attempts + 1,
        leased_generation=job.generation,
    )
    row = replace(row, piece=leased)
    yield SaveJob(row)
    return job_of(row)


def renew_job(job: Job, at: datetime, seconds: float) -> Deciding[bool]:
    """Extend a lease; False if it was lost."""
    row = yield from _leased(job)
    if row is None:
        return False
    now = yield from ask(Now(at))
    yield SaveJob(replace(row, piece=row.piece._replace(leased_until=_after(now, seconds))))
    return True


def finish_job(job: Job) -> Deciding[bool]:
    """Delete a finished job, or make it due again if it was added again during the lease."""
    row = yield from _leased(job)
    if row is None:
        return False
    if _is_put_again(row.piece):
        yield _back(row, row.piece._replace(attempts=0, postponed=0, error=""))
        yield ForgetKept([row.piece.id])
    else:
        yield DropJobs([row.piece.id])
    return True


def fail_job(job: Job, error: str, at: datetime, retry_at: datetime | None) -> Deciding[bool]:
    """Return a failed job for a later attempt, or mark it dead; if it was added again while leased,
    it waits as new.
    """
    row = yield from _leased(job)
    if row is None:
        return False
    piece, again = row.piece._replace(error=storable_reason(error)), _is_put_again(row.piece)
    if retry_at is not None:
        retry = micros(retry_at)
        yield _back(row, piece._replace(run_at=max(piece.run_at, retry) if again else retry))
    elif again:
        yield _back(row, piece._replace(attempts=0, postponed=0))
    else:
        yield _back(row, piece._replace(run_at=micros(at)), _DEAD)
    return True


def postpone_job(job: Job, at: datetime, reason: str) -> Deciding[bool]:
    """Return a leased job to the queue until a given time, without counting an attempt."""
    row = yield from _leased(job)
    if row is None:
        return False
    piece, until = row.piece, micros(at)
    yield _back(
        row,
        piece._replace(
            run_at=max(piece.run_at, until) if _is_put_again(piece) else until,
            not_before=until,
            postponed=piece.postponed + 1,
            error=storable_reason(reason),
        ),
    )
    return True


def keep_answer(
    job: Job, text: str | None, records: Sequence[UUID], spent: Spent | None
) -> Deciding[bool]:
    """Store a model's answer (if there is one) with its job, and add its cost in any case.

    False, and no answer is stored, if the lease was lost, or a record that the answer quotes was
    erased.
    """
    if spent is not None:
        yield from note_spent(spent, job)
    row = None if text is None else (yield from _leased(job))
    if text is None or row is None:
        return False
    about = set(records)
    if about - (yield from ask(OwnersOfRecords(tuple(about)))).keys():
        return False
    yield KeepAnswer(row.piece.id, tuple(sorted(id.bytes for id in about)), text)
    return True


def list_jobs(state: JobState | None, limit: int, owner: Owner | None) -> Deciding[list[Job]]:
    """Return the jobs in a state, or all jobs; of one owner or of all."""
    rows = yield from ask(JobsIn(None if state is None else state.value, limit, owner))
    return [job_of(row) for row in rows]


def find_job(owner: Owner, kind: str, key: str) -> Deciding[Job | None]:
    """Return the job of an owner with this kind and key, or None."""
    row = yield from ask(JobOf(owner, kind, key))
    return None if row is None else job_of(row)


def cancel_job(owner: Owner, kind: str, key: str) -> Deciding[bool]:
    """Delete a job that waits or is dead; False if there is none, or a worker does it now."""
    found = yield from ask(JobOf(owner, kind, key))
    # Read again: a worker may lease it at this moment, and the second question waits for that.
    row = None if found is None else (yield from ask(JobAt(UUID(bytes=found.piece.id))))
    if row is None or row.piece.state == _LEASED:
        return False
    yield DropJobs([row.piece.id])
    return True


def replay_job(id: UUID, at: datetime) -> Deciding[bool]:
    """Make a dead or postponed job due now."""
    row, now = (yield from ask(JobAt(id))), micros(at)
    if (
        row is None
        or row.piece.state == _LEASED
        or (row.piece.state == _WAITING and row.piece.run_at <= now)
    ):
        return False
    piece = _begun_anew(row.piece)._replace(state=_WAITING, run_at=now)
    yield SaveJob(replace(row, piece=piece), wakes=True)
    return True


def drop_job(id: UUID) -> Deciding[bool]:
    """Delete a dead job."""
    row = yield from ask(JobAt(id))
    if row is None or row.piece.state != _DEAD:
        return False
    yield DropJobs([row.piece.id])
    return True


def put_piece(before: JobPiece | None, draft: JobDraft, at: datetime, id: UUID) -> JobPiece:
    """Return a job as adding it leaves it; ``before`` is the job of that owner, kind and key, which
    may be there already.

    Engines with SQL say the same in one statement.
    """
    payload, records = json.dumps(draft.payload), tuple(id.bytes for id in draft.records)
    run_at = micros(due_at(at, draft.delay))
    if before is None:
        return JobPiece(
            id.bytes, draft.kind, draft.key, payload, records, _WAITING, run_at, micros(at), 0, 0, 0, 1, 0, None, None, "", None
        )  # fmt: skip
    job = _begun_anew(before) if draft.insists and before.state != _LEASED else before
    if job.state == _WAITING:
        if draft.max_wait is not None:
            run_at = min(run_at, _after(job.first_at, draft.max_wait))
    else:
        job = job._replace(first_at=micros(at))
    if draft.keeps_payload:
        payload = job.payload
    if job.state == _DEAD:
        job = job._replace(state=_WAITING, attempts=0, postponed=0)
    run_at = max(run_at, job.not_before)
    return job._replace(
        payload=payload, records=records, run_at=run_at, generation=job.generation + 1
    )


def _leased(job: Job) -> Deciding[JobRow | None]:
    """Return a job's row if this lease is still valid."""
    row = yield from ask(JobAt(job.id))
    if row is None or row.piece.state != _LEASED:
        return None
    return row if (row.piece.worker, row.piece.attempts) == (job.worker, job.attempts) else None


def _is_put_again(piece: JobPiece) -> bool:
    """True if a job was added again since it was leased."""
    return piece.generation != piece.leased_generation


def given_back(row: JobRow) -> SaveJob:
    """Return a leased job to the queue without counting the attempt; its worker finds that the
    lease is lost.
    """
    return _back(row, row.piece._replace(attempts=max(row.piece.attempts - 1, 0)))


def _back(row: JobRow, piece: JobPiece, state: str = _WAITING) -> SaveJob:
    return SaveJob(replace(row, piece=piece._replace(state=state, worker=None, leased_until=None)))


def _begun_anew(piece: JobPiece) -> JobPiece:
    """Return a job without its attempts, its error and its delay."""
    return piece._replace(attempts=0, postponed=0, error="", not_before=0)


def _after(time: int, seconds: float) -> int:
    """Return a time some seconds after another, in microseconds."""
    return micros(due_at(moment(time), seconds))
