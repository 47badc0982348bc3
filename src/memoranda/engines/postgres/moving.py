"""A book on a server that moves: its marks, and its pieces as they are given and laid down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from memoranda.engines.postgres import laying, pieces
from memoranda.engines.postgres.large.shelves import LargeShelves
from memoranda.engines.postgres.scrubbing import PENDING
from memoranda.engines.postgres.server import Server
from memoranda.engines.postgres.session import Session
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
    refuse_other_departure,
    refuse_other_run,
)

T = TypeVar("T")


class Moving:
    """What an engine on a server does for a book that moves.

    That a book has one of the marks is asked by the server itself, on the way to each write.
    """

    _server: Server
    large_shelves: LargeShelves

    async def _lay(self, run: str, work: Callable[[Session], Awaitable[T]]) -> T:
        """Write what one run of a copy brings, and no other; a mark that changes waits until it is there."""

        async def guarded(session: Session) -> T:
            refuse_other_run(await _marks(session), run)
            return await work(session)

        return await self._server.write(guarded, guarded=False)

    async def whereabouts(self) -> Whereabouts:
        async def work(session: Session) -> Whereabouts:
            secret = bytes(await session.value("secret") or b"")
            made_by = await session.value("mark_of_book", MADE_BY)
            marks = marks_of(await _marks(session))
            return Whereabouts(self._server.place, secret, *marks, made_by and made_by.decode())

        return await self._server.read(work)

    async def eras(self, after: bytes, limit: int) -> list[tuple[bytes, int]]:
        rows = await self._server.read(lambda s: s.all("eras_after", after, limit))
        return [(row[0], row[1]) for row in rows]

    async def book_frame(self) -> BookFrame:
        return await self._server.read(pieces.book_frame, whole=True)

    async def frame(self, era: bytes) -> Frame | None:
        return await self._server.read(lambda s: pieces.frame(s, era), whole=True)

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        return await self._server.read(lambda s: pieces.after(s, kind, era, after, limit), whole=True)

    async def records_at(self, era: bytes, ids: Sequence[bytes]) -> list[RecordPiece]:
        return await self._server.read(lambda s: pieces.records_at(s, era, ids), whole=True)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        return await self._server.write(lambda s: _arrive(s, arrival, secret), alone=True, guarded=False)

    async def lay_book(self, run: str, frame: BookFrame) -> None:
        await self._lay(run, lambda s: laying.lay_book(s, frame))

    async def lay_frame(self, run: str, frame: Frame) -> None:
        await self._lay(run, lambda s: laying.lay_frame(s, frame))

    async def lay(
        self, run: str, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes] = ()
    ) -> None:
        await self._lay(run, lambda s: laying.lay(s, kind, era, pieces, gone))

    async def end_arrival(self, run: str) -> str:
        async def work(session: Session) -> str:
            refuse_other_run(await _marks(session), run)
            await session.run("recount_vector_sets")
            await session.run("recount_shelves")
            await self.large_shelves.put_job_if_behind(session)
            await session.run("remove_mark_of_book", ARRIVAL)
            await session.run("set_mark_of_book", MADE_BY, run.encode())
            replaced = await session.value("mark_of_book", laying.REPLACED) is not None
            await session.run("remove_mark_of_book", laying.REPLACED)
            return PENDING if replaced else ""

        return await self._server.write(work, alone=True, guarded=False)

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        async def work(session: Session) -> None:
            refuse_other_departure(await _marks(session), departure, expected)
            if departure is None:
                await session.run("remove_mark_of_book", DEPARTURE)
            else:
                await session.run("set_mark_of_book", DEPARTURE, mark_text(departure))

        # Alone: what is being written is there before the mark is, and nothing is written beside it.
        await self._server.write(work, alone=True, guarded=False)


async def _marks(session: Session) -> dict[str, bytes]:
    return {row[0]: row[1] for row in await session.all("marks")}


async def _arrive(session: Session, arrival: Arrival, secret: bytes) -> bool:
    departed, begun = marks_of(await _marks(session))
    same = bytes(await session.value("secret")) == secret
    if departed is not None or (begun is not None and not same):
        return False
    if begun is None and (same or await session.one("has_content") is not None):
        return False
    await session.run("set_mark_of_book", "secret", secret)
    await session.run("set_mark_of_book", ARRIVAL, mark_text(arrival))
    return True
