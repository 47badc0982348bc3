"""Copying of a book in SQLite: the marks of its source and target, and its rows as they are read and written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from memoranda.engines.sqlite import book_rows, jobs
from memoranda.engines.sqlite.erasure import SCRUB
from memoranda.engines.sqlite.file.connections import has_secret, secret_of, sql
from memoranda.engines.sqlite.file.faults import refuse_moved
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.engines.sqlite.reads import find_owner
from memoranda.model.book_rows import (
    ARRIVAL,
    DEPARTURE,
    MADE_BY,
    Arrival,
    BookFrame,
    Departure,
    Frame,
    OwnerPieces,
    Piece,
    PieceKind,
    Whereabouts,
    mark_text,
    marks_of,
    may_arrive,
    refuse_marked,
    refuse_other_copy,
    refuse_other_departure,
)
from memoranda.model.ledger import Scrubbed
from memoranda.model.records import Owner
from memoranda.model.values import utc_now

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class CopyableBook:
    """The base of the SQLite engine: refuses writes to a book marked as copied or moved, and copies its rows."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def scrub(self) -> Scrubbed:
        raise NotImplementedError

    async def _write(self, work: Work[T]) -> T:
        """Write unless the book is marked as copied, moved or an unfinished copy; reads the marks as it writes."""

        def guarded(connection: sqlite3.Connection) -> T:
            refuse_marked(_marks(connection))
            return work(connection)

        return await self._file.write(guarded)

    async def _lay(self, copy: str, work: Work[T]) -> T:
        """Write to the unfinished copy with this id; the file must still be at its path."""

        def guarded(connection: sqlite3.Connection) -> T:
            refuse_moved(self._file.path, self._file.found)
            refuse_other_copy(_marks(connection), copy)
            return work(connection)

        return await self._file.write(guarded)

    async def whereabouts(self) -> Whereabouts:
        def work(connection: sqlite3.Connection) -> Whereabouts:
            secret = secret_of(connection) if has_secret(connection) else b""
            made_by = connection.execute(sql("mark_of_book"), (MADE_BY,)).fetchone()
            return Whereabouts(
                str(self._file.path), secret, *marks_of(_marks(connection)), made_by and made_by[0].decode()
            )

        return await self._file.read(work)

    async def eras(self, after: bytes, limit: int) -> list[bytes]:
        rows = await self._file.read(lambda c: c.execute(sql("eras_after"), (after, limit)).fetchall())
        return [row[0] for row in rows]

    async def book_frame(self) -> BookFrame:
        return await self._file.read(book_rows.book_frame)

    async def frame(self, era: bytes) -> Frame | None:
        return await self._file.read(lambda c: book_rows.frame(c, era))

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        return await self._file.read(lambda c: book_rows.after(c, kind, era, after, limit))

    async def owner_pieces(self, owner: Owner) -> OwnerPieces | None:
        def work(connection: sqlite3.Connection) -> OwnerPieces | None:
            row = find_owner(connection, owner)
            return None if row is None else book_rows.whole(connection, row.era.bytes)

        return await self._file.read(work)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        def work(connection: sqlite3.Connection) -> tuple[bool, bool]:
            return _arrive(connection, arrival, secret)

        arrived, emptied = await self._file.write(work)
        if emptied:
            # What was forgotten since an earlier run copied it leaves the file with the rest of that copy.
            await self.scrub()
        return arrived

    async def lay_book(self, copy: str, frame: BookFrame) -> None:
        await self._lay(copy, lambda c: book_rows.lay_book(c, frame))

    async def lay_frame(self, copy: str, frame: Frame) -> None:
        await self._lay(copy, lambda c: book_rows.lay_frame(c, frame))

    async def lay(self, copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        await self._lay(copy, lambda c: book_rows.lay(c, era, pieces))

    async def end_arrival(self, copy: str) -> None:
        def end(connection: sqlite3.Connection) -> None:
            connection.execute(sql("recount_held_of_all"))
            connection.execute(sql("recount_vector_sets"))
            connection.execute(sql("remove_mark_of_book"), (ARRIVAL,))
            connection.execute(sql("set_mark_of_book"), (MADE_BY, copy.encode()))

        await self._lay(copy, end)

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        await self._file.write(lambda c: _depart(c, departure, expected))


def _marks(connection: sqlite3.Connection) -> dict[str, bytes]:
    return dict(connection.execute(sql("marks")).fetchall())


def _arrive(connection: sqlite3.Connection, arrival: Arrival, secret: bytes) -> tuple[bool, bool]:
    """Mark the book as an unfinished copy, if it may be one; returns if it is, and if earlier rows were deleted."""
    marks = _marks(connection)
    same = secret_of(connection) == secret
    content = connection.execute(sql("has_content")).fetchone() is not None
    if not may_arrive(marks, same_secret=same, has_content=content):
        return False, False
    earlier = marks_of(marks)[1]
    if earlier is not None and earlier.copy == arrival.copy:
        return True, False
    book_rows.empty(connection)
    if content:
        jobs.put(connection, 0, SCRUB, utc_now())
    connection.execute(sql("set_mark_of_book"), ("secret", secret))
    connection.execute(sql("set_mark_of_book"), (ARRIVAL, mark_text(arrival)))
    return True, content


def _depart(connection: sqlite3.Connection, departure: Departure | None, expected: Departure | None) -> None:
    refuse_other_departure(_marks(connection), expected)
    if departure is None:
        connection.execute(sql("remove_mark_of_book"), (DEPARTURE,))
    else:
        connection.execute(sql("set_mark_of_book"), (DEPARTURE, mark_text(departure)))
