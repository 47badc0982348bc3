"""Jobs in the SQLite tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite.file.connections import sql
from memoranda.model.changes import Job, JobDraft, JobState, told
from memoranda.model.values import due_at, micros, moment, new_id
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage.rows import owner_of

#: A number of seconds that exceeds every time span; its microseconds fit into a column.
_LONGEST_WAIT = 1e12


def put(
    connection: sqlite3.Connection, owner_no: int, draft: JobDraft, at: datetime, id: UUID | None = None
) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and records."""
    connection.execute(
        sql("put_job"),
        {
            "id": (id or new_id()).bytes,
            "owner": owner_no,
            "kind": draft.kind,
            "key": draft.key,
            "payload": json.dumps(draft.payload, ensure_ascii=False),
            "records": json.dumps([id.hex for id in draft.records]),
            "at": micros(at),
            "run_at": micros(due_at(at, draft.delay)),
            "max_wait": None
            if draft.max_wait is None
            else int(min(draft.max_wait, _LONGEST_WAIT) * 1_000_000),
            "insists": draft.insists,
        },
    )


def make_embedding_due(connection: sqlite3.Connection, at: datetime) -> None:
    """Add a job that computes vectors for new passages, unless a waiting job will do that."""
    for (name,) in connection.execute(sql("sets_not_due"), (EMBED,)).fetchall():
        put(connection, 0, embed_job(name), at)


def is_due(connection: sqlite3.Connection, kinds: Sequence[str], at: datetime) -> bool:
    """Return True if a job can be leased; workers ask this first, so that an idle one writes nothing."""
    return _due(connection, kinds, at) is not None


def lease(
    connection: sqlite3.Connection, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Lease the longest due job to one worker."""
    due = _due(connection, kinds, at)
    if due is None:
        return None
    connection.execute(sql("lease_job"), (worker, micros(at + timedelta(seconds=seconds)), due[0]))
    job = job_of(connection.execute(sql("one_job"), due).fetchone())
    kept = connection.execute(sql("kept_with_job"), due).fetchone()
    return job if kept is None else replace(job, kept=json.loads(kept[0]))


def _due(connection: sqlite3.Connection, kinds: Sequence[str], at: datetime) -> tuple[bytes] | None:
    """Return the row of the job to lease next, or None."""
    named = {"kinds": json.dumps(list(kinds)), "now": micros(at)}
    found: tuple[bytes] | None = connection.execute(sql("due_job"), named).fetchone()
    return found


def renew(connection: sqlite3.Connection, job: Job, at: datetime, seconds: float) -> bool:
    """Extend a lease; False if it was lost."""
    until = micros(at + timedelta(seconds=seconds))
    return _hit(connection, "renew_job", until, *_lease_of(job))


def finish(connection: sqlite3.Connection, job: Job) -> bool:
    """Delete a finished job, or make it due again if it was added again during the lease."""
    lease = _lease_of(job)
    if _hit(connection, "finish_job", *lease):
        return True
    requeued = _hit(connection, "requeue_job", *lease)
    if requeued:
        connection.execute(sql("delete_kept"), lease[:1])
    return requeued


def fail(
    connection: sqlite3.Connection, job: Job, error: str, at: datetime, retry_at: datetime | None
) -> bool:
    """Return a failed job to the queue for a later attempt, or mark it dead (not retried until it is replayed)."""
    state = JobState.DEAD if retry_at is None else JobState.WAITING
    values = {"state": state.value, "run_at": micros(retry_at or at), "error": told(error)}
    return connection.execute(sql("fail_job"), values | _named_lease_of(job)).rowcount > 0


def postpone(connection: sqlite3.Connection, job: Job, at: datetime, reason: str) -> bool:
    """Return a leased job to the queue until a given time, without counting an attempt."""
    values = {"at": micros(at), "reason": told(reason)}
    return connection.execute(sql("postpone_job"), values | _named_lease_of(job)).rowcount > 0


def keep(connection: sqlite3.Connection, job: Job, text: str, records: Sequence[UUID]) -> bool:
    """Store a model's answer with a leased job; False if the lease was lost, or a record it quotes was erased."""
    if any(connection.execute(sql("where_is"), (id.bytes,)).fetchone() is None for id in records):
        return False
    return _hit(connection, "keep_with_job", json.dumps([id.hex for id in records]), text, *_lease_of(job))


def let_go_of_kept(connection: sqlite3.Connection, doomed: Collection[str]) -> list[bytes]:
    """Delete the answers stored with jobs that quote these records (ids in hex); returns the jobs' ids."""
    about = [
        job
        for job, records in connection.execute(sql("kept_about_records")).fetchall()
        if not set(json.loads(records)).isdisjoint(doomed)
    ]
    for job in about:
        connection.execute(sql("delete_kept"), (job,))
    return about


def listed(connection: sqlite3.Connection, state: JobState | None, limit: int) -> list[Job]:
    """Return the jobs in a state, or all jobs."""
    values = {"state": state.value if state else None, "limit": limit}
    return [job_of(row) for row in connection.execute(sql("jobs_in_state"), values)]


def replay(connection: sqlite3.Connection, id: UUID, at: datetime) -> bool:
    """Make a dead or postponed job due now."""
    return _hit(connection, "replay_job", micros(at), id.bytes, micros(at))


def drop(connection: sqlite3.Connection, id: UUID) -> bool:
    """Delete a dead job."""
    return _hit(connection, "drop_job", id.bytes)


def job_of(row: tuple[Any, ...]) -> Job:
    """Build a job from a row."""
    (id, kind, key, tenant, owner_kind, owner_id, era, payload, records, state, run_at, first_at) = row[:12]
    attempts, generation, worker, leased_until, error, postponed = row[12:]
    return Job(
        UUID(bytes=id),
        kind,
        key,
        None if owner_id is None else owner_of(tenant, owner_kind, owner_id),
        None if era is None else UUID(bytes=era),
        json.loads(payload),
        tuple(UUID(hex=record) for record in json.loads(records)),
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


def _named_lease_of(job: Job) -> dict[str, Any]:
    return dict(zip(("id", "worker", "attempts"), _lease_of(job), strict=True))


def _hit(connection: sqlite3.Connection, statement: str, *values: Any) -> bool:
    return connection.execute(sql(statement), values).rowcount > 0
