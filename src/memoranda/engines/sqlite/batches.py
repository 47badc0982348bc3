"""Answers a batch's questions and stores its records, inside one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import cast
from uuid import UUID

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.file.connections import Answers, Session, Writes, sql
from memoranda.errors import Conflict
from memoranda.model.ledger import Entry, aged_of
from memoranda.model.memories import Memory
from memoranda.model.records import PASSAGE_TYPES, Audience, Record
from memoranda.model.service_records import Appends
from memoranda.model.values import keyed, micros, owner_digest
from memoranda.storage import Put, StoredRow
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.damaged import erasable_of
from memoranda.storage.rows import audience_columns, audience_of, dump_entry, entry_of, record_of
from memoranda.storage.use_case import OwnerBase
from memoranda.text.terms import RULE


def _base(on: Session, question: q.Base | q.FindOwner) -> OwnerBase:
    row = on.one("owner", *question.owner.parts)
    no, era, position, held, items = row or (None, None, 0, 0, 0)
    on.no = -1 if no is None else no
    era = None if era is None else UUID(bytes=era)
    book = on.standing()
    secret, mode = book.secret, None
    if book.restricts:
        mode = on.value("restricted", owner_digest(secret, question.owner.parts))
    restricted = None if mode is None else Appends.stored(mode)
    on.base = OwnerBase(question.owner, secret, era, position, held, no, items, restricted)
    return on.base


def _by_operation(on: Session, question: q.ByOperation) -> q.Applied | None:
    row = on.one("by_operation", question.digest, question.brought)
    return None if row is None else q.Applied(entry_of(row, None), row[9] is not None)


def _load(on: Session, question: q.Load) -> dict[UUID, Record]:
    build = erasable_of if question.damaged else record_of
    found = map(build, on.many("load_own", [id.bytes for id in question.ids], on.no))
    return {record.id: record for record in found}


def _holders(on: Session, question: q.Holders) -> dict[bytes, Record]:
    rows = on.many("holders", question.slots, on.no, list_name="slots")
    return {row[11]: record_of(row) for row in rows}


def _end_of(on: Session, question: q.EndOf) -> q.ThreadEnd | None:
    row = on.one("end_of", question.thread.bytes, on.no)
    if row is None:
        return None
    audience = audience_of(*row[:3])
    on.shelves[on.no, audience] = row[5], row[6]
    return q.ThreadEnd(audience, row[3], row[4], row[7])


def _count_active(on: Session, _: q.CountActive) -> int:
    return on.base.held if on.base else 0


def _count_archived(on: Session, _: q.CountArchived) -> int:
    return cast(int, on.value("count_archived", on.no))


def _count_items(on: Session, question: q.CountItems) -> int:
    late = (
        0 if question.at is None else cast(int, on.value("count_expired_items", on.no, question.at))
    )
    return (on.base.items if on.base else 0) - late


def _place_taken(on: Session, question: q.PlaceTaken) -> bool:
    return on.one("place_taken", question.thread.bytes, question.seq) is not None


def _last_user_turn(on: Session, question: q.LastUserTurn) -> int:
    return on.value("last_user_turn", question.thread.bytes, on.no) or 0


def _writers_of_expired(on: Session, question: q.WritersOfExpired) -> list[str | None]:
    return [row[0] for row in on.all("writers_of_expired", owner=on.no, at=question.at)]


def _count_own(on: Session, question: q.CountOwn) -> int:
    return cast(int, on.value("count_own", owner=on.no, agent=question.agent))


def _own_memories(on: Session, question: q.OwnMemories) -> list[q.OwnMemory]:
    return [
        q.OwnMemory.of_columns(*row)
        for row in on.all("own_memories", owner=on.no, agent=question.agent)
    ]


def _oldest_own(on: Session, question: q.OldestOwn) -> list[Memory]:
    rows = on.all("oldest_own", owner=on.no, agent=question.agent, limit=question.limit)
    return [cast(Memory, record_of(row)) for row in rows]


def _count_run(on: Session, question: q.CountRun) -> int:
    return cast(int, on.value("count_run", on.no, question.run))


def _resting_on(on: Session, question: q.RestingOn) -> list[Record]:
    rows = {row[1]: row for row in on.many("resting_on", [id.bytes for id in question.ids])}
    return [(erasable_of if question.damaged else record_of)(rows[id]) for id in sorted(rows)]


def _members(on: Session, question: q.Members) -> list[tuple[UUID, UUID]]:
    id, groups = question.record.bytes, [group.bytes for group in question.groups]
    if question.page.among is None:
        rows = on.many("members", groups, id, question.page.after.bytes, question.page.limit)
    else:
        rows = [
            row
            for row in on.many("members_among", _raw(question.page.among), id)
            if row[0] in groups
        ]
    found = ((UUID(bytes=part), UUID(bytes=source)) for part, source in rows)
    return sorted(found, key=lambda pair: (pair[1], pair[0]))[: question.page.limit]


def _raw(ids: Iterable[UUID]) -> list[bytes]:
    return [id.bytes for id in ids]


def _other_holders(on: Session, _: q.OtherHolders) -> list[Record]:
    return [erasable_of(row) for row in on.all("other_holders", on.no)]


def _entries_at(on: Session, question: q.EntriesAt) -> list[Entry]:
    rows = (on.one("entry_at", on.no, position) for position in question.positions)
    return [entry_of(row, None) for row in rows if row is not None]


def _positions_touching(on: Session, question: q.PositionsTouching) -> list[int]:
    return sorted(
        {
            row[0]
            for id in question.ids
            for row in on.all("positions_touching", owner=on.no, id=id.bytes)
        }
    )


def _version_of(on: Session, question: q.VersionOf) -> Record | None:
    row = on.one("version_of", owner=on.no, id=question.id.bytes, version=question.version)
    return None if row is None else record_of(row)


def _erased_among(on: Session, question: q.ErasedAmong) -> frozenset[UUID]:
    secret = on.secret()
    return frozenset(
        id for id in question.ids if on.one("buried", keyed(secret, "record", id.bytes))
    )


def _aged(on: Session, _: q.Aged) -> dict[UUID, UUID]:
    rows = on.all("aged_entries", on.no)
    return {id: thread for row in rows for id, thread in aged_of(entry_of(row, None)).items()}


def _erased_eras(on: Session, question: q.ErasedEras) -> frozenset[UUID]:
    return frozenset(era for era in question.eras if on.one("ended_era", era.bytes))


def _in_thread(on: Session, question: q.InThread) -> list[UUID]:
    return [UUID(bytes=row[0]) for row in on.all("in_thread", question.thread.bytes, on.no)]


def number_of(on: Session, base: OwnerBase) -> int:
    """Return the owner's number; the row of a new era is stored first."""
    if base.no is None:
        assert base.owner is not None and base.era is not None
        digest = owner_digest(base.secret, base.owner.parts)
        base.no = on.value("add_owner", *base.owner.parts, base.era.bytes, digest)
    assert base.no is not None
    return base.no


def _put_job(on: Session, write: w.PutJob) -> None:
    jobs.put(
        on.connection,
        0 if write.base is None else number_of(on, write.base),
        write.draft,
        write.at,
        write.id,
    )


def _store_records(on: Session, write: w.StoreRecords) -> None:
    no = number_of(on, write.base)
    Storing(on, no, write).put_all()
    on.shelves.clear()
    if any(put.terms is not None for put in write.puts):
        jobs.make_embedding_due(on.connection, write.entry.at)
    for thread, tail in write.tails.items():
        on.run("set_tail", tail, thread.bytes)
    add_entry(on, no, write.entry)
    on.run("move_owner", write.entry.position, write.gain, write.items, no)


def add_entry(on: Session, owner_no: int, entry: Entry) -> None:
    """Write an entry to the ledger."""
    actor, digests = (entry.actor.kind, entry.actor.id), (entry.operation, entry.request)
    on.run(
        "add_entry", owner_no, entry.position, micros(entry.at), *actor, *digests, dump_entry(entry)
    )


class Storing:
    """Stores records of one owner at one ledger position; the revision of each shelf that it
    changes increases once.
    """

    def __init__(self, on: Session, owner_no: int, write: w.StoreRecords) -> None:
        self._on = on
        self._owner_no = owner_no
        self._write = write
        self._marks: dict[int, int] = {}

    def put_all(self) -> None:
        """Store the records."""
        puts = self._write.puts
        for put in puts:
            slot = None if put.before is None else put.before.slot()
            if slot is not None and slot != put.record.slot():
                self._on.run("free_slot", put.record.id.bytes)
        for put, row in zip(puts, self._write.rows, strict=True):
            if put.before is None:
                self._insert(put, row)
            else:
                self._update(put, row)

    def _shelf(self, audience: Audience) -> int:
        """Return the number of the owner's shelf for an audience; make the shelf if there is
        none.
        """
        found = self._on.shelves.get((self._owner_no, audience))
        if found is None:
            columns = audience_columns(audience)
            row = self._on.one("shelf", self._owner_no, *columns)
            if row is None:
                row = self._on.one("add_shelf", self._owner_no, *columns)
                assert row is not None
                for group in audience.groups:
                    self._on.run("add_shelf_group", row[0], group)
            found = self._on.shelves[self._owner_no, audience] = cast(tuple[int, int], row)
        return found[0]

    def _mark(self, shelf: int) -> int:
        """Return the revision that this commit gives to a shelf."""
        if shelf not in self._marks:
            read = next(
                (mark for number, mark in self._on.shelves.values() if number == shelf), None
            )
            if read is None:
                self._marks[shelf] = self._on.value("move_mark", shelf)
            else:
                self._marks[shelf] = read + 1
                self._on.run("set_mark", read + 1, shelf)
        return self._marks[shelf]

    def _insert(self, put: Put, row: StoredRow) -> None:
        record = put.record
        shelf = self._shelf(record.audience)
        mark = self._mark(shelf) if put.terms is not None else 0
        ended = None if row.held else row.recorded_at
        position = self._write.entry.position
        values = (*row, row.recorded_at, ended, self._owner_no, shelf, position, put.run, mark)
        try:
            no = self._on.connection.execute(sql("insert_record"), values).lastrowid
        except sqlite3.IntegrityError as exc:
            raise Conflict(
                f"id: record {record.id} is in this book already; leave ids to the book"
            ) from exc
        if put.terms is not None:
            self._on.run("put_terms", no, RULE, put.terms)
        self._link(record)
        self._regroup(put)

    def _update(self, put: Put, row: StoredRow) -> None:
        record = put.record
        found = self._on.one("where_is", row.id)
        assert found is not None
        old_shelf, shelf = found[1], self._shelf(record.audience)
        passage = record.type in PASSAGE_TYPES
        mark = self._mark(shelf) if passage else 0
        if passage and shelf != old_shelf:
            self._on.run("note_gone", old_shelf, self._mark(old_shelf), row.id)
        self._on.run("keep_version", row.recorded_at, row.id)
        columns = (*row[2:6], *row[7:], row.held, row.recorded_at, shelf)
        self._on.run("update_record", *columns, self._write.entry.position, mark, row.id)
        if self._write.relink or (put.before is not None and put.before.links() != record.links()):
            self._on.run("unlink", row.id)
            self._link(record)
        self._regroup(put)

    def _link(self, record: Record) -> None:
        for source in record.links():
            self._on.run("link", record.id.bytes, b"", source.bytes)

    def _regroup(self, put: Put) -> None:
        id = put.record.id.bytes
        for group, source in put.linked:
            self._on.run("link", id, group.bytes, source.bytes)
        for group, source in put.unlinked:
            self._on.run("unlink_one", id, group.bytes, source.bytes)


ANSWERS: Answers = {
    q.Base: _base,
    q.FindOwner: _base,
    q.Secret: lambda on, _: on.secret(),
    q.ByOperation: _by_operation,
    q.Load: _load,
    q.Holders: _holders,
    q.EndOf: _end_of,
    q.LastUserTurn: _last_user_turn,
    q.CountActive: _count_active,
    q.CountArchived: _count_archived,
    q.CountItems: _count_items,
    q.WritersOfExpired: _writers_of_expired,
    q.CountOwn: _count_own,
    q.OwnMemories: _own_memories,
    q.OldestOwn: _oldest_own,
    q.CountRun: _count_run,
    q.RestingOn: _resting_on,
    q.Members: _members,
    q.OtherHolders: _other_holders,
    q.EntriesAt: _entries_at,
    q.PositionsTouching: _positions_touching,
    q.VersionOf: _version_of,
    q.ErasedAmong: _erased_among,
    q.Aged: _aged,
    q.PlaceTaken: _place_taken,
    q.ErasedEras: _erased_eras,
    q.InThread: _in_thread,
}

WRITES: Writes = {w.Reserve: lambda on, _: None, w.PutJob: _put_job, w.StoreRecords: _store_records}
