"""Erases records from every PostgreSQL table in one transaction, as planned, many in each statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.postgres import costs, jobs
from memoranda.engines.postgres.batches import (
    ANSWERS,
    add_entry,
    find_owner,
    lock_owner,
)
from memoranda.engines.postgres.record_store import Storing
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.engines.postgres.vector_sets import VectorRemoval
from memoranda.model.ledger import Actor, Entry, Line, Target, Verb
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.model.values import keyed, micros
from memoranda.storage import ErasurePlan, Put, encode, plan_erasure
from memoranda.storage.erasure_plan import departure, plan_ageing, plan_whole_erasure
from memoranda.storage.questions import Deciding, OwnerBase
from memoranda.storage.rows import dump_entry, entry_of, record_of
from memoranda.storage.writes import StoreRecords

#: Records or entries in one statement; this bounds the memory of the server and of this process.
AT_ONCE = 500

_T = TypeVar("_T")


def batches(things: Iterable[_T]) -> Iterator[list[_T]]:
    """Yield all items in lists of bounded length."""
    every = list(things)
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


async def locate(session: Session, ids: Collection[UUID]) -> dict[UUID, tuple[int, int, int]]:
    """Return number, shelf and owner of records, which must exist."""
    found = {}
    for part in batches(ids):
        rows = await session.all("where_are", [id.bytes for id in part])
        found.update({UUID(bytes=row[0]): (row[1], row[2], row[3]) for row in rows})
    return found


class RecordRemoval:
    """Removes records with all their rows, and counts the removed rows of each table."""

    def __init__(self, session: Session, removed: Counter[str], *, with_links_to: bool) -> None:
        self._session = session
        self._removed = removed
        self._with_links_to = with_links_to
        self._sets = VectorRemoval(session)
        #: The new mark of each shelf that passages were removed from.
        self._marks: dict[int, int] = {}

    async def remove(self, records: Collection[Record]) -> None:
        """Remove records and all rows that belong to them."""
        for part in batches(records):
            where = await locate(self._session, [record.id for record in part])
            by_owner: dict[int, list[Record]] = {}
            for record in part:
                by_owner.setdefault(where[record.id][2], []).append(record)
            for owner, of_owner in by_owner.items():
                await self._remove_of(owner, of_owner, where)
            ids = [record.id.bytes for record in part]
            await self._session.run("take_away_ids", ids)
            if self._with_links_to:
                self._removed["links"] += await self._session.run("delete_links_to", ids)
            self._removed.update(record.type.value for record in part)
        await self._sets.finish()

    async def _remove_of(
        self, owner: int, records: Sequence[Record], where: dict[UUID, tuple[int, int, int]]
    ) -> None:
        run = self._session.run
        ids, numbers = [record.id.bytes for record in records], [where[record.id][0] for record in records]
        for table in ("versions", "terms", "uses"):
            self._removed[table] += await run(f"take_away_{table}", owner, numbers)
        self._removed["vectors"] += await self._sets.delete(owner, numbers)
        self._removed["links"] += await run("take_away_links", owner, ids)
        await run("take_away_records", owner, ids)
        left: dict[int, list[bytes]] = {}
        for record in records:
            if record.type in PASSAGE_TYPES:
                left.setdefault(where[record.id][1], []).append(record.id.bytes)
        for shelf, gone in left.items():
            if shelf not in self._marks:
                self._marks[shelf] = await self._session.value("move_mark", owner, shelf)
            await run("note_gone", owner, shelf, self._marks[shelf], gone)
            await run("passages_left", len(gone), owner, shelf)


async def scrub_lines(session: Session, ids: Collection[UUID], *, every_version: bool) -> int:
    """Remove the content digests of erased records from their ledger entries; returns the number of entries."""
    gone = frozenset(ids)
    positions: dict[int, set[int]] = {}
    for part in batches(gone):
        for owner, position in await session.all("positions_of_records", ids=[id.bytes for id in part]):
            positions.setdefault(owner, set()).add(position)
    for owner in sorted(positions):
        for some_positions in batches(sorted(positions[owner])):
            rows = await session.all("entries_at", owner, some_positions)
            await _rewrite(session, owner, [_scrubbed(row, gone, every_version) for row in rows])
    return sum(map(len, positions.values()))


def _scrubbed(row: Row, gone: frozenset[UUID], every_version: bool) -> Entry:
    scrubbed = entry_of(row, None).scrubbed(gone)
    if every_version:
        return scrubbed
    lines = tuple(replace(line, erased=False) if line.id in gone else line for line in scrubbed.lines)
    return replace(scrubbed, lines=lines)


async def scrub_ledger(session: Session, owner: int) -> int:
    """Remove names and digests from all ledger entries of an owner; returns the number of entries."""
    count = through = 0
    while rows := await session.all("entries_after", owner, through, AT_ONCE):
        await _rewrite(session, owner, [entry_of(row, None).scrubbed(None) for row in rows])
        count, through = count + len(rows), rows[-1][1]
    return count


async def _rewrite(session: Session, owner: int, entries: Sequence[Entry]) -> None:
    await session.run(
        "rewrite_entries",
        owner=owner,
        positions=[entry.position for entry in entries],
        actors=[entry.actor.id for entry in entries],
        bodies=[dump_entry(entry) for entry in entries],
    )


@dataclass(slots=True)
class Erased:
    """The result of an erasure in the tables, before the server's files are cleared of deleted rows."""

    removed: Counter[str]
    kept: tuple[UUID, ...]
    unknown: tuple[UUID, ...]
    ids: tuple[UUID, ...]
    superseded: tuple[UUID, ...]
    era: UUID | None


async def erase(session: Session, target: Target, at: datetime) -> Erased:
    """Remove the given records and all that have no other source; the caller must hold the book's exclusive lock."""
    secret, owner = await lock_owner(session, target.owner)
    if owner is None:
        return Erased(Counter(), (), target.ids, (), (), None)
    erasing = _Erasing(session, secret, owner, target, at)
    return await (erasing.everything() if target.everything else erasing.some())


async def _run(session: Session, deciding: Deciding[_T]) -> _T:
    try:
        question = next(deciding)
        while True:
            question = deciding.send(await ANSWERS[type(question)](session, question))
    except StopIteration as done:
        return done.value


class _Erasing:
    def __init__(
        self, session: Session, secret: bytes, owner: OwnerBase, target: Target, at: datetime
    ) -> None:
        self._session = session
        self._secret = secret
        self._owner = owner
        self._target = target
        self._at = at
        self._removed: Counter[str] = Counter()
        session.no, session.base = owner.no or -1, owner
        self._ended = owner.era if target.everything else None

    async def some(self) -> Erased:
        """Erase some records."""
        target = self._target
        planning = plan_ageing if target.ageing else plan_erasure
        plan = await _run(self._session, planning(target.view, target.ids))
        if plan.doomed or plan.aged:
            lines, note = departure(plan, target.owner, ageing=target.ageing)
            await self._carry_out(plan)
            await self._write_entry(lines, note)
        return self._done(plan)

    async def everything(self) -> Erased:
        """Erase all records of an owner, and end the owner's era."""
        target, no = self._target, self._owner.no
        rows = await self._session.all("all_of_owner", no)
        records = {record.id: record for record in map(record_of, rows)}
        plan = await _run(self._session, plan_whole_erasure(target.owner, target.view, records))
        await self._carry_out(plan)
        self._removed["ledger contents"] += await scrub_ledger(self._session, no)
        self._removed["names on spending"] += await costs.unname(self._session, no)
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
        """Store remaining records without erased sources, and empty their earlier versions, which may quote them."""
        by_owner: dict[int, dict[int, Record]] = {}
        where = await locate(self._session, stripped)
        for id, record in stripped.items():
            no, _, owner_no = where[id]
            by_owner.setdefault(owner_no, {})[no] = record
        for owner_no, records in by_owner.items():
            await self._strip_of(owner_no, records)

    async def _strip_of(self, owner_no: int, records: dict[int, Record]) -> None:
        present = await self._session.one("lock_number", owner_no)
        assert present is not None
        position = present[2] + 1
        if owner_no == self._owner.no:
            self._owner.position = position
        puts = [
            Put(r.changed(version=r.version + 1, recorded_at=self._at), r, Verb.UNSOURCE)
            for r in records.values()
        ]
        storing = Storing(self._session, self._secret, owner_no)
        rows = [encode(put.record, self._secret) for put in puts]
        empty = Entry(None, self._owner.era, position, self._at, Actor("system"), ())
        writings = storing.writings(StoreRecords(self._owner, puts, rows, empty, relink=True))
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
        """Delete jobs about erased records; a job of a thread that loses only some stays, without answer and error."""
        doomed = [id.bytes for id in plan.doomed]
        losing = [id.bytes for id in plan.losing_threads()]
        # The stripped records, too, were read whole, before they were stripped.
        telling = await jobs.delete_kept_about(self._session, [*doomed, *(id.bytes for id in plan.stripped)])
        self._removed["kept answers"] += len(telling)
        self._removed["jobs"] += await self._session.run("delete_jobs_about", doomed)
        telling += [
            row[0]
            for row in await self._session.all("jobs_about", losing)
            if not set(row[4]).isdisjoint(losing)
        ]
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
