"""Answers a decision's questions from the tables, for one owner's era."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Kept, Tables
from memoranda.model import questions as q
from memoranda.model.ledger import aged_of
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.owner import OwnerKind
from memoranda.model.records import Record, RecordType
from memoranda.settle import StoredRow


class Answers:
    """Answers questions about one owner; called with each in turn."""

    def __init__(self, tables: Tables, era: Era) -> None:
        self._tables = tables
        self._era = era

    def __call__(self, question: q.Question[Any]) -> Any:
        match question:
            case q.Load(ids):
                return {id: self._era.records[id].record() for id in ids if id in self._era.records}
            case q.Holders(slots):
                return {k.now.row.slot: k.record() for k in self._kept() if k.now.row.slot in slots}
            case q.EndOf(thread):
                return self._end_of(thread)
            case q.LastUserTurn(thread):
                return max((row.seq for row in self._messages(thread) if row.kind == "user"), default=0)
            case q.CountActive():
                return sum(1 for _ in self._held())
            case q.OldestOwn(agent, limit):
                return self._oldest_own(agent)[:limit]
            case q.CountRun(run):
                return sum(1 for kept in self._kept() if kept.run == run)
            case q.RestingOn(ids):
                return self._resting_on(ids)
            case q.OtherHolders():
                return self._other_holders()
            case q.EntriesAt(positions):
                return [self._era.ledger[at - 1] for at in positions if 1 <= at <= len(self._era.ledger)]
            case q.PositionsTouching(ids):
                found = (self._era.records[id] for id in ids if id in self._era.records)
                return sorted({version.position for kept in found for version in kept.versions})
            case q.VersionOf(id, number):
                kept = self._era.records.get(id)
                return (
                    next(
                        (kept.record(v) for v in kept.versions if v.row.version == number and v.row.body),
                        None,
                    )
                    if kept
                    else None
                )
            case q.ErasedAmong(ids):
                return frozenset(id for id in ids if self._tables.buried(id))
            case q.Aged():
                return {id: thread for entry in self._era.ledger for id, thread in aged_of(entry).items()}
            case q.PlaceTaken(thread, seq):
                return any(row.seq == seq for row in self._messages(thread))
            case q.ErasedEras(eras):
                return frozenset(id for id in eras if id in self._tables.eras and self._tables.eras[id].ended)
            case q.InThread(thread):
                return [
                    k.id
                    for k in self._kept()
                    if k.now.row.thread == thread.bytes and k.now.row.type != "thread"
                ]
            case _:
                raise TypeError(f"nobody answers {type(question).__name__}")

    def _kept(self) -> Iterator[Kept]:
        return iter(self._era.records.values())

    def _held(self) -> Iterator[Kept]:
        return (
            kept for kept in self._kept() if kept.now.row.type == "memory" and kept.now.row.status == "active"
        )

    def _other_holders(self) -> list[Record]:
        mine = None if self._era.owner is None else self._era.owner.tenant
        records = (kept.record() for kept in self._tables.records.values())
        return [
            record
            for record in records
            if record.type in (RecordType.KEY, RecordType.EXPERIENCE)
            and record.owner.tenant == mine
            and record.owner.kind in (OwnerKind.TENANT, OwnerKind.AGENT)
        ]

    def _end_of(self, thread: UUID) -> q.ThreadEnd | None:
        kept = self._era.records.get(thread)
        record = None if kept is None else kept.record()
        if kept is None or not isinstance(record, Thread) or record.withdrawn:
            return None
        return q.ThreadEnd(record.audience, record.agent, kept.tail)

    def _messages(self, thread: UUID) -> Iterator[StoredRow]:
        """What was said in a thread."""
        rows = (kept.now.row for kept in self._kept())
        return (row for row in rows if row.type == "message" and row.thread == thread.bytes)

    def _oldest_own(self, agent: str | None) -> list[Memory]:
        held = (cast(Memory, kept.record()) for kept in self._held())
        own = [memory for memory in held if memory.agent == agent and not memory.pinned]
        return sorted(own, key=lambda memory: (memory.recorded_at, memory.id))

    def _resting_on(self, ids: tuple[UUID, ...]) -> list[Record]:
        found = {resting for id in ids for resting in self._tables.resting.get(id, ())}
        return [self._tables.records[id].record() for id in sorted(found)]
