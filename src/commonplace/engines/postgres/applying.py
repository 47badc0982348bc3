"""Applies a batch inside a transaction: stores what settling decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

import asyncpg

from commonplace.engines.postgres import jobs
from commonplace.engines.postgres.answers import Answers, OwnerRow, decide
from commonplace.engines.postgres.rows import audience_columns, entry_of
from commonplace.engines.postgres.session import Row, Session
from commonplace.errors import Conflict
from commonplace.model.changes import Batch
from commonplace.model.digests import keyed
from commonplace.model.ids import new_id
from commonplace.model.ledger import Entry, Receipt, dump_entry, receipt_of
from commonplace.model.memories import Memory
from commonplace.model.owner import Audience, Owner, owner_digest_parts
from commonplace.model.records import PASSAGE_TYPES, Record
from commonplace.model.values import micros
from commonplace.settle import Put, Settlement, StoredRow, encode, settle
from commonplace.settle.operations import Operation, operation_digest, operation_of, repeated
from commonplace.settle.others import refuse_old_era
from commonplace.text.terms import RULE


def owner_row(row: Row | None) -> OwnerRow | None:
    """An owner's present era, if there is a row of it."""
    return None if row is None else OwnerRow(row[0], UUID(bytes=row[1]), row[2], row[3])


async def find_owner(session: Session, owner: Owner) -> OwnerRow | None:
    """The owner's present era, if it has one."""
    return owner_row(await session.one("owner", *owner.parts))


async def lock_owner(session: Session, owner: Owner) -> OwnerRow | None:
    """The owner's present era, for this transaction alone; where there is none, nobody else begins one meanwhile."""
    found = owner_row(await session.one("lock_owner", *owner.parts))
    if found is None:
        await session.one("lock_name", "\x1f".join(owner.parts))
        found = owner_row(await session.one("lock_owner", *owner.parts))
    return found


async def begin_era(session: Session, secret: bytes, owner: Owner, era: UUID | None = None) -> OwnerRow:
    """Give an owner that has none an era."""
    era = era or new_id()
    digest = keyed(secret, "owner", owner_digest_parts(owner))
    try:
        no = await session.value("add_owner", *owner.parts, era.bytes, digest)
    except asyncpg.UniqueViolationError as exc:
        raise Conflict(f"era: {era} is another owner's in this book") from exc
    return OwnerRow(no, era, 0, 0)


async def apply(session: Session, secret: bytes, batch: Batch) -> Receipt:
    """Apply a batch; the caller's transaction makes it all or nothing."""
    # Locked before anything is looked up: whoever repeats an operation waits for the first to end.
    owner = await lock_owner(session, batch.owner)
    operation = operation_of(secret, batch)
    if operation.id is not None:
        row = await session.one("by_operation", operation.id)
        if row is not None:
            return repeated(entry_of(row, batch.owner), batch.owner, operation, ended=row[9] is not None)
    refuse_old_era(batch.era, owner.era if owner else None)
    answers = Answers(session, secret, owner)
    settlement = await decide(settle(batch), answers)
    if not settlement.puts and not settlement.jobs and operation.id is None:
        # Nothing is stored, not even the name of an owner that was not here.
        return Receipt(batch.owner, 0, batch.at, (), tuple(settlement.ignored))
    owner = owner or await begin_era(session, secret, batch.owner)
    for job in settlement.jobs:
        await jobs.put(session, owner.no, job, batch.at)
    if not settlement.puts and operation.id is None:
        return Receipt(batch.owner, 0, batch.at, (), tuple(settlement.ignored))
    storing = Storing(session, secret, owner.no, owner.position + 1, answers.shelves)
    return await _store(session, storing, batch, owner, settlement, operation)


async def find_operation(session: Session, secret: bytes, owner: Owner, operation: str) -> Receipt | None:
    """The first receipt of an operation id."""
    row = await session.one("by_operation", operation_digest(secret, owner, operation))
    if row is None or row[9] is not None:
        return None
    return receipt_of(entry_of(row, owner), owner, repeated=True)


async def _store(
    session: Session,
    storing: Storing,
    batch: Batch,
    owner: OwnerRow,
    settlement: Settlement,
    operation: Operation,
) -> Receipt:
    position = owner.position + 1
    hashes = await storing.put_all(settlement.puts)
    for thread, tail in settlement.tails.items():
        await session.run("set_tail", tail, owner.no, thread.bytes)
    entry = Entry(
        batch.owner,
        owner.era,
        position,
        batch.at,
        batch.actor,
        settlement.lines(hashes),
        tuple(settlement.ignored),
        settlement.note,
        operation.id,
        operation.request,
    )
    await add_entry(session, owner.no, entry)
    gain = sum(held_gain(put.before, put.record) for put in settlement.puts)
    await session.run("move_owner", position, gain, owner.no)
    if any(put.terms is not None for put in settlement.puts):
        # Last: it is the one row that every owner's writes have in common.
        await jobs.make_embedding_due(session, batch.at)
    return receipt_of(entry, batch.owner)


async def add_entry(session: Session, owner_no: int, entry: Entry) -> None:
    """Write an entry to the ledger."""
    await session.run(
        "add_entry",
        owner_no,
        entry.position,
        micros(entry.at),
        entry.actor.kind,
        entry.actor.id,
        entry.operation,
        entry.request,
        dump_entry(entry),
    )


def held_gain(before: Record | None, after: Record | None) -> int:
    """By how much a change moves the count of memories that are held."""
    was = isinstance(before, Memory) and before.active
    now = isinstance(after, Memory) and after.active
    return int(now) - int(was)


class Storing:
    """Stores records of one owner at one ledger position, each touched shelf's mark moved once."""

    def __init__(
        self,
        session: Session,
        secret: bytes,
        owner_no: int,
        position: int,
        shelves: Mapping[Audience, int] | None = None,
    ) -> None:
        self._session = session
        self._secret = secret
        self._owner_no = owner_no
        self._position = position
        #: Numbers of the shelves that were met in this transaction already.
        self._shelves = dict(shelves or {})
        self._marks: dict[int, int] = {}
        self._slots = True

    async def put_all(self, puts: Iterable[Put], *, slots: bool = True) -> list[bytes]:
        """Store records; returns the content hash of each in order. Without ``slots`` they hold no key or name."""
        self._slots = slots
        puts = list(puts)
        leaving = [
            put.record.id.bytes
            for put in puts
            if put.before is not None
            and put.before.slot() is not None
            and put.before.slot() != put.record.slot()
        ]
        if leaving:
            await self._session.run("free_slots", self._owner_no, leaving)
        return [await (self._insert(put) if put.before is None else self._update(put)) for put in puts]

    async def shelf(self, audience: Audience) -> int:
        """The number of the owner's shelf for an audience."""
        met = self._shelves.get(audience)
        if met is None:
            columns = audience_columns(audience)
            met = await self._session.value("shelf", self._owner_no, *columns)
            if met is None:
                met = await self._session.value("add_shelf", self._owner_no, *columns)
                if audience.groups:
                    groups = list(audience.groups)
                    await self._session.run("add_shelf_groups", self._owner_no, met, groups)
            self._shelves[audience] = met
        return met

    async def mark(self, shelf: int) -> int:
        """The mark of this commit on a shelf; the shelf's row is held until then, so that marks come in order."""
        if shelf not in self._marks:
            self._marks[shelf] = await self._session.value("move_mark", self._owner_no, shelf)
        return self._marks[shelf]

    def _row(self, record: Record) -> StoredRow:
        row = encode(record, self._secret)
        return row if self._slots else row._replace(slot=None)

    async def _insert(self, put: Put) -> bytes:
        record = put.record
        row = self._row(record)
        shelf = await self.shelf(record.audience)
        mark = await self.mark(shelf) if put.terms is not None else 0
        try:
            await self._session.run(
                "insert_record",
                **row._asdict(),
                ended=None if row.held else row.recorded_at,
                owner=self._owner_no,
                shelf=shelf,
                position=self._position,
                run=put.run,
                mark=mark,
                rule=RULE,
                packed=put.terms,
            )
        except asyncpg.UniqueViolationError as exc:
            raise Conflict(f"id: record {record.id} is in this book already; leave ids to the book") from exc
        await self.link(record)
        return row.hash

    async def _update(self, put: Put) -> bytes:
        record = put.record
        row = self._row(record)
        found = await self._session.one("where_is", row.id)
        assert found is not None
        shelf = await self.shelf(record.audience)
        passage = record.type in PASSAGE_TYPES
        mark = await self.mark(shelf) if passage else 0
        if passage and shelf != found[1]:
            await self._session.run("note_gone", self._owner_no, found[1], await self.mark(found[1]), row.id)
        await self._session.run("keep_version", row.recorded_at, self._owner_no, row.id)
        await self._session.run(
            "update_record",
            **row._asdict(),
            held=row.held,
            owner=self._owner_no,
            shelf=shelf,
            position=self._position,
            mark=mark,
        )
        if put.before is not None and put.before.rests_on() != record.rests_on():
            await self._session.run("unlink", self._owner_no, row.id)
            await self.link(record)
        return row.hash

    async def link(self, record: Record) -> None:
        """Write down what a record rests on."""
        sources = [source.bytes for source in record.rests_on()]
        if sources:
            await self._session.run("link", self._owner_no, record.id.bytes, sources)
