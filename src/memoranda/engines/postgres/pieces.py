"""The pieces of a book on a server: rows that are equal on every engine, as copies, imports and
exports read and write them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.server.session import Answers, PutJobIfBehind, Session, Writes
from memoranda.engines.postgres.service_rows import put_reads
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
from memoranda.model.records import Owner
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.piece_rows import frame_of, job_of, records_of, rows_of_versions
from memoranda.storage.rows import owner_of
from memoranda.storage.service_questions import PutReads

#: Pieces that are sent to the server at a time.
_AT_ONCE = 500

# ── answers ───────────────────────────────────────────────────────────────────────────────────────


async def _properties(on: Session, _: u.Properties) -> dict[str, bytes]:
    return {row[0]: bytes(row[1]) for row in await on.all("properties")}


async def _eras_after(on: Session, question: u.ErasAfter) -> list[bytes]:
    return [row[0] for row in await on.all("eras_after", question.after, question.limit)]


async def _book_rows(on: Session, _: u.BookRows) -> BookFrame:
    sets = tuple((row[1], row[2]) for row in await on.all("vector_sets"))
    return BookFrame(sets, await _jobs(on, 0), await _spent(on, 0))


async def _era_frame(on: Session, question: u.EraFrame) -> Frame | None:
    row = await on.one("era", question.era)
    if row is None:
        return None
    shelves = await on.all("shelves_of_era", row[0])
    return frame_of(
        question.era, row[1:], shelves, await _jobs(on, row[0]), await _spent(on, row[0])
    )


async def _jobs(on: Session, owner: int) -> tuple[JobPiece, ...]:
    rows = await on.all("jobs_of_era", owner, list(OWN_UPKEEP))
    return tuple(job_of(jobs.piece_of(row), row[16], row[17]) for row in rows)


async def _spent(on: Session, owner: int) -> tuple[SpentPiece, ...]:
    return tuple(tuple(row) for row in await on.all("spent_of_owner", owner))


async def _pieces_after(on: Session, question: u.PiecesAfter) -> Sequence[Piece]:
    after, limit = question.after, question.limit
    if question.kind is PieceKind.STONE:
        return [StonePiece(*row) for row in await on.all("stone_pieces", after, limit)]
    if question.kind is PieceKind.READ:
        start = int.from_bytes(after[:8], "big"), after[8:]
        return [ReadPiece(*row) for row in await on.all("read_pieces", *start, limit)]
    no = await on.value("era", question.era)
    if no is None:
        return []
    if question.kind is PieceKind.ENTRY:
        return [
            EntryPiece(*row)
            for row in await on.all("entry_pieces", no, int.from_bytes(after, "big"), limit)
        ]
    rows = await on.all("record_pieces", no, after, limit)
    numbers = [row[0] for row in rows]
    versions = await on.all("version_pieces", no, numbers)
    links = await on.all("link_pieces", no, [row[1] for row in rows])
    return records_of(rows, versions, links, await on.all("vector_pieces", no, numbers))


async def _owners_of(on: Session, question: u.OwnersOf) -> list[Owner]:
    return [owner_of(*row) for row in await on.all("owners_of_tenant", question.tenant)]


# ── writes ────────────────────────────────────────────────────────────────────────────────────────


async def _set_property(on: Session, write: w.SetProperty) -> None:
    if write.value is None:
        await on.run("remove_property", write.name)
    else:
        await on.run("set_property", write.name, write.value)


async def _empty_book(on: Session, _: w.EmptyBook) -> None:
    # Truncated, so that the server's files keep no rows either.
    await on.run_text(f"TRUNCATE {await on.value('tables_of_content')}")


async def _put_book(on: Session, write: w.PutBook) -> None:
    for place, (name, dimension) in enumerate(write.frame.sets):
        await on.run("lay_vector_set", name, dimension, place == 0)
    await _put_work(on, 0, write.frame)


async def _put_frame(on: Session, write: w.PutFrame) -> None:
    frame = write.frame
    names = frame.names or (None, None, None)
    no = await on.value("lay_era", *names, frame.era, frame.digest, frame.position, frame.erased_at)
    if no is None:
        return
    for shelf in frame.shelves:
        await on.run(
            "set_shelf", shelf.mark, shelf.renewed, no, await _shelf_number(on, no, shelf.readers)
        )
    await _put_work(on, no, frame)


async def _put_work(on: Session, owner: int, frame: BookFrame | Frame) -> None:
    for job in frame.jobs:
        await on.run("lay_job", owner, *job[:4], list(job.records), *job[5:-1])
        if job.kept is not None:
            await on.run("lay_kept", job.id, list(job.kept[0]), job.kept[1])
    for row in frame.spent:
        await on.run("lay_spent", owner, *row)


async def _shelf_number(on: Session, owner: int, readers: Readers) -> int:
    """Return the number of the owner's shelf for an audience; make the shelf if there is none."""
    found: int | None = await on.value("shelf", owner, *readers)
    if found is None:
        found = await on.value("add_shelf", owner, *readers)
        await on.run("add_shelf_groups", owner, found, json.loads(readers[2]))
    assert found is not None
    return found


async def _put_pieces(on: Session, write: w.PutPieces) -> None:
    no = await on.value("era", write.era)
    for start in range(0, len(write.pieces), _AT_ONCE):
        pieces = write.pieces[start : start + _AT_ONCE]
        if stones := [piece for piece in pieces if isinstance(piece, StonePiece)]:
            await on.run("lay_stones", *_columns(stones, 2))
        await put_reads(on, PutReads([piece for piece in pieces if isinstance(piece, ReadPiece)]))
        if entries := [piece for piece in pieces if isinstance(piece, EntryPiece)]:
            await on.run("lay_entries", no, *_columns(entries, 7))
        if records := [piece for piece in pieces if isinstance(piece, RecordPiece)]:
            claimed = {
                row[0] for row in await on.all("claim_ids", [piece.key for piece in records], no)
            }
            await _put_records(on, no, [piece for piece in records if piece.key in claimed])


async def _put_records(on: Session, owner: int, pieces: list[RecordPiece]) -> None:
    readers = {p.readers for p in pieces} | {v.readers for p in pieces for v in p.earlier}
    shelves = {each: await _shelf_number(on, owner, each) for each in sorted(readers)}
    sets = {row[1]: row[0] for row in await on.all("vector_sets")}
    rows = [(*p.row, shelves[p.readers], *p[2:7]) for p in pieces]
    no = {row[0]: row[1] for row in await on.all("lay_records", owner, *_columns(rows, 21))}
    for name, width, beside in (
        ("lay_versions", 8, rows_of_versions(pieces, no, shelves)),
        ("lay_links", 3, [(p.key, b"", source) for p in pieces for source in p.sources]),
        ("lay_links", 3, [(p.key, *pair) for p in pieces for pair in p.unlisted]),
        ("lay_terms", 3, [(no[p.key], *p.terms) for p in pieces if p.terms is not None]),
        ("lay_uses", 4, [(no[p.key], *p.use) for p in pieces if p.use is not None]),
        (
            "lay_vectors",
            3,
            [(no[p.key], sets[n], v) for p in pieces for n, v in p.vectors if n in sets],
        ),
    ):
        if beside:
            await on.run(name, owner, *_columns(beside, width))
    await on.run("lay_unmade", owner, list(no.values()))


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Return rows as columns; there are ``width`` of them even without rows."""
    return [[row[place] for row in rows] for place in range(width)]


async def _recount(put_job_if_behind: PutJobIfBehind, on: Session, write: w.Recount) -> None:
    if write.era is not None:
        no = await on.value("era", write.era)
        await on.run("recount_held", no)
        await on.run("recount_shelves_of_owner", no)
        return
    await on.run("recount_held_of_all")
    await on.run("recount_vector_sets")
    await on.run("recount_shelves")
    await put_job_if_behind(on)


ANSWERS: Answers = {
    u.Properties: _properties,
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
}


def writes(put_job_if_behind: PutJobIfBehind) -> Writes:
    """Return the functions that carry out the other writes; ``put_job_if_behind`` is the open
    book's own.
    """
    return {w.Recount: partial(_recount, put_job_if_behind)}
