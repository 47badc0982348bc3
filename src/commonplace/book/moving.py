"""Moves a book from one engine to another while it is in use: brought over, caught up with, compared, switched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from commonplace.book.backups import NOTE, note_erasure
from commonplace.errors import Conflict, InvalidInput, StorageError
from commonplace.model.ledger import Verb, load_entry_body
from commonplace.model.moving import (
    Arrival,
    Departure,
    EntryPiece,
    Frame,
    Piece,
    PieceKind,
    RecordPiece,
    Whereabouts,
    moved,
    position_key,
)
from commonplace.ports import Engine

Progress = Callable[[int, int], None]

#: Pieces that are read, and laid down in one commit.
PAGE = 200
#: Eras that are listed at a time.
_ERAS = 1000
#: With so few entries to come the rest may wait until nobody writes.
SMALL = 200
#: A book that is written faster than it is copied is switched all the same.
MOST_PASSES = 10
#: As far as it is looked for jobs.
_MOST_JOBS = 100_000

#: What an erasure does to records changes entries that were written before.
_ERASING = frozenset({Verb.ERASE, Verb.AGE, Verb.UNSOURCE})


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy came to; what it counts was compared on both sides, piece by piece."""

    source: str
    target: str
    #: Whether the book is at the target now, and written no more at the source.
    switched: bool
    #: It was switched by an earlier run: nothing was compared, and nothing counted.
    already: bool
    #: Those whose everything was erased are none.
    owners: int
    records: int
    #: Earlier versions.
    versions: int
    entries: int
    #: Pieces that this run laid down.
    brought: int
    #: Of all that was compared: the same for the same content, in every engine.
    digest: str


_NOTHING = CopyReport("", "", False, False, 0, 0, 0, 0, 0, "")


@dataclass(slots=True)
class _Tally:
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


class Moving:
    """One run of a copy from a source to a target; any later run goes on where it was."""

    def __init__(
        self, source: Engine, target: Engine, *, switch: bool = False, progress: Progress | None = None
    ) -> None:
        self._source = source
        self._target = target
        self._switch = switch
        self._progress = progress
        self._run = uuid4().hex
        self._brought = 0
        self._done = 0
        self._total = 0

    async def run(self) -> CopyReport:
        """Copy, and on request switch; raises where the two may not be copied, or stay unlike."""
        here, there = await self._source.whereabouts(), await self._target.whereabouts()
        report = replace(_NOTHING, source=here.address, target=there.address)
        if await self._is_over(here, there):
            return replace(report, switched=True, already=True)
        await self._begin(here, there)
        records = sum((await self._source.facts()).records.values())
        self._total = records * (3 if self._switch else 2)
        tally = _Tally()
        if not self._switch or here.departure is None:
            await self._catch_up_for_long()
            self._done = records
            tally, _ = await self._level()
        if self._switch:
            self._done = 2 * records
            tally = await self._switched(here, there)
        return replace(
            report,
            switched=self._switch,
            owners=tally.owners,
            records=tally.records,
            versions=tally.versions,
            entries=tally.entries,
            brought=self._brought,
            digest=tally.digest,
        )

    # ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _is_over(self, here: Whereabouts, there: Whereabouts) -> bool:
        """Whether an earlier run made the target whole; where it was stopped right then, the source learns of it."""
        same_book = there.secret == here.secret and there.arrival is None
        if here.departure is None:
            if same_book:
                raise InvalidInput(
                    "target: it is this very book, or a whole copy of it; give another place", field="target"
                )
            return False
        if here.departure.address != there.address:
            if here.departure.whole:
                raise moved(here.departure)
            raise Conflict(
                f"the book is being moved to {here.departure.address}: finish that with --switch, "
                "or take it back by copying to the same place without --switch"
            )
        if not same_book:
            if here.departure.whole:
                raise moved(here.departure)
            return False
        if not here.departure.whole:
            await self._source.depart(here.departure._replace(whole=True))
        return True

    async def _begin(self, here: Whereabouts, there: Whereabouts) -> None:
        if not await self._target.arrive(Arrival(here.address, self._run), here.secret):
            if there.departure is not None:
                raise InvalidInput(f"target: {moved(there.departure)}", field="target")
            why = "there is a book with content"
            if there.arrival is not None:
                why = f"a copy of another book was begun there, of {there.arrival.source}"
            raise InvalidInput(f"target: {why}; give a new place, or delete it first", field="target")
        if here.departure is not None and not self._switch:
            # Only this run can write the target now: nobody else makes it whole meanwhile.
            await self._source.depart(None)

    # ── while the source is written ──────────────────────────────────────────────────────────────────────────────

    async def _catch_up_for_long(self) -> None:
        for _ in range(MOST_PASSES):
            if await self._catch_up() <= SMALL:
                return

    async def _catch_up(self) -> int:
        """Bring what the ledgers tell of since the last time; returns how many entries that were."""
        await self._level_book()
        reached = {era: position async for era, position in _eras(self._target)}
        entries = 0
        async for era, position in _eras(self._source):
            if reached.get(era) != position:
                entries += await self._bring(era, position, reached.get(era, 0))
        return entries

    async def _bring(self, era: bytes, position: int, reached: int) -> int:
        frame = await self._source.frame(era)
        ended = frame is None or frame.names is None
        if ended or not reached or not await self._follow(era, reached):
            await self._level_era(era, _Tally())
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

    async def _level(self) -> tuple[_Tally, list[bytes]]:
        """Compare everything, and lay down what differs; tells the eras where something did."""
        tally, touched = _Tally(), []
        await self._level_book()
        await self._level_pieces(PieceKind.STONE, b"", tally)
        async for era, _ in _eras(self._source):
            before = self._brought
            await self._level_era(era, tally)
            if self._brought != before:
                touched.append(era)
        return tally, touched

    async def _level_book(self) -> None:
        frame = await self._source.book_frame()
        if frame != await self._target.book_frame():
            await self._target.lay_book(self._run, frame)
            self._brought += 1

    async def _level_era(self, era: bytes, tally: _Tally) -> None:
        frame = await self._source.frame(era)
        assert frame is not None, "eras do not go"
        if await self._target.frame(era) is None:
            await self._target.lay_frame(self._run, frame.begun())
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await self._level_pieces(kind, era, tally)
        tally.add(await self._lay_frame(era, frame.position))

    async def _lay_frame(self, era: bytes, position: int) -> Frame:
        """Lay the frame down last: the position in it says how far its records and entries were brought."""
        frame = await self._source.frame(era)
        assert frame is not None, "eras do not go"
        frame = frame._replace(position=position)
        if frame != await self._target.frame(era):
            await self._target.lay_frame(self._run, frame)
            self._brought += 1
        return frame

    async def _level_pieces(self, kind: PieceKind, era: bytes, tally: _Tally) -> None:
        after, last = b"", False
        while not last:
            found = await self._source.pieces(kind, era, after, PAGE)
            last = len(found) < PAGE
            there = await self._until(kind, era, after, None if last else found[-1].key)
            differing = [piece for piece in found if there.pop(piece.key, None) != piece]
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
            self._brought += len(pieces) + len(gone)

    # ── switching ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _switched(self, here: Whereabouts, there: Whereabouts) -> _Tally:
        """Let nobody write the source any more, bring the rest, prove the target, and let it be the book."""
        departure = Departure(there.address, whole=False)
        await self._source.depart(departure)
        try:
            tally = await self._proven()
            await self._note_erasures()
            await self._target.end_arrival(self._run)
        except Conflict:
            raise  # another run goes on with it: the source is that one's
        except BaseException:
            await self._take_back(here)
            raise
        await self._source.depart(departure._replace(whole=True))
        await self._clear()
        return tally

    async def _proven(self) -> _Tally:
        """Bring the rest; what was laid down for it is read again, as everything else was."""
        tally, touched = await self._level()
        before = self._brought
        await self._level_book()
        await self._level_pieces(PieceKind.STONE, b"", _Tally())
        for era in touched:
            await self._level_era(era, _Tally())
        if self._brought != before:
            raise StorageError(
                f"the copy stays unlike the book in {self._brought - before} pieces: "
                "verify the book, delete the copy and begin it anew"
            )
        return tally

    async def _take_back(self, here: Whereabouts) -> None:
        """Let the source be written again, unless the target may be whole."""
        with suppress(StorageError):
            if await self._target.arrive(Arrival(here.address, uuid4().hex), here.secret):
                await self._source.depart(None)

    async def _note_erasures(self) -> None:
        """What an erasure left to be noted beside the source's backups is noted while the source knows of them."""
        for job in await self._source.jobs(None, _MOST_JOBS):
            if job.kind == NOTE:
                await note_erasure(self._source, job)

    async def _clear(self) -> None:
        """Clear the target's files of what was brought and is erased; what hinders it leaves that to a worker."""
        if any(job.kind == "scrub" for job in await self._target.jobs(None, _MOST_JOBS)):
            with suppress(StorageError):
                await self._target.scrub()

    # ── telling ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _told(self, records: int) -> None:
        self._done += records
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


async def _eras(engine: Engine) -> AsyncIterator[tuple[bytes, int]]:
    after = b""
    while page := await engine.eras(after, _ERAS):
        for found in page:
            yield found
        after = page[-1][0]
