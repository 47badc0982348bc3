"""Reads and writes a whole book in memory as rows that are equal on every engine, for copies and imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory import costs
from memoranda.engines.inmemory.tables import Answers, Era, Kept, Session, Tables, Version
from memoranda.model.book_rows import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    OwnerPieces,
    Piece,
    PieceKind,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    StonePiece,
    VersionPiece,
    job_payload,
)
from memoranda.model.ledger import Actor, Entry
from memoranda.model.passages import Use
from memoranda.model.values import micros, moment
from memoranda.model.vectors import Embedding
from memoranda.storage import StoredRow, decode, encode
from memoranda.storage import questions as q
from memoranda.storage.rows import audience_columns, audience_of, dump_entry, load_entry_body, owner_of


def book_frame(tables: Tables) -> BookFrame:
    """Return the rows that belong to no owner, without the tombstones of erased records."""
    sets = tuple((name, embedding.dimension) for name, embedding in tables.sets.items())
    return BookFrame(sets, _jobs(tables, None), costs.pieces(tables, 0))


def frame(tables: Tables, id: bytes) -> Frame | None:
    """Return the rows of an era except its records and ledger entries; None if this book does not have the era."""
    era = tables.eras.get(UUID(bytes=id))
    if era is None:
        return None
    shelves = (
        ShelfPiece(audience_columns(shelf.audience), shelf.mark, shelf.renewed)
        for shelf in era.shelves.values()
    )
    return Frame(
        id,
        None if era.owner is None else era.owner.parts,
        era.digest,
        len(era.ledger),
        era.ended_at,
        tuple(sorted(shelves)),
        _jobs(tables, era),
        costs.pieces(tables, era.number),
    )


def after(tables: Tables, kind: PieceKind, era: bytes, behind: bytes) -> list[Piece]:
    """Return the next pieces (records or other rows of a copy) after a key, ordered by key."""
    if kind is PieceKind.STONE:
        return [StonePiece(*stone) for stone in sorted(tables.tombstones.items()) if stone[0] > behind]
    of = tables.eras.get(UUID(bytes=era))
    if of is None:
        return []
    if kind is PieceKind.ENTRY:
        return [_entry(entry) for entry in of.ledger[int.from_bytes(behind, "big") :]]
    return [_record(of.records[id]) for id in sorted(of.records) if id.bytes > behind]


def whole(tables: Tables, era: Era) -> OwnerPieces:
    """Return all rows of the owner that has this era."""
    found = frame(tables, era.id.bytes)
    assert found is not None
    return OwnerPieces(
        found, [_record(era.records[id]) for id in sorted(era.records)], [_entry(e) for e in era.ledger]
    )


def _record(kept: Kept) -> RecordPiece:
    row: tuple[Any, ...] = tuple(kept.now.row)
    if kept.now.row.type == "thread":
        row = tuple(kept.now.row._replace(seq=kept.tail))
    use = kept.use
    return RecordPiece(
        row,
        audience_columns(kept.now.audience),
        kept.now.position,
        kept.learnt,
        kept.ended,
        kept.run,
        kept.mark,
        tuple(map(_version, kept.versions[:-1])),
        tuple(sorted(source.bytes for source in kept.sources)),
        None if kept.terms is None else (kept.rule, kept.terms),
        None
        if use is None
        else (use.strength, None if use.used_at is None else micros(use.used_at), use.count),
        tuple(sorted(kept.vectors.items())),
    )


def _version(version: Version) -> VersionPiece:
    row = version.row
    readers = audience_columns(version.audience)
    return VersionPiece(row.version, version.position, row.recorded_at, readers, row.hash, row.body)


def _entry(entry: Entry) -> EntryPiece:
    return EntryPiece(
        entry.position,
        micros(entry.at),
        entry.actor.kind,
        entry.actor.id,
        entry.operation,
        entry.request,
        dump_entry(entry),
    )


def _jobs(tables: Tables, era: Era | None) -> tuple[JobPiece, ...]:
    whose = None if era is None else era.id
    found = (row.piece for row in tables.jobs.values() if row.era == whose)
    return tuple(
        sorted(
            job._replace(payload=job_payload(job.payload))
            for job in found
            if era is not None or job.kind not in OWN_UPKEEP
        )
    )


def lay_book(tables: Tables, frame: BookFrame) -> None:
    """Write the rows that belong to no owner."""
    tables.sets = {name: Embedding.of_name(name) for name, _ in frame.sets}
    _lay_work(tables, None, frame.jobs)
    _lay_spent(tables, 0, frame.spent)


def lay_frame(tables: Tables, frame: Frame) -> None:
    """Write the rows of an era except its records and ledger entries, unless this book has the era already."""
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
    _lay_work(tables, era, frame.jobs)
    _lay_spent(tables, era.number, frame.spent)


def lay(tables: Tables, id: bytes, pieces: Sequence[Piece]) -> None:
    """Write those pieces (records or other rows of a copy) of an era that the book does not have yet."""
    for piece in pieces:
        if isinstance(piece, StonePiece):
            tables.tombstones[piece.digest] = piece.at
        elif isinstance(piece, EntryPiece):
            _lay_entry(tables, tables.eras[UUID(bytes=id)], piece)
        elif UUID(bytes=piece.key) not in tables.records:
            _lay_record(tables, tables.eras[UUID(bytes=id)], piece)


def _lay_entry(tables: Tables, era: Era, piece: EntryPiece) -> None:
    lines, ignored, note = load_entry_body(piece.body)
    actor = Actor(piece.actor_kind, piece.actor)  # type: ignore[arg-type] # as it was stored
    entry = Entry(
        None, era.id, piece.position, moment(piece.at), actor, lines, ignored, note, piece.operation, piece.request
    )  # fmt: skip
    if piece.position > len(era.ledger):
        tables.write(era, entry)


def _lay_record(tables: Tables, era: Era, piece: RecordPiece) -> None:
    row = StoredRow(*piece.row)
    tail = 0
    if row.type == "thread":
        tail, row = row.seq, row._replace(seq=0)
    current = Version(row, audience_of(*piece.readers), piece.position)
    earlier = [_earlier(tables, era, piece, row, version) for version in piece.earlier]
    kept = Kept(era, [*earlier, current], tuple(UUID(bytes=source) for source in piece.sources))
    tables.add(kept)
    kept.run, kept.mark, kept.tail = piece.run, piece.mark, tail
    if piece.terms is not None:
        kept.rule, kept.terms = piece.terms
    kept.vectors = {name: packed for name, packed in piece.vectors if name in tables.sets}
    if piece.use is not None:
        strength, used_at, count = piece.use
        used = None if used_at is None else moment(used_at)
        kept.use = Use(strength=strength, used_at=used, count=count)


def _earlier(tables: Tables, era: Era, piece: RecordPiece, now: StoredRow, version: VersionPiece) -> Version:
    audience = audience_of(*version.readers)
    if version.body:
        assert era.owner is not None
        record = decode(
            now.type,
            UUID(bytes=now.id),
            era.owner,
            audience,
            version.version,
            version.recorded_at,
            version.body,
        )
        return Version(encode(record, tables.secret), audience, version.position)
    # The status of an emptied version is unknown, but not whether the record was still active then.
    ended = piece.ended is not None and version.recorded_at >= piece.ended
    row = now._replace(
        version=version.version,
        recorded_at=version.recorded_at,
        status=now.status if ended else None,
        body="",
        hash=b"",
    )
    return Version(row, audience, version.position)


def _lay_work(tables: Tables, era: Era | None, pieces: Iterable[JobPiece]) -> None:
    owner, id = (None, None) if era is None else (era.owner, era.id)
    tables.jobs.update((piece.id, q.JobRow(piece, owner, id)) for piece in pieces)


def _lay_spent(tables: Tables, number: int, pieces: Iterable[SpentPiece]) -> None:
    tables.spent.pop(number, None)
    costs.add(tables, number, pieces)


def _eras_after(on: Session, question: q.ErasAfter) -> list[bytes]:
    return sorted(id.bytes for id in on.tables.eras if id.bytes > question.after)[: question.limit]


def _pieces_after(on: Session, question: q.PiecesAfter) -> list[Piece]:
    return after(on.tables, question.kind, question.era, question.after)[: question.limit]


ANSWERS: Answers = {q.ErasAfter: _eras_after, q.PiecesAfter: _pieces_after}
