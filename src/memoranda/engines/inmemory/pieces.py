"""The pieces of a book in memory: rows that are equal on every engine, as copies, imports and
exports read and write them.
"""

from __future__ import annotations

from dataclasses import fields
from uuid import UUID

from memoranda.engines.inmemory import costs
from memoranda.engines.inmemory.tables import Answers, Era, Kept, Session, Tables, Version, Writes
from memoranda.model.book_rows import (
    OWN_UPKEEP,
    SECRET,
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
from memoranda.model.ledger import Actor, Entry
from memoranda.model.passages import Use
from memoranda.model.values import micros, moment
from memoranda.model.vectors import Embedding
from memoranda.storage import StoredRow, decode, encode
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import (
    audience_columns,
    audience_of,
    dump_entry,
    load_entry_body,
    owner_of,
)

# ── answers ───────────────────────────────────────────────────────────────────────────────────────


def _properties(on: Session, _: u.Properties) -> dict[str, bytes]:
    return {**on.tables.properties, SECRET: on.tables.secret}


def _book_rows(on: Session, _: u.BookRows) -> BookFrame:
    sets = tuple((name, embedding.dimension) for name, embedding in on.tables.sets.items())
    return BookFrame(sets, _jobs(on.tables, None), costs.pieces(on.tables, 0))


def _era_frame(on: Session, question: u.EraFrame) -> Frame | None:
    era = on.tables.eras.get(UUID(bytes=question.era))
    if era is None:
        return None
    shelves = era.shelves.values()
    return Frame(
        question.era,
        None if era.owner is None else era.owner.parts,
        era.digest,
        len(era.ledger),
        era.ended_at,
        tuple(sorted(ShelfPiece(audience_columns(s.audience), s.mark, s.renewed) for s in shelves)),
        _jobs(on.tables, era),
        costs.pieces(on.tables, era.number),
    )


def _pieces_after(on: Session, question: u.PiecesAfter) -> list[Piece]:
    after, limit = question.after, question.limit
    if question.kind is PieceKind.STONE:
        stones = on.tables.tombstones
        return [
            StonePiece(key, stones[key])
            for key in sorted(key for key in stones if key > after)[:limit]
        ]
    if question.kind is PieceKind.READ:
        reads = on.tables.reads
        return [reads[key] for key in sorted(key for key in reads if key > after)[:limit]]
    era = on.tables.eras.get(UUID(bytes=question.era))
    if era is None:
        return []
    if question.kind is PieceKind.ENTRY:
        position = int.from_bytes(after, "big")
        return [_entry(entry) for entry in era.ledger[position : position + limit]]
    return [
        _record(era.records[id])
        for id in sorted(id for id in era.records if id.bytes > after)[:limit]
    ]


def _record(kept: Kept) -> RecordPiece:
    row, use = kept.now.row, kept.use
    if row.type == "thread":
        row = row._replace(seq=kept.tail)
    used_at = None if use is None or use.used_at is None else micros(use.used_at)
    return RecordPiece(
        tuple(row),
        audience_columns(kept.now.audience),
        kept.now.position,
        kept.learnt,
        kept.ended,
        kept.run,
        kept.mark,
        tuple(map(_version, kept.versions[:-1])),
        tuple(sorted(source.bytes for source in kept.sources)),
        None if kept.terms is None else (kept.rule, kept.terms),
        None if use is None else (use.strength, used_at, use.count),
        tuple(sorted(kept.vectors.items())),
        tuple(sorted((group.bytes, id.bytes) for group, ids in kept.groups.items() for id in ids)),
    )


def _version(version: Version) -> VersionPiece:
    row = version.row
    readers = audience_columns(version.audience)
    return VersionPiece(row.version, version.position, row.recorded_at, readers, row.hash, row.body)


def _entry(entry: Entry) -> EntryPiece:
    actor, digests = (entry.actor.kind, entry.actor.id), (entry.operation, entry.request)
    return EntryPiece(entry.position, micros(entry.at), *actor, *digests, dump_entry(entry))


def _jobs(tables: Tables, era: Era | None) -> tuple[JobPiece, ...]:
    whose = None if era is None else era.id
    found = (row.piece for row in tables.jobs.values() if row.era == whose)
    jobs = (job for job in found if era is not None or job.kind not in OWN_UPKEEP)
    return tuple(sorted(job._replace(payload=job_payload(job.payload)) for job in jobs))


# ── writes ────────────────────────────────────────────────────────────────────────────────────────


def _set_property(on: Session, write: w.SetProperty) -> None:
    if write.value is None:
        on.tables.properties.pop(write.name, None)
    elif write.name == SECRET:
        on.tables.secret = write.value
    else:
        on.tables.properties[write.name] = write.value


def _empty_book(on: Session, _: w.EmptyBook) -> None:
    empty = Tables(on.tables.secret, properties=on.tables.properties)
    for field in fields(empty):
        setattr(on.tables, field.name, getattr(empty, field.name))


def _put_book(on: Session, write: w.PutBook) -> None:
    on.tables.sets = {name: Embedding.of_name(name) for name, _ in write.frame.sets}
    _put_work(on.tables, None, write.frame)


def _put_frame(on: Session, write: w.PutFrame) -> None:
    frame, tables = write.frame, on.tables
    id = UUID(bytes=frame.era)
    if id in tables.eras:
        return
    owner = None if frame.names is None else owner_of(*frame.names)
    era = tables.eras[id] = Era(len(tables.eras) + 1, id, owner, frame.digest, frame.erased_at)
    if owner is not None:
        tables.living[owner] = era
    for piece in frame.shelves:
        shelf = tables.shelf(era, audience_of(*piece.readers))
        shelf.mark, shelf.renewed = piece.mark, piece.renewed
    _put_work(tables, era, frame)


def _put_work(tables: Tables, era: Era | None, frame: BookFrame | Frame) -> None:
    owner, id, number = (None, None, 0) if era is None else (era.owner, era.id, era.number)
    tables.jobs.update((piece.id, u.JobRow(piece, owner, id)) for piece in frame.jobs)
    tables.spent.pop(number, None)
    costs.add(tables, number, frame.spent)


def _put_pieces(on: Session, write: w.PutPieces) -> None:
    tables, era = on.tables, on.tables.eras.get(UUID(bytes=write.era or bytes(16)))
    for piece in write.pieces:
        if isinstance(piece, StonePiece):
            tables.tombstones[piece.digest] = piece.at
            continue
        if isinstance(piece, ReadPiece):
            tables.reads.setdefault(piece.key, piece)
            continue
        assert era is not None
        if isinstance(piece, EntryPiece):
            _put_entry(tables, era, piece)
        elif UUID(bytes=piece.key) not in tables.records:
            _put_record(tables, era, piece)


def _put_entry(tables: Tables, era: Era, piece: EntryPiece) -> None:
    if piece.position > len(era.ledger):
        actor = Actor(piece.actor_kind, piece.actor)  # type: ignore[arg-type] # as it was stored
        place, digests = (None, era.id, piece.position), (piece.operation, piece.request)
        tables.write(
            era, Entry(*place, moment(piece.at), actor, *load_entry_body(piece.body), *digests)
        )


def _put_record(tables: Tables, era: Era, piece: RecordPiece) -> None:
    row = StoredRow(*piece.row)
    tail = 0
    if row.type == "thread":
        tail, row = row.seq, row._replace(seq=0)
    earlier = [_earlier(tables, era, piece, row, version) for version in piece.earlier]
    current = Version(row, audience_of(*piece.readers), piece.position)
    sources = tuple(UUID(bytes=source) for source in piece.sources)
    kept = Kept(era, [*earlier, current], sources, piece.run, mark=piece.mark, tail=tail)
    tables.add(kept)
    groups: dict[UUID, set[UUID]] = {}
    for group, source in piece.unlisted:
        groups.setdefault(UUID(bytes=group), set()).add(UUID(bytes=source))
    tables.group(kept, groups)
    if piece.terms is not None:
        kept.rule, kept.terms = piece.terms
    kept.vectors = {name: packed for name, packed in piece.vectors if name in tables.sets}
    if piece.use is not None:
        strength, used_at, count = piece.use
        kept.use = Use(
            strength=strength, used_at=None if used_at is None else moment(used_at), count=count
        )


def _earlier(
    tables: Tables, era: Era, piece: RecordPiece, now: StoredRow, version: VersionPiece
) -> Version:
    audience = audience_of(*version.readers)
    number, recorded_at = version.version, version.recorded_at
    if version.body:
        assert era.owner is not None
        id = UUID(bytes=now.id)
        record = decode(now.type, id, era.owner, audience, number, recorded_at, version.body)
        return Version(encode(record, tables.secret), audience, version.position)
    # The status of an emptied version is unknown, but not whether the record was still active then.
    status = now.status if piece.ended is not None and recorded_at >= piece.ended else None
    row = now._replace(version=number, recorded_at=recorded_at, status=status, body="", hash=b"")
    return Version(row, audience, version.position)


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
    w.Recount: lambda *_: None,
}
