"""Applies a batch inside a transaction: answers the questions of its decision, and stores the result."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast
from uuid import UUID

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.file.connections import sql
from memoranda.engines.sqlite.reads import OwnerRow, fetch_many, find_owner
from memoranda.errors import Conflict
from memoranda.model.changes import Batch
from memoranda.model.ledger import Entry, Receipt, aged_of
from memoranda.model.memories import Memory
from memoranda.model.records import PASSAGE_TYPES, Audience, Owner, Record, owner_digest_parts
from memoranda.model.values import keyed, micros, new_id
from memoranda.storage import Decision, Put, decide_batch, encode
from memoranda.storage import questions as q
from memoranda.storage.decide.batch import held_gain
from memoranda.storage.decide.state import (
    OperationDigests,
    operation_digest,
    operation_of,
    receipt_of,
    refuse_old_era,
    repeated,
    run_decision,
)
from memoranda.storage.rows import audience_columns, audience_of, dump_entry, entry_of, record_of
from memoranda.text.terms import RULE


class Answers:
    """Answers a decision's questions from one transaction, for one owner."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, owner: OwnerRow | None) -> None:
        self._connection = connection
        self._secret = secret
        self._no = owner.no if owner else -1
        self._owner = owner
        #: Shelves read so far, by audience: number and revision.
        self.shelves: dict[Audience, tuple[int, int]] = {}

    def __call__(self, question: q.Question[Any]) -> Any:
        return _ANSWERS[type(question)](self, question)

    def _load(self, question: q.Load) -> dict[UUID, Record]:
        ids = [id.bytes for id in question.ids]
        found = [record_of(row) for row in fetch_many(self._connection, "load_own", ids, self._no)]
        return {record.id: record for record in found}

    def _holders(self, question: q.Holders) -> dict[bytes, Record]:
        rows = fetch_many(self._connection, "holders", list(question.slots), self._no, list_name="slots")
        return {row[11]: record_of(row) for row in rows}

    def _end_of(self, question: q.EndOf) -> q.ThreadEnd | None:
        row = self._connection.execute(sql("end_of"), (question.thread.bytes, self._no)).fetchone()
        if row is None:
            return None
        audience = audience_of(*row[:3])
        self.shelves[audience] = row[5], row[6]
        return q.ThreadEnd(audience, row[3], row[4])

    def _count_active(self, _: q.CountActive) -> int:
        return self._owner.held if self._owner else 0

    def _place_taken(self, question: q.PlaceTaken) -> bool:
        values = (question.thread.bytes, question.seq)
        return self._connection.execute(sql("place_taken"), values).fetchone() is not None

    def _last_user_turn(self, question: q.LastUserTurn) -> int:
        row = self._connection.execute(sql("last_user_turn"), (question.thread.bytes, self._no)).fetchone()
        return 0 if row is None else cast(int, row[0])

    def _oldest_own(self, question: q.OldestOwn) -> list[Memory]:
        values = {"owner": self._no, "agent": question.agent, "limit": question.limit}
        return [cast(Memory, record_of(row)) for row in self._connection.execute(sql("oldest_own"), values)]

    def _count_run(self, question: q.CountRun) -> int:
        return cast(int, self._connection.execute(sql("count_run"), (self._no, question.run)).fetchone()[0])

    def _resting_on(self, question: q.RestingOn) -> list[Record]:
        found = {}
        for row in fetch_many(self._connection, "resting_on", [id.bytes for id in question.ids]):
            found[row[1]] = row
        return [record_of(row) for row in found.values()]

    def _other_holders(self, question: q.OtherHolders) -> list[Record]:
        return [
            record_of(row) for row in self._connection.execute(sql("other_holders"), (self._no,)).fetchall()
        ]

    def _entries_at(self, question: q.EntriesAt) -> list[Entry]:
        found = []
        for position in question.positions:
            row = self._connection.execute(sql("entry_at"), (self._no, position)).fetchone()
            if row is not None:
                found.append(entry_of(row, None))
        return found

    def _positions_touching(self, question: q.PositionsTouching) -> list[int]:
        positions: set[int] = set()
        for id in question.ids:
            values = {"owner": self._no, "id": id.bytes}
            positions.update(row[0] for row in self._connection.execute(sql("positions_touching"), values))
        return sorted(positions)

    def _version_of(self, question: q.VersionOf) -> Record | None:
        values = {"owner": self._no, "id": question.id.bytes, "version": question.version}
        row = self._connection.execute(sql("version_of"), values).fetchone()
        return None if row is None else record_of(row)

    def _erased_among(self, question: q.ErasedAmong) -> frozenset[UUID]:
        return frozenset(id for id in question.ids if is_buried(self._connection, self._secret, id))

    def _aged(self, _: q.Aged) -> dict[UUID, UUID]:
        rows = self._connection.execute(sql("aged_entries"), (self._no,)).fetchall()
        return {id: thread for row in rows for id, thread in aged_of(entry_of(row, None)).items()}

    def _erased_eras(self, question: q.ErasedEras) -> frozenset[UUID]:
        ended = (
            e for e in question.eras if self._connection.execute(sql("ended_era"), (e.bytes,)).fetchone()
        )
        return frozenset(ended)

    def _in_thread(self, question: q.InThread) -> list[UUID]:
        rows = self._connection.execute(sql("in_thread"), (question.thread.bytes, self._no))
        return [UUID(bytes=row[0]) for row in rows]


#: The method that answers each question.
_ANSWERS: dict[type[Any], Callable[[Answers, Any], Any]] = {
    q.Load: Answers._load,
    q.Holders: Answers._holders,
    q.EndOf: Answers._end_of,
    q.LastUserTurn: Answers._last_user_turn,
    q.CountActive: Answers._count_active,
    q.OldestOwn: Answers._oldest_own,
    q.CountRun: Answers._count_run,
    q.RestingOn: Answers._resting_on,
    q.OtherHolders: Answers._other_holders,
    q.EntriesAt: Answers._entries_at,
    q.PositionsTouching: Answers._positions_touching,
    q.VersionOf: Answers._version_of,
    q.ErasedAmong: Answers._erased_among,
    q.Aged: Answers._aged,
    q.PlaceTaken: Answers._place_taken,
    q.ErasedEras: Answers._erased_eras,
    q.InThread: Answers._in_thread,
}


def is_buried(connection: sqlite3.Connection, secret: bytes, id: UUID) -> bool:
    """Return True if a record with this id was erased from this book."""
    return connection.execute(sql("buried"), (keyed(secret, "record", id.bytes),)).fetchone() is not None


def begin_era(connection: sqlite3.Connection, secret: bytes, owner: Owner) -> OwnerRow:
    """Begin an era for an owner that has none."""
    era = new_id()
    digest = keyed(secret, "owner", owner_digest_parts(owner))
    no = connection.execute(sql("add_owner"), (*owner.parts, era.bytes, digest)).fetchone()[0]
    return OwnerRow(no, era, 0, 0)


def apply(connection: sqlite3.Connection, secret: bytes, batch: Batch) -> Receipt:
    """Apply a batch; the caller's savepoint makes it all or nothing."""
    operation = operation_of(secret, batch)
    if operation.id is not None:
        row = connection.execute(sql("by_operation"), (operation.id,)).fetchone()
        if row is not None:
            return repeated(entry_of(row, batch.owner), batch.owner, operation, ended=row[9] is not None)
    owner = find_owner(connection, batch.owner)
    refuse_old_era(batch.era, owner.era if owner else None)
    answers = Answers(connection, secret, owner)
    decision = run_decision(decide_batch(batch), answers)
    if not decision.puts and not decision.jobs and operation.id is None:
        # Nothing is stored, not even the name of a new owner.
        return Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    owner = owner or begin_era(connection, secret, batch.owner)
    for job in decision.jobs:
        jobs.put(connection, owner.no, job, batch.at)
    if not decision.puts and operation.id is None:
        return Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    storing = Storing(connection, secret, owner.no, owner.position + 1, answers.shelves)
    return _store(connection, storing, batch, owner, decision, operation)


def find_operation(
    connection: sqlite3.Connection, secret: bytes, owner: Owner, operation: str
) -> Receipt | None:
    """Return the receipt of an operation that was applied before; None if it never was, or its owner was erased."""
    row = connection.execute(sql("by_operation"), (operation_digest(secret, owner, operation),)).fetchone()
    if row is None or row[9] is not None:
        return None
    return receipt_of(entry_of(row, owner), owner, repeated=True)


def _store(
    connection: sqlite3.Connection,
    storing: Storing,
    batch: Batch,
    owner: OwnerRow,
    decision: Decision,
    operation: OperationDigests,
) -> Receipt:
    position = owner.position + 1
    hashes = storing.put_all(decision.puts)
    if any(put.terms is not None for put in decision.puts):
        jobs.make_embedding_due(connection, batch.at)
    for thread, tail in decision.tails.items():
        connection.execute(sql("set_tail"), (tail, thread.bytes))
    entry = Entry(
        batch.owner,
        owner.era,
        position,
        batch.at,
        batch.actor,
        decision.lines(hashes),
        tuple(decision.ignored),
        decision.note,
        operation.id,
        operation.request,
    )
    add_entry(connection, owner.no, entry)
    gain = sum(held_gain(put.before, put.record) for put in decision.puts)
    connection.execute(sql("move_owner"), (position, gain, owner.no))
    return receipt_of(entry, batch.owner)


def add_entry(connection: sqlite3.Connection, owner_no: int, entry: Entry) -> None:
    """Write an entry to the ledger."""
    connection.execute(
        sql("add_entry"),
        (
            owner_no,
            entry.position,
            micros(entry.at),
            entry.actor.kind,
            entry.actor.id,
            entry.operation,
            entry.request,
            dump_entry(entry),
        ),
    )


class Storing:
    """Stores records of one owner at one ledger position; the revision of each shelf that it changes increases once."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        secret: bytes,
        owner_no: int,
        position: int,
        shelves: Mapping[Audience, tuple[int, int]] | None = None,
    ) -> None:
        self._connection = connection
        self._secret = secret
        self._owner_no = owner_no
        self._position = position
        #: Number and revision of the shelves that were read in this transaction.
        self._shelves = dict(shelves or {})
        self._marks: dict[int, int] = {}

    def put_all(self, puts: Iterable[Put]) -> list[bytes]:
        """Store records; returns the content hash of each in order."""
        puts = list(puts)
        for put in puts:
            if (
                put.before is not None
                and put.before.slot() is not None
                and put.before.slot() != put.record.slot()
            ):
                self._connection.execute(sql("free_slot"), (put.record.id.bytes,))
        return [self._insert(put) if put.before is None else self._update(put) for put in puts]

    def shelf(self, audience: Audience) -> int:
        """Return the number of the owner's shelf for an audience; make the shelf if there is none."""
        met = self._shelves.get(audience)
        if met is None:
            columns = audience_columns(audience)
            met = self._connection.execute(sql("shelf"), (self._owner_no, *columns)).fetchone()
            if met is None:
                met = self._connection.execute(sql("add_shelf"), (self._owner_no, *columns)).fetchone()
                for group in audience.groups:
                    self._connection.execute(sql("add_shelf_group"), (met[0], group))
            self._shelves[audience] = met
        return met[0]

    def mark(self, shelf: int) -> int:
        """Return the revision that this commit gives to a shelf."""
        if shelf not in self._marks:
            met = next((mark for number, mark in self._shelves.values() if number == shelf), None)
            if met is None:
                self._marks[shelf] = self._connection.execute(sql("move_mark"), (shelf,)).fetchone()[0]
            else:
                self._marks[shelf] = met + 1
                self._connection.execute(sql("set_mark"), (met + 1, shelf))
        return self._marks[shelf]

    def _insert(self, put: Put) -> bytes:
        record = put.record
        row = encode(record, self._secret)
        shelf = self.shelf(record.audience)
        mark = self.mark(shelf) if put.terms is not None else 0
        ended = None if row.held else row.recorded_at
        values = (*row, row.recorded_at, ended, self._owner_no, shelf, self._position, put.run, mark)
        try:
            no = self._connection.execute(sql("insert_record"), values).lastrowid
        except sqlite3.IntegrityError as exc:
            raise Conflict(f"id: record {record.id} is in this book already; leave ids to the book") from exc
        if put.terms is not None:
            self._connection.execute(sql("put_terms"), (no, RULE, put.terms))
        self._link(record)
        return row.hash

    def _update(self, put: Put) -> bytes:
        record = put.record
        row = encode(record, self._secret)
        _, old_shelf, _ = self._connection.execute(sql("where_is"), (row.id,)).fetchone()
        shelf = self.shelf(record.audience)
        passage = record.type in PASSAGE_TYPES
        mark = self.mark(shelf) if passage else 0
        if passage and shelf != old_shelf:
            self._connection.execute(sql("note_gone"), (old_shelf, self.mark(old_shelf), row.id))
        self._connection.execute(sql("keep_version"), (row.recorded_at, row.id))
        self._connection.execute(
            sql("update_record"),
            (*row[2:6], *row[7:], row.held, row.recorded_at, shelf, self._position, mark, row.id),
        )
        if put.before is not None and put.before.rests_on() != record.rests_on():
            self._connection.execute(sql("unlink"), (row.id,))
            self._link(record)
        return row.hash

    def _link(self, record: Record) -> None:
        for source in record.rests_on():
            self._connection.execute(sql("link"), (record.id.bytes, source.bytes))
