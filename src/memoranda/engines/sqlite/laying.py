"""Writes pieces of another book into the SQLite tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from memoranda.engines.sqlite.statements import sql
from memoranda.model.moving import (
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    Readers,
    RecordPiece,
    SpentPiece,
    StonePiece,
)


def empty(connection: sqlite3.Connection) -> None:
    """Delete every row of the book, except its key and the places of its backups."""
    for (table,) in connection.execute(sql("tables_of_content")).fetchall():
        connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - the schema's own name


def lay_book(connection: sqlite3.Connection, frame: BookFrame) -> None:
    """Write the rows that belong to no owner, unless they are here."""
    active = {name for name, _ in frame.sets[:1]}
    sets = [(name, dimension, name in active) for name, dimension in frame.sets]
    connection.executemany(sql("lay_vector_set"), sets)
    _lay_work(connection, 0, frame.jobs, frame.spent)


def lay_frame(connection: sqlite3.Connection, frame: Frame) -> None:
    """Write an era's frame, unless the era is here."""
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
    """Write pieces of an era, except those that are here."""
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
    connection: sqlite3.Connection, owner_no: int, jobs: Iterable[JobPiece], spent: Sequence[SpentPiece]
) -> None:
    for job in jobs:
        records = json.dumps([id.hex() for id in job.records])
        values = (owner_no, job.id, job.kind, job.key, job.payload, records, *job[5:-1])
        connection.execute(sql("lay_job"), values)
        if job.kept is not None:
            about = json.dumps([id.hex() for id in job.kept[0]])
            connection.execute(sql("lay_kept"), (job.id, about, job.kept[1]))
    connection.executemany(sql("lay_spent"), [(owner_no, *row) for row in spent])


class _Records:
    """Writes records of one era."""

    def __init__(self, connection: sqlite3.Connection, owner_no: int) -> None:
        self._connection = connection
        self._owner_no = owner_no
        self._sets = {row[1]: row[0] for row in connection.execute(sql("vector_sets"))}
        self._shelves: dict[Readers, int] = {}

    def put(self, piece: RecordPiece) -> None:
        """Write a record with its rows in other tables, unless it is here."""
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
