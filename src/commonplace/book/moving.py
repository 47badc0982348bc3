"""Moves a book from one engine to another while it is in use: brought over, caught up with, compared, switched."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import uuid4

from commonplace.book.backups import NOTE, note_erasure
from commonplace.book.bringing import Bringing, Progress, Tally
from commonplace.errors import Conflict, InvalidInput, StorageError
from commonplace.model.moving import Arrival, Departure, PieceKind, Whereabouts, moved
from commonplace.ports import Engine

#: With so few entries to come the rest may wait until nobody writes.
SMALL = 200
#: A book that is written faster than it is copied is switched all the same.
MOST_PASSES = 10
#: As far as it is looked for jobs.
_MOST_JOBS = 100_000


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
        here, there = await self._source.whereabouts(), await self._target.whereabouts()
        report = replace(_NOTHING, source=here.address, target=there.address)
        if await self._is_over(here, there):
            return replace(report, switched=True, already=True)
        await self._begin(here, there)
        records = sum((await self._source.facts()).records.values())
        self._bringing.total = records * (3 if self._switch else 2)
        tally = Tally()
        if not self._switch or here.departure is None:
            await self._catch_up_for_long()
            self._bringing.done = records
            tally, _ = await self._bringing.level()
        if self._switch:
            self._bringing.done = 2 * records
            tally = await self._switched(here, there)
        return replace(
            report,
            switched=self._switch,
            owners=tally.owners,
            records=tally.records,
            versions=tally.versions,
            entries=tally.entries,
            brought=self._bringing.brought,
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
            if await self._bringing.catch_up() <= SMALL:
                return

    # ── switching ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _switched(self, here: Whereabouts, there: Whereabouts) -> Tally:
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
