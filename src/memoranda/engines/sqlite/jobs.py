"""Jobs in the SQLite tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite.file.connections import Answers, Row, Session, Writes, sql
from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import JobDraft, storable_reason
from memoranda.model.values import micros
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.job_rows import job_columns
from memoranda.storage.rows import owner_of


def put(
    connection: sqlite3.Connection,
    owner_no: int,
    draft: JobDraft,
    at: datetime,
    id: UUID | None = None,
) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and
    records.
    """
    records = json.dumps([id.hex for id in draft.records])
    values = {**job_columns(draft, at, id), "owner": owner_no, "records": records}
    connection.execute(sql("put_job"), values)


def make_embedding_due(connection: sqlite3.Connection, at: datetime) -> None:
    """Add a job that computes vectors for new passages, unless a waiting job will do that."""
    for (name,) in connection.execute(sql("sets_not_due"), (EMBED,)).fetchall():
        put(connection, 0, embed_job(name), at)


def piece_of(row: Row) -> JobPiece:
    """Return a job as it is stored, without its answer, from the columns that begin a row."""
    id, kind, key, payload, records, *rest, error = row[:16]
    # A file of an earlier format may have error texts that not every engine can store.
    return JobPiece._make(
        (id, kind, key, payload, ids_of(records), *rest, storable_reason(error), None)
    )


def ids_of(listed: str) -> tuple[bytes, ...]:
    """Return ids from the text that is stored."""
    return tuple(bytes.fromhex(id) for id in json.loads(listed))


def _row(row: Row) -> u.JobRow:
    tenant, kind, id, era = row[16:]
    owner = None if id is None else owner_of(tenant, kind, id)
    return u.JobRow(piece_of(row), owner, None if era is None else UUID(bytes=era))


def _job_at(on: Session, question: u.JobAt) -> u.JobRow | None:
    row = on.one("one_job", question.id.bytes)
    return None if row is None else _row(row)


def _job_of(on: Session, question: u.JobOf) -> u.JobRow | None:
    tenant, owner_kind, owner = question.owner.parts
    row = on.one(
        "job_of",
        tenant=tenant,
        owner_kind=owner_kind,
        owner=owner,
        kind=question.kind,
        key=question.key,
    )
    return None if row is None else _row(row)


def _jobs_in(on: Session, question: u.JobsIn) -> list[u.JobRow]:
    tenant, owner_kind, owner = (
        (None, None, None) if question.owner is None else question.owner.parts
    )
    given = {"tenant": tenant, "owner_kind": owner_kind, "owner": owner}
    return [
        _row(row)
        for row in on.all("jobs_in_state", state=question.state, limit=question.limit, **given)
    ]


def _due(on: Session, question: u.DueKind | u.DueJob) -> Row | None:
    only = None if question.only is None else question.only.bytes
    kinds = json.dumps(question.kinds)
    return on.one("due_job", kinds=kinds, now=question.now, tenant=question.tenant, only=only)


def _due_kind(on: Session, question: u.DueKind) -> str | None:
    row = _due(on, question)
    return None if row is None else row[1]


def _due_job(on: Session, question: u.DueJob) -> u.JobRow | None:
    due = _due(on, question)
    row = None if due is None else on.one("one_job", due[0])
    if row is None:
        return None
    found = _row(row)
    kept = on.one("kept_with_job", row[0])
    return found if kept is None else replace(found, piece=found.piece._replace(kept=((), kept[0])))


def _about(on: Session, question: u.JobsAbout) -> list[JobPiece]:
    ids = {id.bytes for id in question.ids}
    found = []
    for id, records, quoted in on.all("jobs_about"):
        kept = None if quoted is None else (ids_of(quoted), "")
        if not ids.isdisjoint((*ids_of(records), *(kept or ((),))[0])):
            row = on.one("one_job", id)
            assert row is not None
            found.append(piece_of(row)._replace(kept=kept))
    return found


def _save(on: Session, write: w.SaveJob) -> None:
    on.run("save_job", **write.row.piece._asdict())


def _each(name: str) -> Callable[[Session, Any], None]:
    """Return a function that runs a statement for each of the ids of a write."""

    def run(on: Session, write: Any) -> None:
        for id in write.ids:
            on.run(name, id)

    return run


def _keep(on: Session, write: w.KeepAnswer) -> None:
    on.run("keep_with_job", write.job, json.dumps([id.hex() for id in write.about]), write.text)


ANSWERS: Answers = {
    u.JobAt: _job_at,
    u.JobOf: _job_of,
    u.JobsIn: _jobs_in,
    u.Now: lambda _, question: micros(question.at),
    u.DueKind: _due_kind,
    u.DueJob: _due_job,
    u.JobsAbout: _about,
}
WRITES: Writes = {
    w.SaveJob: _save,
    w.DropJobs: _each("delete_job"),
    w.SilenceJobs: _each("silence_job"),
    w.KeepAnswer: _keep,
    w.ForgetKept: _each("delete_kept"),
}
