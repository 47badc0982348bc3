"""Copying of a book on a server: the marks of its source and target, and its rows as they are read and written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from memoranda.engines.postgres import book_rows
from memoranda.engines.postgres.batches import find_owner
from memoranda.engines.postgres.large.shelves import LargeShelves
from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Session
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
    refuse_other_copy,
    refuse_other_departure,
)
from memoranda.model.records import Owner

T = TypeVar("T")


class CopyableBook:
    """The base of the PostgreSQL engine: reads and writes the rows of a copy, and the marks of its source and target.

    ``Server.write`` itself asks for the marks before each write.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.large_shelves = LargeShelves(server)

    async def _lay(self, copy: str, work: Callable[[Session], Awaitable[T]], *, alone: bool = False) -> T:
        """Write to the unfinished copy with this id; its mark cannot change before this is committed."""

        async def guarded(session: Session) -> T:
            refuse_other_copy(await _marks(session), copy)
            return await work(session)

        return await self._server.write(guarded, alone=alone, guarded=False)

    async def whereabouts(self) -> Whereabouts:
        async def work(session: Session) -> Whereabouts:
            secret = bytes(await session.value("secret") or b"")
            made_by = await session.value("mark_of_book", MADE_BY)
            marks = marks_of(await _marks(session))
            return Whereabouts(self._server.place, secret, *marks, made_by and made_by.decode())

        return await self._server.read(work)

    async def eras(self, after: bytes, limit: int) -> list[bytes]:
        rows = await self._server.read(lambda s: s.all("eras_after", after, limit))
        return [row[0] for row in rows]

    async def book_frame(self) -> BookFrame:
        return await self._server.read(book_rows.book_frame, whole=True)

    async def frame(self, era: bytes) -> Frame | None:
        return await self._server.read(lambda s: book_rows.frame(s, era), whole=True)

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        return await self._server.read(lambda s: book_rows.after(s, kind, era, after, limit), whole=True)

    async def owner_pieces(self, owner: Owner) -> OwnerPieces | None:
        async def work(session: Session) -> OwnerPieces | None:
            row = await find_owner(session, owner)
            return None if row is None else await book_rows.whole(session, row.era.bytes)

        return await self._server.read(work, whole=True, long=True)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        return await self._server.write(lambda s: _arrive(s, arrival, secret), alone=True, guarded=False)

    async def lay_book(self, copy: str, frame: BookFrame) -> None:
        await self._lay(copy, lambda s: book_rows.lay_book(s, frame))

    async def lay_frame(self, copy: str, frame: Frame) -> None:
        await self._lay(copy, lambda s: book_rows.lay_frame(s, frame))

    async def lay(self, copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        await self._lay(copy, lambda s: book_rows.lay(s, era, pieces))

    async def end_arrival(self, copy: str) -> None:
        async def work(session: Session) -> None:
            await session.run("recount_held_of_all")
            await session.run("recount_vector_sets")
            await session.run("recount_shelves")
            await self.large_shelves.put_job_if_behind(session)
            await session.run("remove_mark_of_book", ARRIVAL)
            await session.run("set_mark_of_book", MADE_BY, copy.encode())

        await self._lay(copy, work, alone=True)

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        async def work(session: Session) -> None:
            refuse_other_departure(await _marks(session), expected)
            if departure is None:
                await session.run("remove_mark_of_book", DEPARTURE)
            else:
                await session.run("set_mark_of_book", DEPARTURE, mark_text(departure))

        # Alone: what is being written is there before the mark is, and nothing is written beside it.
        await self._server.write(work, alone=True, guarded=False)


async def _marks(session: Session) -> dict[str, bytes]:
    return {row[0]: row[1] for row in await session.all("marks")}


async def _arrive(session: Session, arrival: Arrival, secret: bytes) -> bool:
    marks = await _marks(session)
    same = bytes(await session.value("secret")) == secret
    content = await session.one("has_content") is not None
    if not may_arrive(marks, same_secret=same, has_content=content):
        return False
    earlier = marks_of(marks)[1]
    if earlier is None or earlier.copy != arrival.copy:
        await book_rows.empty(session)
        await session.run("set_mark_of_book", "secret", secret)
        await session.run("set_mark_of_book", ARRIVAL, mark_text(arrival))
    return True
