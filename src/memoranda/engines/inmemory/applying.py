"""Applies a batch: everything that may refuse it comes first, then what was decided is stored and cannot fail."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.engines.inmemory import jobs
from memoranda.engines.inmemory.answers import Answers
from memoranda.engines.inmemory.tables import Era, Kept, Shelf, Tables, Version
from memoranda.errors import Conflict
from memoranda.model.changes import Batch
from memoranda.model.ledger import Entry, Receipt
from memoranda.model.owner import Owner
from memoranda.model.records import PASSAGE_TYPES
from memoranda.settle import Put, StoredRow, decide_batch, encode
from memoranda.settle.desk import run_decision
from memoranda.settle.operations import operation_digest, operation_of, receipt_of, refuse_old_era, repeated


def apply(tables: Tables, batch: Batch) -> Receipt:
    """Apply all of a batch or nothing."""
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
    """The first receipt of an operation id."""
    era, position = tables.operations.get(operation_digest(tables.secret, owner, operation), (None, 0))
    if era is None or era.ended:
        return None
    return receipt_of(era.ledger[position - 1], owner, repeated=True)


def check_places(tables: Tables, era: Era, puts: Sequence[Put]) -> None:
    """Refuse records whose id is in the book already, or whose key or name is another's."""
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
    """Stores records at one ledger position, the mark of each shelf that it touches moved once."""

    def __init__(self, tables: Tables, era: Era, position: int) -> None:
        self._tables = tables
        self._era = era
        self._position = position
        self._moved: set[int] = set()

    def put_all(self, puts: Sequence[Put], rows: Sequence[StoredRow]) -> None:
        """Store records, given the row of each."""
        for put, row in zip(puts, rows, strict=True):
            self._put(put, row)

    def leave(self, shelf: Shelf, id: UUID) -> None:
        """Note that a passage left a shelf."""
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
