"""Reads and writes a whole book on a server as rows that are equal on every engine, for copies and imports."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.server.session import Answers, Row, Session
from memoranda.model.book_rows import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    OwnerPieces,
    Piece,
    PieceKind,
    Readers,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    StonePiece,
    VersionPiece,
    job_payload,
)
from memoranda.storage import questions as q

_BEHIND = "id > :after ORDER BY id LIMIT :limit"
#: More records than an owner can have.
_ALL = 2**62


async def book_frame(session: Session) -> BookFrame:
    """Return the rows that belong to no owner, without the tombstones of erased records."""
    sets = await session.all("vector_sets")
    return BookFrame(
        tuple((name, dimension) for _, name, dimension, _, _ in sets),
        await _jobs(session, 0),
        await _spent(session, 0),
    )


async def frame(session: Session, era: bytes) -> Frame | None:
    """Return the rows of an era except its records and ledger entries; None if this book does not have the era."""
    row = await session.one("era", era)
    if row is None:
        return None
    no, tenant, kind, id, digest, position, erased_at = row
    shelves = await session.all("shelves_of_era", no)
    return Frame(
        era,
        None if tenant is None else (tenant, kind, id),
        digest,
        position,
        erased_at,
        tuple(
            ShelfPiece((audience, agent, groups), mark, renewed)
            for _, audience, agent, groups, mark, renewed in shelves
        ),
        await _jobs(session, no),
        await _spent(session, no),
    )


async def after(session: Session, kind: PieceKind, era: bytes, behind: bytes, limit: int) -> list[Piece]:
    """Return the next pieces (records or other rows of a copy) after a key, ordered by key."""
    if kind is PieceKind.STONE:
        return [StonePiece._make(row) for row in await session.all("stone_pieces", behind, limit)]
    no = await session.value("era", era)
    if no is None:
        return []
    if kind is PieceKind.ENTRY:
        rows = await session.all("entry_pieces", no, int.from_bytes(behind, "big"), limit)
        return [EntryPiece._make(row) for row in rows]
    rows = await session.all("record_pieces", conditions=_BEHIND, owner=no, after=behind, limit=limit)
    return list(await _records(session, no, rows))


async def whole(session: Session, era: bytes) -> OwnerPieces:
    """Return all rows of the owner that has this era."""
    found = await frame(session, era)
    assert found is not None
    no = await session.value("era", era)
    entries = [EntryPiece._make(row) for row in await session.all("entry_pieces", no, 0, _ALL)]
    rows = await session.all("record_pieces", conditions=_BEHIND, owner=no, after=b"", limit=_ALL)
    return OwnerPieces(found, await _records(session, no, rows), entries)


async def _records(session: Session, owner: int, rows: Sequence[Row]) -> list[RecordPiece]:
    numbers = [row[0] for row in rows]
    versions = _grouped(await session.all("version_pieces", owner, numbers))
    links = _grouped(await session.all("link_pieces", owner, [row[1] for row in rows]))
    vectors = _grouped(await session.all("vector_pieces", owner, numbers))
    return [
        RecordPiece._make(
            (
                tuple(row[1:16]),
                tuple(row[16:19]),
                *row[19:24],
                tuple(VersionPiece._make((*v[:3], tuple(v[3:6]), *v[6:])) for v in versions[row[0]]),
                tuple(source for (source,) in links[row[1]]),
                None if row[24] is None else tuple(row[24:26]),
                None if row[26] is None else tuple(row[26:29]),
                tuple(vectors[row[0]]),
            )
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Row]) -> defaultdict[Any, list[tuple[Any, ...]]]:
    """Group the rest of each row by its first column."""
    found: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(tuple(row[1:]))
    return found


async def _jobs(session: Session, owner: int) -> tuple[JobPiece, ...]:
    found = []
    for row in await session.all("jobs_of_era", owner, list(OWN_UPKEEP)):
        piece, (quoted, text) = jobs.piece_of(row), row[16:]
        kept = None if text is None else (tuple(sorted(quoted)), text)
        found.append(piece._replace(payload=job_payload(piece.payload), kept=kept))
    return tuple(found)


async def _spent(session: Session, owner: int) -> tuple[SpentPiece, ...]:
    return tuple(tuple(row) for row in await session.all("spent_of_owner", owner))


_TABLES_OF_CONTENT = """
SELECT string_agg(quote_ident(c.relname), ', ') FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('properties', 'migrations')
"""


async def empty(session: Session) -> None:
    """Truncate all tables except the book's key and format, so that the server's files keep no rows either."""
    ((tables,),) = await session.text(_TABLES_OF_CONTENT)
    await session.run_text(f"TRUNCATE {tables}")


async def lay_book(session: Session, frame: BookFrame) -> None:
    """Write the rows that belong to no owner, unless this book has them already."""
    active = {name for name, _ in frame.sets[:1]}
    for name, dimension in frame.sets:
        await session.run("lay_vector_set", name, dimension, name in active)
    await _lay_work(session, 0, frame.jobs, frame.spent)


async def lay_frame(session: Session, frame: Frame) -> None:
    """Write the rows of an era except its records and ledger entries, unless this book has the era already."""
    names = frame.names or (None, None, None)
    no = await session.value("lay_era", *names, frame.era, frame.digest, frame.position, frame.erased_at)
    if no is None:
        return
    for shelf in frame.shelves:
        number = await _shelf_number(session, no, shelf.readers)
        await session.run("set_shelf", shelf.mark, shelf.renewed, no, number)
    await _lay_work(session, no, frame.jobs, frame.spent)


async def lay(session: Session, era: bytes, pieces: Sequence[Piece]) -> None:
    """Write those pieces (records or other rows of a copy) of an era that the book does not have yet."""
    if stones := [piece for piece in pieces if isinstance(piece, StonePiece)]:
        await session.run("lay_stones", *_columns(stones, 2))
    no = await session.value("era", era)
    if entries := [piece for piece in pieces if isinstance(piece, EntryPiece)]:
        await session.run("lay_entries", no, *_columns(entries, 7))
    if records := [piece for piece in pieces if isinstance(piece, RecordPiece)]:
        claimed = {row[0] for row in await session.all("claim_ids", [piece.key for piece in records], no)}
        await _lay_records(session, no, [piece for piece in records if piece.key in claimed])


async def _shelf_number(session: Session, owner: int, readers: Readers) -> int:
    """Return the number of the owner's shelf for an audience; make the shelf if there is none."""
    found: int | None = await session.value("shelf", owner, *readers)
    if found is None:
        found = await session.value("add_shelf", owner, *readers)
        await session.run("add_shelf_groups", owner, found, json.loads(readers[2]))
    assert found is not None
    return found


async def _lay_work(
    session: Session, owner: int, pieces: Iterable[JobPiece], spent: Iterable[SpentPiece]
) -> None:
    for job in pieces:
        await session.run("lay_job", owner, *job[:4], list(job.records), *job[5:-1])
        if job.kept is not None:
            await session.run("lay_kept", job.id, list(job.kept[0]), job.kept[1])
    for row in spent:
        await session.run("lay_spent", owner, *row)


async def _lay_records(session: Session, owner: int, pieces: list[RecordPiece]) -> None:
    readers = {p.readers for p in pieces} | {v.readers for p in pieces for v in p.earlier}
    shelves = {each: await _shelf_number(session, owner, each) for each in sorted(readers)}
    rows = [(*p.row, shelves[p.readers], *p[2:7]) for p in pieces]
    found = {row[0]: row[1] for row in await session.all("lay_records", owner, *_columns(rows, 21))}
    sets = {row[1]: row[0] for row in await session.all("vector_sets")}
    for name, width, beside in (
        ("versions", 8, _versions(pieces, found, shelves)),
        ("links", 2, [(p.key, source) for p in pieces for source in p.sources]),
        ("terms", 3, [(found[p.key], *p.terms) for p in pieces if p.terms is not None]),
        ("uses", 4, [(found[p.key], *p.use) for p in pieces if p.use is not None]),
        ("vectors", 3, [(found[p.key], sets[n], v) for p in pieces for n, v in p.vectors if n in sets]),
    ):
        if beside:
            await session.run(f"lay_{name}", owner, *_columns(beside, width))
    await session.run("lay_unmade", owner, list(found.values()))


def _versions(
    pieces: Iterable[RecordPiece], numbers: dict[bytes, int], shelves: dict[Readers, int]
) -> list[tuple[Any, ...]]:
    rows = []
    for piece in pieces:
        ends = [*(version.recorded_at for version in piece.earlier[1:]), piece.row[3]]
        for v, end in zip(piece.earlier, ends, strict=False):
            place = (numbers[piece.key], v.version, shelves[v.readers], v.position, v.recorded_at, end)
            rows.append((*place, v.body, v.hash))
    return rows


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Return rows as columns; there are ``width`` of them even without rows."""
    return [[row[place] for row in rows] for place in range(width)]


async def _eras_after(on: Session, question: q.ErasAfter) -> list[bytes]:
    return [row[0] for row in await on.all("eras_after", question.after, question.limit)]


async def _pieces_after(on: Session, question: q.PiecesAfter) -> list[Piece]:
    return await after(on, question.kind, question.era, question.after, question.limit)


ANSWERS: Answers = {q.ErasAfter: _eras_after, q.PiecesAfter: _pieces_after}
