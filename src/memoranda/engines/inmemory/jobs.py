"""Jobs of a book in memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Tables, Work
from memoranda.model.changes import Job, JobDraft, JobState, told
from memoranda.model.values import due_at, new_id
from memoranda.model.vectors import EMBED, embed_job


def copied(draft: JobDraft) -> JobDraft:
    """Return a copy of a job's draft that the caller cannot change; raise TypeError if its payload is not JSON."""
    return replace(draft, payload=json.loads(json.dumps(draft.payload)))


def put(tables: Tables, era: Era | None, draft: JobDraft, at: datetime, id: UUID | None = None) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and records."""
    owner, era_id = (era.owner, era.id) if era else (None, None)
    run_at = due_at(at, draft.delay)
    name = (era_id, draft.kind, draft.key)
    work = next((w for w in tables.jobs.values() if (w.job.era, w.job.kind, w.job.key) == name), None)
    if work is None:
        job = Job(
            id or new_id(),
            draft.kind,
            draft.key,
            owner,
            era_id,
            draft.payload,
            draft.records,
            JobState.WAITING,
            run_at,
            at,
            0,
            1,
        )
        tables.jobs[job.id] = Work(job)
        return
    if draft.insists:
        _begin_anew(work)
    job = work.job
    if job.state is JobState.WAITING:
        if draft.max_wait is not None:
            run_at = min(run_at, due_at(job.first_at, draft.max_wait))
    else:
        job = replace(job, first_at=at)
    if work.not_before is not None:
        run_at = max(run_at, work.not_before)
    if job.state is JobState.DEAD:
        job = replace(job, state=JobState.WAITING, attempts=0, postponed=0)
    work.job = replace(
        job, payload=draft.payload, records=draft.records, run_at=run_at, generation=job.generation + 1
    )


def make_embedding_due(tables: Tables, at: datetime) -> None:
    """Add a job that computes vectors for new passages, unless a waiting job will do that."""
    for name in tables.sets:
        put_before = (w.job for w in tables.jobs.values() if (w.job.kind, w.job.key) == (EMBED, name))
        if not any(job.state is JobState.WAITING for job in put_before):
            put(tables, None, copied(embed_job(name)), at)


def lease(tables: Tables, kinds: Sequence[str], worker: str, at: datetime, seconds: float) -> Job | None:
    """Lease the longest due job to one worker."""
    busy = {
        work.job.era
        for work in tables.jobs.values()
        if work.job.era is not None and work.job.state is JobState.LEASED and not _due(work.job, at)
    }
    free = [
        work
        for work in tables.jobs.values()
        if work.job.kind in kinds and _due(work.job, at) and work.job.era not in busy
    ]
    due = min(free, key=lambda work: (_due_since(work.job) or at, work.job.id), default=None)
    if due is None:
        return None
    until = at + timedelta(seconds=seconds)
    due.leased_generation = due.job.generation
    due.job = replace(
        due.job, state=JobState.LEASED, worker=worker, leased_until=until, attempts=due.job.attempts + 1
    )
    return due.job if due.kept is None else replace(due.job, kept=json.loads(due.kept))


def renew(tables: Tables, job: Job, at: datetime, seconds: float) -> bool:
    """Extend a lease; False if it was lost."""
    work = _leased(tables, job)
    if work is None:
        return False
    work.job = replace(work.job, leased_until=at + timedelta(seconds=seconds))
    return True


def finish(tables: Tables, job: Job) -> bool:
    """Delete a finished job, or make it due again if it was added again during the lease."""
    work = _leased(tables, job)
    if work is None:
        return False
    if work.job.generation == work.leased_generation:
        del tables.jobs[job.id]
    else:
        work.job = replace(_given_back(work.job, JobState.WAITING), attempts=0, postponed=0, error="")
        work.let_go()
    return True


def fail(tables: Tables, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
    """Return a failed job for a later attempt, or mark it dead; if it was added again while leased, it waits as new."""
    work = _leased(tables, job)
    if work is None:
        return False
    anew = work.job.generation != work.leased_generation
    job = replace(work.job, error=told(error))
    if retry_at is not None:
        run_at = max(retry_at, job.run_at) if anew else retry_at
        work.job = replace(_given_back(job, JobState.WAITING), run_at=run_at)
    elif anew:
        work.job = replace(_given_back(job, JobState.WAITING), attempts=0, postponed=0)
    else:
        work.job = replace(_given_back(job, JobState.DEAD), run_at=at)
    return True


def postpone(tables: Tables, job: Job, at: datetime, reason: str) -> bool:
    """Return a leased job to the queue until a given time, without counting an attempt."""
    work = _leased(tables, job)
    if work is None:
        return False
    anew = work.job.generation != work.leased_generation
    work.job = replace(
        _given_back(work.job, JobState.WAITING),
        run_at=max(work.job.run_at, at) if anew else at,
        postponed=work.job.postponed + 1,
        error=told(reason),
    )
    work.not_before = at
    return True


def keep(tables: Tables, job: Job, text: str, records: Sequence[UUID]) -> bool:
    """Store a model's answer with a leased job; False if the lease was lost, or a record it quotes was erased."""
    work = _leased(tables, job)
    if work is None or any(id not in tables.records for id in records):
        return False
    work.kept, work.kept_about = text, frozenset(records)
    return True


def let_go_of_kept(tables: Tables, doomed: Collection[UUID]) -> list[Work]:
    """Delete the answers stored with jobs that quote these records; returns the jobs' ids."""
    about = [work for work in tables.jobs.values() if not work.kept_about.isdisjoint(doomed)]
    for work in about:
        work.let_go()
    return about


def listed(tables: Tables, state: JobState | None, limit: int) -> list[Job]:
    """Return the jobs in a state, or all jobs."""
    return [work.job for work in _in_order(tables.jobs.values()) if state in (None, work.job.state)][:limit]


def replay(tables: Tables, id: UUID, at: datetime) -> bool:
    """Make a dead or postponed job due now."""
    work = tables.jobs.get(id)
    if work is None or work.job.state is JobState.LEASED:
        return False
    if work.job.state is JobState.WAITING and work.job.run_at <= at:
        return False
    _begin_anew(work)
    work.job = replace(work.job, state=JobState.WAITING, run_at=at)
    return True


def drop(tables: Tables, id: UUID) -> bool:
    """Delete a dead job."""
    work = tables.jobs.get(id)
    if work is None or work.job.state is not JobState.DEAD:
        return False
    del tables.jobs[id]
    return True


def _begin_anew(work: Work) -> None:
    """Reset the attempts, the error and the delay of a job that is not leased."""
    if work.job.state is not JobState.LEASED:
        work.job = replace(work.job, attempts=0, postponed=0, error="")
        work.not_before = None


def _in_order(works: Iterable[Work]) -> list[Work]:
    return sorted(works, key=lambda work: (work.job.run_at, work.job.id))


def _due(job: Job, at: datetime) -> bool:
    since = _due_since(job)
    return since is not None and since <= at


def _due_since(job: Job) -> datetime | None:
    """Return the moment from which the job may be leased; for a leased job that is the end of its lease."""
    if job.state is JobState.LEASED:
        return job.leased_until
    return job.run_at if job.state is JobState.WAITING else None


def _leased(tables: Tables, job: Job) -> Work | None:
    """Return the job if this lease is still valid."""
    work = tables.jobs.get(job.id)
    if work is None or work.job.state is not JobState.LEASED:
        return None
    return work if (work.job.worker, work.job.attempts) == (job.worker, job.attempts) else None


def _given_back(job: Job, state: JobState) -> Job:
    return replace(job, state=state, worker=None, leased_until=None)
