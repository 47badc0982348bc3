"""The in-memory engine: every protocol of ``ports``, with plain Python tables and one call at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.inmemory import (
    batches,
    book_rows,
    costs,
    erasure,
    jobs,
    maintenance,
    reads,
    vector_sets,
)
from memoranda.engines.inmemory.moves import CopyableBook
from memoranda.engines.inmemory.tables import Answers, Checks, Era, Session, Tables, Writes
from memoranda.model.book_facts import BookFacts
from memoranda.model.book_rows import OwnerPieces, StonePiece
from memoranda.model.ledger import Entry, ErasureReceipt, Scrubbed, Target
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, HistoryStep, Page
from memoranda.model.records import Owner, Record, View
from memoranda.model.vectors import Embedding, VectorSet
from memoranda.ports import Scan
from memoranda.storage.questions import Deciding, Question, Write, run
from memoranda.storage.store import Store

A = TypeVar("A")

_ANSWERS: Answers = {
    **batches.ANSWERS,
    **book_rows.ANSWERS,
    **costs.ANSWERS,
    **jobs.ANSWERS,
    **maintenance.ANSWERS,
}
_WRITES: Writes = {
    **batches.WRITES,
    **costs.WRITES,
    **jobs.WRITES,
    **maintenance.WRITES,
}
_CHECKS: Checks = {**batches.CHECKS}


def answer(on: Session, question: Question[Any]) -> Any:
    """Answer a question from the tables."""
    return _ANSWERS[type(question)](on, question)


def carry_out(on: Session, writes: Sequence[Write]) -> None:
    """Carry out all writes or, if a check refuses one of them, none."""
    for write in writes:
        if type(write) in _CHECKS:
            _CHECKS[type(write)](on, write)
    for write in writes:
        _WRITES[type(write)](on, write)


class InMemoryEngine(CopyableBook, Store):
    """A book in this process's memory; it ends with the object."""

    name = "inmemory"

    def __init__(self, secret: bytes | None = None) -> None:
        super().__init__(Tables(secret or os.urandom(32)))

    def _era(self, owner: Owner) -> Era:
        """Return the owner's present era (since the last whole erasure); an empty, unsaved one if it has none."""
        return self._tables.living.get(owner) or self._tables.new_era(owner)

    async def close(self) -> None:
        """Do nothing: the engine has no files and no connections."""

    async def read(self, make: Callable[[], Deciding[A]], *, whole: bool = False, long: bool = False) -> A:
        with self._lock:
            return run(make(), partial(answer, Session.of(self._tables)))[0]

    async def write(
        self,
        make: Callable[[], Deciding[A]],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> A:
        with self._writing() if guarded else self._lock:
            on = Session.of(self._tables)
            found, writes = run(make(), partial(answer, on))
            carry_out(on, writes)
            return found

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        with self._lock:
            return reads.get(self._era(owner), view, ids)

    async def scan(self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
        with self._lock:
            return reads.scan(self._era(owner), view, filter, cursor, limit)

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        with self._lock:
            return [
                reads.scan(self._era(owner), view, filter, cursor, limit)
                for owner, view, filter, cursor, limit in asked
            ]

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        with self._lock:
            return len(reads.matching(self._era(owner), view, filter))

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        with self._lock:
            return reads.history(self._era(owner), view, id)

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        with self._lock:
            return reads.entries(self._era(owner), after, limit)

    # ── passages and aids ────────────────────────────────────────────────────────────────────────────────────────

    async def since(
        self, owner: Owner, view: View, cached: Callable[[int], int | None]
    ) -> list[tuple[Shelf, ShelfDelta]]:
        with self._lock:
            return reads.since(self._tables, self._era(owner), view, cached)

    async def look(
        self, owner: Owner, view: View, cached: Callable[[int], int | None], choose: Choose
    ) -> Sight:
        with self._lock:
            era = self._era(owner)
            shelves = reads.since(self._tables, era, view, cached)
            chosen = choose(shelves)
            return Sight(shelves, None) if chosen is None else reads.seen(era, view, shelves, chosen)

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        with self._writing():
            return reads.note_use(self._era(owner), view, uses)

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        with self._lock:
            return reads.uses(self._era(owner), view, ids)

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        with self._lock:
            return reads.most_used(self._era(owner), view, filter, limit)

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        with self._lock:
            stale = [k for k in self._tables.records.values() if k.terms is not None and k.rule < rule]
            return [kept.record() for kept in stale[:limit]]

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes]) -> int:
        with self._writing():
            return reads.put_terms(self._tables, rule, terms)

    async def vector_sets(self) -> list[VectorSet]:
        with self._lock:
            return vector_sets.listed(self._tables)

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        with self._writing():
            return vector_sets.begin(self._tables, embedding)

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        with self._lock:
            return vector_sets.lacking(self._tables, embedding, limit)

    async def put_vectors(self, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
        with self._writing():
            return vector_sets.put(self._tables, embedding, vectors)

    async def switch_set(self, embedding: Embedding) -> bool:
        with self._writing():
            return vector_sets.switch(self._tables, embedding)

    async def drop_set(self, embedding: Embedding) -> bool:
        with self._writing():
            return vector_sets.drop(self._tables, embedding)

    # ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        with self._writing():
            return erasure.erase(self._tables, target, at)

    async def scrub(self) -> Scrubbed:
        return Scrubbed()

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def owners(self, tenant: str) -> list[Owner]:
        with self._lock:
            found = [
                owner for owner, era in self._tables.living.items() if owner.tenant == tenant and era.ledger
            ]
            return sorted(found, key=lambda owner: owner.parts)

    async def facts(self) -> BookFacts:
        counts = await self.counts()
        with self._lock:
            records = self._tables.records.values()
            bytes = sum(len(version.row.body) for kept in records for version in kept.versions)
        return BookFacts(engine=self.name, address=self.PLACE, format=1, bytes=bytes, **asdict(counts))

    async def adopt_book(
        self, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
    ) -> bool:
        with self._writing():
            return maintenance.adopt_book(self._tables, secret, ended, tombstones)

    async def adopt(self, secret: bytes, whole: OwnerPieces) -> bool:
        with self._writing():
            return maintenance.adopt(self._tables, secret, whole)
