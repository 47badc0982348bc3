"""Answers the questions of a batch from one transaction, and stores the records that it decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from uuid import UUID

import asyncpg

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.record_store import Storing
from memoranda.engines.postgres.server.session import Answers, Row, Session, Writes
from memoranda.errors import Conflict
from memoranda.model.ledger import Entry, aged_of
from memoranda.model.memories import Memory
from memoranda.model.records import Owner, Record
from memoranda.model.service_records import Appends
from memoranda.model.values import keyed, micros, owner_digest
from memoranda.model.vectors import embed_job
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.damaged import erasable_of
from memoranda.storage.rows import audience_of, dump_entry, entry_of, record_of
from memoranda.storage.use_case import OwnerBase


async def secret_of(session: Session) -> bytes:
    """Return the key of the book's digests; read in each transaction, because an import may have
    replaced it.
    """
    return bytes(await session.value("secret"))


async def _base(on: Session, question: q.Base) -> OwnerBase:
    # Locked before any look-up, so that a repeated operation waits for the first one to end.
    secret, base = await lock_owner(on, question.owner)
    on.base = base or await _without_era(on, question.owner, secret)
    on.no = -1 if on.base.no is None else on.base.no
    return on.base


async def _find_owner(on: Session, question: q.FindOwner) -> OwnerBase:
    row = await on.one("find_owner", *question.owner.parts)
    assert row is not None
    found = None if row[1] is None else _owner_base(question.owner, bytes(row[0]), row[1:])
    on.base = found or await _without_era(on, question.owner, bytes(row[0]))
    on.no = -1 if on.base.no is None else on.base.no
    return on.base


async def _by_operation(on: Session, question: q.ByOperation) -> q.Applied | None:
    row = await on.one("by_operation", question.digest, question.brought)
    return None if row is None else q.Applied(entry_of(row, None), row[9] is not None)


async def _secret(on: Session, _: q.Secret) -> bytes:
    return await secret_of(on)


async def _load(on: Session, question: q.Load) -> dict[UUID, Record]:
    rows = await on.all("load_own", on.no, _raw(question.ids))
    return {
        record.id: record for record in map(erasable_of if question.damaged else record_of, rows)
    }


async def _holders(on: Session, question: q.Holders) -> dict[bytes, Record]:
    rows = await on.all("holders", on.no, list(question.slots))
    return {row[11]: record_of(row) for row in rows}


async def _end_of(on: Session, question: q.EndOf) -> q.ThreadEnd | None:
    row = await on.one("end_of", on.no, question.thread.bytes)
    if row is None:
        return None
    return q.ThreadEnd(audience_of(*row[:3]), row[3], row[4], row[6])


async def _count_active(on: Session, _: q.CountActive) -> int:
    return on.base.held if on.base else 0


async def _count_archived(on: Session, _: q.CountArchived) -> int:
    return cast(int, await on.value("count_archived", on.no))


async def _count_items(on: Session, question: q.CountItems) -> int:
    late = 0 if question.at is None else await on.value("count_expired_items", on.no, question.at)
    return (on.base.items if on.base else 0) - (late or 0)


async def _place_taken(on: Session, question: q.PlaceTaken) -> bool:
    taken = await on.one("place_taken", on.no, question.thread.bytes, question.seq)
    return taken is not None


async def _last_user_turn(on: Session, question: q.LastUserTurn) -> int:
    return await on.value("last_user_turn", on.no, question.thread.bytes) or 0


async def _writers_of_expired(on: Session, question: q.WritersOfExpired) -> list[str | None]:
    return [row[0] for row in await on.all("writers_of_expired", owner=on.no, at=question.at)]


async def _count_own(on: Session, question: q.CountOwn) -> int:
    return cast(int, await on.value("count_own", owner=on.no, agent=question.agent))


async def _own_memories(on: Session, question: q.OwnMemories) -> list[q.OwnMemory]:
    rows = await on.all("own_memories", owner=on.no, agent=question.agent)
    return [q.OwnMemory.of_columns(*row) for row in rows]


async def _oldest_own(on: Session, question: q.OldestOwn) -> list[Memory]:
    rows = await on.all("oldest_own", owner=on.no, agent=question.agent, limit=question.limit)
    return [cast(Memory, record_of(row)) for row in rows]


async def _count_run(on: Session, question: q.CountRun) -> int:
    return cast(int, await on.value("count_run", on.no, question.run))


async def _resting_on(on: Session, question: q.RestingOn) -> list[Record]:
    rows = await on.all("resting_on", _raw(question.ids))
    return list(map(erasable_of if question.damaged else record_of, rows))


async def _members(on: Session, question: q.Members) -> list[tuple[UUID, UUID]]:
    rows = await on.all(
        "members",
        record=question.record.bytes,
        parts=_raw(question.groups),
        among=None if question.page.among is None else _raw(question.page.among),
        after=question.page.after.bytes,
        limit=question.page.limit,
    )
    return [(UUID(bytes=part), UUID(bytes=source)) for part, source in rows]


async def _other_holders(on: Session, _: q.OtherHolders) -> list[Record]:
    return [erasable_of(row) for row in await on.all("other_holders", on.no)]


async def _entries_at(on: Session, question: q.EntriesAt) -> list[Entry]:
    rows = await on.all("entries_at", on.no, list(question.positions))
    found = {row[1]: entry_of(row, None) for row in rows}
    return [found[position] for position in question.positions if position in found]


async def _positions_touching(on: Session, question: q.PositionsTouching) -> list[int]:
    rows = await on.all("positions_touching", owner=on.no, ids=_raw(question.ids))
    return sorted(row[0] for row in rows)


async def _version_of(on: Session, question: q.VersionOf) -> Record | None:
    row = await on.one("version_of", owner=on.no, id=question.id.bytes, version=question.version)
    return None if row is None else record_of(row)


async def _erased_among(on: Session, question: q.ErasedAmong) -> frozenset[UUID]:
    return await buried_among(on, await secret_of(on), question.ids)


async def _aged(on: Session, _: q.Aged) -> dict[UUID, UUID]:
    rows = await on.all("aged_entries", on.no)
    return {id: thread for row in rows for id, thread in aged_of(entry_of(row, None)).items()}


async def _erased_eras(on: Session, question: q.ErasedEras) -> frozenset[UUID]:
    rows = await on.all("ended_eras", _raw(question.eras))
    return frozenset(UUID(bytes=row[0]) for row in rows)


async def _in_thread(on: Session, question: q.InThread) -> list[UUID]:
    rows = await on.all("in_thread", on.no, question.thread.bytes)
    return [UUID(bytes=row[0]) for row in rows]


async def buried_among(session: Session, secret: bytes, ids: Sequence[UUID]) -> frozenset[UUID]:
    """Return those of the ids whose records were erased from this book."""
    digests = {keyed(secret, "record", id.bytes): id for id in ids}
    if not digests:
        return frozenset()
    rows = await session.all("buried_among", list(digests))
    return frozenset(digests[row[0]] for row in rows)


def _raw(ids: Sequence[UUID]) -> list[bytes]:
    return [id.bytes for id in ids]


async def lock_owner(session: Session, owner: Owner) -> tuple[bytes, OwnerBase | None]:
    """Lock the owner until the transaction ends; returns the book's secret and the owner's current
    era.

    If the owner has no era, no other transaction can begin one before this transaction ends.
    """
    found = await session.one("lock_owner", *owner.parts)
    assert found is not None
    if found[1] is None:
        await session.one("lock_name", "\x1f".join(owner.parts))
        found = await session.one("lock_owner", *owner.parts)
        assert found is not None
    secret = bytes(found[0])
    return secret, None if found[1] is None else _owner_base(owner, secret, found[1:])


async def _without_era(session: Session, owner: Owner, secret: bytes) -> OwnerBase:
    """Return an owner that has no era, and may be restricted all the same."""
    rows = await session.all("restrictions_of", [owner_digest(secret, owner.parts)])
    return OwnerBase(owner, secret, None, restricted=Appends.stored(rows[0][2]) if rows else None)


def _owner_base(owner: Owner, secret: bytes, row: Row) -> OwnerBase:
    return OwnerBase(
        owner, secret, UUID(bytes=row[1]), row[2], row[3], row[0], row[4], Appends.stored(row[5])
    )


async def number_of(session: Session, base: OwnerBase) -> int:
    """Return the owner's number; the row of a new era is stored first."""
    if base.no is None:
        assert base.owner is not None and base.era is not None
        digest = owner_digest(base.secret, base.owner.parts)
        try:
            base.no = await session.value("add_owner", *base.owner.parts, base.era.bytes, digest)
        except asyncpg.UniqueViolationError as exc:
            raise Conflict(f"era: {base.era} is another owner's in this book") from exc
    assert base.no is not None
    return base.no


async def _put_job(on: Session, write: w.PutJob) -> None:
    no = 0 if write.base is None else await number_of(on, write.base)
    await jobs.put(on, no, write.draft, write.at, write.id)


async def _store_records(on: Session, write: w.StoreRecords) -> None:
    storing = Storing(on, write.base.secret, await number_of(on, write.base))
    writings = storing.writings(write)
    for name in await storing.store(
        writings, entry=write.entry, gain=write.gain, items=write.items, tails=write.tails
    ):
        # Last, because this row is shared by the writes of all owners.
        await jobs.put(on, 0, embed_job(name), write.entry.at)


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


ANSWERS: Answers = {
    q.Base: _base,
    q.FindOwner: _find_owner,
    q.Secret: _secret,
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


async def _reserve(on: Session, write: w.Reserve) -> None:
    """Do nothing: an erasure has the book alone."""


WRITES: Writes = {w.Reserve: _reserve, w.PutJob: _put_job, w.StoreRecords: _store_records}
