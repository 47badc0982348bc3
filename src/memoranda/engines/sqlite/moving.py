"""A book in SQLite that moves: its marks, and its pieces as they are given and laid down."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from memoranda.engines.sqlite import laying, pieces
from memoranda.engines.sqlite.faults import refuse_moved
from memoranda.engines.sqlite.file import SqliteFile
from memoranda.engines.sqlite.secret import has_secret, secret_of
from memoranda.engines.sqlite.statements import sql
from memoranda.model.moving import (
    ARRIVAL,
    DEPARTURE,
    MADE_BY,
    Arrival,
    BookFrame,
    Departure,
    Frame,
    Piece,
    PieceKind,
    RecordPiece,
    Whereabouts,
    mark_text,
    marks_of,
    refuse_marked,
    refuse_other_departure,
    refuse_other_run,
)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Moving:
    """What an engine over one SQLite file does for a book that moves."""

    _file: SqliteFile

    async def _write(self, work: Work[T]) -> T:
        """Write, unless the book has one of the marks: asked in the transaction that the write is part of."""

        def guarded(connection: sqlite3.Connection) -> T:
            refuse_marked(_marks(connection))
            return work(connection)

        return await self._file.write(guarded)

    async def _lay(self, run: str, work: Work[T]) -> T:
        """Write what one run of a copy brings, and no other."""

        def guarded(connection: sqlite3.Connection) -> T:
            refuse_other_run(_marks(connection), run)
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

    async def eras(self, after: bytes, limit: int) -> list[tuple[bytes, int]]:
        return await self._file.read(lambda c: c.execute(sql("eras_after"), (after, limit)).fetchall())

    async def book_frame(self) -> BookFrame:
        return await self._file.read(pieces.book_frame)

    async def frame(self, era: bytes) -> Frame | None:
        return await self._file.read(lambda c: pieces.frame(c, era))

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        return await self._file.read(lambda c: pieces.after(c, kind, era, after, limit))

    async def records_at(self, era: bytes, ids: Sequence[bytes]) -> list[RecordPiece]:
        return await self._file.read(lambda c: pieces.records_at(c, era, ids))

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        return await self._file.write(lambda c: _arrive(c, arrival, secret))

    async def lay_book(self, run: str, frame: BookFrame) -> None:
        await self._lay(run, lambda c: laying.lay_book(c, frame))

    async def lay_frame(self, run: str, frame: Frame) -> None:
        await self._lay(run, lambda c: laying.lay_frame(c, frame))

    async def lay(
        self, run: str, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes] = ()
    ) -> None:
        await self._lay(run, lambda c: laying.lay(c, kind, era, pieces, gone))

    async def end_arrival(self, run: str) -> str:
        def end(connection: sqlite3.Connection) -> None:
            refuse_moved(self._file.path, self._file.found)
            connection.execute(sql("recount_vector_sets"))
            connection.execute(sql("remove_mark_of_book"), (ARRIVAL,))
            connection.execute(sql("set_mark_of_book"), (MADE_BY, run.encode()))

        await self._lay(run, end)
        return ""

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        await self._file.write(lambda c: _depart(c, departure, expected))


def _marks(connection: sqlite3.Connection) -> dict[str, bytes]:
    return dict(connection.execute(sql("marks")).fetchall())


def _arrive(connection: sqlite3.Connection, arrival: Arrival, secret: bytes) -> bool:
    departed, begun = marks_of(_marks(connection))
    same = secret_of(connection) == secret
    if departed is not None or (begun is not None and not same):
        return False
    if begun is None and (same or connection.execute(sql("has_content")).fetchone()):
        return False
    connection.execute(sql("set_mark_of_book"), ("secret", secret))
    connection.execute(sql("set_mark_of_book"), (ARRIVAL, mark_text(arrival)))
    return True


def _depart(connection: sqlite3.Connection, departure: Departure | None, expected: Departure | None) -> None:
    refuse_other_departure(_marks(connection), departure, expected)
    if departure is None:
        connection.execute(sql("remove_mark_of_book"), (DEPARTURE,))
    else:
        connection.execute(sql("set_mark_of_book"), (DEPARTURE, mark_text(departure)))
