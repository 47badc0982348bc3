"""The pieces of a book in SQLite: rows that are equal on every engine, as copies, imports and
exports read and write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.erasure import SCRUB
from memoranda.engines.sqlite.file.connections import Answers, Session, Writes
from memoranda.engines.sqlite.service_rows import put_reads
from memoranda.model.book_rows import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    PieceKind,
    Readers,
    ReadPiece,
    RecordPiece,
    SpentPiece,
    StonePiece,
)
from memoranda.model.records import Owner, RecordType
from memoranda.model.values import utc_now
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.piece_rows import frame_of, job_of, records_of, rows_of_versions
from memoranda.storage.rows import owner_of
from memoranda.storage.service_questions import PutReads

_UPKEEP = json.dumps(OWN_UPKEEP)

# ── answers ───────────────────────────────────────────────────────────────────────────────────────


def properties(on: Session, _: u.Properties | None = None) -> dict[str, bytes]:
    """Return the named values of the book."""
    return dict(on.all("properties"))


def _eras_after(on: Session, question: u.ErasAfter) -> list[bytes]:
    return [row[0] for row in on.all("eras_after", question.after, question.limit)]


def _book_rows(on: Session, _: u.BookRows) -> BookFrame:
    sets = tuple((row[1], row[2]) for row in on.all("vector_sets"))
    return BookFrame(sets, _jobs(on, 0), _spent(on, 0))


def _era_frame(on: Session, question: u.EraFrame) -> Frame | None:
    row = on.one("era", question.era)
    if row is None:
        return None
    shelves = on.all("shelves_of_era", row[0])
    return frame_of(question.era, row[1:], shelves, _jobs(on, row[0]), _spent(on, row[0]))


def _jobs(on: Session, owner: int) -> tuple[JobPiece, ...]:
    rows = on.all("jobs_of_era", owner, _UPKEEP)
    return tuple(job_of(jobs.piece_of(row), jobs.ids_of(row[16] or "[]"), row[17]) for row in rows)


def _spent(on: Session, owner: int) -> tuple[SpentPiece, ...]:
    return tuple(on.all("spent_of_owner", owner))


def _pieces_after(on: Session, question: u.PiecesAfter) -> Sequence[Piece]:
    after, limit = question.after, question.limit
    if question.kind is PieceKind.STONE:
        return [StonePiece(*row) for row in on.all("stone_pieces", after, limit)]
    if question.kind is PieceKind.READ:
        start = int.from_bytes(after[:8], "big"), after[8:]
        return [ReadPiece(*row) for row in on.all("read_pieces", *start, limit)]
    no = on.value("era", question.era)
    if no is None:
        return []
    if question.kind is PieceKind.ENTRY:
        return [
            EntryPiece(*row)
            for row in on.all("entry_pieces", no, int.from_bytes(after, "big"), limit)
        ]
    rows = on.many("record_pieces", _ids_after(on, no, after, limit))
    numbers = [row[0] for row in rows]
    versions = on.many("version_pieces", numbers)
    links = on.many("link_pieces", [row[1] for row in rows])
    return records_of(rows, versions, links, on.many("vector_pieces", numbers))


def _ids_after(on: Session, owner: int, after: bytes, limit: int) -> list[bytes]:
    """Return ids after a key; each shelf and type is read through its index, up to the limit."""
    found: list[bytes] = []
    for shelf, *_ in on.all("shelves_of_era", owner):
        for type_ in RecordType:
            found += (
                row[0] for row in on.all("ids_on_shelf_after", shelf, type_.value, after, limit)
            )
    return sorted(found)[:limit]


def _owners_of(on: Session, question: u.OwnersOf) -> list[Owner]:
    return [owner_of(*row) for row in on.all("owners_of_tenant", question.tenant)]


# ── writes ────────────────────────────────────────────────────────────────────────────────────────


def _set_property(on: Session, write: w.SetProperty) -> None:
    if write.value is None:
        on.run("remove_property", write.name)
    else:
        on.run("set_property", write.name, write.value)


def _empty_book(on: Session, _: w.EmptyBook) -> None:
    execute, tables = on.connection.execute, on.all("tables_of_content")
    removed = [execute(f'DELETE FROM "{name}"').rowcount for (name,) in tables]  # noqa: S608 - the schema's own name
    if any(removed):
        # Also what was erased in the source since an earlier run copied it must leave the file.
        jobs.put(on.connection, 0, SCRUB, utc_now())


def _put_book(on: Session, write: w.PutBook) -> None:
    for place, (name, dimension) in enumerate(write.frame.sets):
        on.run("lay_vector_set", name, dimension, place == 0)
    _put_work(on, 0, write.frame)


def _put_frame(on: Session, write: w.PutFrame) -> None:
    frame = write.frame
    names = frame.names or (None, None, None)
    no = on.value("lay_era", *names, frame.era, frame.digest, frame.position, frame.erased_at)
    if no is None:
        return
    for shelf in frame.shelves:
        on.run("set_shelf", shelf.mark, shelf.renewed, _shelf_number(on, no, shelf.readers))
    _put_work(on, no, frame)


def _put_work(on: Session, owner: int, frame: BookFrame | Frame) -> None:
    for job in frame.jobs:
        on.run("lay_job", owner, *job[:4], _listed(job.records), *job[5:-1])
        if job.kept is not None:
            on.run("lay_kept", job.id, _listed(job.kept[0]), job.kept[1])
    for row in frame.spent:
        on.run("lay_spent", owner, *row)


def _listed(ids: Iterable[bytes]) -> str:
    return json.dumps([id.hex() for id in ids])


def _shelf_number(on: Session, owner: int, readers: Readers) -> int:
    """Return the number of the owner's shelf for an audience; make the shelf if there is none."""
    found: int | None = on.value("shelf", owner, *readers)
    if found is None:
        found = on.value("add_shelf", owner, *readers)
        for group in json.loads(readers[2]):
            on.run("add_shelf_group", found, group)
    assert found is not None
    return found


def _put_pieces(on: Session, write: w.PutPieces) -> None:
    no = on.value("era", write.era)
    for stone in (piece for piece in write.pieces if isinstance(piece, StonePiece)):
        on.run("lay_stone", *stone)
    put_reads(on, PutReads([piece for piece in write.pieces if isinstance(piece, ReadPiece)]))
    for entry in (piece for piece in write.pieces if isinstance(piece, EntryPiece)):
        on.run("lay_entry", no, *entry)
    if records := [piece for piece in write.pieces if isinstance(piece, RecordPiece)]:
        _put_records(on, no, records)


def _put_records(on: Session, owner: int, pieces: list[RecordPiece]) -> None:
    readers = {p.readers for p in pieces} | {v.readers for p in pieces for v in p.earlier}
    shelves = {each: _shelf_number(on, owner, each) for each in sorted(readers)}
    sets = {row[1]: row[0] for row in on.all("vector_sets")}
    for p in pieces:
        no = on.value("lay_record", *p.row, owner, shelves[p.readers], *p[2:7])
        if no is None:
            continue
        beside: list[tuple[str, tuple[Any, ...]]] = [
            *(("lay_version", row) for row in rows_of_versions([p], {p.key: no}, shelves)),
            *(("link", (p.key, b"", source)) for source in p.sources),
            *(("link", (p.key, *pair)) for pair in p.unlisted),
            *(("put_terms", (no, *terms)) for terms in (p.terms,) if terms is not None),
            *(("put_use", (no, *use)) for use in (p.use,) if use is not None),
            *(
                ("add_vector", (sets[name], no, packed))
                for name, packed in p.vectors
                if name in sets
            ),
        ]
        for name, row in beside:
            on.run(name, *row)


def _recount(on: Session, write: w.Recount) -> None:
    if write.era is not None:
        on.run("recount_held", on.value("era", write.era))
        return
    on.run("recount_held_of_all")
    on.run("recount_vector_sets")


ANSWERS: Answers = {
    u.Properties: properties,
    u.ErasAfter: _eras_after,
    u.BookRows: _book_rows,
    u.EraFrame: _era_frame,
    u.PiecesAfter: _pieces_after,
    u.OwnersOf: _owners_of,
}

WRITES: Writes = {
    w.SetProperty: _set_property,
    w.EmptyBook: _empty_book,
    w.PutBook: _put_book,
    w.PutFrame: _put_frame,
    w.PutPieces: _put_pieces,
    w.Recount: _recount,
}
