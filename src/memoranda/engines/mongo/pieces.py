"""The pieces of a book: rows that are equal on every engine, as copies, imports and exports read
and write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from pymongo import DeleteMany, InsertOne, ReplaceOne, UpdateOne

from memoranda.engines.mongo import costs, jobs
from memoranda.engines.mongo.batches import insertion, new_head
from memoranda.engines.mongo.collections import COLLECTIONS
from memoranda.engines.mongo.documents import (
    body_in,
    body_out,
    entry_body_in,
    row_in,
    row_out,
    shelf_number,
    value_in,
    values_of,
    vector_fields,
    vector_in,
    vector_out,
)
from memoranda.engines.mongo.server.session import NAMES, Answers, Document, Session, Writes
from memoranda.model.book_rows import (
    ARRIVAL,
    BACKUP,
    DEPARTURE,
    MADE_BY,
    OWN_UPKEEP,
    SECRET,
    WHO_FORMS,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    PieceKind,
    ReadPiece,
    RecordPiece,
    ShelfPiece,
    StonePiece,
    VersionPiece,
    job_payload,
)
from memoranda.model.records import RecordType
from memoranda.storage import StoredRow
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w

_PROPERTIES = (SECRET, DEPARTURE, ARRIVAL, MADE_BY, BACKUP, WHO_FORMS)
_PARTS = ("tenant", "owner_kind", "owner_id")
_ENTRY = ("position", "at", "actor_kind", "actor", "operation", "request")
_USE = ("strength", "used_at", "count")
_TYPES = [type.value for type in RecordType]


# ── answers ───────────────────────────────────────────────────────────────────────────────────────


async def _properties(on: Session, _: u.Properties) -> dict[str, bytes]:
    book = await on.book()
    return {name: book[name] for name in _PROPERTIES if name in book}


async def _jobs(on: Session, era: UUID | None) -> tuple[JobPiece, ...]:
    docs = await on.find("jobs", {"era": era}, [("_id", 1)])
    moved = [doc for doc in docs if era is not None or doc["kind"] not in OWN_UPKEEP]
    kept = await jobs.answers_of(on, moved)
    pieces = (jobs.piece_out(doc, kept.get(doc["_id"])) for doc in moved)
    return tuple(piece._replace(payload=job_payload(piece.payload)) for piece in pieces)


async def _book_rows(on: Session, _: u.BookRows) -> BookFrame:
    sets = await on.find("vector_sets", {}, [("active", -1), ("no", 1)])
    named = tuple((doc["_id"], doc["dimension"]) for doc in sets)
    return BookFrame(named, await _jobs(on, None), await costs.pieces(on, costs.NOBODY))


async def _era_frame(on: Session, question: u.EraFrame) -> Frame | None:
    era = UUID(bytes=question.era)
    head = await on.first("owners", {"_id": era})
    if head is None:
        return None
    names = tuple(head[name] for name in _PARTS) if "tenant" in head else None
    shelves = sorted(
        ShelfPiece(tuple(one["readers"]), one["mark"], one["renewed"]) for one in head["shelves"]
    )
    return Frame(
        question.era, names, head["digest"], head["position"], head.get("erased_at"), tuple(shelves),
        await _jobs(on, era), await costs.pieces(on, era),
    )  # fmt: skip


async def _pieces_after(on: Session, question: u.PiecesAfter) -> Sequence[Piece]:
    after, limit = question.after, question.limit
    later: Document
    if question.kind is PieceKind.STONE:
        docs = await on.find("tombstones", {"_id": {"$gt": after}}, [("_id", 1)], limit)
        return [StonePiece(doc["_id"], doc["at"]) for doc in docs]
    if question.kind is PieceKind.READ:
        at, id = int.from_bytes(after[:8], "big"), after[8:]
        later = {"$or": [{"at": {"$gt": at}}, {"at": at, "id": {"$gt": id}}]} if after else {}
        docs = await on.find("audit", later, [("at", 1), ("id", 1)], limit)
        return [ReadPiece(*values_of(doc, ReadPiece._fields)) for doc in docs]
    head = await on.first("owners", {"_id": UUID(bytes=question.era)})
    if head is None:
        return []
    if question.kind is PieceKind.ENTRY:
        names = {name: head[name] for name in NAMES if name in head}
        later = {**names, "era": head["_id"], "position": {"$gt": int.from_bytes(after, "big")}}
        docs = await on.find("ledger", later, [("position", 1)], limit)
        return [EntryPiece._make((*values_of(doc, _ENTRY), body_out(doc["body"]))) for doc in docs]
    if "tenant" not in head:
        return []
    names = {name: head[name] for name in NAMES}
    # With each shelf and type the server reads an index in order.
    placed = {"shelf": {"$in": [one["no"] for one in head["shelves"]]}, "type": {"$in": _TYPES}}
    later = (
        {**names, **placed, "_id": {"$gt": UUID(bytes=after or bytes(16))}}
        if after
        else {**names, **placed}
    )
    docs = await on.find("records", later, [("_id", 1)], limit)
    ids = {"$in": [doc["_id"] for doc in docs]}
    earlier: dict[UUID, list[Document]] = {}
    for one in await on.find("versions", {**names, "id": ids}, [("id", 1), ("version", 1)]):
        earlier.setdefault(one["id"], []).append(one)
    sets = await on.find("vector_sets", {})
    return [_record(doc, earlier.get(doc["_id"], []), sets) for doc in docs]


def _record(doc: Document, earlier: list[Document], sets: list[Document]) -> RecordPiece:
    get = doc.get
    versions = (
        VersionPiece(
            v["version"],
            v["position"],
            v["recorded_at"],
            tuple(v["readers"]),
            v["hash"],
            body_out(v["body"]),
        )
        for v in earlier
    )
    vectors = ((one["_id"], vector_out(*_values(doc, vector_fields(one)))) for one in sets)
    return RecordPiece(
        tuple(row_out(doc)), tuple(doc["readers"]), doc["position"], doc["learnt"], get("ended"), get("run"), doc["mark"],
        tuple(versions),
        tuple(sorted(source.bytes for source in doc["sources"])),
        (doc["rule"], doc["terms"]) if "rule" in doc else None,
        values_of(doc["use"], _USE) if "use" in doc else None,
        tuple(sorted((name, vector) for name, vector in vectors if vector is not None)),
        tuple(sorted((one["group"].bytes, one["source"].bytes) for one in get("unlisted", ()))),
    )  # fmt: skip


def _values(doc: Document, fields: Iterable[str]) -> tuple[Any, ...]:
    return values_of(doc, list(fields))


# ── writes ────────────────────────────────────────────────────────────────────────────────────────


async def _set_property(on: Session, write: w.SetProperty) -> None:
    change = (
        {"$unset": {write.name: 1}} if write.value is None else {"$set": {write.name: write.value}}
    )
    await on.bulk("book", [UpdateOne({"_id": "book"}, change)])


async def _empty_book(on: Session, _: w.EmptyBook) -> None:
    on.heads.clear()
    for name in COLLECTIONS:
        if name not in ("book", "gates"):
            await on.bulk(name, [DeleteMany({})])


async def _put_book(on: Session, write: w.PutBook) -> None:
    sets = [
        UpdateOne(
            {"_id": name},
            {"$setOnInsert": {"no": no, "dimension": size, "active": no == 1}},
            upsert=True,
        )
        for no, (name, size) in enumerate(write.frame.sets, 1)
    ]
    await on.bulk("vector_sets", sets)
    await _put_work(on, None, write.frame)


async def _put_work(on: Session, head: Document | None, frame: BookFrame | Frame) -> None:
    docs = [jobs.doc_in(piece, head) for piece in frame.jobs]
    await on.bulk("jobs", [ReplaceOne({"_id": doc["_id"]}, doc, upsert=True) for doc in docs])
    kept = [(value_in("_id", job.id), *job.kept) for job in frame.jobs if job.kept is not None]
    answers = [
        {"_id": id, "records": value_in("records", about), "payload": text}
        for id, about, text in kept
    ]
    await on.bulk("answers", [ReplaceOne({"_id": doc["_id"]}, doc, upsert=True) for doc in answers])
    owner = costs.NOBODY if head is None else head["_id"]
    await on.bulk("usage", [DeleteMany({"owner": owner})])
    await costs.add(on, owner, frame.spent)


async def _put_frame(on: Session, write: w.PutFrame) -> None:
    frame = write.frame
    era = UUID(bytes=frame.era)
    if era in on.heads or await on.first("owners", {"_id": era}, fields={"_id": 1}):
        return
    names = {} if frame.names is None else dict(zip(_PARTS, frame.names, strict=True))
    restricted = await on.first("restrictions", {"_id": frame.digest}) if names else None
    head = new_head(era, names, frame.digest, None if restricted is None else restricted["mode"])
    head["position"] = frame.position
    head["shelves"] = [
        {
            "no": shelf_number(era, one.readers),
            "readers": list(one.readers),
            "mark": one.mark,
            "renewed": one.renewed,
        }
        for one in frame.shelves
    ]
    if frame.erased_at is not None:
        head["erased_at"] = frame.erased_at
    on.heads[era] = head
    await _put_work(on, head, frame)


async def _put_pieces(on: Session, write: w.PutPieces) -> None:
    stones = (p for p in write.pieces if isinstance(p, StonePiece))
    kept = [
        UpdateOne({"_id": p.digest}, {"$setOnInsert": {"at": p.at}}, upsert=True) for p in stones
    ]
    await on.bulk("tombstones", kept)
    lines = [p._asdict() for p in write.pieces if isinstance(p, ReadPiece)]
    keys = ({"at": line["at"], "id": line["id"]} for line in lines)
    await on.bulk(
        "audit",
        [
            UpdateOne(key, {"$setOnInsert": line}, upsert=True)
            for key, line in zip(keys, lines, strict=True)
        ],
    )
    entries = [p for p in write.pieces if isinstance(p, EntryPiece)]
    records = [p for p in write.pieces if isinstance(p, RecordPiece)]
    if not (entries or records):
        return
    era = UUID(bytes=write.era)
    head = on.heads.get(era) or await on.first("owners", {"_id": era})
    assert head is not None
    await _put_entries(on, head, entries)
    await _put_records(on, head, records)


async def _put_entries(on: Session, head: Document, pieces: list[EntryPiece]) -> None:
    names = {name: head[name] for name in NAMES if name in head}
    docs = []
    for piece in pieces:
        doc = {**names, "era": head["_id"], **piece._asdict(), **entry_body_in(piece.body)}
        docs.append(
            {name: value for name, value in doc.items() if value is not None or name == "actor"}
        )
    keys = ({**names, "era": doc["era"], "position": doc["position"]} for doc in docs)
    stored = [
        UpdateOne(key, {"$setOnInsert": doc}, upsert=True)
        for key, doc in zip(keys, docs, strict=True)
    ]
    await on.bulk("ledger", stored)
    places = [
        (d["operation"], {"era": d["era"], "position": d["position"]})
        for d in docs
        if "operation" in d
    ]
    await on.bulk(
        "operations",
        [UpdateOne({"_id": id}, {"$setOnInsert": place}, upsert=True) for id, place in places],
    )


async def _put_records(on: Session, head: Document, pieces: list[RecordPiece]) -> None:
    ids = [UUID(bytes=piece.key) for piece in pieces]
    there = {
        doc["_id"] for doc in await on.find("records", {"_id": {"$in": ids}}, fields={"_id": 1})
    }
    new = [piece for piece in pieces if UUID(bytes=piece.key) not in there]
    sets = await on.find("vector_sets", {}) if new else []
    await on.bulk("records", [insertion(_record_in(head, piece, sets)) for piece in new])
    await on.bulk(
        "versions", [InsertOne(doc) for piece in new for doc in _versions_in(head, piece)]
    )


def _record_in(head: Document, piece: RecordPiece, sets: list[Document]) -> Document:
    names = {name: head[name] for name in NAMES}
    doc: Document = {
        **names, "era": head["_id"], **row_in(StoredRow(*piece.row)), "readers": list(piece.readers),
        "shelf": shelf_number(head["_id"], piece.readers), "position": piece.position, "learnt": piece.learnt,
        "ended": piece.ended, "mark": piece.mark, "sources": [UUID(bytes=one) for one in piece.sources],
    }  # fmt: skip
    if piece.run is not None:
        doc["run"] = piece.run
    if piece.terms is not None:
        doc |= dict(zip(("rule", "terms"), piece.terms, strict=True))
        vectors = dict(piece.vectors)
        for one in sets:
            if (packed := vectors.get(one["_id"])) is None:
                doc.setdefault("lacks", []).append(one["no"])
                continue
            for field, value in zip(vector_fields(one), vector_in(packed), strict=True):
                outer, _, inner = field.partition(".")
                doc[outer] = {**doc.get(outer, {}), inner: value} if inner else value
    if piece.use is not None:
        doc["use"] = dict(zip(_USE, piece.use, strict=True))
    if piece.unlisted:
        doc["unlisted"] = [
            {"group": UUID(bytes=group), "source": UUID(bytes=one)} for group, one in piece.unlisted
        ]
    return doc


def _versions_in(head: Document, piece: RecordPiece) -> list[Document]:
    ends = [*(one.recorded_at for one in piece.earlier[1:]), piece.row[3]]
    own = {**{name: head[name] for name in NAMES}, "era": head["_id"], "id": UUID(bytes=piece.key)}
    return [
        {**own, "ended_at": end, "version": one.version, "position": one.position, "recorded_at": one.recorded_at,
         "readers": list(one.readers), "hash": one.hash, "body": body_in(one.body)}
        for one, end in zip(piece.earlier, ends, strict=False)
    ]  # fmt: skip


async def _recount(on: Session, write: w.Recount) -> None:
    if write.era is not None:
        eras = {UUID(bytes=write.era)}
    else:
        eras = {
            doc["_id"]
            for doc in await on.find("owners", {"owner_id": {"$exists": True}}, fields={"_id": 1})
        }
    for era in eras | set(on.heads):
        head = on.heads.get(era) or await on.lock("owners", {"_id": era})
        assert head is not None
        own = {name: head[name] for name in NAMES if name in head}
        if own:
            head["held"] = await on.count("records", {**own, "type": "memory", "status": "active"})
            head["items"] = await on.count("records", {**own, "type": "item", "status": None})
        on.heads[era] = head


ANSWERS: Answers = {
    u.Properties: _properties,
    u.BookRows: _book_rows,
    u.EraFrame: _era_frame,
    u.PiecesAfter: _pieces_after,
}
WRITES: Writes = {
    w.SetProperty: _set_property,
    w.EmptyBook: _empty_book,
    w.PutBook: _put_book,
    w.PutFrame: _put_frame,
    w.PutPieces: _put_pieces,
    w.Recount: _recount,
}
