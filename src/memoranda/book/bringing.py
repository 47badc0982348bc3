"""Brings a book over to another engine piece by piece: by what the ledger tells, and by comparing everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from memoranda.errors import Conflict
from memoranda.model.ledger import Verb
from memoranda.model.moving import EntryPiece, Frame, Piece, PieceKind, RecordPiece, position_key
from memoranda.ports import Engine
from memoranda.settle.rows import load_entry_body

Progress = Callable[[int, int], None]

#: Pieces that are read, and laid down in one commit.
PAGE = 200
#: Eras that are listed at a time.
_ERAS = 1000

#: What an erasure does to records changes entries that were written before.
_ERASING = frozenset({Verb.ERASE, Verb.AGE, Verb.UNSOURCE})


@dataclass(slots=True)
class Tally:
    """What was compared."""

    owners: int = 0
    records: int = 0
    versions: int = 0
    entries: int = 0
    _state: Any = field(default_factory=lambda: blake2b(digest_size=16))

    def add(self, piece: Piece | Frame) -> None:
        match piece:
            case RecordPiece():
                self.records += 1
                self.versions += len(piece.earlier)
            case EntryPiece():
                self.entries += 1
            case Frame():
                self.owners += piece.names is not None and piece.position > 0
        self._state.update(repr(piece).encode("utf-8", "surrogatepass"))

    @property
    def digest(self) -> str:
        found: str = self._state.hexdigest()
        return found


class Bringing:
    """What one run of a copy brings."""

    def __init__(self, source: Engine, target: Engine, run: str, progress: Progress | None) -> None:
        self._source = source
        self._target = target
        self._run = run
        self._progress = progress
        #: Pieces that were laid down, or taken away.
        self.brought = 0
        #: Records that were gone through, how many may be in this part of the work, and how many are to be in all.
        self.done = 0
        self.within = 0
        self.total = 0

    # ── while the source is written ──────────────────────────────────────────────────────────────────────────────

    async def catch_up(self) -> int:
        """Bring what the ledgers tell of since the last time; returns how many entries that were."""
        await self.level_book()
        entries = 0
        async for era, position, reached in self._both():
            if reached != position:
                entries += await self._bring(era, position, reached or 0)
        return entries

    async def _both(self) -> AsyncIterator[tuple[bytes, int, int | None]]:
        """The source's eras, each with its position and the target's, if the target has it."""
        theirs = _eras(self._target)
        there = await anext(theirs, None)
        async for era, position in _eras(self._source):
            while there is not None and there[0] < era:
                await self._refuse_unknown(there[0])
                there = await anext(theirs, None)
            reached = None
            if there is not None and there[0] == era:
                reached = there[1]
                there = await anext(theirs, None)
            yield era, position, reached
        while there is not None:
            await self._refuse_unknown(there[0])
            there = await anext(theirs, None)

    async def _refuse_unknown(self, era: bytes) -> None:
        if await self._source.frame(era) is None:
            raise _unlike("has owners")

    async def _bring(self, era: bytes, position: int, reached: int) -> int:
        frame = await self._source.frame(era)
        ended = frame is None or frame.names is None
        if ended or not reached or not await self._follow(era, reached):
            await self.level_era(era, Tally())
        else:
            await self._lay_frame(era, position)
        return max(position - reached, 1)

    async def _follow(self, era: bytes, reached: int) -> bool:
        """Bring the entries behind a position, and what they wrote; False where that does not tell all that changed."""
        after = position_key(reached)
        while page := await self._source.pieces(PieceKind.ENTRY, era, after, PAGE):
            lines = [
                line
                for piece in page
                if isinstance(piece, EntryPiece)
                for line in load_entry_body(piece.body)[0]
            ]
            if any(line.erased or line.verb in _ERASING for line in lines):
                return False
            touched = list(dict.fromkeys(line.id.bytes for line in lines))
            for start in range(0, len(touched), PAGE):
                await self._lay_records(era, touched[start : start + PAGE])
            await self._lay(PieceKind.ENTRY, era, page)
            after = page[-1].key
        return True

    async def _lay_records(self, era: bytes, ids: list[bytes]) -> None:
        found = await self._source.records_at(era, ids)
        there = {piece.key for piece in found}
        await self._lay(PieceKind.RECORD, era, found, [id for id in ids if id not in there])

    # ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────

    async def level(self) -> tuple[Tally, list[bytes]]:
        """Compare everything, and lay down what differs; tells the eras where something did."""
        tally, touched = Tally(), []
        await self.level_book()
        await self.level_pieces(PieceKind.STONE, b"", tally)
        async for era, _, _ in self._both():
            before = self.brought
            await self.level_era(era, tally)
            if self.brought != before:
                touched.append(era)
        return tally, touched

    async def level_book(self) -> None:
        frame = await self._source.book_frame()
        if frame != await self._target.book_frame():
            await self._target.lay_book(self._run, frame)
            self.brought += 1

    async def level_era(self, era: bytes, tally: Tally) -> None:
        frame = await self._source.frame(era)
        assert frame is not None, "eras do not go"
        there = await self._target.frame(era)
        if there is None:
            await self._target.lay_frame(self._run, frame.begun())
        elif there.erased_at is not None and frame.erased_at is None:
            raise _unlike("knows of erasures")
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await self.level_pieces(kind, era, tally)
        tally.add(await self._lay_frame(era, frame.position))

    async def _lay_frame(self, era: bytes, position: int) -> Frame:
        """Lay the frame down last: the position in it says how far its records and entries were brought."""
        frame = await self._source.frame(era)
        assert frame is not None, "eras do not go"
        frame = frame._replace(position=position)
        if frame != await self._target.frame(era):
            await self._target.lay_frame(self._run, frame)
            self.brought += 1
        return frame

    async def level_pieces(self, kind: PieceKind, era: bytes, tally: Tally) -> None:
        after, last = b"", False
        while not last:
            found = await self._source.pieces(kind, era, after, PAGE)
            last = len(found) < PAGE
            there = await self._until(kind, era, after, None if last else found[-1].key)
            differing = [piece for piece in found if there.pop(piece.key, None) != piece]
            if there and kind is PieceKind.STONE:
                raise _unlike("knows of erasures")
            await self._lay(kind, era, differing, list(there))
            for piece in found:
                tally.add(piece)
                after = piece.key
            if kind is PieceKind.RECORD:
                self._told(len(found))

    async def _until(
        self, kind: PieceKind, era: bytes, after: bytes, last: bytes | None
    ) -> dict[bytes, Piece]:
        """The target's pieces behind a key, through another one or to the end."""
        there: dict[bytes, Piece] = {}
        while page := await self._target.pieces(kind, era, after, PAGE):
            there.update((piece.key, piece) for piece in page if last is None or piece.key <= last)
            after = page[-1].key
            if last is not None and after >= last:
                break
        return there

    async def _lay(
        self, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes] = ()
    ) -> None:
        if pieces or gone:
            await self._target.lay(self._run, kind, era, pieces, gone)
            self.brought += len(pieces) + len(gone)

    # ── telling ──────────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, within: int) -> None:
        """Begin a part of the work that ends at so many records."""
        self.done, self.within = self.within, within

    def _told(self, records: int) -> None:
        self.done = min(self.done + records, self.within)
        if self._progress is not None:
            self._progress(self.done, self.total)


def _unlike(what: str) -> Conflict:
    """The refusal to go on with a copy that was begun from another state of the book: what was erased would return."""
    return Conflict(
        f"the copy {what} that the book does not: it was begun from another book, or before this one was restored; "
        "delete the copy, and begin it anew"
    )


async def _eras(engine: Engine) -> AsyncIterator[tuple[bytes, int]]:
    after = b""
    while page := await engine.eras(after, _ERAS):
        for found in page:
            yield found
        after = page[-1][0]
