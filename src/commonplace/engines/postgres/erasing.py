"""Erasure in the PostgreSQL tables: what is planned goes from every one of them, in one commit.

No job clears the server's files after it: rewriting tables stops everybody, and is for people to time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from commonplace.engines.postgres import jobs, sets, spending
from commonplace.engines.postgres.answers import Answers, OwnerRow, decide
from commonplace.engines.postgres.applying import add_entry, find_owner, lock_owner, owner_row
from commonplace.engines.postgres.session import Session
from commonplace.engines.postgres.storing import Storing
from commonplace.model.digests import keyed
from commonplace.model.erasure import Target
from commonplace.model.ledger import Actor, Entry, Line, Verb, dump_entry
from commonplace.model.records import PASSAGE_TYPES, Record
from commonplace.model.values import micros
from commonplace.settle import ErasurePlan, Put, plan_erasure
from commonplace.settle.erasing import departure, plan_ageing, plan_whole_erasure
from commonplace.settle.rows import entry_of, record_of


@dataclass(slots=True)
class Erased:
    """What an erasure did, before the server's files are cleared."""

    removed: Counter[str]
    kept: tuple[UUID, ...]
    unknown: tuple[UUID, ...]
    ids: tuple[UUID, ...]
    superseded: tuple[UUID, ...]
    era: UUID | None


async def erase(session: Session, target: Target, at: datetime) -> Erased:
    """Remove a target and all that rests on it alone; the caller has the book alone."""
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
        self._sets = sets.Shrinking(session)
        self._ended = owner.era if target.everything else None

    async def some(self) -> Erased:
        """Forget some records."""
        target = self._target
        planning = plan_ageing if target.ageing else plan_erasure
        plan = await decide(planning(target.view, target.ids), self._answers)
        if plan.doomed or plan.aged:
            lines, note = departure(plan, target.owner, ageing=target.ageing)
            await self._carry_out(plan)
            await self._write_entry(lines, note)
        return self._done(plan)

    async def everything(self) -> Erased:
        """Forget all of an owner's, and end the era."""
        target, no = self._target, self._owner.no
        rows = await self._session.all("all_of_owner", no)
        records = {record.id: record for record in map(record_of, rows)}
        plan = await decide(plan_whole_erasure(target.owner, target.view, records), self._answers)
        await self._carry_out(plan)
        await self._scrub_ledger()
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
        await self._scrub_lines(plan.doomed, every_version=True)
        await self._scrub_lines(plan.stripped, every_version=False)
        await self._strip(plan.stripped)
        marks: dict[int, int] = {}
        for record in plan.doomed.values():
            await self._remove(record, marks)
        for id in plan.aged:
            await self._bury(id)
        await self._sets.finish()
        await self._let_go_of_jobs(plan)
        for owner in {record.owner for record in plan.doomed.values()}:
            # Others too: agents who had learnt from it.
            found = await find_owner(self._session, owner)
            if found is not None:
                await self._session.run("recount_held", found.no)

    async def _bury(self, id: UUID) -> None:
        await self._session.run("bury", keyed(self._secret, "record", id.bytes), micros(self._at))

    async def _remove(self, record: Record, marks: dict[int, int]) -> None:
        run, raw = self._session.run, record.id.bytes
        found = await self._session.one("where_is", raw)
        assert found is not None
        no, shelf, owner = found
        self._removed["versions"] += await run("delete_versions", owner, no)
        self._removed["terms"] += await run("delete_terms", owner, no)
        self._removed["uses"] += await run("delete_use", owner, no)
        self._removed["vectors"] += await self._sets.delete(owner, no)
        self._removed["links"] += await run("delete_links_of", owner, raw)
        await run("delete_record", owner, raw)
        await run("delete_id", raw)
        if not self._target.ageing:
            self._removed["links"] += await run("delete_links_to", raw)
            await self._bury(record.id)
        if record.type in PASSAGE_TYPES:
            if shelf not in marks:
                marks[shelf] = await self._session.value("move_mark", owner, shelf)
            await run("note_gone", owner, shelf, marks[shelf], raw)
            await run("passages_left", 1, owner, shelf)
        self._removed[record.type.value] += 1

    async def _strip(self, stripped: dict[UUID, Record]) -> None:
        """Let records stand without what is gone; earlier versions, which may tell of it, go."""
        by_owner: dict[int, list[Record]] = {}
        for record in stripped.values():
            found = await self._session.one("where_is", record.id.bytes)
            assert found is not None
            by_owner.setdefault(found[2], []).append(record)
        for owner_no, records in by_owner.items():
            await self._strip_of(owner_no, records)

    async def _strip_of(self, owner_no: int, records: list[Record]) -> None:
        present = owner_row(await self._session.one("lock_number", owner_no))
        assert present is not None
        position = present.position + 1
        if owner_no == self._owner.no:
            self._owner.position = position
        puts = [
            Put(r.changed(version=r.version + 1, recorded_at=self._at), r, Verb.UNSOURCE) for r in records
        ]
        storing = Storing(self._session, self._secret, owner_no)
        writings = [storing.writing(put, position, relink=True) for put in puts]
        await storing.store(writings)
        for record in records:
            found = await self._session.one("where_is", record.id.bytes)
            assert found is not None
            self._removed["versions"] += await self._session.run("blank_versions", owner_no, found[0])
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

    async def _scrub_lines(self, records: dict[UUID, Record], *, every_version: bool) -> None:
        """Take content digests of what goes out of the ledger entries that wrote it."""
        gone = frozenset(records)
        touched = await self._session.all("positions_of_records", ids=[id.bytes for id in records])
        for owner_no, position in sorted((row[0], row[1]) for row in touched):
            row = await self._session.one("entries_at", owner_no, [position])
            assert row is not None
            entry = entry_of(row, None)
            scrubbed = entry.scrubbed(gone)
            if not every_version:
                lines = tuple(
                    replace(line, erased=False) if line.id in gone else line for line in scrubbed.lines
                )
                scrubbed = replace(scrubbed, lines=lines)
            await self._rewrite(owner_no, scrubbed)

    async def _scrub_ledger(self) -> None:
        for row in await self._session.all("ledger_of_owner", self._owner.no):
            await self._rewrite(self._owner.no, entry_of(row, None).scrubbed(None))

    async def _rewrite(self, owner_no: int, entry: Entry) -> None:
        await self._session.run("rewrite_entry", entry.actor.id, dump_entry(entry), owner_no, entry.position)
        self._removed["ledger contents"] += 1

    async def _let_go_of_jobs(self, plan: ErasurePlan) -> None:
        """Drop jobs about what goes; those on a thread that loses a part stay, and tell nothing of it."""
        doomed = [id.bytes for id in plan.doomed]
        losing = [id.bytes for id in plan.losing_threads()]
        # What stays without a part of it was read whole.
        telling = await jobs.let_go_of_kept(self._session, doomed + [id.bytes for id in plan.stripped])
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
