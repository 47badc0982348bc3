"""Applies a batch inside a transaction: decides what it does, and stores the result."""

from __future__ import annotations

from uuid import UUID

import asyncpg

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.answers import Answers, OwnerRow, run_decision
from memoranda.engines.postgres.session import Row, Session
from memoranda.engines.postgres.storing import Storing
from memoranda.errors import Conflict
from memoranda.model.changes import Batch
from memoranda.model.digests import keyed
from memoranda.model.ids import new_id
from memoranda.model.ledger import Entry, Receipt
from memoranda.model.owner import Owner, owner_digest_parts
from memoranda.model.values import micros
from memoranda.model.vectors import embed_job
from memoranda.settle import Decision, decide_batch
from memoranda.settle.caps import held_gain
from memoranda.settle.operations import (
    OperationDigests,
    operation_digest,
    operation_of,
    receipt_of,
    refuse_old_era,
    repeated,
)
from memoranda.settle.rows import dump_entry, entry_of


def owner_row(row: Row | None) -> OwnerRow | None:
    """Make an ``OwnerRow`` of a row; None of None."""
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


async def begin_era(session: Session, secret: bytes, owner: Owner, era: UUID | None = None) -> OwnerRow:
    """Insert the row of a new era for an owner that has none."""
    era = era or new_id()
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
    """Return the receipt that an operation id got the first time; None if it was never applied."""
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
