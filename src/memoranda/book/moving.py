"""Moves a book from one engine to another while it is in use: brought over, caught up with, compared, switched."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import uuid4

from memoranda.book.backups import NOTE, note_erasure
from memoranda.book.bringing import Bringing, Progress, Tally
from memoranda.book.elsewhere import refuse_another_copy, refuse_elsewhere
from memoranda.errors import Conflict, InvalidInput, StorageError
from memoranda.model.jobs import Job
from memoranda.model.moving import (
    Arrival,
    Departure,
    PieceKind,
    Whereabouts,
    moved,
    refuse_overtaken,
    refuse_unknown_departure,
)
from memoranda.ports import Engine

#: With so few entries to come the rest may wait until nobody writes.
SMALL = 200
#: A book that is written faster than it is copied is switched all the same.
MOST_PASSES = 10
#: As far as it is looked for jobs at first.
_MANY_JOBS = 100_000


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
    #: Why the target's own files may still hold what was forgotten while it was copied, and what to do about it.
    pending: str = ""


_NOTHING = CopyReport("", "", False, False, 0, 0, 0, 0, 0, "")


@dataclass(frozen=True, slots=True)
class _Begun:
    """A copy that this run alone goes on with."""

    source: str
    target: str
    #: Which copy it is.
    copy: str
    #: What an earlier run left at the source.
    departure: Departure | None


class Moving:
    """One run of a copy from a source to a target; any later run goes on where it was."""

    def __init__(
        self, source: Engine, target: Engine, *, switch: bool = False, progress: Progress | None = None
    ) -> None:
        self._source = source
        self._target = target
        self._switch = switch
        self._run = uuid4().hex
        self._bringing = Bringing(source, target, self._run, progress)

    async def run(self) -> CopyReport:
        """Copy, and on request switch; raises where the two may not be copied, or stay unlike."""
        # In this order: which run the source names is known, at the latest, when that has made the target whole.
        there = await self._target.whereabouts()
        here = await self._source.whereabouts()
        report = replace(_NOTHING, source=here.address, target=there.address)
        if await self._is_over(here, there):
            # The run that made it whole may have been stopped before it cleared it.
            return replace(report, switched=True, already=True, pending=await self._cleared())
        begun = await self._begin(here, there)
        records = sum((await self._source.facts()).records.values())
        self._bringing.total = records * (3 if self._switch else 2)
        self._bringing.begin(records)
        tally, pending = Tally(), ""
        if begun.departure is None:
            await self._catch_up_for_long()
            self._bringing.begin(2 * records)
            tally, _ = await self._bringing.level()
        if self._switch:
            self._bringing.begin(2 * records)
            self._bringing.begin(3 * records)
            tally, pending = await self._switched(begun)
        else:
            await self._let_be_written(begun)
        return replace(
            report,
            switched=self._switch,
            owners=tally.owners,
            records=tally.records,
            versions=tally.versions,
            entries=tally.entries,
            brought=self._bringing.brought,
            digest=tally.digest,
            pending=pending,
        )

    # ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _is_over(self, here: Whereabouts, there: Whereabouts) -> bool:
        """Whether an earlier run made the target whole; where it was stopped right then, the source learns of it."""
        # A backup that was put there, or a book that took in a whole export, has the secret too.
        whole = there.secret == here.secret and there.arrival is None
        if here.departure is None:
            if whole:
                raise InvalidInput(
                    "target: it is this very book, or a whole copy of it; give another place", field="target"
                )
            return False
        refuse_elsewhere(here.departure, there.address)
        if not whole or there.made_by != here.departure.run:
            if here.departure.whole:
                raise moved(here.departure)
            return False
        if not here.departure.whole:
            await self._source.depart(here.departure._replace(whole=True), here.departure)
        return True

    async def _begin(self, here: Whereabouts, there: Whereabouts) -> _Begun:
        """Let the target be written by this run alone; a departure that is not wanted is taken back."""
        if here.departure is not None:
            refuse_another_copy(here.departure, there)
        same = there.arrival is not None and there.secret == here.secret
        copy = there.arrival.copy if same and there.arrival is not None else uuid4().hex
        if not await self._target.arrive(Arrival(here.address, self._run, copy), here.secret):
            there = await self._target.whereabouts()
            if there.departure is not None:
                raise InvalidInput(f"target: {moved(there.departure)}", field="target")
            if there.secret == here.secret and there.arrival is None:
                raise Conflict(
                    "another copy to the same place made it the book meanwhile: run this one again"
                )
            why = "there is a book with content"
            if there.arrival is not None:
                why = f"a copy of another book was begun there, of {there.arrival.source}"
            raise InvalidInput(f"target: {why}; give a new place, or delete it first", field="target")
        # Read anew: from now on only runs that have not arrived yet can change what is meant by it.
        begun = _Begun(here.address, there.address, copy, (await self._source.whereabouts()).departure)
        if begun.departure is not None:
            refuse_elsewhere(begun.departure, begun.target, copy)
            if not self._switch:
                await self._source.depart(None, begun.departure)
                begun = replace(begun, departure=None)
        return begun

    # ── while the source is written ──────────────────────────────────────────────────────────────────────────────

    async def _catch_up_for_long(self) -> None:
        for _ in range(MOST_PASSES):
            if await self._bringing.catch_up() <= SMALL:
                return

    async def _let_be_written(self, begun: _Begun) -> None:
        """Take back what a run that this one took over from set meanwhile: it cannot make the target whole any more."""
        departure = (await self._source.whereabouts()).departure
        if departure is None:
            return
        refuse_elsewhere(departure, begun.target, begun.copy)
        refuse_overtaken((await self._target.whereabouts()).arrival, self._run)
        await self._source.depart(None, departure)

    # ── switching ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _switched(self, begun: _Begun) -> tuple[Tally, str]:
        """Let nobody write the source any more, bring the rest, prove the target, and let it be the book.

        Tells what was compared, and what the target's files may still hold.
        """
        departure = Departure(begun.target, whole=False, copy=begun.copy, run=self._run)
        asked = False
        try:
            await self._source.depart(departure, begun.departure)
            tally = await self._proven()
            await self._note_erasures()
            # Who gave it up meanwhile lets the source be written again.
            refuse_unknown_departure((await self._source.whereabouts()).departure, departure)
            asked = True
            pending = await self._target.end_arrival(self._run)
        except BaseException as exc:
            # A conflict says for certain that the target was not made whole by this run.
            await self._take_back(begun, departure, ended=asked and not isinstance(exc, Conflict))
            raise
        await self._mark_whole(departure)
        return tally, pending or await self._cleared()

    async def _mark_whole(self, departure: Departure) -> None:
        try:
            await self._source.depart(departure._replace(whole=True), departure)
        except Conflict as exc:
            raise Conflict(
                f"the book is at {departure.address} now, but its old place was given up meanwhile, and may be written: "
                "these are two books from now on; write one of them only, and delete the other"
            ) from exc
        except StorageError as exc:
            raise StorageError(
                f"the book is at {departure.address} now, and its old place could not be told so ({exc}): "
                "run the same copy again"
            ) from exc

    async def _proven(self) -> Tally:
        """Bring the rest; what was laid down for it is read again, as everything else was."""
        tally, touched = await self._bringing.level()
        before = self._bringing.brought
        await self._bringing.level_book()
        await self._bringing.level_pieces(PieceKind.STONE, b"", Tally())
        for era in touched:
            await self._bringing.level_era(era, Tally())
        if self._bringing.brought != before:
            raise StorageError(
                f"the copy stays unlike the book in {self._bringing.brought - before} pieces: "
                "verify the book, delete the copy and begin it anew"
            )
        return tally

    async def _take_back(self, begun: _Begun, departure: Departure, *, ended: bool) -> None:
        """Let the source be written again, unless this run may have made the target whole.

        No other run can have: each sets a departure of its own before.
        """
        with suppress(StorageError, Conflict):
            again = Arrival(begun.source, uuid4().hex, begun.copy)
            if ended and not await self._target.arrive(again, (await self._source.whereabouts()).secret):
                return
            await self._source.depart(None, departure)

    async def _note_erasures(self) -> None:
        """What an erasure left to be noted beside the source's backups is noted while the source knows of them."""
        for job in await _jobs(self._source, NOTE):
            try:
                await note_erasure(self._source, job)
            except OSError as exc:
                raise StorageError(
                    f"what was forgotten could not be noted beside a backup of the book ({exc}): "
                    "let its folder be written, or delete the backup, and run the copy again"
                ) from exc

    async def _cleared(self) -> str:
        """Clear the target's files of what was brought and is erased; what hinders it leaves that to a worker, and is
        told: the book has moved all the same."""
        try:
            if await _jobs(self._target, "scrub"):
                return (await self._target.scrub()).pending_because
        except StorageError as exc:
            return f"a worker clears them, or memoranda forget --scrub ({exc})"
        return ""


async def _jobs(engine: Engine, kind: str) -> list[Job]:
    """All jobs of a kind."""
    most = _MANY_JOBS
    while len(found := await engine.jobs(None, most)) == most:
        most *= 2
    return [job for job in found if job.kind == kind]
