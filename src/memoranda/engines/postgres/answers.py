"""Answers the questions of a decision about one owner, from one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

from memoranda.engines.postgres.session import Session
from memoranda.model import questions as q
from memoranda.model.digests import keyed
from memoranda.model.ledger import Entry, aged_of
from memoranda.model.memories import Memory
from memoranda.model.owner import Audience
from memoranda.model.records import Record
from memoranda.settle.rows import audience_of, entry_of, record_of

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
    """The row of an owner's current era."""

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
