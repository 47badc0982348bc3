"""Copying of a book in memory: the marks of its source and target, and its rows as they are read and written."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memoranda.engines.inmemory import book_rows
from memoranda.engines.inmemory.tables import Tables
from memoranda.model.book_rows import (
    ARRIVAL,
    DEPARTURE,
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
from memoranda.model.records import Owner


class CopyableBook:
    """The base of the in-memory engine: refuses writes to a book marked as copied or moved, and copies its rows."""

    #: The address of every book in memory.
    PLACE = "memory"

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        # Held for one call at a time. No call awaits while it holds the lock, so tasks cannot interleave; threads wait for it.
        self._lock = threading.Lock()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the lock, and raise if the book is marked as copied, moved or an unfinished copy."""
        with self._lock:
            refuse_marked(self._tables.marks)
            yield

    @contextmanager
    def _laying(self, copy: str) -> Iterator[None]:
        """Hold the lock, and raise unless the book is the unfinished copy with this id."""
        with self._lock:
            refuse_other_copy(self._tables.marks, copy)
            yield

    async def whereabouts(self) -> Whereabouts:
        with self._lock:
            tables = self._tables
            return Whereabouts(self.PLACE, tables.secret, *marks_of(tables.marks), tables.made_by)

    async def eras(self, after: bytes, limit: int) -> list[bytes]:
        with self._lock:
            found = sorted(id.bytes for id in self._tables.eras)
            return [id for id in found if id > after][:limit]

    async def book_frame(self) -> BookFrame:
        with self._lock:
            return book_rows.book_frame(self._tables)

    async def frame(self, era: bytes) -> Frame | None:
        with self._lock:
            return book_rows.frame(self._tables, era)

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        with self._lock:
            return book_rows.after(self._tables, kind, era, after)[:limit]

    async def owner_pieces(self, owner: Owner) -> OwnerPieces | None:
        with self._lock:
            era = self._tables.living.get(owner)
            return None if era is None else book_rows.whole(self._tables, era)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        with self._lock:
            tables = self._tables
            content = bool(tables.eras or tables.tombstones or tables.spent)
            if not may_arrive(tables.marks, same_secret=tables.secret == secret, has_content=content):
                return False
            earlier = marks_of(tables.marks)[1]
            if earlier is None or earlier.copy != arrival.copy:
                self._tables = Tables(secret, marks={ARRIVAL: mark_text(arrival)})
            return True

    async def lay_book(self, copy: str, frame: BookFrame) -> None:
        with self._laying(copy):
            book_rows.lay_book(self._tables, frame)

    async def lay_frame(self, copy: str, frame: Frame) -> None:
        with self._laying(copy):
            book_rows.lay_frame(self._tables, frame)

    async def lay(self, copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        with self._laying(copy):
            book_rows.lay(self._tables, era, pieces)

    async def end_arrival(self, copy: str) -> None:
        with self._laying(copy):
            del self._tables.marks[ARRIVAL]
            self._tables.made_by = copy

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        with self._lock:
            refuse_other_departure(self._tables.marks, expected)
            self._tables.marks.pop(DEPARTURE, None)
            if departure is not None:
                self._tables.marks[DEPARTURE] = mark_text(departure)
