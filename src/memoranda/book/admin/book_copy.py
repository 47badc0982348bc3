"""Copies a book to another engine, compares both, and on request makes the copy the book.

The source is marked while it is copied, so that nobody writes it; a stopped run goes on behind the
copy's last piece.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeVar
from uuid import uuid4

from memoranda.book.admin.erasure_notes import NOTE, note_erasure
from memoranda.errors import Conflict, InvalidInput, StorageError
from memoranda.model.book_rows import (
    Arrival,
    Departure,
    EntryPiece,
    Frame,
    Piece,
    PieceKind,
    RecordPiece,
    Whereabouts,
    moved,
)
from memoranda.model.changes import Job
from memoranda.model.query import Progress
from memoranda.ports import Engine

T = TypeVar("T")

#: Pieces that are read at a time, and written in one commit.
PAGE = 200
#: Eras that are read at a time.
_ERAS = 1000
#: Jobs that are asked for at first.
_MANY_JOBS = 100_000


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The result of a copy. Everything that is counted was compared in source and target, piece by
    piece.
    """

    source: str
    target: str
    #: True if the book is at the target now, and the source can no longer be written.
    switched: bool = False
    #: True if an earlier run had already finished: this run compared and counted nothing.
    already: bool = False
    #: Owners that have records; those who were erased are not counted.
    owners: int = 0
    records: int = 0
    #: Earlier versions of records.
    versions: int = 0
    entries: int = 0
    #: Pieces that this run wrote into the copy.
    brought: int = 0
    #: A digest of all that was compared: the same content has the same digest on every engine.
    digest: str = ""


class CopyRun:
    """One run of ``copy``, from a source book to a target."""

    def __init__(
        self,
        source: Engine,
        target: Engine,
        *,
        switch: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._source = source
        self._target = target
        self._switch = switch
        self._progress = progress
        self._brought = self._done = self._total = 0

    async def run(self) -> CopyReport:
        """Copy and compare, and if asked also move the book; raise if the target does not fit or
        the copy differs.
        """
        there = await self._target.whereabouts()
        here = await self._source.whereabouts()
        report = CopyReport(here.address, there.address)
        if await self._has_moved(here, there):
            return replace(report, switched=True, already=True)
        if await self._was_copied(here, there) and not self._switch:
            return replace(report, already=True)
        if here.departure is None and _is_whole_copy(here, there):
            if not self._switch and here.address != there.address and await self._is_equal():
                return replace(report, already=True)
            raise InvalidInput(
                "target: it is this very book, or a book that came from it as a complete copy, a backup or an import; "
                "give another place, or delete that book first",
                field="target",
            )
        counts = await self._copy(here, there)
        return replace(
            report,
            switched=self._switch,
            owners=counts.owners,
            records=counts.records,
            versions=counts.versions,
            entries=counts.entries,
            brought=self._brought,
            digest=counts.digest,
        )

    # ── what earlier runs left ────────────────────────────────────────────────────────────────────

    async def _has_moved(self, here: Whereabouts, there: Whereabouts) -> bool:
        """True if an earlier run moved the book to the target; completes that run if it was
        interrupted.
        """
        if here.departure is None:
            return False
        refuse_other_place(here.departure, there.address)
        if not here.departure.whole:
            return False
        if _is_copy_of(here, there, here.departure):
            await self._open_target(here.departure)
        elif not _was_made_by(here, there, here.departure.copy):
            raise moved(here.departure)
        return True

    async def _is_equal(self) -> bool:
        """True if both books hold the same: nothing was written to either since an earlier run
        completed the copy.
        """
        try:
            await self._compare()
        except StorageError:
            return False
        return True

    async def _was_copied(self, here: Whereabouts, there: Whereabouts) -> bool:
        """True if an earlier run completed the copy as a second book, but was stopped before it
        released the source.
        """
        if here.departure is None or not _was_made_by(here, there, here.departure.copy):
            return False
        await self._source.depart(None, here.departure)
        if self._switch:
            raise InvalidInput(
                "target: an earlier run made it a complete second book; give another place",
                field="target",
            )
        return True

    # ── one run ───────────────────────────────────────────────────────────────────────────────────

    async def _copy(self, here: Whereabouts, there: Whereabouts) -> _Counts:
        """Mark the source, copy, compare, and end the copy; release the source if anything fails
        before its end.
        """
        standing = here.departure
        # An id is of one target: under the same address there may be another one now.
        resumed = standing is not None and _is_copy_of(here, there, standing)
        mark = standing if resumed and standing is not None else _new_mark(there.address)
        try:
            if mark is not standing:
                await self._source.depart(mark, standing)
            if not await self._target.arrive(Arrival(here.address, mark.copy), here.secret):
                raise _refused_target(await self._target.whereabouts())
            counts = await self.copy_pieces(mark.copy)
            if self._switch:
                await self._note_erasures()
                # From here on the book has moved: if this run is stopped, the next one finishes it.
                await self._source.depart(mark._replace(whole=True), mark)
            else:
                await self._refuse_released(mark)
                await self._open_target(mark)
        except BaseException:
            with suppress(StorageError, Conflict):
                await self._source.depart(None, mark)
            raise
        if self._switch:
            await self._open_target(mark)
        else:
            with suppress(Conflict):  # somebody has cancelled the copy since it is complete
                await self._source.depart(None, mark)
        return counts

    async def _refuse_released(self, mark: Departure) -> None:
        if (await self._source.whereabouts()).departure != mark:
            raise Conflict(
                "the book was released while it was copied, and may have been written: run the copy again"
            )

    async def _open_target(self, mark: Departure) -> None:
        """End the copy in the target, so that it opens as a book."""
        try:
            await self._target.end_arrival(mark.copy)
        except StorageError as exc:
            raise StorageError(
                f"the copy at {mark.address} is complete, but it could not be opened ({exc}): run the same copy again"
            ) from exc

    async def _note_erasures(self) -> None:
        """Write the erasures that wait to be noted beside the source's backups; only the source
        knows its backups.
        """
        for job in await _jobs(self._source, NOTE):
            try:
                await note_erasure(self._source, job)
            except OSError as exc:
                raise StorageError(
                    f"the list of erased ids could not be written beside a backup of the book ({exc}): "
                    "make the backup's folder writable, or delete the backup, and run the copy again"
                ) from exc

    # ── pieces ────────────────────────────────────────────────────────────────────────────────────

    async def copy_pieces(self, copy: str, *, compares: bool = True) -> _Counts:
        """Copy all pieces that the target does not have yet, then compare both books."""
        records = sum((await self._source.facts()).records.values())
        self._total = records + records * compares
        book = await self._source.book_frame()
        await self._target.lay_book(copy, book)
        await self._bring(copy, PieceKind.STONE, b"")
        await self._bring(copy, PieceKind.READ, b"")
        async for eras in pages(lambda after: self._source.eras(after, _ERAS), lambda era: era):
            for era in eras:
                await self._target.lay_frame(copy, await _frame(self._source, era))
                for kind in (PieceKind.RECORD, PieceKind.ENTRY):
                    await self._bring(copy, kind, era)
        self._done = records
        counts = await self._compare() if compares else _Counts()
        # The last write before the end: the target is still in its place, and can be written.
        await self._target.lay_book(copy, book)
        return counts

    async def _bring(self, copy: str, kind: PieceKind, era: bytes) -> None:
        # Pieces are written in the order of their keys: what is there is the first part of them.
        reached = b""
        async for page in pieces_of(self._target, kind, era):
            reached = page[-1].key
        async for page in pieces_of(self._source, kind, era, reached):
            await self._target.lay(copy, era, page)
            self._brought += len(page)
            self._report(kind, page)

    async def _compare(self) -> _Counts:
        """Read both books whole, and raise unless they are equal."""
        counts = _Counts()
        _same(await self._source.book_frame(), await self._target.book_frame())
        await self._compare_pieces(PieceKind.STONE, b"", counts)
        await self._compare_pieces(PieceKind.READ, b"", counts)
        async for eras in self._both(
            lambda engine, after: engine.eras(after, _ERAS), lambda era: era
        ):
            for era in eras:
                for kind in (PieceKind.RECORD, PieceKind.ENTRY):
                    await self._compare_pieces(kind, era, counts)
                counts.add(_same(await _frame(self._source, era), await self._target.frame(era)))
        return counts

    async def _compare_pieces(self, kind: PieceKind, era: bytes, counts: _Counts) -> None:
        pages = self._both(
            lambda engine, after: engine.pieces(kind, era, after, PAGE), lambda piece: piece.key
        )
        async for page in pages:
            for piece in page:
                counts.add(piece)
            self._report(kind, page)

    async def _both(
        self, read: Callable[[Engine, bytes], Awaitable[list[T]]], key: Callable[[T], bytes]
    ) -> AsyncIterator[list[T]]:
        """Yield the source's pages of pieces; raise unless the target has equal ones."""
        after, page = b"", None
        while page is None or page:
            page = _same(await read(self._source, after), await read(self._target, after))
            if page:
                yield page
                after = key(page[-1])

    def _report(self, kind: PieceKind, page: Sequence[Piece]) -> None:
        if kind is PieceKind.RECORD and self._progress is not None:
            self._done = min(self._done + len(page), self._total)
            self._progress(self._done, self._total)


async def copy_unchanging(
    source: Engine, target: Engine, progress: Progress | None, *, compares: bool = True
) -> None:
    """Copy a snapshot of a book to a new place, and compare both if the source reads as one
    moment.
    """
    here, copy = await source.whereabouts(), uuid4().hex
    if here.departure is not None:
        raise moved(here.departure)
    if not await target.arrive(Arrival(here.address, copy), here.secret):
        raise _refused_target(await target.whereabouts())
    run = CopyRun(source, target, progress=progress)
    await run.copy_pieces(copy, compares=compares)
    await target.end_arrival(copy)


async def cancel(source: Engine, address: str) -> None:
    """Release a book that a stopped copy to this address left marked, so that it can be written
    again.
    """
    departure = (await source.whereabouts()).departure
    if departure is None:
        raise InvalidInput(
            "source: the book is not being copied, so there is nothing to cancel", field="source"
        )
    refuse_other_place(departure, address)
    if departure.whole:
        raise moved(departure)
    await source.depart(None, departure)


def refuse_other_place(departure: Departure, address: str) -> None:
    """Raise if the book is being copied, or has moved, to an address other than this one."""
    if departure.address == address:
        return
    if departure.whole:
        raise moved(departure)
    raise Conflict(
        f"the book is being copied to {departure.address}: run that copy again to finish it, or run it with --cancel"
    )


class _Counts:
    """Counts and digests of the pieces that were compared."""

    def __init__(self) -> None:
        self.owners = self.records = self.versions = self.entries = 0
        self._state = blake2b(digest_size=16)

    def add(self, piece: Piece | Frame | None) -> None:
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
        return self._state.hexdigest()


def _new_mark(address: str) -> Departure:
    return Departure(address, whole=False, copy=uuid4().hex)


def _is_copy_of(here: Whereabouts, there: Whereabouts, departure: Departure) -> bool:
    """True if the target is the unfinished copy that the source's mark names."""
    return (
        there.secret == here.secret
        and there.arrival is not None
        and there.arrival.copy == departure.copy
    )


def _is_whole_copy(here: Whereabouts, there: Whereabouts) -> bool:
    return there.secret == here.secret and there.arrival is None


def _was_made_by(here: Whereabouts, there: Whereabouts, copy: str) -> bool:
    """True if the target is a book that this copy made."""
    return _is_whole_copy(here, there) and bool(copy) and there.made_by == copy


def _refused_target(there: Whereabouts) -> InvalidInput:
    if there.departure is not None:
        return InvalidInput(f"target: {moved(there.departure)}", field="target")
    why = "there is a book with content"
    if there.arrival is not None:
        why = f"it is an unfinished copy of another book, {there.arrival.source}"
    return InvalidInput(f"target: {why}; give a new place, or delete it first", field="target")


def _same(here: T, there: object) -> T:
    if here != there:
        raise StorageError(
            "the copy differs from the book: verify the book, delete the copy, and run the copy again"
        )
    return here


async def _frame(engine: Engine, era: bytes) -> Frame:
    frame = await engine.frame(era)
    assert frame is not None, "eras are never deleted"
    return frame


def pieces_of(
    engine: Engine, kind: PieceKind, era: bytes, after: bytes = b""
) -> AsyncIterator[list[Piece]]:
    """Yield the pieces of one kind and era in pages, in the order of their keys, from the first key
    beyond ``after``.
    """
    return pages(lambda key: engine.pieces(kind, era, key, PAGE), lambda piece: piece.key, after)


async def pages(
    read: Callable[[bytes], Awaitable[list[T]]], key: Callable[[T], bytes], after: bytes = b""
) -> AsyncIterator[list[T]]:
    """Yield pages until one is empty; ``read`` gets the key of the last item so far, at first
    ``after``.
    """
    while page := await read(after):
        yield page
        after = key(page[-1])


async def _jobs(engine: Engine, kind: str) -> list[Job]:
    """Return all jobs of a kind."""
    most = _MANY_JOBS
    while len(found := await engine.jobs(None, most)) == most:
        most *= 2
    return [job for job in found if job.kind == kind]
