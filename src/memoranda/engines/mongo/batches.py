"""Answers the questions of a batch that are no plain rows, and stores its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pymongo import InsertOne, ReplaceOne, UpdateOne

from memoranda.engines.mongo import jobs
from memoranda.engines.mongo.documents import (
    MAY_LACK,
    entry_in,
    entry_out,
    names_of,
    record_out,
    row_in,
    shelf_number,
)
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.model.ledger import aged_of
from memoranda.model.records import PASSAGE_TYPES, Audience, Record
from memoranda.model.service_records import Appends
from memoranda.model.values import keyed, owner_digest
from memoranda.storage import Put, StoredRow
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.rows import audience_columns, audience_of
from memoranda.storage.use_case import OwnerBase
from memoranda.text.terms import RULE


async def _base(on: Session, question: q.Base | q.FindOwner) -> OwnerBase:
    """Return the owner's present era. ``Base`` writes the owner's document first, so that two
    writers of an owner collide.
    """
    names = names_of(question.owner)
    locks = isinstance(question, q.Base) and on.writes
    on.head = await on.lock("owners", names) if locks else await on.first("owners", names)
    secret = (await on.book())["secret"]
    mode = None if on.head is None else on.head.get("restricted")
    if on.head is None:
        digest = owner_digest(secret, question.owner.parts)
        held = await on.first("restrictions", {"_id": digest}) if not on.writes else None
        mode = (await on.standing()).restricted.get(digest) if on.writes else held and held["mode"]
    on.base = _owner_base(question.owner, secret, on.head)
    on.base.restricted = None if mode is None else Appends.stored(mode)
    return on.base


def _owner_base(owner: Any, secret: bytes, head: Document | None) -> OwnerBase:
    if head is None:
        return OwnerBase(owner, secret, None)
    era: UUID = head["_id"]
    return OwnerBase(owner, secret, era, head["position"], head["held"], era.int, head["items"])


async def find_era(on: Session, era: UUID, owner: Any) -> OwnerBase:
    """Return the base of an era whose document the session has read; the questions after it are
    about that era.
    """
    on.base = _owner_base(owner, (await on.book())["secret"], on.head)
    return on.base


async def head_of(on: Session, base: OwnerBase) -> Document:
    """Return the document of an owner's era, which is stored when the transaction ends; a new era
    gets one.
    """
    assert base.era is not None
    if base.era in on.heads:
        return on.heads[base.era]
    head = (
        on.head
        if on.head is not None and on.head["_id"] == base.era
        else await on.lock(
            "owners", {**({} if base.owner is None else names_of(base.owner)), "_id": base.era}
        )
    )
    if head is None:
        assert base.owner is not None
        digest = owner_digest(base.secret, base.owner.parts)
        head = new_head(
            base.era, names_of(base.owner), digest, (await on.standing()).restricted.get(digest)
        )
    base.no = base.era.int
    on.heads[base.era] = head
    return head


def new_head(era: UUID, names: Document, digest: bytes, restricted: str | None) -> Document:
    """Return the document of a new era."""
    head = {
        "_id": era,
        **names,
        "digest": digest,
        "position": 0,
        "held": 0,
        "items": 0,
        "shelves": [],
    }
    return head if restricted is None else {**head, "restricted": restricted}


async def _by_operation(on: Session, question: q.ByOperation) -> q.Applied | None:
    digests = [digest for digest in (question.digest, question.brought) if digest]
    docs = await on.find("operations", {"_id": {"$in": digests}})
    if not docs:
        return None
    found = min(docs, key=lambda doc: digests.index(doc["_id"]))
    entry = await on.first("ledger", {"era": found["era"], "position": found["position"]})
    head = await on.first("owners", {"_id": found["era"]}, fields={"erased_at": 1})
    assert entry is not None
    return q.Applied(entry_out(entry), head is None or head.get("erased_at") is not None)


async def _end_of(on: Session, question: q.EndOf) -> q.ThreadEnd | None:
    doc = await on.first("records", {**on.own("records"), "_id": question.thread, "type": "thread"})
    if doc is None or doc.get("status") == "withdrawn":
        return None
    return q.ThreadEnd(
        audience_of(*doc["readers"]), doc.get("kind"), doc["seq"], doc.get("valid_to")
    )


async def _count_active(on: Session, _: q.CountActive) -> int:
    return on.base.held if on.base else 0


async def _count_items(on: Session, question: q.CountItems) -> int:
    late = 0
    if question.at is not None:
        expired = {
            **on.own("records"),
            "type": "item",
            "status": None,
            "valid_to": {"$lte": question.at},
        }
        late = await on.count("records", expired)
    return (on.base.items if on.base else 0) - late


async def _members(on: Session, question: q.Members) -> list[tuple[UUID, UUID]]:
    docs = await on.find("records", {"_id": question.record}, fields={"unlisted": 1})
    groups, page = set(question.groups), question.page
    found = ((one["group"], one["source"]) for doc in docs for one in doc.get("unlisted", ()))
    kept = [
        pair
        for pair in found
        if pair[0] in groups
        and pair[1] > page.after
        and (page.among is None or pair[1] in page.among)
    ]
    return sorted(kept, key=lambda pair: (pair[1], pair[0]))[: page.limit]


async def _other_holders(on: Session, _: q.OtherHolders) -> list[Record]:
    if on.head is None or "tenant" not in on.head:
        return []
    kinds, types = {"$in": ["tenant", "agent"]}, {"$in": ["key", "experience"]}
    filter = {"tenant": on.head["tenant"], "owner_kind": kinds, "type": types}
    return [record_out(doc, damaged=True) for doc in await on.find("records", filter)]


async def _positions_touching(on: Session, question: q.PositionsTouching) -> list[int]:
    if on.head is None:
        return []
    ids = {"$in": list(question.ids)}
    now = await on.find("records", {**on.own("records"), "_id": ids}, fields={"position": 1})
    before = await on.find("versions", {**on.own("versions"), "id": ids}, fields={"position": 1})
    return sorted({doc["position"] for doc in (*now, *before)})


async def _version_of(on: Session, question: q.VersionOf) -> Record | None:
    now = await on.first("records", {**on.own("records"), "_id": question.id})
    if now is None or now["version"] == question.version:
        return None if now is None else record_out(now)
    version = {**on.own("versions"), "id": question.id, "version": question.version}
    earlier = await on.first("versions", version)
    return (
        record_out({**now, **earlier, "_id": question.id}) if earlier and earlier["body"] else None
    )


async def _erased_among(on: Session, question: q.ErasedAmong) -> frozenset[UUID]:
    if not question.ids:
        return frozenset()
    secret = (await on.book())["secret"]
    by_digest = {keyed(secret, "record", id.bytes): id for id in question.ids}
    docs = await on.find("tombstones", {"_id": {"$in": list(by_digest)}})
    return frozenset(by_digest[doc["_id"]] for doc in docs)


async def _aged(on: Session, _: q.Aged) -> dict[UUID, UUID]:
    docs = await on.find(
        "ledger", {**on.own("ledger"), "body.n.aged": {"$exists": True}}, [("position", 1)]
    )
    return {id: thread for doc in docs for id, thread in aged_of(entry_out(doc)).items()}


async def _secret(on: Session, _: q.Secret) -> bytes:
    secret: bytes = (await on.book())["secret"]
    return secret


async def _reserve(on: Session, write: w.Reserve) -> None:
    await on.lock("owners", names_of(write.owner))


async def _put_job(on: Session, write: w.PutJob) -> None:
    head = None if write.base is None else await head_of(on, write.base)
    await jobs.put(on, head, write.draft, write.at, write.id)


async def _store_records(on: Session, write: w.StoreRecords) -> None:
    head, entry = await head_of(on, write.base), write.entry
    storing = Storing(on, head, entry.position)
    await storing.put_all(write.puts, write.rows)
    if any(put.terms is not None for put in write.puts):
        await jobs.make_embedding_due(on, entry.at)
    for id, tail in write.tails.items():
        storing.operations.append(UpdateOne({**storing.names, "_id": id}, {"$max": {"seq": tail}}))
    await on.bulk("records", storing.operations)
    await on.bulk("versions", storing.versions)
    await on.bulk("gone", storing.gone)
    await on.bulk("ledger", [InsertOne(entry_in(head, entry))])
    if entry.operation is not None:
        place = {"_id": entry.operation, "era": head["_id"], "position": entry.position}
        await on.bulk("operations", [InsertOne(place)])
    head["position"] = entry.position
    head["held"] += write.gain
    head["items"] += write.items


class Storing:
    """Makes the documents of records at one ledger position; the revision of each shelf that it
    changes increases once.
    """

    def __init__(self, on: Session, head: Document, position: int) -> None:
        self._on, self._head, self._position = on, head, position
        self._marks: dict[int, int] = {}
        self.names = {name: head[name] for name in NAMES}
        self.operations: list[Any] = []
        self.versions: list[Any] = []
        self.gone: list[Any] = []

    async def put_all(self, puts: Sequence[Put], rows: Sequence[StoredRow]) -> None:
        """Make the writes of records."""
        old = [put.record.id for put in puts if put.before is not None]
        docs = await self._on.find("records", {**self.names, "_id": {"$in": old}}) if old else []
        before = {doc["_id"]: doc for doc in docs}
        # A name may pass from one record of the batch to another.
        freed = [
            put.record.id
            for put in puts
            if "slot" in before.get(put.record.id, ())
            and before[put.record.id]["slot"] != put.record.slot()
        ]
        self.operations += [
            UpdateOne({**self.names, "_id": id}, {"$unset": {"slot": 1}}) for id in freed
        ]
        lacks = [one["no"] for one in (await self._on.standing()).sets]
        for put, row in zip(puts, rows, strict=True):
            if put.before is None:
                self._insert(put, row, lacks)
            else:
                self._update(put, row, before[put.record.id])

    def shelf(self, readers: tuple[str, str, str]) -> Document:
        """Return the owner's shelf for an audience; make it if there is none."""
        number = shelf_number(self._head["_id"], readers)
        for shelf in self._head["shelves"]:
            if shelf["no"] == number:
                return shelf  # type: ignore[no-any-return]
        shelf = {"no": number, "readers": list(readers), "mark": 0, "renewed": 0}
        self._head["shelves"].append(shelf)
        return shelf

    def mark(self, shelf: Document) -> int:
        """Return the revision that this commit gives to a shelf."""
        if shelf["no"] not in self._marks:
            shelf["mark"] += 1
            self._marks[shelf["no"]] = shelf["mark"]
        return self._marks[shelf["no"]]

    def leave(self, shelf: Document, id: UUID) -> None:
        """Note that a passage is no longer on a shelf, for indexes that have cached it."""
        doc = {
            **self.names,
            "era": self._head["_id"],
            "shelf": shelf["no"],
            "mark": self.mark(shelf),
            "id": id,
        }
        self.gone.append(InsertOne(doc))

    def _placed(self, audience: Audience) -> tuple[Document, Document]:
        readers = audience_columns(audience)
        shelf = self.shelf(readers)
        return shelf, {"readers": list(readers), "shelf": shelf["no"], "position": self._position}

    def _insert(self, put: Put, row: StoredRow, lacks: list[int]) -> None:
        shelf, placed = self._placed(put.record.audience)
        doc = {
            **self.names, "era": self._head["_id"], **row_in(row), **placed, "learnt": row.recorded_at,
            "ended": None if row.held else row.recorded_at, "mark": 0, "sources": list(dict.fromkeys(put.record.links())),
        }  # fmt: skip
        if put.run is not None:
            doc["run"] = put.run
        if put.terms is not None:
            doc |= {"terms": put.terms, "rule": RULE, "mark": self.mark(shelf)}
            if lacks:
                doc["lacks"] = lacks
        if put.linked:
            doc["unlisted"] = [{"group": group, "source": source} for group, source in put.linked]
        self.operations.append(insertion(doc))

    def _update(self, put: Put, row: StoredRow, before: Document) -> None:
        record = put.record
        shelf, placed = self._placed(record.audience)
        if record.type in PASSAGE_TYPES:
            if before["shelf"] != shelf["no"]:
                self.leave(self.shelf(tuple(before["readers"])), record.id)
            placed["mark"] = self.mark(shelf)
        kept = {
            name: before[name]
            for name in ("version", "position", "recorded_at", "readers", "body", "hash")
        }
        owned = {**self.names, "id": record.id, "era": self._head["_id"]}
        self.versions.append(InsertOne({**owned, "ended_at": row.recorded_at, **kept}))
        fields = {**row_in(row), **placed, "sources": list(dict.fromkeys(record.links()))}
        del fields["_id"]
        if record.type == "thread":
            del fields["seq"]
        fields["ended"] = None if row.held else before.get("ended") or row.recorded_at
        if put.linked or put.unlinked:
            pairs = {(one["group"], one["source"]) for one in before.get("unlisted", ())}
            pairs = (pairs | set(put.linked)) - set(put.unlinked)
            fields["unlisted"] = [
                {"group": group, "source": source} for group, source in sorted(pairs)
            ]
        lost = {name: 1 for name in MAY_LACK if name in before and name not in fields}
        change: Document = {"$set": fields, **({"$unset": lost} if lost else {})}
        self.operations.append(UpdateOne({**self.names, "_id": record.id}, change))


def insertion(doc: Document) -> ReplaceOne[Document]:
    """Return the insertion of a record in the form of an update, so that one command inserts and
    updates.

    No record is without a type, so the filter finds none: a record with this id makes the insertion
    fail.
    """
    filter = {**{name: doc[name] for name in NAMES}, "_id": doc["_id"], "type": None}
    return ReplaceOne(filter, doc, upsert=True)


ANSWERS: Answers = {
    q.Base: _base,
    q.FindOwner: _base,
    q.Secret: _secret,
    q.ByOperation: _by_operation,
    q.EndOf: _end_of,
    q.CountActive: _count_active,
    q.CountItems: _count_items,
    q.Members: _members,
    q.OtherHolders: _other_holders,
    q.PositionsTouching: _positions_touching,
    q.VersionOf: _version_of,
    q.ErasedAmong: _erased_among,
    q.Aged: _aged,
}
WRITES: Writes = {w.Reserve: _reserve, w.PutJob: _put_job, w.StoreRecords: _store_records}
