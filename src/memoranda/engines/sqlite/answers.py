"""Answers what settling asks, from one transaction and for one owner."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from memoranda.engines.sqlite.rows import fetch_many
from memoranda.engines.sqlite.statements import sql
from memoranda.model import questions as q
from memoranda.model.digests import keyed
from memoranda.model.ledger import Entry, aged_of
from memoranda.model.memories import Memory
from memoranda.model.owner import Audience
from memoranda.model.records import Record
from memoranda.settle.rows import audience_of, entry_of, record_of


@dataclass(slots=True)
class OwnerRow:
    """An owner's present era in the tables."""

    no: int
    era: UUID
    position: int
    held: int


class Answers:
    """Answers a decision's questions from one transaction, for one owner."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, owner: OwnerRow | None) -> None:
        self._connection = connection
        self._secret = secret
        self._no = owner.no if owner else -1
        self._owner = owner
        #: Shelves that were met, by audience: number and mark.
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


#: Which method answers which question.
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
    """Whether a record of this id was erased from this book."""
    return connection.execute(sql("buried"), (keyed(secret, "record", id.bytes),)).fetchone() is not None
