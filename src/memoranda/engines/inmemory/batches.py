"""Answers the questions of a batch from the tables in memory, and stores the records that it
decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.engines.inmemory import jobs
from memoranda.engines.inmemory.tables import (
    Answers,
    Checks,
    Era,
    Kept,
    Session,
    Shelf,
    Tables,
    Version,
    Writes,
)
from memoranda.errors import Conflict
from memoranda.model.ledger import aged_of
from memoranda.model.messages import Thread
from memoranda.model.records import PASSAGE_TYPES, OwnerKind, Record, RecordType
from memoranda.storage import Put, StoredRow
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.use_case import OwnerBase


def _base(on: Session, question: q.Base | q.FindOwner) -> OwnerBase:
    era = on.tables.living.get(question.owner)
    on.era = era or on.tables.new_era(question.owner)
    held = sum(1 for _ in _active(on))
    id, number = (None, None) if era is None else (era.id, era.number)
    items = sum(
        1 for kept in _kept(on) if kept.now.row.type == "item" and kept.now.row.status is None
    )
    on.base = OwnerBase(
        question.owner,
        on.tables.secret,
        id,
        len(on.era.ledger),
        held,
        number,
        items,
        on.tables.restricted(on.era.digest),
    )
    return on.base


def _by_operation(on: Session, question: q.ByOperation) -> q.Applied | None:
    operations = on.tables.operations
    era, position = operations.get(question.digest) or operations.get(question.brought) or (None, 0)
    return None if era is None else q.Applied(era.ledger[position - 1], era.ended)


def _end_of(on: Session, question: q.EndOf) -> q.ThreadEnd | None:
    kept = on.era.records.get(question.thread)
    record = None if kept is None else kept.record()
    if kept is None or not isinstance(record, Thread) or record.withdrawn:
        return None
    return q.ThreadEnd(record.audience, record.agent, kept.tail, kept.now.row.valid_to)


def _count_items(on: Session, question: q.CountItems) -> int:
    rows = (kept.now.row for kept in _kept(on))
    living = (row for row in rows if row.type == "item" and row.status is None)
    return sum(
        1
        for row in living
        if question.at is None or row.valid_to is None or row.valid_to > question.at
    )


def _members(on: Session, question: q.Members) -> list[tuple[UUID, UUID]]:
    kept = on.tables.records.get(question.record)
    groups = {} if kept is None else kept.groups
    found = (
        (group, source)
        for group in question.groups
        for source in groups.get(group, ())
        if source > question.page.after
        and (question.page.among is None or source in question.page.among)
    )
    return sorted(found, key=lambda pair: (pair[1], pair[0]))[: question.page.limit]


def _other_holders(on: Session, _: q.OtherHolders) -> list[Record]:
    mine = None if on.era.owner is None else on.era.owner.tenant
    return [
        record
        for record in (kept.record() for kept in on.tables.records.values())
        if record.type in (RecordType.KEY, RecordType.EXPERIENCE)
        and record.owner.tenant == mine
        and record.owner.kind in (OwnerKind.TENANT, OwnerKind.AGENT)
    ]


def _positions_touching(on: Session, question: q.PositionsTouching) -> list[int]:
    found = (on.era.records[id] for id in question.ids if id in on.era.records)
    return sorted({version.position for kept in found for version in kept.versions})


def _version_of(on: Session, question: q.VersionOf) -> Record | None:
    kept = on.era.records.get(question.id)
    versions = (
        () if kept is None else (v for v in kept.versions if v.row.version == question.version)
    )
    return next((kept.record(version) for version in versions if kept and version.row.body), None)


def _aged(on: Session, _: q.Aged) -> dict[UUID, UUID]:
    return {id: thread for entry in on.era.ledger for id, thread in aged_of(entry).items()}


def _kept(on: Session) -> Iterator[Kept]:
    return iter(on.era.records.values())


def _active(on: Session) -> Iterator[Kept]:
    rows = ((kept, kept.now.row) for kept in _kept(on))
    return (kept for kept, row in rows if row.type == "memory" and row.status == "active")


def era_of(on: Session, base: OwnerBase) -> Era:
    """Return an owner's era; a new one is added to the book first."""
    assert base.era is not None
    if base.era not in on.tables.eras:
        assert base.owner is not None
        on.tables.begin(on.tables.new_era(base.owner, base.era))
    return on.tables.eras[base.era]


def _put_job(on: Session, write: w.PutJob) -> None:
    era = None if write.base is None else era_of(on, write.base)
    jobs.put(on.tables, era, write.draft, write.at, write.id)


def _refuse_taken(on: Session, write: w.StoreRecords) -> None:
    """Raise ``Conflict`` if a record's id exists already, or another record has its key or name."""
    moved = {put.record.id for put in write.puts}
    era = on.tables.eras.get(write.entry.era)
    present = () if era is None else era.records.values()
    taken = {kept.now.row.slot for kept in present if kept.id not in moved}
    for put in write.puts:
        if put.before is None and put.record.id in on.tables.records:
            raise Conflict(
                f"id: there is a record {put.record.id} in this book already; give a new one another id"
            )
        slot = put.record.slot()
        if slot is not None and slot in taken:
            raise Conflict(
                f"{put.record.type.value}: another record holds this key or name; read it, then decide"
            )
        taken.add(slot)


def _store_records(on: Session, write: w.StoreRecords) -> None:
    era = era_of(on, write.base)
    Storing(on.tables, era, write.entry.position).put_all(write.puts, write.rows)
    if any(put.terms is not None for put in write.puts):
        jobs.make_embedding_due(on.tables, write.entry.at)
    for thread, tail in write.tails.items():
        era.records[thread].tail = tail
    on.tables.write(era, replace(write.entry, owner=None))


class Storing:
    """Stores records at one ledger position; the revision of each shelf that it changes increases
    once.
    """

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
            kept = Kept(self._era, [version], record.links(), put.run, put.terms)
            self._tables.add(kept)
        else:
            if kept.now.audience != record.audience and record.type in PASSAGE_TYPES:
                self.leave(self._tables.shelf(self._era, kept.now.audience), record.id)
            kept.versions.append(version)
            self._tables.rest(kept, record.links())
        self._regroup(kept, put)
        if record.type in PASSAGE_TYPES:
            kept.mark = self._mark(shelf)

    def _regroup(self, kept: Kept, put: Put) -> None:
        if not (put.linked or put.unlinked):
            return
        groups = {id: set(sources) for id, sources in kept.groups.items()}
        for group, source in put.linked:
            groups.setdefault(group, set()).add(source)
        for group, source in put.unlinked:
            groups.get(group, set()).discard(source)
        self._tables.group(kept, {id: sources for id, sources in groups.items() if sources})

    def _mark(self, shelf: Shelf) -> int:
        if shelf.number not in self._moved:
            self._moved.add(shelf.number)
            shelf.mark += 1
        return shelf.mark


ANSWERS: Answers = {
    q.Base: _base,
    q.FindOwner: _base,
    q.Secret: lambda on, _: on.tables.secret,
    q.ByOperation: _by_operation,
    q.EndOf: _end_of,
    q.CountActive: lambda on, _: on.base.held if on.base else 0,
    q.CountItems: _count_items,
    q.Members: _members,
    q.OtherHolders: _other_holders,
    q.PositionsTouching: _positions_touching,
    q.VersionOf: _version_of,
    q.ErasedAmong: lambda on, question: frozenset(
        id for id in question.ids if on.tables.buried(id)
    ),
    q.Aged: _aged,
}

WRITES: Writes = {w.Reserve: lambda on, _: None, w.PutJob: _put_job, w.StoreRecords: _store_records}
#: Checks that are made before the first write is carried out; after them nothing can fail.
CHECKS: Checks = {
    w.PutJob: lambda _, write: json.dumps(write.draft.payload),
    w.StoreRecords: _refuse_taken,
}
