"""Removes records from every table and their digests from the ledger, many in each statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from memoranda.engines.postgres.session import Row, Session
from memoranda.engines.postgres.sets import VectorRemoval
from memoranda.model.ledger import Entry
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.settle.rows import dump_entry, entry_of

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
    """Removes records from the tables, and counts the removed rows by table."""

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
