"""Answers the questions of an erasure, and carries out its writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from pymongo import DeleteMany, UpdateMany, UpdateOne

from memoranda.engines.mongo.batches import Storing, head_of
from memoranda.engines.mongo.documents import entry_body_in, entry_out
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.model.ledger import Entry, Erasures
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.values import micros
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import audience_columns, dump_entry
from memoranda.storage.use_case import OwnerBase
from memoranda.storage.use_cases.erasure import erased_by


def _among(ids: Iterable[Any]) -> Document:
    return {"$in": list(ids)}


async def _belongings(on: Session, question: u.Belongings) -> Counter[str]:
    fields = dict.fromkeys(("rule", "use", "vector", "vectors", "sources", "unlisted"), 1)
    own = {**on.own("versions"), "id": _among(question.ids)}
    found: Counter[str] = Counter({"versions": await on.count("versions", own)})
    for doc in await on.find(
        "records", {**on.own("records"), "_id": _among(question.ids)}, fields=fields
    ):
        found["terms"] += "rule" in doc
        found["uses"] += "use" in doc
        found["vectors"] += len(doc.get("vectors", ())) + ("vector" in doc)
        found["links"] += len(doc["sources"]) + len(doc.get("unlisted", ()))
    return found


async def _count_filled(on: Session, question: u.CountFilled) -> int:
    return await on.count(
        "versions", {**on.own("versions"), "id": _among(question.ids), "body": {"$ne": ""}}
    )


async def _past_erasures(on: Session, _: u.PastErasures) -> Erasures:
    ended = await on.find("owners", {"erased_at": {"$exists": True}}, fields={"_id": 1})
    entries = [entry_out(doc) for doc in await on.find("ledger", {"erases": True})]
    return erased_by(
        [doc["_id"] for doc in ended], ((entry.lines, entry.note) for entry in entries)
    )


async def _rewrite(
    on: Session, base: OwnerBase, filter: Document, change: Callable[[Entry], Entry]
) -> None:
    head = await head_of(on, base)
    operations = []
    own = {**await _names(on, base), "era": head["_id"]}
    for doc in await on.find("ledger", {**own, **filter}):
        entry = change(entry_out(doc, damaged=True))
        fields = {"actor": entry.actor.id, **entry_body_in(dump_entry(entry))}
        digests = {"operation": entry.operation, "request": entry.request}
        kept = {name: value for name, value in digests.items() if value is not None}
        lost = {name: 1 for name, value in digests.items() if value is None}
        changed: Document = {"$set": {**fields, **kept}, **({"$unset": lost} if lost else {})}
        operations.append(UpdateOne({**own, "position": doc["position"]}, changed))
    await on.bulk("ledger", operations)


async def _names(on: Session, base: OwnerBase) -> Document:
    """Return the fields that name the owner of an era."""
    head = await head_of(on, base)
    return {name: head[name] for name in NAMES if name in head}


async def _scrub_digests(on: Session, write: w.ScrubDigests) -> None:
    erased, stripped = frozenset(write.erased), frozenset(write.stripped)
    positions = {"position": _among(write.positions)}
    await _rewrite(
        on, write.base, positions, lambda entry: entry.scrubbed(erased, stripped, write.redacted)
    )


async def _scrub_ledger(on: Session, write: w.ScrubLedger) -> None:
    await _rewrite(on, write.base, {}, lambda entry: entry.scrubbed(None))


async def _blank_versions(on: Session, write: w.BlankVersions) -> None:
    filled = {**await _names(on, write.base), "id": _among(write.ids), "body": {"$ne": ""}}
    await on.bulk("versions", [UpdateMany(filled, {"$set": {"body": "", "hash": b""}})])


async def _remove_records(on: Session, write: w.RemoveRecords) -> None:
    head = await head_of(on, write.base)
    storing = Storing(on, head, 0)
    for leaving in write.records if head["_id"] not in on.ending else ():
        if leaving.type in PASSAGE_TYPES:
            storing.leave(storing.shelf(audience_columns(leaving.audience)), leaving.id)
    ids = _among(leaving.id for leaving in write.records)
    await on.bulk("records", [DeleteMany({**storing.names, "_id": ids})])
    await on.bulk("versions", [DeleteMany({**storing.names, "id": ids})])
    await on.bulk("gone", storing.gone)
    head["held"] += write.gain
    head["items"] += write.items


async def _end_era(on: Session, write: w.EndEra) -> None:
    head = await head_of(on, write.base)
    era = {**await _names(on, write.base), "era": head["_id"]}
    jobs = await on.find("jobs", era, fields={"_id": 1})
    await on.bulk("answers", [DeleteMany({"_id": _among(job["_id"] for job in jobs)})])
    await on.bulk("jobs", [DeleteMany(era)])
    await on.bulk("gone", [DeleteMany(era)])
    # Its lines stay, without the name.
    await on.bulk("ledger", [UpdateMany(era, {"$unset": dict.fromkeys(NAMES, 1)})])
    for name in (*NAMES, "restricted"):
        head.pop(name, None)
    head |= {"erased_at": micros(write.at), "shelves": [], "held": 0, "items": 0}


ANSWERS: Answers = {
    u.Belongings: _belongings,
    u.CountFilled: _count_filled,
    u.PastErasures: _past_erasures,
}
WRITES: Writes = {
    w.ScrubDigests: _scrub_digests,
    w.ScrubLedger: _scrub_ledger,
    w.BlankVersions: _blank_versions,
    w.RemoveRecords: _remove_records,
    w.EndEra: _end_era,
}
