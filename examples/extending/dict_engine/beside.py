"""What is stored beside records, without ledger entries: jobs, spending, terms, uses and
vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import cast
from uuid import UUID

from examples.extending.dict_engine.tables import (
    Row,
    Session,
    handles,
    named,
    owner_in,
    read_record,
)
from memoranda.model.book_rows import JobPiece, SpentPiece
from memoranda.model.changes import JobDraft, JobState
from memoranda.model.records import Owner, Record
from memoranda.model.values import micros, new_id
from memoranda.model.vectors import EMBED, SetState, VectorSet, embed_job
from memoranda.storage import conditions as c
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_cases.jobs import put_piece

_WAITING, _LEASED = c.Is("state", JobState.WAITING), c.Is("state", JobState.LEASED)


def owner_of_era(on: Session, era: bytes | None) -> Owner | None:
    """Return the owner of an era; None if it has ended, or if there is no era because something is
    the book's own.
    """
    return None if era is None else owner_in(on.tables["eras"][era])


def put_job(on: Session, piece: JobPiece, era: bytes | None) -> None:
    """Store a job in place of the one with its id; the answer that is kept with it stays."""
    owner = named(owner_of_era(on, era))
    on.put("jobs", {**piece._asdict(), "kept": None, "era": era, **owner})


def job_piece(on: Session, row: Row) -> JobPiece:
    """Return a job with its answer."""
    kept = on.tables["kept"].get(row["id"])
    answer = None if kept is None else (kept["records"], kept["payload"])
    return JobPiece._make({**row, "kept": answer}[name] for name in JobPiece._fields)


def _job_row(on: Session, row: Row | None) -> u.JobRow | None:
    if row is None:
        return None
    era = None if row["era"] is None else UUID(bytes=row["era"])
    return u.JobRow(job_piece(on, row), owner_in(row), era)


def _put(on: Session, era: bytes | None, draft: JobDraft, at: datetime, id: UUID) -> None:
    found = on.find("jobs", c.Is("era", era), c.Is("kind", draft.kind), c.Is("key", draft.key))
    put_job(on, put_piece(job_piece(on, found[0]) if found else None, draft, at, id), era)


def make_vectors_due(on: Session, at: datetime) -> None:
    """Add the job that makes vectors to every set where none waits."""
    for name in on.tables["sets"]:
        if not on.find("jobs", c.Is("kind", EMBED), c.Is("key", name), _WAITING):
            _put(on, None, embed_job(name), at, new_id())


handles(w.PutJob)(
    lambda on, write: _put(
        on, None if write.base is None else on.era_of(write.base), write.draft, write.at, write.id
    )
)
handles(w.SaveJob)(
    lambda on, write: put_job(on, write.row.piece, write.row.era and write.row.era.bytes)
)

# ── leasing ───────────────────────────────────────────────────────────────────────────────────────

# No server has a clock of its own here.
handles(u.Now)(lambda _, asked: micros(asked.at))
handles(u.JobAt)(lambda on, asked: _job_row(on, on.tables["jobs"].get(asked.id.bytes)))
handles(u.DueJob)(lambda on, asked: _job_row(on, _due(on, asked)))
handles(u.DueKind)(lambda on, asked: (_due(on, asked) or {"kind": None})["kind"])


def _due(on: Session, asked: u.DueKind | u.DueJob) -> Row | None:
    """Return the job that is to be leased next.

    A job whose lease has ended is due again. An owner's jobs are leased one at a time, and not
    while the processing of the owner's data is restricted.
    """
    leased = on.find("jobs", _LEASED, c.Than("leased_until", ">", asked.now))
    busy = {row["era"] for row in leased} - {None}
    waits = c.Every((_WAITING, c.Than("run_at", "<=", asked.now)))
    lapsed = c.Every((_LEASED, c.Than("leased_until", "<=", asked.now)))
    free = [
        row
        for row in on.find("jobs", c.Among("kind", asked.kinds), c.Either((waits, lapsed)))
        if row["era"] not in busy and not on.is_restricted(row["era"])
        if asked.only is None or row["id"] == asked.only.bytes
        if asked.tenant is None or row["tenant"] in (None, asked.tenant)
    ]
    since = {JobState.WAITING.value: "run_at", JobState.LEASED.value: "leased_until"}
    return min(free, key=lambda row: (row[since[row["state"]]], row["id"]), default=None)


@handles(u.JobsAbout)
def _jobs_about(on: Session, asked: u.JobsAbout) -> list[JobPiece]:
    ids = {id.bytes for id in asked.ids}
    jobs = [job_piece(on, row) for row in on.find("jobs")]
    return [job for job in jobs if ids & {*job.records, *(job.kept[0] if job.kept else ())}]


# ── spending ──────────────────────────────────────────────────────────────────────────────────────


def put_spent(on: Session, era: bytes | None, pieces: Iterable[SpentPiece]) -> None:
    """Store sums of an owner, or of nobody."""
    for piece in pieces:
        columns = zip(("tenant", "day", "agent", "task", "model"), piece, strict=False)
        on.put("spent", {"era": era, **dict(columns), "piece": piece})


def spent_of(on: Session, era: bytes | None) -> tuple[SpentPiece, ...]:
    """Return the sums of an owner, or of nobody."""
    return tuple(sorted(row["piece"] for row in on.find("spent", c.Is("era", era))))


def _added(pieces: Iterable[SpentPiece]) -> list[int]:
    return [sum(column) for column in zip((0,) * 7, *(piece[5:] for piece in pieces), strict=True)]


def _spent_where(on: Session, where: u.SpentWhere) -> list[Row]:
    parts = [
        c.Is("tenant", where.tenant),
        c.Than("day", ">=", where.since),
        c.Than("day", "<", where.until),
    ]
    if where.agent is not None:
        parts.append(c.Is("agent", where.agent))
    if where.base is not None:
        parts.append(c.Is("era", on.era_of(where.base)))
    return on.find("spent", *parts)


handles(u.SpentOf)(lambda on, asked: spent_of(on, on.era_of(asked.base)))
handles(u.SpentSum)(lambda on, asked: _added(row["piece"] for row in _spent_where(on, asked.where)))
handles(u.SpentRows)(
    lambda on, asked: [
        (owner_of_era(on, row["era"]), row["piece"]) for row in _spent_where(on, asked.where)
    ]
)
handles(w.DropSpent)(lambda on, write: on.drop("spent", c.Is("era", on.era_of(write.base))))


@handles(w.AddSpent)
def _add_spent(on: Session, write: w.AddSpent) -> None:
    era = None if write.base is None else on.era_of(write.base)
    for piece in write.rows:
        there = [one for one in spent_of(on, era) if one[:5] == piece[:5]]
        put_spent(on, era, [cast(SpentPiece, (*piece[:5], *_added([piece, *there])))])


# ── terms, uses and vectors ───────────────────────────────────────────────────────────────────────


@handles(u.PassagesAmong)
def _passages_among(on: Session, asked: u.PassagesAmong) -> dict[UUID, bytes]:
    found = on.find(
        "records", c.Not(c.Is("terms", None)), c.Among("id", [id.bytes for id in asked.ids])
    )
    return {UUID(bytes=row["id"]): row["id"] for row in found}


def _to_do(on: Session, limit: int, is_to_do: Callable[[Row], bool]) -> list[Record]:
    """Return the first passages with which something is to be done, of owners whose processing is
    not restricted.
    """
    found = [row for row in on.find("records", c.Not(c.Is("terms", None))) if is_to_do(row)]
    return [read_record(row) for row in found if not on.is_restricted(row["era"])][:limit]


handles(u.StaleTerms)(
    lambda on, asked: _to_do(on, asked.limit, lambda row: row["terms"][0] < asked.rule)
)
handles(u.Lacking)(
    lambda on, asked: _to_do(
        on,
        asked.limit,
        lambda row: asked.name in on.tables["sets"] and asked.name not in row["vectors"],
    )
)


@handles(w.PutTerms, w.Reword)
def _put_terms(on: Session, write: w.PutTerms | w.Reword) -> None:
    for id, packed in write.terms:
        on.change_record(id, terms=(write.rule, packed))
        if isinstance(write, w.Reword):
            on.change_record(id, vectors={})
    on.remark([on.tables["records"][id] for id, _ in write.terms])
    if isinstance(write, w.Reword):
        make_vectors_due(on, write.at)


@handles(w.PutUses)
def _put_uses(on: Session, write: w.PutUses) -> None:
    for id, use in write.uses:
        on.change_record(id, **dict(zip(("strength", "used_at", "used"), use.columns, strict=True)))


def all_sets(on: Session) -> list[u.StoredSet]:
    """Return all sets, the active one first."""
    counts = Counter(name for row in on.find("records") for name in row["vectors"])
    found = []
    for row in sorted(on.find("sets"), key=lambda row: not row["active"]):
        name, state = row["name"], SetState.ACTIVE if row["active"] else SetState.MAKING
        found.append(u.StoredSet(name, VectorSet(name, row["dimension"], counts[name], state)))
    return found


handles(u.Sets)(lambda on, _: all_sets(on))
handles(u.LockSet)(
    lambda on, asked: next((one for one in all_sets(on) if one.key == asked.name), None)
)


def put_set(on: Session, name: str, dimension: int, *, active: bool) -> None:
    """Store a set."""
    on.put("sets", {"name": name, "dimension": dimension, "active": active})


handles(w.AddSet)(
    lambda on, write: put_set(
        on, write.embedding.name, write.embedding.dimension, active=write.is_active
    )
)


@handles(w.PutVectors)
def _put_vectors(on: Session, write: w.PutVectors) -> None:
    for id, packed in write.vectors:
        on.change_record(id, vectors={**on.tables["records"][id]["vectors"], write.set.key: packed})
    if write.set.is_active:
        on.remark([on.tables["records"][id] for id, _ in write.vectors])


@handles(w.RemoveSet)
def _remove_set(on: Session, write: w.RemoveSet) -> None:
    name = write.set.key
    for row in on.find("records"):
        vectors = {other: packed for other, packed in row["vectors"].items() if other != name}
        on.change_record(row["id"], vectors=vectors)
    on.drop("jobs", c.Is("kind", EMBED), c.Is("key", name))
    on.drop("sets", c.Is("name", name))


@handles(w.ActivateSet)
def _activate_set(on: Session, write: w.ActivateSet) -> None:
    for row in on.find("sets"):
        on.put("sets", {**row, "active": row["name"] == write.set.key})
    for shelf in on.find("shelves"):
        on.put("shelves", {**shelf, "mark": shelf["mark"] + 1, "renewed": shelf["mark"] + 1})
