"""Applies a batch inside a transaction: answers the questions of its decision, and stores the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

import asyncpg

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.record_store import Storing
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.errors import Conflict
from memoranda.model.changes import Batch
from memoranda.model.ledger import Entry, Receipt, aged_of
from memoranda.model.memories import Memory
from memoranda.model.records import Audience, Owner, Record, owner_digest_parts
from memoranda.model.values import keyed, micros, new_id
from memoranda.model.vectors import embed_job
from memoranda.storage import Decision, decide_batch
from memoranda.storage import questions as q
from memoranda.storage.decide.batch import held_gain
from memoranda.storage.decide.state import (
    OperationDigests,
    operation_digest,
    operation_of,
    receipt_of,
    refuse_old_era,
    repeated,
)
from memoranda.storage.rows import audience_of, dump_entry, entry_of, record_of

A = TypeVar("A")


async def run_decision(deciding: q.Deciding[A], answer: Callable[[q.Question[Any]], Awaitable[Any]]) -> A:
    """Run a decision to its end: answer each question it asks, and return its result."""
    try:
        question = next(deciding)
        while True:
            question = deciding.send(await answer(question))
    except StopIteration as done:
        decided: A = done.value
        return decided


@dataclass(slots=True)
class OwnerRow:
    """The row of an owner's current era (its time since the last whole erasure)."""

    no: int
    era: UUID
    position: int
    held: int


class Answers:
    """Answers a decision's questions from one transaction, for one owner."""

    def __init__(self, session: Session, secret: bytes, owner: OwnerRow | None) -> None:
        self._session = session
        self._secret = secret
        self._no = owner.no if owner else -1
        self._owner = owner
        #: Numbers of the shelves that answers mentioned, by audience.
        self.shelves: dict[Audience, int] = {}

    async def __call__(self, question: q.Question[Any]) -> Any:
        return await _ANSWERS[type(question)](self, question)

    async def _load(self, question: q.Load) -> dict[UUID, Record]:
        rows = await self._session.all("load_own", self._no, _raw(question.ids))
        return {record.id: record for record in map(record_of, rows)}

    async def _holders(self, question: q.Holders) -> dict[bytes, Record]:
        rows = await self._session.all("holders", self._no, list(question.slots))
        return {row[11]: record_of(row) for row in rows}

    async def _end_of(self, question: q.EndOf) -> q.ThreadEnd | None:
        row = await self._session.one("end_of", self._no, question.thread.bytes)
        if row is None:
            return None
        audience = audience_of(*row[:3])
        self.shelves[audience] = row[5]
        return q.ThreadEnd(audience, row[3], row[4])

    async def _count_active(self, _: q.CountActive) -> int:
        return self._owner.held if self._owner else 0

    async def _place_taken(self, question: q.PlaceTaken) -> bool:
        taken = await self._session.one("place_taken", self._no, question.thread.bytes, question.seq)
        return taken is not None

    async def _last_user_turn(self, question: q.LastUserTurn) -> int:
        return await self._session.value("last_user_turn", self._no, question.thread.bytes) or 0

    async def _oldest_own(self, question: q.OldestOwn) -> list[Memory]:
        rows = await self._session.all(
            "oldest_own", owner=self._no, agent=question.agent, limit=question.limit
        )
        return [cast(Memory, record_of(row)) for row in rows]

    async def _count_run(self, question: q.CountRun) -> int:
        return cast(int, await self._session.value("count_run", self._no, question.run))

    async def _resting_on(self, question: q.RestingOn) -> list[Record]:
        return [record_of(row) for row in await self._session.all("resting_on", _raw(question.ids))]

    async def _other_holders(self, _: q.OtherHolders) -> list[Record]:
        return [record_of(row) for row in await self._session.all("other_holders", self._no)]

    async def _entries_at(self, question: q.EntriesAt) -> list[Entry]:
        rows = await self._session.all("entries_at", self._no, list(question.positions))
        found = {row[1]: entry_of(row, None) for row in rows}
        return [found[position] for position in question.positions if position in found]

    async def _positions_touching(self, question: q.PositionsTouching) -> list[int]:
        rows = await self._session.all("positions_touching", owner=self._no, ids=_raw(question.ids))
        return sorted(row[0] for row in rows)

    async def _version_of(self, question: q.VersionOf) -> Record | None:
        row = await self._session.one(
            "version_of", owner=self._no, id=question.id.bytes, version=question.version
        )
        return None if row is None else record_of(row)

    async def _erased_among(self, question: q.ErasedAmong) -> frozenset[UUID]:
        return await buried_among(self._session, self._secret, question.ids)

    async def _aged(self, _: q.Aged) -> dict[UUID, UUID]:
        rows = await self._session.all("aged_entries", self._no)
        return {id: thread for row in rows for id, thread in aged_of(entry_of(row, None)).items()}

    async def _erased_eras(self, question: q.ErasedEras) -> frozenset[UUID]:
        rows = await self._session.all("ended_eras", _raw(question.eras))
        return frozenset(UUID(bytes=row[0]) for row in rows)

    async def _in_thread(self, question: q.InThread) -> list[UUID]:
        rows = await self._session.all("in_thread", self._no, question.thread.bytes)
        return [UUID(bytes=row[0]) for row in rows]


#: Which method answers which question.
_ANSWERS: dict[type[Any], Callable[[Answers, Any], Awaitable[Any]]] = {
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


async def buried_among(session: Session, secret: bytes, ids: Sequence[UUID]) -> frozenset[UUID]:
    """Return those of the ids whose records were erased from this book."""
    digests = {keyed(secret, "record", id.bytes): id for id in ids}
    if not digests:
        return frozenset()
    rows = await session.all("buried_among", list(digests))
    return frozenset(digests[row[0]] for row in rows)


def _raw(ids: Sequence[UUID]) -> list[bytes]:
    return [id.bytes for id in ids]


def owner_row(row: Row | None) -> OwnerRow | None:
    """Build an ``OwnerRow`` from a row; None from None."""
    return None if row is None else OwnerRow(row[0], UUID(bytes=row[1]), row[2], row[3])


async def find_owner(session: Session, owner: Owner) -> OwnerRow | None:
    """Return the row of the owner's current era; None if the owner has none."""
    return owner_row(await session.one("owner", *owner.parts))


async def lock_owner(session: Session, owner: Owner) -> tuple[bytes, OwnerRow | None]:
    """Lock the owner until the transaction ends; returns the book's secret and the owner's current era.

    If the owner has no era, no other transaction can begin one before this transaction ends.
    """
    found = await session.one("lock_owner", *owner.parts)
    assert found is not None
    if found[1] is None:
        await session.one("lock_name", "\x1f".join(owner.parts))
        found = await session.one("lock_owner", *owner.parts)
        assert found is not None
    return bytes(found[0]), None if found[1] is None else owner_row(found[1:])


async def begin_era(session: Session, secret: bytes, owner: Owner) -> OwnerRow:
    """Insert the row of a new era for an owner that has none."""
    era = new_id()
    digest = keyed(secret, "owner", owner_digest_parts(owner))
    try:
        no = await session.value("add_owner", *owner.parts, era.bytes, digest)
    except asyncpg.UniqueViolationError as exc:
        raise Conflict(f"era: {era} is another owner's in this book") from exc
    return OwnerRow(no, era, 0, 0)


async def apply(session: Session, batch: Batch) -> Receipt:
    """Apply a batch; the caller's transaction makes it all or nothing."""
    # The lock comes before any look-up, so that a repeated operation waits for the first one to end.
    secret, owner = await lock_owner(session, batch.owner)
    operation = operation_of(secret, batch)
    if operation.id is not None:
        row = await session.one("by_operation", operation.id)
        if row is not None:
            return repeated(entry_of(row, batch.owner), batch.owner, operation, ended=row[9] is not None)
    refuse_old_era(batch.era, owner.era if owner else None)
    decision = await run_decision(decide_batch(batch), Answers(session, secret, owner))
    if not decision.puts and not decision.jobs and operation.id is None:
        # Nothing is stored, not even the row of a new owner.
        return Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    owner = owner or await begin_era(session, secret, batch.owner)
    for job in decision.jobs:
        await jobs.put(session, owner.no, job, batch.at)
    if not decision.puts and operation.id is None:
        return Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    return await _store(session, secret, batch, owner, decision, operation)


async def find_operation(session: Session, secret: bytes, owner: Owner, operation: str) -> Receipt | None:
    """Return the receipt of an operation that was applied before; None if it never was."""
    row = await session.one("by_operation", operation_digest(secret, owner, operation))
    if row is None or row[9] is not None:
        return None
    return receipt_of(entry_of(row, owner), owner, repeated=True)


async def _store(
    session: Session,
    secret: bytes,
    batch: Batch,
    owner: OwnerRow,
    decision: Decision,
    operation: OperationDigests,
) -> Receipt:
    position = owner.position + 1
    storing = Storing(session, secret, owner.no)
    writings = [storing.writing(put, position) for put in decision.puts]
    entry = Entry(
        batch.owner,
        owner.era,
        position,
        batch.at,
        batch.actor,
        decision.lines(writing.row.hash for writing in writings),
        tuple(decision.ignored),
        decision.note,
        operation.id,
        operation.request,
    )
    gain = sum(held_gain(put.before, put.record) for put in decision.puts)
    for name in await storing.store(writings, entry=entry, gain=gain, tails=decision.tails):
        # Last, because this row is shared by the writes of all owners.
        await jobs.put(session, 0, embed_job(name), batch.at)
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
