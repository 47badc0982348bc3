"""Erasure in memory: removes planned records from every table at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory import costs
from memoranda.engines.inmemory.batches import ANSWERS, Storing
from memoranda.engines.inmemory.tables import Era, Kept, Session, Tables
from memoranda.model.ledger import Actor, Entry, ErasureReceipt, Line, Target, Verb
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.model.values import micros
from memoranda.storage import ErasurePlan, Put, encode, plan_erasure
from memoranda.storage.erasure_plan import departure, plan_ageing, plan_whole_erasure
from memoranda.storage.questions import run


def erase(tables: Tables, target: Target, at: datetime) -> ErasureReceipt:
    """Remove a target, and all records that have no other source."""
    era = tables.living.get(target.owner)
    if era is None:
        return ErasureReceipt(target.owner, at, {}, (), "complete", not_found=target.ids)
    on = Session(tables, era)

    def answers(question: Any) -> Any:
        return ANSWERS[type(question)](on, question)

    if target.everything:
        records = {id: kept.record() for id, kept in era.records.items()}
        plan = run(plan_whole_erasure(target.owner, target.view, records), answers)[0]
    else:
        planning = plan_ageing if target.ageing else plan_erasure
        plan = run(planning(target.view, target.ids), answers)[0]
    erasing = _Erasing(tables, era, target, at)
    if target.everything:
        erasing.everything(plan)
    elif plan.doomed or plan.aged:
        erasing.some(plan)
    return ErasureReceipt(
        target.owner, at, dict(+erasing.removed), tuple(plan.stripped), "complete",
        not_found=tuple(plan.unknown), ids=tuple(plan.doomed), era=era.id if target.everything else None,
        superseded=tuple(plan.superseded),
    )  # fmt: skip


class _Erasing:
    def __init__(self, tables: Tables, era: Era, target: Target, at: datetime) -> None:
        self._tables = tables
        self._era = era
        self._target = target
        self._at = at
        self.removed: Counter[str] = Counter()

    def some(self, plan: ErasurePlan) -> None:
        """Erase some records."""
        lines, note = departure(plan, self._target.owner, ageing=self._target.ageing)
        self._carry_out(plan)
        self._write(lines, self._target.actor, note)

    def everything(self, plan: ErasurePlan) -> None:
        """Erase all records of an owner, and end the owner's era."""
        self._carry_out(plan)
        self._era.ledger[:] = [entry.scrubbed(None) for entry in self._era.ledger]
        self.removed["ledger contents"] += len(self._era.ledger)
        self._drop_jobs([id for id, row in self._tables.jobs.items() if row.era == self._era.id])
        self.removed["names on spending"] += costs.unname(self._tables, self._era)
        self._write((), Actor(self._target.actor.kind), {"everything": True})
        self._era.shelves.clear()
        del self._tables.living[self._target.owner]
        self._era.owner, self._era.ended_at = None, micros(self._at)

    def _carry_out(self, plan: ErasurePlan) -> None:
        self._scrub(plan)
        self._strip(plan.stripped)
        storing: dict[int, Storing] = {}
        for id in plan.doomed:
            kept = self._tables.records[id]
            number = kept.era.number
            self._remove(kept, storing.setdefault(number, Storing(self._tables, kept.era, 0)))
        for id in plan.aged:
            self._tables.tombstones[self._tables.tombstone(id)] = micros(self._at)
        self._let_go_of_jobs(set(plan.doomed), plan.losing_threads(), set(plan.stripped))

    def _let_go_of_jobs(self, doomed: set[UUID], losing: set[UUID], stripped: set[UUID]) -> None:
        """Delete jobs about erased records; a job of a thread that loses some records stays, without quotations."""
        # A job that quotes a stripped record has read it whole.
        jobs, telling = self._tables.jobs, set[bytes]()
        for id, row in list(jobs.items()):
            about = {UUID(bytes=record) for record in row.piece.records}
            quoted = {UUID(bytes=record) for record in (row.piece.kept or ((),))[0]}
            if not quoted.isdisjoint(doomed | stripped):
                jobs[id] = replace(row, piece=row.piece._replace(kept=None))
                self.removed["kept answers"] += 1
                telling.add(id)
            if not about.isdisjoint(losing):
                telling.add(id)
            if not about.isdisjoint(doomed):
                self._drop_jobs([id])
        for id in telling & jobs.keys():
            self.removed["errors of jobs"] += bool(jobs[id].piece.error)
            jobs[id] = replace(jobs[id], piece=jobs[id].piece._replace(error=""))

    def _remove(self, kept: Kept, storing: Storing) -> None:
        tables, row = self._tables, kept.now.row
        self.removed[row.type] += 1
        self.removed["versions"] += len(kept.versions) - 1
        self.removed["terms"] += kept.terms is not None
        self.removed["vectors"] += len(kept.vectors)
        self.removed["uses"] += kept.use is not None
        self.removed["links"] += len(kept.sources)
        tables.rest(kept, ())
        if not self._target.ageing:
            self.removed["links"] += len(tables.resting.pop(kept.id, ()))
            tables.tombstones[tables.tombstone(kept.id)] = micros(self._at)
        if row.type in PASSAGE_TYPES:
            storing.leave(kept.era.shelves[kept.now.audience], kept.id)
        del tables.records[kept.id], kept.era.records[kept.id]

    def _strip(self, stripped: dict[UUID, Record]) -> None:
        """Remove erased sources from the remaining records, and empty their earlier versions, which may quote them."""
        by_era: dict[int, list[Record]] = {}
        for record in stripped.values():
            by_era.setdefault(self._tables.records[record.id].era.number, []).append(record)
        for records in by_era.values():
            era = self._tables.records[records[0].id].era
            puts = [
                Put(r.changed(version=r.version + 1, recorded_at=self._at), r, Verb.UNSOURCE) for r in records
            ]
            rows = [encode(put.record, self._tables.secret) for put in puts]
            Storing(self._tables, era, len(era.ledger) + 1).put_all(puts, rows)
            for record in records:
                kept = self._tables.records[record.id]
                self.removed["versions"] += sum(1 for version in kept.versions[:-1] if version.row.body)
                kept.versions[:-1] = [version.blank() for version in kept.versions[:-1]]
            lines = tuple(
                Line(
                    Verb.UNSOURCE,
                    put.record.type,
                    put.record.id,
                    put.record.version - 1,
                    put.record.version,
                    row.hash,
                )
                for put, row in zip(puts, rows, strict=True)
            )
            self._tables.write(
                era, Entry(None, era.id, len(era.ledger) + 1, self._at, Actor("system"), lines)
            )

    def _scrub(self, plan: ErasurePlan) -> None:
        """Remove the digests of erased records, and of earlier versions of stripped ones, from all ledger entries."""
        touched = [*plan.doomed, *plan.stripped]
        eras = {kept.era.number: kept.era for kept in (self._tables.records[id] for id in touched)}
        for era in eras.values():
            for place, entry in enumerate(era.ledger):
                scrubbed = replace(
                    entry,
                    lines=tuple(
                        replace(line, hash=None, erased=line.erased or line.id in plan.doomed)
                        if line.id in plan.doomed or line.id in plan.stripped
                        else line
                        for line in entry.lines
                    ),
                )
                if scrubbed != entry:
                    era.ledger[place] = scrubbed
                    self.removed["ledger contents"] += 1

    def _drop_jobs(self, ids: list[bytes]) -> None:
        for id in ids:
            del self._tables.jobs[id]
            self.removed["jobs"] += 1

    def _write(self, lines: tuple[Line, ...], actor: Actor, note: dict[str, Any]) -> None:
        position = len(self._era.ledger) + 1
        note = {"removed": dict(+self.removed), **note}
        self._tables.write(self._era, Entry(None, self._era.id, position, self._at, actor, lines, note=note))
