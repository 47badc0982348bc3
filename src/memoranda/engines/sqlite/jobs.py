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

#: Seconds that reach beyond the last moment from any; their microseconds fit into a column.
_LONGEST_WAIT = 1e12


def put(connection: sqlite3.Connection, owner_no: int, draft: JobDraft, at: datetime) -> None:
    """Put a job, or put the waiting one off."""
    connection.execute(
        sql("put_job"),
        {
            "id": new_id().bytes,
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
    """New passages came: whoever can makes their vectors. A job that waits already will meet them."""
    for (name,) in connection.execute(sql("sets_not_due"), (EMBED,)).fetchall():
        put(connection, 0, embed_job(name), at)


def is_due(connection: sqlite3.Connection, kinds: Sequence[str], at: datetime) -> bool:
    """Whether there is anything to lease; asked first, so that an idle worker writes nothing."""
    return _due(connection, kinds, at) is not None


def lease(
    connection: sqlite3.Connection, kinds: Sequence[str], worker: str, at: datetime, seconds: float
) -> Job | None:
    """Take the longest due job for one worker."""
    due = _due(connection, kinds, at)
    if due is None:
        return None
    connection.execute(sql("lease_job"), (worker, micros(at + timedelta(seconds=seconds)), due[0]))
    job = job_of(connection.execute(sql("one_job"), due).fetchone())
    kept = connection.execute(sql("kept_with_job"), due).fetchone()
    return job if kept is None else replace(job, kept=json.loads(kept[0]))


def _due(connection: sqlite3.Connection, kinds: Sequence[str], at: datetime) -> tuple[bytes] | None:
    """Which job is to be leased, if any."""
    named = {"kinds": json.dumps(list(kinds)), "now": micros(at)}
    found: tuple[bytes] | None = connection.execute(sql("due_job"), named).fetchone()
    return found


def renew(connection: sqlite3.Connection, job: Job, at: datetime, seconds: float) -> bool:
    """Prolong a lease."""
    until = micros(at + timedelta(seconds=seconds))
    return _hit(connection, "renew_job", until, *_lease_of(job))


def finish(connection: sqlite3.Connection, job: Job) -> bool:
    """Take a done job away, or make it due again if it was put anew meanwhile."""
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
    """Give a job back, or up."""
    state = JobState.DEAD if retry_at is None else JobState.WAITING
    values = {"state": state.value, "run_at": micros(retry_at or at), "error": told(error)}
    return connection.execute(sql("fail_job"), values | _named_lease_of(job)).rowcount > 0


def postpone(connection: sqlite3.Connection, job: Job, at: datetime, reason: str) -> bool:
    """Give a job back that cannot be done before a moment."""
    values = {"at": micros(at), "reason": told(reason)}
    return connection.execute(sql("postpone_job"), values | _named_lease_of(job)).rowcount > 0


def keep(connection: sqlite3.Connection, job: Job, text: str, records: Sequence[UUID]) -> bool:
    """Keep a text with a leased job while all that it tells of is there."""
    if any(connection.execute(sql("where_is"), (id.bytes,)).fetchone() is None for id in records):
        return False
    return _hit(connection, "keep_with_job", json.dumps([id.hex for id in records]), text, *_lease_of(job))


def let_go_of_kept(connection: sqlite3.Connection, doomed: Collection[str]) -> list[bytes]:
    """Take away what is kept about records, given by their ids in hex; returns the jobs that it was kept with."""
    about = [
        job
        for job, records in connection.execute(sql("kept_about_records")).fetchall()
        if not set(json.loads(records)).isdisjoint(doomed)
    ]
    for job in about:
        connection.execute(sql("delete_kept"), (job,))
    return about


def listed(connection: sqlite3.Connection, state: JobState | None, limit: int) -> list[Job]:
    """Jobs in a state, or all."""
    values = {"state": state.value if state else None, "limit": limit}
    return [job_of(row) for row in connection.execute(sql("jobs_in_state"), values)]


def replay(connection: sqlite3.Connection, id: UUID, at: datetime) -> bool:
    """Make a job due that is dead, or waits for later."""
    return _hit(connection, "replay_job", micros(at), id.bytes, micros(at))


def drop(connection: sqlite3.Connection, id: UUID) -> bool:
    """Throw a dead job away."""
    return _hit(connection, "drop_job", id.bytes)


def job_of(row: tuple[Any, ...]) -> Job:
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
