"""Applies a batch in memory: first everything that may refuse it, then the storing, which cannot fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast
from uuid import UUID

from memoranda.engines.inmemory import jobs
from memoranda.engines.inmemory.tables import Era, Kept, Shelf, Tables, Version
from memoranda.errors import Conflict
from memoranda.model.changes import Batch
from memoranda.model.ledger import Entry, Receipt, aged_of
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.records import PASSAGE_TYPES, Owner, OwnerKind, Record, RecordType
from memoranda.storage import Put, StoredRow, decide_batch, encode
from memoranda.storage import questions as q
from memoranda.storage.decide.state import (
    operation_digest,
    operation_of,
    receipt_of,
    refuse_old_era,
    repeated,
    run_decision,
)


class Answers:
    """Answers the questions about one owner that a decision asks, from the tables in memory."""

    def __init__(self, tables: Tables, era: Era) -> None:
        self._tables = tables
        self._era = era

    def __call__(self, question: q.Question[Any]) -> Any:
        match question:
            case q.Load(ids):
                return {id: self._era.records[id].record() for id in ids if id in self._era.records}
            case q.Holders(slots):
                return {k.now.row.slot: k.record() for k in self._kept() if k.now.row.slot in slots}
            case q.EndOf(thread):
                return self._end_of(thread)
            case q.LastUserTurn(thread):
                return max((row.seq for row in self._messages(thread) if row.kind == "user"), default=0)
            case q.CountActive():
                return sum(1 for _ in self._held())
            case q.OldestOwn(agent, limit):
                return self._oldest_own(agent)[:limit]
            case q.CountRun(run):
                return sum(1 for kept in self._kept() if kept.run == run)
            case q.RestingOn(ids):
                return self._resting_on(ids)
            case q.OtherHolders():
                return self._other_holders()
            case q.EntriesAt(positions):
                return [self._era.ledger[at - 1] for at in positions if 1 <= at <= len(self._era.ledger)]
            case q.PositionsTouching(ids):
                found = (self._era.records[id] for id in ids if id in self._era.records)
                return sorted({version.position for kept in found for version in kept.versions})
            case q.VersionOf(id, number):
                kept = self._era.records.get(id)
                return (
                    next(
                        (kept.record(v) for v in kept.versions if v.row.version == number and v.row.body),
                        None,
                    )
                    if kept
                    else None
                )
            case q.ErasedAmong(ids):
                return frozenset(id for id in ids if self._tables.buried(id))
            case q.Aged():
                return {id: thread for entry in self._era.ledger for id, thread in aged_of(entry).items()}
            case q.PlaceTaken(thread, seq):
                return any(row.seq == seq for row in self._messages(thread))
            case q.ErasedEras(eras):
                return frozenset(id for id in eras if id in self._tables.eras and self._tables.eras[id].ended)
            case q.InThread(thread):
                return [
                    k.id
                    for k in self._kept()
                    if k.now.row.thread == thread.bytes and k.now.row.type != "thread"
                ]
            case _:
                raise TypeError(f"nobody answers {type(question).__name__}")

    def _kept(self) -> Iterator[Kept]:
        return iter(self._era.records.values())

    def _held(self) -> Iterator[Kept]:
        return (
            kept for kept in self._kept() if kept.now.row.type == "memory" and kept.now.row.status == "active"
        )

    def _other_holders(self) -> list[Record]:
        mine = None if self._era.owner is None else self._era.owner.tenant
        records = (kept.record() for kept in self._tables.records.values())
        return [
            record
            for record in records
            if record.type in (RecordType.KEY, RecordType.EXPERIENCE)
            and record.owner.tenant == mine
            and record.owner.kind in (OwnerKind.TENANT, OwnerKind.AGENT)
        ]

    def _end_of(self, thread: UUID) -> q.ThreadEnd | None:
        kept = self._era.records.get(thread)
        record = None if kept is None else kept.record()
        if kept is None or not isinstance(record, Thread) or record.withdrawn:
            return None
        return q.ThreadEnd(record.audience, record.agent, kept.tail)

    def _messages(self, thread: UUID) -> Iterator[StoredRow]:
        """Return a thread's messages, in order."""
        rows = (kept.now.row for kept in self._kept())
        return (row for row in rows if row.type == "message" and row.thread == thread.bytes)

    def _oldest_own(self, agent: str | None) -> list[Memory]:
        held = (cast(Memory, kept.record()) for kept in self._held())
        own = [memory for memory in held if memory.agent == agent and not memory.pinned]
        return sorted(own, key=lambda memory: (memory.recorded_at, memory.id))

    def _resting_on(self, ids: tuple[UUID, ...]) -> list[Record]:
        found = {resting for id in ids for resting in self._tables.resting.get(id, ())}
        return [self._tables.records[id].record() for id in sorted(found)]


def apply(tables: Tables, batch: Batch) -> Receipt:
    """Apply all changes of a batch, or none."""
    era = tables.living.get(batch.owner)
    operation = operation_of(tables.secret, batch)
    if operation.id in tables.operations:
        first, position = tables.operations[operation.id]
        return repeated(first.ledger[position - 1], batch.owner, operation, ended=first.ended)
    refuse_old_era(batch.era, era.id if era else None)
    era = era or tables.new_era(batch.owner)
    decision = run_decision(decide_batch(batch), Answers(tables, era))
    check_places(tables, era, decision.puts)
    rows = [encode(put.record, tables.secret) for put in decision.puts]
    drafts = [jobs.copied(draft) for draft in decision.jobs]
    tables.begin(era)
    for draft in drafts:
        jobs.put(tables, era, draft, batch.at)
    position = len(era.ledger)
    if not decision.puts and operation.id is None:
        return Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    Storing(tables, era, position + 1).put_all(decision.puts, rows)
    if any(put.terms is not None for put in decision.puts):
        jobs.make_embedding_due(tables, batch.at)
    for thread, tail in decision.tails.items():
        era.records[thread].tail = tail
    entry = Entry(
        None, era.id, position + 1, batch.at, batch.actor, decision.lines(row.hash for row in rows),
        tuple(decision.ignored), decision.note, operation.id, operation.request,
    )  # fmt: skip
    tables.write(era, entry)
    return receipt_of(entry, batch.owner)


def find_operation(tables: Tables, owner: Owner, operation: str) -> Receipt | None:
    """Return the receipt of an operation that was applied before; None if it never was, or its owner was erased."""
    era, position = tables.operations.get(operation_digest(tables.secret, owner, operation), (None, 0))
    if era is None or era.ended:
        return None
    return receipt_of(era.ledger[position - 1], owner, repeated=True)


def check_places(tables: Tables, era: Era, puts: Sequence[Put]) -> None:
    """Raise ``Conflict`` if a record's id exists already, or another record has its key or name."""
    moved = {put.record.id for put in puts}
    taken = {kept.now.row.slot for kept in era.records.values() if kept.id not in moved}
    for put in puts:
        if put.before is None and put.record.id in tables.records:
            raise Conflict(
                f"id: there is a record {put.record.id} in this book already; give a new one another id"
            )
        slot = put.record.slot()
        if slot is not None and slot in taken:
            raise Conflict(
                f"{put.record.type.value}: another record holds this key or name; read it, then decide"
            )
        taken.add(slot)


class Storing:
    """Stores records at one ledger position; the revision of each shelf that it changes increases once."""

    def __init__(self, tables: Tables, era: Era, position: int) -> None:
        self._tables = tables
        self._era = era
        self._position = position
        self._moved: set[int] = set()

    def put_all(self, puts: Sequence[Put], rows: Sequence[StoredRow]) -> None:
        """Store records with the given rows."""
        for put, row in zip(puts, rows, strict=True):
            self._put(put, row)

    def leave(self, shelf: Shelf, id: UUID) -> None:
        """Record that a passage is no longer on a shelf, for indexes that have cached it."""
        shelf.gone[id] = self._mark(shelf)

    def _put(self, put: Put, row: StoredRow) -> None:
        record = put.record
        kept = self._tables.records.get(record.id)
        shelf = self._tables.shelf(self._era, record.audience)
        version = Version(row, record.audience, self._position)
        if kept is None:
            kept = Kept(self._era, [version], record.rests_on(), put.run, put.terms)
            self._tables.add(kept)
        else:
            if kept.now.audience != record.audience and record.type in PASSAGE_TYPES:
                self.leave(self._tables.shelf(self._era, kept.now.audience), record.id)
            kept.versions.append(version)
            self._tables.rest(kept, record.rests_on())
        if record.type in PASSAGE_TYPES:
            kept.mark = self._mark(shelf)

    def _mark(self, shelf: Shelf) -> int:
        if shelf.number not in self._moved:
            self._moved.add(shelf.number)
            shelf.mark += 1
        return shelf.mark
