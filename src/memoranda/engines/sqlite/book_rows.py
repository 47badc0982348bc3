"""Reads and writes a whole book in SQLite as rows that are equal on every engine, for copies and imports."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.file.connections import sql
from memoranda.engines.sqlite.file.session import Answers, Session
from memoranda.engines.sqlite.reads import fetch_many
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
from memoranda.model.records import RecordType
from memoranda.storage import questions as q

#: The key of a vector is its set's number, shifted by this many bits, plus its record's number.
_SET_BITS = 40

_UPKEEP = json.dumps(OWN_UPKEEP)
#: More records than an owner can have.
_ALL = 2**62


def book_frame(connection: sqlite3.Connection) -> BookFrame:
    """Return the rows that belong to no owner, without the tombstones of erased records."""
    sets = connection.execute(sql("vector_sets")).fetchall()
    return BookFrame(
        tuple((name, dimension) for _, name, dimension, _, _ in sets),
        _jobs(connection, 0),
        _spent(connection, 0),
    )


def frame(connection: sqlite3.Connection, era: bytes) -> Frame | None:
    """Return the rows of an era except its records and ledger entries; None if this book does not have the era."""
    row = connection.execute(sql("era"), (era,)).fetchone()
    if row is None:
        return None
    no, tenant, kind, id, digest, position, erased_at = row
    shelves = connection.execute(sql("shelves_of_era"), (no,)).fetchall()
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
        _jobs(connection, no),
        _spent(connection, no),
    )


def after(
    connection: sqlite3.Connection, kind: PieceKind, era: bytes, behind: bytes, limit: int
) -> list[Piece]:
    """Return the next pieces (records or other rows of a copy) after a key, ordered by key."""
    if kind is PieceKind.STONE:
        return [StonePiece(*row) for row in connection.execute(sql("stone_pieces"), (behind, limit))]
    row = connection.execute(sql("era"), (era,)).fetchone()
    if row is None:
        return []
    if kind is PieceKind.ENTRY:
        values = (row[0], int.from_bytes(behind, "big"), limit)
        return [EntryPiece(*entry) for entry in connection.execute(sql("entry_pieces"), values)]
    return list(_records(connection, _ids_after(connection, row[0], behind, limit)))


def whole(connection: sqlite3.Connection, era: bytes) -> OwnerPieces:
    """Return all rows of the owner that has this era."""
    (no, *_) = connection.execute(sql("era"), (era,)).fetchone()
    found = frame(connection, era)
    assert found is not None
    entries = [EntryPiece(*row) for row in connection.execute(sql("entry_pieces"), (no, 0, -1))]
    return OwnerPieces(found, _records(connection, _ids_after(connection, no, b"", _ALL)), entries)


def _ids_after(connection: sqlite3.Connection, owner_no: int, behind: bytes, limit: int) -> list[bytes]:
    """Return ids after a key; each shelf and type is read through its index, up to the limit."""
    found: list[bytes] = []
    for shelf, *_ in connection.execute(sql("shelves_of_era"), (owner_no,)).fetchall():
        for type_ in RecordType:
            rows = connection.execute(sql("ids_on_shelf_after"), (shelf, type_.value, behind, limit))
            found += (row[0] for row in rows)
    return sorted(found)[:limit]


def _records(connection: sqlite3.Connection, ids: list[bytes]) -> list[RecordPiece]:
    rows = fetch_many(connection, "record_pieces", ids)
    numbers = [row[0] for row in rows]
    versions = _grouped(fetch_many(connection, "version_pieces", numbers))
    links = _grouped(fetch_many(connection, "link_pieces", [row[1] for row in rows]))
    vectors = _vectors(connection, numbers)
    return [
        RecordPiece._make(
            (
                row[1:16],
                row[16:19],
                *row[19:24],
                tuple(VersionPiece._make((*v[:3], v[3:6], *v[6:])) for v in versions[row[0]]),
                tuple(source for (source,) in links[row[1]]),
                None if row[24] is None else row[24:26],
                None if row[26] is None else row[26:29],
                tuple(sorted(vectors[row[0]])),
            )
        )
        for row in rows
    ]


def _grouped(rows: Iterable[tuple[Any, ...]]) -> defaultdict[Any, list[tuple[Any, ...]]]:
    """Group the rest of each row by its first column."""
    found: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row[1:])
    return found


def _vectors(connection: sqlite3.Connection, numbers: list[int]) -> defaultdict[int, list[tuple[str, bytes]]]:
    found: defaultdict[int, list[tuple[str, bytes]]] = defaultdict(list)
    for set_no, name, *_ in connection.execute(sql("vector_sets")).fetchall():
        base = set_no << _SET_BITS
        places: list[Any] = [base + no for no in numbers]
        for place, packed in fetch_many(connection, "vector_pieces", places):
            found[place - base].append((name, packed))
    return found


def _jobs(connection: sqlite3.Connection, owner_no: int) -> tuple[JobPiece, ...]:
    found = []
    for *row, quoted, text in connection.execute(sql("jobs_of_era"), (owner_no, _UPKEEP)).fetchall():
        piece, kept = jobs.piece_of(row), None if text is None else (tuple(sorted(jobs.ids_of(quoted))), text)
        found.append(piece._replace(payload=job_payload(piece.payload), kept=kept))
    return tuple(found)


def _spent(connection: sqlite3.Connection, owner_no: int) -> tuple[SpentPiece, ...]:
    return tuple(connection.execute(sql("spent_of_owner"), (owner_no,)).fetchall())


def empty(connection: sqlite3.Connection) -> None:
    """Delete every row of the book, except its key and the paths of its backups."""
    for (table,) in connection.execute(sql("tables_of_content")).fetchall():
        connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - the schema's own name


def lay_book(connection: sqlite3.Connection, frame: BookFrame) -> None:
    """Write the rows that belong to no owner, unless this book has them already."""
    active = {name for name, _ in frame.sets[:1]}
    sets = [(name, dimension, name in active) for name, dimension in frame.sets]
    connection.executemany(sql("lay_vector_set"), sets)
    _lay_work(connection, 0, frame.jobs, frame.spent)


def lay_frame(connection: sqlite3.Connection, frame: Frame) -> None:
    """Write the rows of an era except its records and ledger entries, unless this book has the era already."""
    names = frame.names or (None, None, None)
    values = (*names, frame.era, frame.digest, frame.position, frame.erased_at)
    found = connection.execute(sql("lay_era"), values).fetchone()
    if found is None:
        return
    no: int = found[0]
    for shelf in frame.shelves:
        number = _shelf_number(connection, no, shelf.readers)
        connection.execute(sql("set_shelf"), (shelf.mark, shelf.renewed, number))
    _lay_work(connection, no, frame.jobs, frame.spent)


def lay(connection: sqlite3.Connection, era: bytes, pieces: Iterable[Piece]) -> None:
    """Write those pieces (records or other rows of a copy) of an era that the book does not have yet."""
    row = connection.execute(sql("era"), (era,)).fetchone()
    records = _Records(connection, row[0]) if row is not None else None
    for piece in pieces:
        if isinstance(piece, StonePiece):
            connection.execute(sql("lay_stone"), piece)
        elif records is not None and isinstance(piece, EntryPiece):
            connection.execute(sql("lay_entry"), (row[0], *piece))
        elif records is not None and isinstance(piece, RecordPiece):
            records.put(piece)


def _shelf_number(connection: sqlite3.Connection, owner_no: int, readers: Readers) -> int:
    """Return the number of the owner's shelf for an audience; make the shelf if there is none."""
    found = connection.execute(sql("shelf"), (owner_no, *readers)).fetchone()
    if found is None:
        found = connection.execute(sql("add_shelf"), (owner_no, *readers)).fetchone()
        for group in json.loads(readers[2]):
            connection.execute(sql("add_shelf_group"), (found[0], group))
    number: int = found[0]
    return number


def _lay_work(
    connection: sqlite3.Connection, owner_no: int, pieces: Iterable[JobPiece], spent: Sequence[SpentPiece]
) -> None:
    for job in pieces:
        records = json.dumps([id.hex() for id in job.records])
        values = (owner_no, job.id, job.kind, job.key, job.payload, records, *job[5:-1])
        connection.execute(sql("lay_job"), values)
        if job.kept is not None:
            about = json.dumps([id.hex() for id in job.kept[0]])
            connection.execute(sql("lay_kept"), (job.id, about, job.kept[1]))
    connection.executemany(sql("lay_spent"), [(owner_no, *row) for row in spent])


class _Records:
    """Writes records of one owner's era, unless the book has them already."""

    def __init__(self, connection: sqlite3.Connection, owner_no: int) -> None:
        self._connection = connection
        self._owner_no = owner_no
        self._sets = {row[1]: row[0] for row in connection.execute(sql("vector_sets"))}
        self._shelves: dict[Readers, int] = {}

    def put(self, piece: RecordPiece) -> None:
        """Write a record with its rows in other tables, unless the book has it already."""
        execute = self._connection.execute
        place = (self._owner_no, self._shelf(piece.readers), *piece[2:7])
        found = execute(sql("lay_record"), (*piece.row, *place)).fetchone()
        if found is None:
            return
        no = found[0]
        ends = [*(version.recorded_at for version in piece.earlier[1:]), piece.row[3]]
        for version, end in zip(piece.earlier, ends, strict=False):
            shelf = self._shelf(version.readers)
            columns = (no, version.version, shelf, version.position, version.recorded_at, end)
            execute(sql("lay_version"), (*columns, version.body, version.hash))
        for source in piece.sources:
            execute(sql("link"), (piece.key, source))
        if piece.terms is not None:
            execute(sql("put_terms"), (no, *piece.terms))
        if piece.use is not None:
            execute(sql("put_use"), (no, *piece.use))
        for name, packed in piece.vectors:
            if name in self._sets:
                execute(sql("add_vector"), (self._sets[name], no, packed))

    def _shelf(self, readers: Readers) -> int:
        if readers not in self._shelves:
            self._shelves[readers] = _shelf_number(self._connection, self._owner_no, readers)
        return self._shelves[readers]


def _eras_after(on: Session, question: q.ErasAfter) -> list[bytes]:
    return [row[0] for row in on.all("eras_after", question.after, question.limit)]


def _pieces_after(on: Session, question: q.PiecesAfter) -> list[Piece]:
    return after(on.connection, question.kind, question.era, question.after, question.limit)


ANSWERS: Answers = {q.ErasAfter: _eras_after, q.PiecesAfter: _pieces_after}
