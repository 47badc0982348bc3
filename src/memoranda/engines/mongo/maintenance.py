"""Counts and checks of a whole book, what is computed anew in it, and whose processing is
restricted.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pymongo import DeleteMany, DeleteOne, ReplaceOne, UpdateMany, UpdateOne

from memoranda.engines.mongo.batches import find_era
from memoranda.engines.mongo.documents import MAY_LACK, owner_in, row_in, row_out, vector_fields
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.storage import service_questions as s
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import StoredRow
from memoranda.storage.use_case import OwnerBase
from memoranda.text.terms import RULE

#: The bytes of a vector before its numbers.
_BEFORE = 2


async def _find_era(on: Session, question: u.FindEra) -> OwnerBase | None:
    on.head = await on.first("owners", {"_id": UUID(bytes=question.era)})
    if on.head is None:
        return None
    return await find_era(on, on.head["_id"], owner_in(on.head) if "owner_id" in on.head else None)


async def _counts(on: Session, question: u.Counts) -> u.BookCounts:
    mine: Document = {} if question.tenant is None else {"tenant": question.tenant}
    records = await _count_by(on, "records", mine, "type")
    jobs = await _count_by(on, "jobs", mine, "state")
    living = {"tenant": question.tenant or {"$exists": True}, "position": {"$gt": 0}}
    stale = await on.count("records", {"rule": {"$lt": RULE}, **mine})
    vectors = {}
    for one in await on.find("vector_sets", {}) if mine else ():
        if count := await on.count("records", {**mine, vector_fields(one)[0]: {"$exists": True}}):
            vectors[one["_id"]] = count
    return u.BookCounts(
        records, jobs, await on.count("owners", living), stale, dict(sorted(vectors.items()))
    )


async def _count_by(on: Session, name: str, only: Document, field: str) -> dict[str, int]:
    stages = [
        {"$match": only},
        {"$group": {"_id": f"${field}", "n": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    ]
    return {doc["_id"]: doc["n"] for doc in await on.group(name, stages)}


def _astray(doc: Document, sets: list[Document]) -> list[tuple[str, str, str]]:
    """Return the vectors of a record that fit no set, each as the name of a check and its two
    fields.
    """
    found = []
    known = {vector_fields(one): one["dimension"] for one in sets}
    present = [(f"vectors.{no}", f"scales.{no}") for no in doc.get("vectors", {})]
    for field, scale in [*present, *([("vector", "scale")] if "vector" in doc else [])]:
        vector = doc["vector"] if field == "vector" else doc["vectors"][field.partition(".")[2]]
        if (field, scale) not in known or "rule" not in doc:
            found.append(("vector_astray", field, scale))
        elif len(vector) - _BEFORE != known[field, scale]:
            found.append(("vector_length", field, scale))
    return found


async def _with_vectors(on: Session) -> list[Document]:
    held = {"$or": [{"vector": {"$exists": True}}, {"vectors": {"$exists": True}}]}
    return await on.find(
        "records", held, fields=dict.fromkeys((*NAMES, "vector", "vectors", "rule"), 1)
    )


async def _table_faults(on: Session, _: u.TableFaults) -> list[tuple[str, object]]:
    # What other engines keep in tables beside stands inside the documents here.
    sets = await on.find("vector_sets", {})
    found: list[tuple[str, object]] = []
    for doc in await _with_vectors(on):
        found += [(check, doc["_id"]) for check, *_ in _astray(doc, sets)]
    ids = {doc["_id"] for doc in await on.find("records", {}, fields={"_id": 1})}
    versions = await on.find("versions", {}, fields={"id": 1})
    return [*found, *(("version_astray", doc["id"]) for doc in versions if doc["id"] not in ids)]


async def _set_derived(on: Session, write: w.SetDerived) -> None:
    ids = [UUID(bytes=row.id) for row in write.rows]
    before = {
        doc["_id"]: doc
        for doc in await on.find("records", {**on.own("records"), "_id": {"$in": ids}})
    }
    operations = []
    for row in write.rows:
        doc = before[UUID(bytes=row.id)]
        columns = {name: getattr(row, name) for name in row._fields if name in StoredRow._fields}
        made = row_in(row_out(doc)._replace(**columns))
        made |= {
            "learnt": row.learnt,
            "ended": row.ended,
            "sources": [UUID(bytes=one) for one in row.sources],
        }
        lost = {name: 1 for name in MAY_LACK if name not in made}
        own = {**{name: doc[name] for name in NAMES}, "_id": made.pop("_id")}
        operations.append(UpdateOne(own, {"$set": made, "$unset": lost}))
    await on.bulk("records", operations)


async def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    sets = await on.find("vector_sets", {})
    operations = []
    for doc in await _with_vectors(on):
        if lost := [field for _, *fields in _astray(doc, sets) for field in fields]:
            own = {**{name: doc[name] for name in NAMES}, "_id": doc["_id"]}
            operations.append(UpdateOne(own, {"$unset": dict.fromkeys(lost, 1)}))
    await on.bulk("records", operations)
    await on.bulk("records", [UpdateMany({"lacks": {"$exists": True}}, {"$unset": {"lacks": 1}})])
    for one in sets:
        lacking = {"rule": {"$gte": 0}, vector_fields(one)[0]: {"$exists": False}}
        await on.bulk("records", [UpdateMany(lacking, {"$addToSet": {"lacks": one["no"]}})])
    ids = {doc["_id"] for doc in await on.find("records", {}, fields={"_id": 1})}
    astray = {doc["id"] for doc in await on.find("versions", {}, fields={"id": 1})} - ids
    await on.bulk("versions", [DeleteMany({"id": id}) for id in astray])


# ── restricted processing: the documents of owners have it too, so that a read needs no other ─────


async def _put_restrictions(on: Session, write: s.PutRestrictions) -> None:
    rows: list[tuple[Any, ...]] = list(write.rows)
    stored = [
        ReplaceOne({"_id": digest}, {"at": at, "mode": mode}, upsert=True)
        for digest, at, mode in rows
    ]
    await on.bulk("restrictions", stored)
    marked = [
        UpdateMany(
            {"digest": digest, "owner_id": {"$exists": True}}, {"$set": {"restricted": mode}}
        )
        for digest, _, mode in rows
    ]
    await on.bulk("owners", marked)


async def _lift_restriction(on: Session, write: s.LiftRestriction) -> None:
    await on.bulk("restrictions", [DeleteOne({"_id": write.digest})])
    await on.bulk("owners", [UpdateMany({"digest": write.digest}, {"$unset": {"restricted": 1}})])


ANSWERS: Answers = {u.FindEra: _find_era, u.Counts: _counts, u.TableFaults: _table_faults}
WRITES: Writes = {
    w.SetDerived: _set_derived,
    w.RebuildTables: _rebuild_tables,
    s.PutRestrictions: _put_restrictions,
    s.LiftRestriction: _lift_restriction,
}
