"""Erases records from every PostgreSQL table in one transaction, as planned.

No job clears the server's files afterwards: rewriting a table blocks everybody, so an operator chooses the time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.engines.postgres import jobs, spending
from memoranda.engines.postgres.answers import Answers, OwnerRow, run_decision
from memoranda.engines.postgres.applying import add_entry, find_owner, lock_owner, owner_row
from memoranda.engines.postgres.removing import RecordRemoval, batches, locate, scrub_ledger, scrub_lines
from memoranda.engines.postgres.session import Session
from memoranda.engines.postgres.storing import Storing
from memoranda.model.digests import keyed
from memoranda.model.erasure import Target
from memoranda.model.ledger import Actor, Entry, Line, Verb
from memoranda.model.records import Record
from memoranda.model.values import micros
from memoranda.settle import ErasurePlan, Put, plan_erasure
from memoranda.settle.erasing import departure, plan_ageing, plan_whole_erasure
from memoranda.settle.rows import record_of


@dataclass(slots=True)
class Erased:
    """The removed and kept records; the server's files are not cleared yet."""

    removed: Counter[str]
    kept: tuple[UUID, ...]
    unknown: tuple[UUID, ...]
    ids: tuple[UUID, ...]
    superseded: tuple[UUID, ...]
    era: UUID | None


async def erase(session: Session, target: Target, at: datetime) -> Erased:
    """Remove a target and everything that has no other source; the caller must hold the book's exclusive lock."""
    secret, owner = await lock_owner(session, target.owner)
    if owner is None:
        return Erased(Counter(), (), target.ids, (), (), None)
    erasing = _Erasing(session, secret, owner, target, at)
    return await (erasing.everything() if target.everything else erasing.some())


class _Erasing:
    def __init__(
        self, session: Session, secret: bytes, owner: OwnerRow, target: Target, at: datetime
    ) -> None:
        self._session = session
        self._secret = secret
        self._owner = owner
        self._target = target
        self._at = at
        self._removed: Counter[str] = Counter()
        self._answers = Answers(session, secret, owner)
        self._ended = owner.era if target.everything else None

    async def some(self) -> Erased:
        """Forget some records."""
        target = self._target
        planning = plan_ageing if target.ageing else plan_erasure
        plan = await run_decision(planning(target.view, target.ids), self._answers)
        if plan.doomed or plan.aged:
            lines, note = departure(plan, target.owner, ageing=target.ageing)
            await self._carry_out(plan)
            await self._write_entry(lines, note)
        return self._done(plan)

    async def everything(self) -> Erased:
        """Erase all records of the owner, and end the era."""
        target, no = self._target, self._owner.no
        rows = await self._session.all("all_of_owner", no)
        records = {record.id: record for record in map(record_of, rows)}
        plan = await run_decision(plan_whole_erasure(target.owner, target.view, records), self._answers)
        await self._carry_out(plan)
        self._removed["ledger contents"] += await scrub_ledger(self._session, no)
        self._removed["names on spending"] += await spending.unname(self._session, no)
        await self._write_entry(())
        self._removed["jobs"] += await self._session.run("delete_jobs_of_owner", no)
        for statement in ("delete_gone_of_owner", "delete_shelf_groups_of_owner", "delete_shelves_of_owner"):
            await self._session.run(statement, no)
        await self._session.run("end_era", micros(self._at), no)
        return self._done(plan)

    def _done(self, plan: ErasurePlan) -> Erased:
        kept = tuple(plan.stripped)
        return Erased(
            +self._removed, kept, tuple(plan.unknown), tuple(plan.doomed), tuple(plan.superseded), self._ended
        )

    async def _carry_out(self, plan: ErasurePlan) -> None:
        for records, every_version in ((plan.doomed, True), (plan.stripped, False)):
            self._removed["ledger contents"] += await scrub_lines(
                self._session, records, every_version=every_version
            )
        await self._strip(plan.stripped)
        ageing = self._target.ageing
        await RecordRemoval(self._session, self._removed, with_links_to=not ageing).remove(
            plan.doomed.values()
        )
        for ids in batches([*(() if ageing else plan.doomed), *plan.aged]):
            digests = [keyed(self._secret, "record", id.bytes) for id in ids]
            await self._session.run("bury_all", digests, micros(self._at))
        await self._delete_jobs(plan)
        for owner in {record.owner for record in plan.doomed.values()}:
            # Other owners too: agents that had learnt from these records.
            found = await find_owner(self._session, owner)
            if found is not None:
                await self._session.run("recount_held", found.no)

    async def _strip(self, stripped: dict[UUID, Record]) -> None:
        """Store records without their erased sources, and empty their earlier versions, which may quote those sources."""
        by_owner: dict[int, dict[int, Record]] = {}
        where = await locate(self._session, stripped)
        for id, record in stripped.items():
            no, _, owner_no = where[id]
            by_owner.setdefault(owner_no, {})[no] = record
        for owner_no, records in by_owner.items():
            await self._strip_of(owner_no, records)

    async def _strip_of(self, owner_no: int, records: dict[int, Record]) -> None:
        present = owner_row(await self._session.one("lock_number", owner_no))
        assert present is not None
        position = present.position + 1
        if owner_no == self._owner.no:
            self._owner.position = position
        puts = [
            Put(r.changed(version=r.version + 1, recorded_at=self._at), r, Verb.UNSOURCE)
            for r in records.values()
        ]
        storing = Storing(self._session, self._secret, owner_no)
        writings = [storing.writing(put, position, relink=True) for put in puts]
        await storing.store(writings)
        for numbers in batches(records):
            self._removed["versions"] += await self._session.run("blank_versions", owner_no, numbers)
        lines = tuple(
            Line(
                Verb.UNSOURCE,
                put.record.type,
                put.record.id,
                put.record.version - 1,
                put.record.version,
                row.hash,
            )
            for put, row, *_ in writings
        )
        entry = Entry(None, self._owner.era, position, self._at, Actor("system"), lines)
        await add_entry(self._session, owner_no, entry)
        await self._session.run("move_owner", position, 0, owner_no)

    async def _delete_jobs(self, plan: ErasurePlan) -> None:
        """Delete jobs about erased records; jobs of a thread that loses only a part stay, without answers and errors."""
        doomed = [id.bytes for id in plan.doomed]
        losing = [id.bytes for id in plan.losing_threads()]
        # The stripped records, too, were read whole, before they were stripped.
        telling = await jobs.delete_kept_about(self._session, [*doomed, *(id.bytes for id in plan.stripped)])
        self._removed["kept answers"] += len(telling)
        self._removed["jobs"] += await self._session.run("delete_jobs_about", doomed)
        telling += [row[0] for row in await self._session.all("jobs_about", losing)]
        self._removed["errors of jobs"] += await self._session.run("silence_jobs", telling)

    async def _write_entry(self, lines: tuple[Line, ...], note: dict[str, Any] | None = None) -> None:
        row = await self._session.one("lock_number", self._owner.no)
        assert row is not None
        position = row[2] + 1
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
        await add_entry(self._session, self._owner.no, entry)
        await self._session.run("move_owner", position, 0, self._owner.no)
