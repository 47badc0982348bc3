"""Erasure in the SQLite tables: removes planned records from all of them, in one commit."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import costs, jobs, vector_sets
from memoranda.engines.sqlite.batches import ANSWERS, Storing, add_entry
from memoranda.engines.sqlite.file.connections import sql
from memoranda.engines.sqlite.file.session import Session
from memoranda.engines.sqlite.reads import OwnerRow, find_owner
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Actor, Entry, Erasures, Line, Target, Verb
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Record
from memoranda.model.values import keyed, micros, new_id
from memoranda.storage import ErasurePlan, Put, encode, plan_erasure
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.erasure_plan import departure, plan_ageing, plan_whole_erasure
from memoranda.storage.questions import run
from memoranda.storage.rows import dump_entry, entry_of, load_entry_body, owner_of, record_of

#: The job that clears the file of erased content; it is added in the commit of the erasure.
SCRUB = JobDraft(kind="scrub", key="file")


@dataclass(slots=True)
class Erased:
    """The result of an erasure in the tables, before the file itself is cleared of deleted rows."""

    removed: Counter[str]
    kept: tuple[UUID, ...]
    unknown: tuple[UUID, ...]
    ids: tuple[UUID, ...]
    superseded: tuple[UUID, ...]
    era: UUID | None


def erase(connection: sqlite3.Connection, secret: bytes, target: Target, at: datetime) -> Erased:
    """Remove a target, and all records that have no other source."""
    owner = find_owner(connection, target.owner)
    if owner is None:
        return Erased(Counter(), (), target.ids, (), (), None)
    erasing = _Erasing(connection, secret, owner, target, at)
    return erasing.everything() if target.everything else erasing.some()


def erasures(connection: sqlite3.Connection) -> Erasures:
    """Return the ids of everything that was ever erased from this book."""
    eras = tuple(UUID(bytes=row[0]) for row in connection.execute(sql("erased_eras")))
    lines = (line for row in connection.execute(sql("erase_entries")) for line in load_entry_body(row[0])[0])
    return Erasures(eras, tuple(dict.fromkeys(line.id for line in lines if line.verb is Verb.ERASE)))


def reapply(connection: sqlite3.Connection, secret: bytes, past: Erasures, at: datetime) -> int:
    """Erase from this copy of a book all records that the original has erased."""
    removed = 0
    for era in past.eras:
        row = connection.execute(sql("owner_of_era"), (era.bytes,)).fetchone()
        if row is not None:
            target = Target(owner_of(*row), WHOLE, Actor("system"), everything=True)
            removed += len(erase(connection, secret, target, at).ids)
    for id in past.records:
        row = connection.execute(sql("owner_of_record"), (id.bytes,)).fetchone()
        if row is not None:
            removed += len(
                erase(connection, secret, Target(owner_of(*row), WHOLE, Actor("system"), (id,)), at).ids
            )
        connection.execute(sql("bury"), (keyed(secret, "record", id.bytes), micros(at)))
    return removed


class _Erasing:
    def __init__(
        self, connection: sqlite3.Connection, secret: bytes, owner: OwnerRow, target: Target, at: datetime
    ) -> None:
        self._connection = connection
        self._secret = secret
        self._owner = owner
        self._target = target
        self._at = at
        self._removed: Counter[str] = Counter()
        self._on = Session(connection)
        self._on.no, self._on.base = (
            owner.no,
            q.OwnerBase(target.owner, secret, owner.era, owner.position, owner.held, owner.no),
        )
        self._answers = lambda question: ANSWERS[type(question)](self._on, question)
        self._sets = vector_sets.Shrinking(connection)
        self._ended = owner.era if target.everything else None

    def some(self) -> Erased:
        """Erase some records."""
        target = self._target
        planning = plan_ageing if target.ageing else plan_erasure
        plan = run(planning(target.view, target.ids), self._answers)[0]
        if plan.doomed or plan.aged:
            lines, note = departure(plan, target.owner, ageing=target.ageing)
            self._carry_out(plan)
            self._write_entry(lines, note)
        return self._done(plan)

    def everything(self) -> Erased:
        """Erase all records of an owner, and end the owner's era."""
        target = self._target
        rows = self._connection.execute(sql("all_of_owner"), (self._owner.no,)).fetchall()
        records = {record.id: record for record in map(record_of, rows)}
        plan = run(plan_whole_erasure(target.owner, target.view, records), self._answers)[0]
        self._carry_out(plan)
        self._scrub_ledger()
        self._removed["names on spending"] += costs.unname(self._connection, self._owner.no)
        self._write_entry(())
        no = (self._owner.no,)
        self._removed["jobs"] += self._connection.execute(sql("delete_jobs_of_owner"), no).rowcount
        for statement in ("delete_gone_of_owner", "delete_shelf_groups_of_owner", "delete_shelves_of_owner"):
            self._connection.execute(sql(statement), no)
        self._connection.execute(sql("end_era"), (micros(self._at), self._owner.no))
        return self._done(plan)

    def _done(self, plan: ErasurePlan) -> Erased:
        if plan.doomed or plan.aged or self._target.everything:
            jobs.put(self._connection, 0, SCRUB, self._at)
            if not self._target.ageing:
                jobs.put(self._connection, 0, self._note(plan), self._at)
        kept = tuple(plan.stripped)
        return Erased(
            +self._removed, kept, tuple(plan.unknown), tuple(plan.doomed), tuple(plan.superseded), self._ended
        )

    def _note(self, plan: ErasurePlan) -> JobDraft:
        """Return the job that notes this erasure beside the book's backups, so that a restored one is erased too."""
        note: dict[str, object] = {"records": [str(id) for id in (*plan.doomed, *plan.aged)]}
        if self._ended is not None:
            note = {"era": str(self._ended)}
        return JobDraft(kind="note", key=new_id().hex, payload=note)

    def _carry_out(self, plan: ErasurePlan) -> None:
        self._scrub_lines(plan.doomed, every_version=True)
        self._scrub_lines(plan.stripped, every_version=False)
        self._strip(plan.stripped)
        marks: dict[int, int] = {}
        for record in plan.doomed.values():
            self._remove(record, marks)
        for id in plan.aged:
            self._connection.execute(sql("bury"), (keyed(self._secret, "record", id.bytes), micros(self._at)))
        self._sets.finish()
        self._let_go_of_jobs(plan)
        for owner in {record.owner for record in plan.doomed.values()}:
            # Also other owners: agents who had learnt from it.
            found = find_owner(self._connection, owner)
            if found is not None:
                self._connection.execute(sql("recount_held"), (found.no,))

    def _remove(self, record: Record, marks: dict[int, int]) -> None:
        execute = self._connection.execute
        raw = record.id.bytes
        no, shelf, _ = execute(sql("where_is"), (raw,)).fetchone()
        self._removed["versions"] += execute(sql("delete_versions"), (no,)).rowcount
        self._removed["terms"] += execute(sql("delete_terms"), (no,)).rowcount
        self._removed["uses"] += execute(sql("delete_use"), (no,)).rowcount
        self._removed["vectors"] += self._sets.delete(no)
        self._removed["links"] += execute(sql("delete_links_of"), (raw,)).rowcount
        execute(sql("delete_record"), (raw,))
        if not self._target.ageing:
            self._removed["links"] += execute(sql("delete_links_to"), (raw,)).rowcount
            execute(sql("bury"), (keyed(self._secret, "record", raw), micros(self._at)))
        if record.type in PASSAGE_TYPES:
            if shelf not in marks:
                marks[shelf] = execute(sql("move_mark"), (shelf,)).fetchone()[0]
            execute(sql("note_gone"), (shelf, marks[shelf], raw))
        self._removed[record.type.value] += 1

    def _strip(self, stripped: dict[UUID, Record]) -> None:
        """Remove erased sources from the remaining records, and empty their earlier versions, which may quote them."""
        by_owner: dict[int, list[Record]] = {}
        for record in stripped.values():
            no = self._connection.execute(sql("record_position"), (record.id.bytes,)).fetchone()[0]
            by_owner.setdefault(no, []).append(record)
        for owner_no, records in by_owner.items():
            present = self._connection.execute(
                "SELECT position FROM owners WHERE no = ?", (owner_no,)
            ).fetchone()
            position = present[0] + 1
            if owner_no == self._owner.no:
                self._owner.position = position
            puts = [
                Put(r.changed(version=r.version + 1, recorded_at=self._at), r, Verb.UNSOURCE) for r in records
            ]
            rows = [encode(put.record, self._secret) for put in puts]
            hashes = [row.hash for row in rows]
            entry = Entry(None, self._owner.era, position, self._at, Actor("system"), ())
            base = q.OwnerBase(None, self._secret, None, no=owner_no)
            Storing(
                Session(self._connection), owner_no, w.StoreRecords(base, puts, rows, entry, relink=True)
            ).put_all()
            for record in records:
                no = self._connection.execute(sql("where_is"), (record.id.bytes,)).fetchone()[0]
                self._removed["versions"] += self._connection.execute(sql("blank_versions"), (no,)).rowcount
            lines = tuple(
                Line(
                    Verb.UNSOURCE,
                    put.record.type,
                    put.record.id,
                    put.record.version - 1,
                    put.record.version,
                    digest,
                )
                for put, digest in zip(puts, hashes, strict=True)
            )
            entry = Entry(None, self._owner.era, position, self._at, Actor("system"), lines)
            add_entry(Session(self._connection), owner_no, entry)
            self._connection.execute(sql("move_owner"), (position, 0, owner_no))

    def _scrub_lines(self, records: dict[UUID, Record], *, every_version: bool) -> None:
        """Remove these records' digests from their ledger entries; ``every_version`` also marks the lines as erased."""
        touched: set[tuple[int, int]] = set()
        for id in records:
            touched.update(self._connection.execute(sql("positions_of_record"), {"id": id.bytes}))
        gone = frozenset(records)
        for owner_no, position in sorted(touched):
            row = self._connection.execute(sql("entry_at"), (owner_no, position)).fetchone()
            entry = entry_of(row, None)
            scrubbed = entry.scrubbed(gone)
            if not every_version:
                lines = tuple(
                    replace(line, erased=False) if line.id in gone else line for line in scrubbed.lines
                )
                scrubbed = replace(scrubbed, lines=lines)
            self._rewrite(owner_no, scrubbed)

    def _scrub_ledger(self) -> None:
        for row in self._connection.execute(sql("entries_after"), (self._owner.no, 0, -1)).fetchall():
            self._rewrite(self._owner.no, entry_of(row, None).scrubbed(None))

    def _rewrite(self, owner_no: int, entry: Entry) -> None:
        self._connection.execute(
            sql("rewrite_entry"), (entry.actor.id, dump_entry(entry), owner_no, entry.position)
        )
        self._removed["ledger contents"] += 1

    def _let_go_of_jobs(self, plan: ErasurePlan) -> None:
        """Delete jobs about erased records; a job of a thread that loses some records stays, without quotations."""
        doomed, losing = {id.hex for id in plan.doomed}, {id.hex for id in plan.losing_threads()}
        # A job that quotes a stripped record has read it whole.
        telling = jobs.let_go_of_kept(self._connection, doomed | {id.hex for id in plan.stripped})
        self._removed["kept answers"] += len(telling)
        for id, records in self._connection.execute(sql("jobs_about_records")).fetchall():
            about = set(json.loads(records))
            if not doomed.isdisjoint(about):
                self._removed["jobs"] += self._connection.execute(sql("delete_job"), (id,)).rowcount
            elif not losing.isdisjoint(about):
                telling.append(id)
        for id in telling:
            self._removed["errors of jobs"] += self._connection.execute(sql("silence_job"), (id,)).rowcount

    def _write_entry(self, lines: tuple[Line, ...], note: dict[str, Any] | None = None) -> None:
        position = self._connection.execute(sql("owner"), self._target.owner.parts).fetchone()[2] + 1
        actor = Actor(self._target.actor.kind) if self._target.everything else self._target.actor
        entry = Entry(
            None,
            self._owner.era,
            position,
            self._at,
            actor,
            lines,
            note={"removed": dict(+self._removed), **(note or {})},
        )
        if self._target.everything:
            entry.note["everything"] = True
        add_entry(Session(self._connection), self._owner.no, entry)
        self._connection.execute(sql("move_owner"), (position, 0, self._owner.no))
