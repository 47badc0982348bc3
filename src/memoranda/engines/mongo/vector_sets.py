"""Sets of vectors, which stand in the documents of their passages, and the terms and uses beside
them.

The active set's vectors have the same fields in every book. A passage lists the sets in which it
``lacks`` its vector.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from pymongo import DeleteMany, InsertOne, UpdateMany, UpdateOne

from memoranda.engines.mongo import jobs
from memoranda.engines.mongo.batches import head_of
from memoranda.engines.mongo.documents import record_out, vector_fields, vector_in
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.errors import Corrupt
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, SetState, VectorSet
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_case import OwnerBase

_PLACE = dict.fromkeys((*NAMES, "era", "shelf", "mark"), 1)


def _of(doc: Document) -> Document:
    """Return the filter of a passage that was read."""
    return {**{name: doc[name] for name in NAMES}, "_id": doc["_id"]}


async def _passages_among(on: Session, question: u.PassagesAmong) -> dict[UUID, Document]:
    among = {"_id": {"$in": list(question.ids)}, "rule": {"$exists": True}}
    docs = await on.find("records", among, fields=_PLACE)
    return {doc["_id"]: doc for doc in docs}


async def _unrestricted(on: Session) -> Document:
    closed = await jobs.closed_eras(on)
    return {"era": {"$nin": closed}} if closed else {}


async def _stale_terms(on: Session, question: u.StaleTerms) -> list[Record]:
    stale = {"rule": {"$lt": question.rule}, **await _unrestricted(on)}
    return [record_out(doc) for doc in await on.find("records", stale, limit=question.limit)]


async def _lacking(on: Session, question: u.Lacking) -> list[Record]:
    one = await on.first("vector_sets", {"_id": question.name})
    if one is None:
        return []
    lacking = {"lacks": one["no"], **await _unrestricted(on)}
    found: list[Record] = []
    after: Document = {}
    while len(found) < question.limit:
        docs = await on.find("records", {**lacking, **after}, [("_id", 1)], question.limit)
        for doc in docs:
            try:
                found.append(record_out(doc))
            except Corrupt:
                continue
        if len(docs) < question.limit:
            break
        after = {"_id": {"$gt": docs[-1]["_id"]}}
    return found[: question.limit]


async def _put_uses(on: Session, write: w.PutUses) -> None:
    names = ("strength", "used_at", "count")
    uses = ((doc, dict(zip(names, use.columns, strict=True))) for doc, use in write.uses)
    await on.bulk("records", [UpdateOne(_of(doc), {"$set": {"use": use}}) for doc, use in uses])


async def _remark(on: Session, changes: Iterable[tuple[Document, Document]]) -> None:
    """Store changes of passages, and increase the revisions of their shelves, so that indexes fetch
    them again.
    """
    marks: dict[int, int] = {}
    operations = []
    for doc, change in changes:
        if doc["shelf"] not in marks:
            head = await head_of(on, OwnerBase(None, b"", doc["era"]))
            shelf = next(one for one in head["shelves"] if one["no"] == doc["shelf"])
            shelf["mark"] += 1
            marks[doc["shelf"]] = shelf["mark"]
        change.setdefault("$set", {})["mark"] = marks[doc["shelf"]]
        operations.append(UpdateOne(_of(doc), change))
    await on.bulk("records", operations)


async def _put_terms(on: Session, write: w.PutTerms) -> None:
    await _remark(
        on, [(doc, {"$set": {"terms": packed, "rule": write.rule}}) for doc, packed in write.terms]
    )


async def _reword(on: Session, write: w.Reword) -> None:
    lacks = [one["no"] for one in (await on.standing()).sets]
    lost = dict.fromkeys(("vector", "scale", "vectors", "scales"), 1)
    fields = {"rule": write.rule, **({"lacks": lacks} if lacks else {})}
    await _remark(
        on,
        [
            (doc, {"$set": {**fields, "terms": packed}, "$unset": lost})
            for doc, packed in write.terms
        ],
    )
    await jobs.make_embedding_due(on, write.at)


def _stored(doc: Document, count: int) -> u.StoredSet:
    state = SetState.ACTIVE if doc["active"] else SetState.MAKING
    return u.StoredSet(doc["no"], VectorSet(doc["_id"], doc["dimension"], count, state))


async def _sets(on: Session, _: u.Sets) -> list[u.StoredSet]:
    docs = await on.find("vector_sets", {}, [("active", -1), ("no", 1)])
    passages = await on.count("records", {"rule": {"$gte": 0}}) if docs else 0
    return [
        _stored(doc, passages - await on.count("records", {"lacks": doc["no"]})) for doc in docs
    ]


async def _lock_set(on: Session, question: u.LockSet) -> u.StoredSet | None:
    # A set changes only when a write is alone, which this transaction's gate excludes. Nobody asks
    # how many vectors it has.
    doc = await on.first("vector_sets", {"_id": question.name})
    return None if doc is None else _stored(doc, 0)


async def _add_set(on: Session, write: w.AddSet) -> None:
    last = await on.find("vector_sets", {}, [("no", -1)], 1)
    no = last[0]["no"] + 1 if last else 1
    doc = {
        "_id": write.embedding.name,
        "no": no,
        "dimension": write.embedding.dimension,
        "active": write.is_active,
    }
    await on.bulk("vector_sets", [InsertOne(doc)])
    await on.bulk("records", [UpdateMany({"rule": {"$gte": 0}}, {"$addToSet": {"lacks": no}})])


async def _put_vectors(on: Session, write: w.PutVectors) -> None:
    fields = vector_fields({"no": write.set.key, "active": write.set.is_active})
    changes = []
    for doc, packed in write.vectors:
        made = dict(zip(fields, vector_in(packed), strict=True))
        changes.append((doc, {"$set": made, "$pull": {"lacks": write.set.key}}))
    if write.set.is_active:
        await _remark(on, changes)
    else:
        await on.bulk("records", [UpdateOne(_of(doc), change) for doc, change in changes])


async def _remove_set(on: Session, write: w.RemoveSet) -> None:
    no, name = write.set.key, write.set.set.name
    field, scale = vector_fields({"no": no, "active": write.set.is_active})
    held = {"rule": {"$gte": 0}, "$or": [{field: {"$exists": True}}, {"lacks": no}]}
    await on.bulk(
        "records", [UpdateMany(held, {"$unset": {field: 1, scale: 1}, "$pull": {"lacks": no}})]
    )
    await on.bulk("vector_sets", [DeleteMany({"_id": name})])
    await on.bulk("jobs", [DeleteMany({"era": None, "kind": EMBED, "key": name})])


async def _activate_set(on: Session, write: w.ActivateSet) -> None:
    field, scale = vector_fields({"no": write.set.key, "active": False})
    moved: list[Any] = [
        {"$set": {"vector": f"${field}", "scale": f"${scale}"}},
        {"$unset": [field, scale]},
    ]
    await on.bulk("records", [UpdateMany({field: {"$exists": True}}, moved)])
    await on.bulk(
        "vector_sets", [UpdateMany({}, [{"$set": {"active": {"$eq": ["$no", write.set.key]}}}])]
    )
    next_mark = {"$add": ["$$this.mark", 1]}
    renewed = {"$mergeObjects": ["$$this", {"mark": next_mark, "renewed": next_mark}]}
    shelves = {"$map": {"input": "$shelves", "in": renewed}}
    await on.bulk(
        "owners", [UpdateMany({"shelves.0": {"$exists": True}}, [{"$set": {"shelves": shelves}}])]
    )


ANSWERS: Answers = {
    u.StaleTerms: _stale_terms,
    u.PassagesAmong: _passages_among,
    u.Sets: _sets,
    u.LockSet: _lock_set,
    u.Lacking: _lacking,
}
WRITES: Writes = {
    w.PutUses: _put_uses,
    w.PutTerms: _put_terms,
    w.Reword: _reword,
    w.AddSet: _add_set,
    w.PutVectors: _put_vectors,
    w.RemoveSet: _remove_set,
    w.ActivateSet: _activate_set,
}
