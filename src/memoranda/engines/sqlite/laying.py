"""Pieces of another book, laid down in SQLite as they stood there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite import pieces as standing
from memoranda.engines.sqlite.erasing import SCRUB
from memoranda.engines.sqlite.sets import remove
from memoranda.engines.sqlite.statements import sql
from memoranda.model.moving import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    PieceKind,
    Readers,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    StonePiece,
    takes_away,
)
from memoranda.model.values import utc_now

_UPKEEP = json.dumps(OWN_UPKEEP)


def lay_book(connection: sqlite3.Connection, frame: BookFrame) -> None:
    """Let this be what belongs to no owner."""
    if takes_away(standing.book_frame(connection), frame):
        _clear_later(connection)
    meant = dict(frame.sets)
    for number, name, *_ in connection.execute(sql("vector_sets")).fetchall():
        if name not in meant:
            remove(connection, number, name)
    connection.executemany(sql("lay_vector_set"), frame.sets)
    connection.execute(sql("deactivate_vector_sets"))
    for name, _ in frame.sets[:1]:
        number = connection.execute(sql("vector_set"), (name,)).fetchone()[0]
        connection.execute(sql("activate_vector_set"), (number,))
    _lay_work(connection, 0, frame.jobs, frame.spent)


def lay_frame(connection: sqlite3.Connection, frame: Frame) -> None:
    """Let this be an era's frame."""
    taken = takes_away(standing.frame(connection, frame.era), frame)
    names = frame.names or (None, None, None)
    if frame.names is not None:
        making = connection.execute(sql("make_way_for_era"), (*frame.names, frame.era))
        taken = taken or making.rowcount > 0
    if taken:
        _clear_later(connection)
    values = (*names, frame.era, frame.digest, frame.position, frame.erased_at)
    (no,) = connection.execute(sql("put_era"), values).fetchone()
    _lay_shelves(connection, no, frame.shelves)
    _lay_work(connection, no, frame.jobs, frame.spent)
    connection.execute(sql("recount_held"), (no,))


def lay(
    connection: sqlite3.Connection,
    kind: PieceKind,
    era: bytes,
    pieces: Sequence[Piece],
    gone: Sequence[bytes],
) -> None:
    """Let these be an era's pieces, and those that are gone be none."""
    if kind is PieceKind.STONE:
        connection.executemany(sql("remove_stone"), [(key,) for key in gone])
        connection.executemany(sql("lay_stone"), [tuple(p) for p in pieces if isinstance(p, StonePiece)])
        return
    no = connection.execute(sql("era"), (era,)).fetchone()[0]
    if kind is PieceKind.ENTRY:
        entries = [piece for piece in pieces if isinstance(piece, EntryPiece)]
        going = [int.from_bytes(key, "big") for key in gone]
        touched = json.dumps([*going, *(entry.position for entry in entries)])
        if connection.execute(sql("has_entries"), (no, touched)).fetchone()[0]:
            _clear_later(connection)
        connection.executemany(sql("remove_entry"), [(no, position) for position in going])
        connection.executemany(sql("lay_entry"), [(no, *entry) for entry in entries])
        return
    laying = _Records(connection, no)
    for id in gone:
        laying.remove(id)
    for piece in pieces:
        if isinstance(piece, RecordPiece):
            laying.put(piece)
    if laying.replaced:
        _clear_later(connection)


def _clear_later(connection: sqlite3.Connection) -> None:
    """What was replaced may have been erased where it comes from: the file is cleared of it."""
    jobs.put(connection, 0, SCRUB, utc_now())


def _lay_shelves(connection: sqlite3.Connection, owner_no: int, shelves: Iterable[ShelfPiece]) -> None:
    meant = {shelf.readers: shelf for shelf in shelves}
    for number, *readers, _, _ in connection.execute(sql("shelves_of_era"), (owner_no,)).fetchall():
        # A record without its shelf would not be met again, and never be taken away.
        if tuple(readers) not in meant and connection.execute(sql("shelf_is_empty"), (number,)).fetchone()[0]:
            connection.execute(sql("delete_shelf_groups"), (number,))
            connection.execute(sql("delete_shelf"), (number,))
    for shelf in meant.values():
        number = shelf_number(connection, owner_no, shelf.readers)
        connection.execute(sql("set_shelf"), (shelf.mark, shelf.renewed, number))


def shelf_number(connection: sqlite3.Connection, owner_no: int, readers: Readers) -> int:
    """The number of the owner's shelf for an audience; made where there is none."""
    found = connection.execute(sql("shelf"), (owner_no, *readers)).fetchone()
    if found is None:
        found = connection.execute(sql("add_shelf"), (owner_no, *readers)).fetchone()
        for group in json.loads(readers[2]):
            connection.execute(sql("add_shelf_group"), (found[0], group))
    number: int = found[0]
    return number


def _lay_work(
    connection: sqlite3.Connection, owner_no: int, work: Iterable[JobPiece], spent: Iterable[SpentPiece]
) -> None:
    connection.execute(sql("clear_kept"), (owner_no,))
    connection.execute(sql("clear_jobs"), (owner_no, _UPKEEP))
    for job in work:
        records = json.dumps([id.hex() for id in job.records])
        values = (owner_no, job.id, job.kind, job.key, job.payload, records, *job[5:-1])
        connection.execute(sql("lay_job"), values)
        if job.kept is not None:
            about = json.dumps([id.hex() for id in job.kept[0]])
            connection.execute(sql("lay_kept"), (job.id, about, job.kept[1]))
    connection.execute(sql("delete_spent_of_owner"), (owner_no,))
    connection.executemany(sql("lay_spent"), [(owner_no, *row) for row in spent])


class _Records:
    """Lays down records of one era."""

    def __init__(self, connection: sqlite3.Connection, owner_no: int) -> None:
        self._connection = connection
        self._owner_no = owner_no
        self._sets = {row[1]: row[0] for row in connection.execute(sql("vector_sets"))}
        self._shelves: dict[Readers, int] = {}
        #: Whether anything stood where something was laid, or taken away.
        self.replaced = False

    def put(self, piece: RecordPiece) -> None:
        """Put a record with everything that stands beside it in the place of what there was."""
        execute, raw = self._connection.execute, piece.key
        # It keeps the number that it has, and so its place in the order of making.
        no = self.remove(raw)
        if piece.row[4] is not None:
            execute(sql("make_way_for_slot"), (self._owner_no, piece.row[4]))
        where = (self._owner_no, self._shelf(piece.readers), *piece[2:7])
        no = execute(sql("lay_record"), (no, *piece.row, *where)).lastrowid
        ends = [*(version.recorded_at for version in piece.earlier[1:]), piece.row[3]]
        for version, end in zip(piece.earlier, ends, strict=False):
            shelf = self._shelf(version.readers)
            place = (no, version.version, shelf, version.position, version.recorded_at, end)
            execute(sql("lay_version"), (*place, version.body, version.hash))
        for source in piece.sources:
            execute(sql("link"), (raw, source))
        if piece.terms is not None:
            execute(sql("put_terms"), (no, *piece.terms))
        if piece.use is not None:
            execute(sql("put_use"), (no, *piece.use))
        for name, packed in piece.vectors:
            if name in self._sets:
                execute(sql("add_vector"), (self._sets[name], no, packed))

    def remove(self, id: bytes) -> int | None:
        """Take a record away with everything that stands beside it; returns the number that it had."""
        execute = self._connection.execute
        found = execute(sql("where_is"), (id,)).fetchone()
        if found is None:
            return None
        no: int = found[0]
        self.replaced = True
        for statement in ("delete_versions", "delete_terms", "delete_use"):
            execute(sql(statement), (no,))
        for number in self._sets.values():
            execute(sql("delete_vector"), (number, no))
        execute(sql("delete_links_of"), (id,))
        execute(sql("delete_record"), (id,))
        return no

    def _shelf(self, readers: Readers) -> int:
        if readers not in self._shelves:
            self._shelves[readers] = shelf_number(self._connection, self._owner_no, readers)
        return self._shelves[readers]
