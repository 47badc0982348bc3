"""Jobs of a book in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory.tables import Answers, Era, Session, Tables, Writes
from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import JobDraft, JobState
from memoranda.model.values import micros, new_id
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_cases.jobs import put_piece


def put(
    tables: Tables, era: Era | None, draft: JobDraft, at: datetime, id: UUID | None = None
) -> None:
    """Add a job, or postpone the waiting one of that kind and key, which gets the new payload and
    records.
    """
    owner, era_id = (era.owner, era.id) if era else (None, None)
    name = (era_id, draft.kind, draft.key)
    rows = tables.jobs.values()
    before = next(
        (row.piece for row in rows if (row.era, row.piece.kind, row.piece.key) == name), None
    )
    piece = put_piece(before, draft, at, id or new_id())
    tables.jobs[piece.id] = u.JobRow(piece, owner, era_id)


def make_embedding_due(tables: Tables, at: datetime) -> None:
    """Add a job that computes vectors for new passages, unless a waiting job will do that."""
    for name in tables.sets:
        jobs = (row.piece for row in tables.jobs.values())
        if not any(
            (job.kind, job.key, job.state) == (EMBED, name, JobState.WAITING) for job in jobs
        ):
            put(tables, None, embed_job(name), at)


def _due(on: Session, question: u.DueKind | u.DueJob) -> u.JobRow | None:
    due = [
        (since, row.piece.id, row)
        for row in on.tables.jobs.values()
        if (since := _due_since(row.piece)) is not None
    ]
    busy = {
        row.era
        for since, _, row in due
        if row.piece.state == JobState.LEASED and since > question.now
    } - {None}
    free = (
        each
        for each in due
        if each[0] <= question.now
        and each[2].piece.kind in question.kinds
        and each[2].era not in busy
        if question.only is None or question.only.bytes == each[1]
        if question.tenant is None
        or each[2].owner is None
        or each[2].owner.tenant == question.tenant
        if each[2].era is None or on.tables.restricted(on.tables.eras[each[2].era].digest) is None
    )
    return min(free, key=lambda each: each[:2], default=(0, b"", None))[2]


def _due_since(job: JobPiece) -> int | None:
    """Return the time from which the job may be leased; for a leased job that is the end of its
    lease.
    """
    if job.state == JobState.LEASED:
        return job.leased_until
    return job.run_at if job.state == JobState.WAITING else None


def _about(on: Session, question: u.JobsAbout) -> list[JobPiece]:
    ids = {id.bytes for id in question.ids}
    pieces = (row.piece for row in on.tables.jobs.values())
    return [job for job in pieces if not ids.isdisjoint((*job.records, *(job.kept or ((),))[0]))]


def _bare(row: u.JobRow | None) -> Any:
    """Return a row without the model's answer."""
    return row and replace(row, piece=row.piece._replace(kept=None))


def _save(on: Session, write: w.SaveJob) -> None:
    kept = on.tables.jobs[write.row.piece.id].piece.kept
    on.tables.jobs[write.row.piece.id] = replace(
        write.row, piece=write.row.piece._replace(kept=kept)
    )


def _due_kind(on: Session, question: u.DueKind) -> str | None:
    row = _due(on, question)
    return None if row is None else row.piece.kind


ANSWERS: Answers = {
    u.JobAt: lambda on, question: _bare(on.tables.jobs.get(question.id.bytes)),
    u.Now: lambda _, question: micros(question.at),
    u.DueKind: _due_kind,
    u.DueJob: _due,
    u.JobsAbout: _about,
}
WRITES: Writes = {
    w.SaveJob: _save,
}
