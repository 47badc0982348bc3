"""A book in memory that moves: its marks, and its pieces as they are given and laid down."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memoranda.engines.inmemory import laying, pieces
from memoranda.engines.inmemory.tables import Tables
from memoranda.model.moving import (
    ARRIVAL,
    DEPARTURE,
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


class Moving:
    """What the in-memory engine does for a book that moves."""

    #: What every book in memory calls its place.
    PLACE = "memory"

    _tables: Tables
    _lock: threading.Lock

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One call at a time, and none where the book has one of the marks."""
        with self._lock:
            refuse_marked(self._tables.marks)
            yield

    @contextmanager
    def _laying(self, run: str) -> Iterator[None]:
        with self._lock:
            refuse_other_run(self._tables.marks, run)
            yield

    async def whereabouts(self) -> Whereabouts:
        with self._lock:
            tables = self._tables
            return Whereabouts(self.PLACE, tables.secret, *marks_of(tables.marks), tables.made_by)

    async def eras(self, after: bytes, limit: int) -> list[tuple[bytes, int]]:
        with self._lock:
            found = sorted((era.id.bytes, pieces.position(era)) for era in self._tables.eras.values())
            return [each for each in found if each[0] > after][:limit]

    async def book_frame(self) -> BookFrame:
        with self._lock:
            return pieces.book_frame(self._tables)

    async def frame(self, era: bytes) -> Frame | None:
        with self._lock:
            return pieces.frame(self._tables, era)

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        with self._lock:
            return pieces.after(self._tables, kind, era, after)[:limit]

    async def records_at(self, era: bytes, ids: Sequence[bytes]) -> list[RecordPiece]:
        with self._lock:
            return pieces.records_at(self._tables, era, ids)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        with self._lock:
            tables = self._tables
            departed, begun = marks_of(tables.marks)
            if departed is not None or (begun is not None and tables.secret != secret):
                return False
            if begun is None and (
                tables.secret == secret or tables.eras or tables.tombstones or tables.spent
            ):
                return False
            tables.secret = secret
            tables.marks[ARRIVAL] = mark_text(arrival)
            return True

    async def lay_book(self, run: str, frame: BookFrame) -> None:
        with self._laying(run):
            laying.lay_book(self._tables, frame)

    async def lay_frame(self, run: str, frame: Frame) -> None:
        with self._laying(run):
            laying.lay_frame(self._tables, frame)

    async def lay(
        self, run: str, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes] = ()
    ) -> None:
        with self._laying(run):
            laying.lay(self._tables, era, pieces, gone, kind)

    async def end_arrival(self, run: str) -> str:
        with self._laying(run):
            for era in self._tables.eras.values():
                era.laid = None
            del self._tables.marks[ARRIVAL]
            self._tables.made_by = run
        return ""

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        with self._lock:
            refuse_other_departure(self._tables.marks, departure, expected)
            self._tables.marks.pop(DEPARTURE, None)
            if departure is not None:
                self._tables.marks[DEPARTURE] = mark_text(departure)
