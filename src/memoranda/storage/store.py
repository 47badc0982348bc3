"""The base class of all engines: it runs a use case for each call, and the engine answers its
questions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from memoranda.model.book_rows import (
    Arrival,
    BookFrame,
    Departure,
    Frame,
    OwnerPieces,
    Piece,
    PieceKind,
    StonePiece,
    Whereabouts,
)
from memoranda.model.changes import Batch, Job, JobDraft, JobState, kept_text
from memoranda.model.language_models import ALL_SPENT, FormingRecord, Spent, SpentFilter, Sums
from memoranda.model.ledger import Actor, Entry, ErasureReceipt, Erasures, Receipt, Target
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, Findings, HistoryStep, Page, Progress, Scan
from memoranda.model.records import Owner, Record, View
from memoranda.model.unlisted import ALL_SOURCES, SourcePage
from memoranda.model.values import new_id
from memoranda.model.vectors import Embedding, VectorSet, Versions
from memoranda.storage import questions as q
from memoranda.storage import upkeep_questions as u
from memoranda.storage.rows import owner_of
from memoranda.storage.service_store import ServiceStore
from memoranda.storage.upkeep_questions import BookCounts, Counts, EraFrame, ErasAfter, OwnersOf
from memoranda.storage.use_case import Write, ask
from memoranda.storage.use_cases import copies, forming_records, jobs, vector_sets
from memoranda.storage.use_cases.apply import apply_batch, find_operation, preview_batch
from memoranda.storage.use_cases.costs import list_spent, note_spent, sum_spent
from memoranda.storage.use_cases.erasure import bury, erase, lacking_erasures
from memoranda.storage.use_cases.history import entries, history, threads_named, unlisted, versions
from memoranda.storage.use_cases.rebuild import Place, rebuild_some, rebuild_tables
from memoranda.storage.use_cases.verify import Steps, verify
from memoranda.storage.writes import PutFrame, PutPieces

A = TypeVar("A")


class Store(ServiceStore):
    """The base of every engine. An engine runs use cases: it answers their questions and carries
    out their writes.
    """

    @property
    @abstractmethod
    def address(self) -> str:
        """The place of the book, without a password."""

    #: The clock of the book, by which reads tell what has expired; without one, nothing is hidden.
    clock: Callable[[], datetime] | None = None

    def _now(self, view: View) -> View:
        """Return the view as of the present, unless it is of a moment."""
        if view.at is not None or self.clock is None:
            return view
        return view.model_copy(update={"at": self.clock()})

    # ── records ───────────────────────────────────────────────────────────────────────────────────

    async def apply(self, batch: Batch) -> Receipt:
        if batch.dry_run:
            return await self.read(lambda: preview_batch(batch), whole=True)
        era = new_id()
        return await self.write(
            lambda: apply_batch(batch, era), repeatable=batch.operation is not None
        )

    async def find_operation(
        self, owner: Owner, operation: str, by: Actor | None = None
    ) -> Receipt | None:
        return await self.read(lambda: find_operation(owner, operation, by), whole=True)

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        seen = self._now(view)
        return await self.read(lambda: ask(q.GetRecords(owner, seen, ids)))

    async def scan(
        self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int
    ) -> Page:
        (page,) = await self.scans([Scan(owner, view, filter, cursor, limit)])
        return page

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        scans = [scan._replace(view=self._now(scan.view)) for scan in asked]
        return await self.read(lambda: ask(q.ScanRecords(scans)))

    async def threads(self, owner: Owner, view: View, name: str) -> list[Record]:
        seen = self._now(view)
        return await self.read(lambda: threads_named(owner, seen, name))

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        seen = self._now(view)
        return await self.read(lambda: ask(q.CountRecords(owner, seen, filter)))

    async def newest(
        self, owner: Owner, view: View, filter: Filter, limit: int, offset: int = 0
    ) -> list[Record]:
        seen = self._now(view)
        return await self.read(lambda: ask(q.NewestPassages(owner, seen, filter, limit, offset)))

    async def kinds(self, owner: Owner, view: View, filter: Filter) -> dict[str | None, int]:
        seen = self._now(view)
        return await self.read(lambda: ask(q.CountKinds(owner, seen, filter)))

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        seen = self._now(view)
        return await self.read(lambda: history(owner, seen, id))

    async def versions(
        self, owner: Owner, view: View, ids: Sequence[UUID]
    ) -> dict[UUID, list[Record]]:
        seen = self._now(view)
        return await self.read(lambda: versions(owner, seen, ids))

    async def unlisted(
        self, owner: Owner, view: View, id: UUID, page: SourcePage = ALL_SOURCES
    ) -> list[tuple[UUID, UUID]]:
        return await self.read(lambda: unlisted(owner, view, id, page))

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        return await self.read(lambda: entries(owner, after, limit))

    # ── passages, terms and uses ──────────────────────────────────────────────────────────────────

    async def since(
        self, owner: Owner, view: View, cached: Callable[[int], int | None]
    ) -> list[tuple[Shelf, ShelfDelta]]:
        return await self.read(lambda: ask(q.ShelvesSince(owner, view, cached)))

    async def look(
        self,
        owner: Owner,
        view: View,
        cached: Callable[[int], int | None],
        choose: Choose,
        *,
        bare: bool = False,
        brief: bool = False,
    ) -> Sight:
        seen = self._now(view)
        return await self.read(lambda: ask(q.Look(owner, seen, cached, choose, bare)), brief=brief)

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        return await self.write(lambda: vector_sets.note_use(owner, view, uses))

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        return await self.read(lambda: ask(q.Uses(owner, view, ids)))

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        seen = self._now(view)
        return await self.read(lambda: ask(q.MostUsed(owner, seen, filter, limit)))

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        return await self.read(lambda: ask(u.StaleTerms(rule, limit)), whole=True, long=True)

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes], read: Versions = None) -> int:
        return await self.write(lambda: vector_sets.put_terms(rule, terms, read or {}))

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    async def vector_sets(self) -> list[VectorSet]:
        return await self.read(vector_sets.list_sets)

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        found = await self.read(lambda: vector_sets.find_set(embedding))
        if found is not None:
            return found
        # Alone: a passage stored at this moment would not be listed as missing in the new set.
        return await self.write(lambda: vector_sets.begin_set(embedding), alone=True)

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        return await self.read(lambda: ask(u.Lacking(embedding.name, limit)), whole=True, long=True)

    async def put_vectors(
        self, of: Embedding, vectors: Mapping[UUID, bytes], read: Versions = None
    ) -> int:
        return await self.write(lambda: vector_sets.put_vectors(of, vectors, read or {}))

    async def switch_set(self, embedding: Embedding) -> bool:
        return await self.write(lambda: vector_sets.switch_set(embedding), alone=True)

    async def drop_set(self, embedding: Embedding) -> bool:
        return await self.write(lambda: vector_sets.drop_set(embedding), alone=True)

    # ── jobs ──────────────────────────────────────────────────────────────────────────────────────

    async def put(self, draft: JobDraft, at: datetime) -> None:
        await self.write(lambda: jobs.put_job(draft, at))

    async def lease(
        self,
        kinds: Sequence[str],
        worker: str,
        at: datetime,
        seconds: float,
        tenant: str | None = None,
        only: UUID | None = None,
    ) -> Job | None:
        if await self.read(lambda: jobs.find_due(kinds, at, tenant, only), whole=True) is None:
            return None
        return await self.write(lambda: jobs.lease_job(kinds, worker, at, seconds, tenant, only))

    async def renew(self, job: Job, at: datetime, seconds: float) -> bool:
        return await self.write(lambda: jobs.renew_job(job, at, seconds))

    async def finish(self, job: Job) -> bool:
        return await self.write(lambda: jobs.finish_job(job))

    async def fail(self, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
        return await self.write(lambda: jobs.fail_job(job, error, at, retry_at))

    async def postpone(self, job: Job, at: datetime, reason: str = "") -> bool:
        return await self.write(lambda: jobs.postpone_job(job, at, reason))

    async def keep(
        self,
        job: Job,
        payload: Mapping[str, Any],
        records: Sequence[UUID],
        spent: Spent | None = None,
    ) -> bool:
        text = None
        try:
            text = kept_text(payload)
        finally:
            # Also if the payload cannot be stored, because the call was paid for.
            kept = await self.write(lambda: jobs.keep_answer(job, text, records, spent))
        return kept

    async def jobs(
        self, state: JobState | None, limit: int, owner: Owner | None = None
    ) -> list[Job]:
        return await self.read(lambda: jobs.list_jobs(state, limit, owner), whole=True)

    async def job_of(self, owner: Owner, kind: str, key: str) -> Job | None:
        return await self.read(lambda: jobs.find_job(owner, kind, key), whole=True)

    async def cancel(self, owner: Owner, kind: str, key: str) -> bool:
        return await self.write(lambda: jobs.cancel_job(owner, kind, key))

    async def replay(self, id: UUID, at: datetime) -> bool:
        return await self.write(lambda: jobs.replay_job(id, at))

    async def drop(self, id: UUID) -> bool:
        return await self.write(lambda: jobs.drop_job(id))

    # ── spending ──────────────────────────────────────────────────────────────────────────────────

    async def note_spent(self, spent: Spent) -> None:
        await self.write(lambda: note_spent(spent))

    async def spent(self, tenant: str, only: SpentFilter = ALL_SPENT) -> list[Spent]:
        return await self.read(lambda: list_spent(tenant, only))

    async def spent_in_all(self, tenant: str, only: SpentFilter = ALL_SPENT) -> Sums:
        return await self.read(lambda: sum_spent(tenant, only))

    # ── who forms ─────────────────────────────────────────────────────────────────────────────────

    async def forming_record(self, tenant: str) -> FormingRecord:
        return await self.read(lambda: forming_records.forming_record(tenant))

    async def claim_forming(self, tenant: str, agent: str | None, who: str) -> str:
        recorded = await self.read(lambda: forming_records.recorded(tenant, agent))
        if recorded:
            return recorded
        # Alone: of two processes that form for the first time, one is recorded.
        return await self.write(
            lambda: forming_records.claim_forming(tenant, agent, who), alone=True
        )

    async def change_forming(self, tenant: str, agent: str | None, who: str) -> None:
        await self.write(lambda: forming_records.change_forming(tenant, agent, who), alone=True)

    # ── verification and upkeep ───────────────────────────────────────────────────────────────────

    async def owners(self, tenant: str) -> list[Owner]:
        return await self.read(lambda: ask(OwnersOf(tenant)))

    async def verify(self, progress: Progress | None = None, tenant: str | None = None) -> Findings:
        return await self.read(lambda: verify(progress, tenant), whole=True, long=True)

    async def rebuild(self, progress: Progress | None = None) -> Mapping[str, int]:
        steps = Steps(progress, sum((await self.counts()).records.values()))
        done: Counter[str] = Counter()
        place: Place | None = Place()
        # A page at a time: a rebuild that was interrupted leaves every record complete, and is run
        # again.
        while place is not None:
            place, rebuilt = await self.write(partial(rebuild_some, place), alone=True)
            steps.add(rebuilt["records"])
            done += rebuilt
        await self.write(rebuild_tables, alone=True)
        return done

    async def counts(self, tenant: str | None = None) -> BookCounts:
        """Return the counts of the book or of one tenant's part, which belong to the facts."""
        return await self.read(lambda: ask(Counts(tenant)), whole=True, long=True)

    # ── imports and copies ────────────────────────────────────────────────────────────────────────

    async def adopt_book(
        self, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
    ) -> bool:
        return await self.write(
            lambda: copies.adopt_book(secret, ended, tombstones), alone=True, long=True
        )

    async def adopt(self, secret: bytes, whole: OwnerPieces) -> bool:
        return await self.write(lambda: copies.adopt(secret, whole), long=True)

    async def whereabouts(self) -> Whereabouts:
        return await self.read(lambda: copies.whereabouts(self.address))

    async def mark_backup(self, id: str | None) -> None:
        await self.write(lambda: copies.mark_backup(id), alone=True)

    async def eras(self, after: bytes, limit: int) -> list[bytes]:
        return await self.read(lambda: ask(ErasAfter(after, limit)))

    async def book_frame(self) -> BookFrame:
        return await self.read(forming_records.book_frame, whole=True)

    async def frame(self, era: bytes) -> Frame | None:
        return await self.read(lambda: ask(EraFrame(era)), whole=True)

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        return await self.read(lambda: copies.pieces(kind, era, after, limit), whole=True)

    async def owner_pieces(self, owner: Owner) -> OwnerPieces | None:
        return await self.read(lambda: copies.owner_pieces(owner), whole=True, long=True)

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        return await self.write(lambda: copies.arrive(arrival, secret), alone=True, guarded=False)

    async def lay_book(self, copy: str, frame: BookFrame) -> None:
        await self.write(lambda: copies.lay_book(copy, frame), guarded=False)

    async def lay_frame(self, copy: str, frame: Frame) -> None:
        await self.write(lambda: copies.lay(copy, PutFrame(frame)), guarded=False)

    async def lay(self, copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        await self.write(lambda: copies.lay(copy, PutPieces(era, pieces)), guarded=False)

    async def end_arrival(self, copy: str) -> None:
        await self.write(lambda: copies.end_arrival(copy), alone=True, guarded=False)

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        # Alone: what is being written is there before the mark is, and nothing is written beside
        # it.
        await self.write(lambda: copies.depart(departure, expected), alone=True, guarded=False)

    # ── erasure ───────────────────────────────────────────────────────────────────────────────────

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        if target.dry_run:
            # It asks as a write does, and writes nothing.
            return await self.write(partial(erase, target, at, self.upkeep_of))
        receipt = await self.write(partial(erase, target, at, self.upkeep_of), alone=True)
        # It holds the names of owners.
        owner_of.cache_clear()
        return await self.finish_erasure(
            receipt, changed=bool(receipt.removed) or target.everything
        )

    async def repeat_erasures(self, past: Erasures, at: datetime) -> int:
        """Erase from a copy of a book what its original has erased since; returns how many records
        were erased.

        Each owner's part is a commit of its own: if it is interrupted, the copy must not be used
        until it was done again.
        """
        removed = 0
        for target in await self.read(lambda: lacking_erasures(past), whole=True):
            receipt = await self.write(partial(erase, target, at, self.upkeep_of), alone=True)
            removed += len(receipt.ids)
        await self.write(lambda: bury(past.records, at))
        return removed

    async def erasures(self) -> Erasures:
        return await self.read(lambda: ask(u.PastErasures()), whole=True, long=True)

    def upkeep_of(self, erasures: Erasures, at: datetime) -> Sequence[Write]:
        """Return what is written with an erasure, about the files that still contain its rows:
        jobs, or a mark.

        ``erasures`` is what earlier copies of the book do not know.
        """
        return ()

    async def finish_erasure(self, receipt: ErasureReceipt, *, changed: bool) -> ErasureReceipt:
        """Clear the files of erased data after the commit, as far as that is done at once, and say
        in the receipt what is left.

        Also if nothing ``changed``: the caller may ask again because an earlier answer was lost,
        and the receipt says ``complete`` only if the files contain nothing of earlier erasures,
        either.
        """
        return receipt
