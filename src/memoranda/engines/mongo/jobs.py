"""Jobs: they are leased on the documents themselves; each has the moment since when it is due in a
field of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pymongo import UpdateOne

from memoranda.engines.mongo.documents import owner_in, value_in, values_of
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import JobDraft, JobState
from memoranda.model.values import micros
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.job_rows import job_columns

_FIELDS = ("_id", *JobPiece._fields[1:-1])
_WAITING, _LEASED, _DEAD = JobState.WAITING.value, JobState.LEASED.value, JobState.DEAD.value
#: Leases are counted by the server's clock, unless a caller's differs from it by more: then the
#: caller set it on purpose.
_NEAR = 3_600_000_000


def piece_out(doc: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> JobPiece:
    """Return a job as copies have it."""
    answer = (
        None
        if kept is None
        else (tuple(sorted(id.bytes for id in kept["records"])), kept["payload"])
    )
    return JobPiece._make((*values_of(doc, _FIELDS), answer))


def doc_in(piece: JobPiece, head: Mapping[str, Any] | None) -> Document:
    """Return a job's document."""
    fields = {name: value_in(name, value) for name, value in zip(_FIELDS, piece[:-1], strict=True)}
    due = {_LEASED: piece.leased_until, _WAITING: piece.run_at}.get(piece.state)
    names = {} if head is None else {name: head[name] for name in NAMES if name in head}
    return {**fields, **names, "era": None if head is None else head["_id"], "due": due}


async def put(
    on: Session,
    head: Mapping[str, Any] | None,
    draft: JobDraft,
    at: datetime,
    id: UUID | None = None,
) -> None:
    """Add a job, or postpone the waiting one of that kind and key: what ``put_piece`` says, in one
    command.
    """
    given = job_columns(draft, at, id)
    names = {} if head is None else {name: head[name] for name in NAMES if name in head}
    key = {
        **names,
        "era": None if head is None else head["_id"],
        "kind": draft.kind,
        "key": draft.key,
    }
    was = {"$ifNull": ["$state", ""]}
    is_waiting, is_leased = {"$eq": [was, _WAITING]}, {"$eq": [was, _LEASED]}
    anew: Any = {"$not": [is_leased]} if given["insists"] else {"$eq": [was, ""]}
    restarted = {"$or": [anew, {"$eq": [was, _DEAD]}]}
    run_at: Any = given["run_at"]
    if given["max_wait"] is not None:
        latest = {"$add": ["$first_at", given["max_wait"]]}
        run_at = {"$cond": [is_waiting, {"$min": [run_at, latest]}, run_at]}
    payload: Any = {"$literal": given["payload"]}
    fields = {
        "_id": {"$ifNull": ["$_id", UUID(bytes=given["id"])]},
        "payload": {"$ifNull": ["$payload", payload]} if given["keeps"] else payload,
        "records": {"$literal": list(draft.records)},
        "state": {"$cond": [is_leased, _LEASED, _WAITING]},
        "run_at": {"$max": [run_at, {"$cond": [anew, 0, {"$ifNull": ["$not_before", 0]}]}]},
        "first_at": {"$cond": [is_waiting, "$first_at", given["at"]]},
        "attempts": {"$cond": [restarted, 0, "$attempts"]},
        "postponed": {"$cond": [restarted, 0, "$postponed"]},
        "not_before": {"$cond": [anew, 0, "$not_before"]},
        "generation": {"$add": [{"$ifNull": ["$generation", 0]}, 1]},
        "leased_generation": {"$ifNull": ["$leased_generation", 0]},
        "worker": {"$ifNull": ["$worker", None]},
        "leased_until": {"$ifNull": ["$leased_until", None]},
        "error": {"$cond": [anew, "", "$error"]},
    }
    due = {"$cond": [{"$eq": ["$state", _LEASED]}, "$leased_until", "$run_at"]}
    await on.bulk("jobs", [UpdateOne(key, [{"$set": fields}, {"$set": {"due": due}}], upsert=True)])


async def make_embedding_due(on: Session, at: datetime) -> None:
    """Add a job that computes vectors for new passages, unless a waiting job will do that: most
    writes only read here.
    """
    sets = (await on.standing()).sets
    if sets:
        waiting = {"era": None, "kind": EMBED, "state": _WAITING}
        there = {job["key"] for job in await on.find("jobs", waiting, fields={"key": 1})}
        for one in sets:
            if one["_id"] not in there:
                await put(on, None, embed_job(one["_id"]), at)


def row_of(doc: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> u.JobRow:
    """Return a job with its owner."""
    return u.JobRow(piece_out(doc, kept), owner_in(doc) if "tenant" in doc else None, doc["era"])


async def _job_at(on: Session, question: u.JobAt) -> u.JobRow | None:
    doc = await on.lock("jobs", {"_id": question.id})
    return None if doc is None else row_of(doc)


async def _now(on: Session, question: u.Now) -> int:
    """Return the server's time, since the clocks of workers differ."""
    at = micros(question.at)
    hello = await on.db.client.admin.command("hello")
    here = micros(hello["localTime"].replace(tzinfo=UTC))
    return here if abs(at - here) < _NEAR else at


async def closed_eras(on: Session) -> list[UUID]:
    """Return the eras of owners whose processing is restricted."""
    return [
        doc["_id"]
        for doc in await on.find("owners", {"restricted": {"$exists": True}}, fields={"_id": 1})
    ]


async def _due(on: Session, question: u.DueKind | u.DueJob) -> Document | None:
    leased = {"state": _LEASED, "leased_until": {"$gt": question.now}, "era": {"$ne": None}}
    closed = [job["era"] for job in await on.find("jobs", leased, fields={"era": 1})]
    closed += await closed_eras(on)
    filter: Document = {
        "kind": {"$in": list(question.kinds)},
        "due": {"$lte": question.now},
        "era": {"$nin": closed},
    }
    if question.tenant is not None:
        filter["$or"] = [{"tenant": question.tenant}, {"era": None}]
    if question.only is not None:
        filter["_id"] = question.only
    return await on.first("jobs", filter, [("due", 1), ("_id", 1)])


async def _due_kind(on: Session, question: u.DueKind) -> str | None:
    doc = await _due(on, question)
    return None if doc is None else doc["kind"]


async def _due_job(on: Session, question: u.DueJob) -> u.JobRow | None:
    doc = await _due(on, question)
    if doc is None:
        return None
    # Both are written, so that of two workers one is refused: also if they take different jobs of
    # one owner.
    await on.lock("jobs", {"_id": doc["_id"]})
    if doc["era"] is not None:
        await on.lock("owners", {**{name: doc[name] for name in NAMES}, "_id": doc["era"]})
    return row_of(doc, await on.first("answers", {"_id": doc["_id"]}))


async def _about(on: Session, question: u.JobsAbout) -> list[JobPiece]:
    ids = {"$in": list(question.ids)}
    quoting = [doc["_id"] for doc in await on.find("answers", {"records": ids}, fields={"_id": 1})]
    docs = await on.find("jobs", {"$or": [{"records": ids}, {"_id": {"$in": quoting}}]})
    kept = await answers_of(on, docs)
    return [piece_out(doc, kept.get(doc["_id"])) for doc in docs]


async def answers_of(on: Session, docs: list[Document]) -> dict[UUID, Document]:
    """Return the answers that are stored with jobs, by the ids of these."""
    ids = [doc["_id"] for doc in docs]
    return (
        {doc["_id"]: doc for doc in await on.find("answers", {"_id": {"$in": ids}})} if ids else {}
    )


_SAVED = (
    "state", "run_at", "attempts", "postponed", "not_before", "leased_generation", "worker", "leased_until", "error", "due",
)  # fmt: skip


async def _save(on: Session, write: w.SaveJob) -> None:
    fields = doc_in(write.row.piece, None)
    await on.bulk(
        "jobs",
        [UpdateOne({"_id": fields["_id"]}, {"$set": {name: fields[name] for name in _SAVED}})],
    )


ANSWERS: Answers = {
    u.JobAt: _job_at,
    u.Now: _now,
    u.DueKind: _due_kind,
    u.DueJob: _due_job,
    u.JobsAbout: _about,
}
WRITES: Writes = {w.SaveJob: _save}
