"""Stores terms and use counts in the PostgreSQL tables; they are no part of a record's versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from uuid import UUID

from memoranda.engines.postgres import reading
from memoranda.engines.postgres.rows import ShelfState
from memoranda.engines.postgres.session import Row, Session
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Use
from memoranda.model.values import micros


async def note_use(session: Session, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    """Store the use of memories that the view may see; returns how many there were."""
    seen = await reading.visible(session, owner, view)
    if not seen.shelves:
        return 0
    found = await session.all("numbers_in_view", seen.owner, [id.bytes for id in uses], seen.numbers)
    for id, no, owner_no in found:
        use = uses[UUID(bytes=id)]
        used = None if use.used_at is None else micros(use.used_at)
        await session.run("put_use", owner_no, no, use.strength, used, use.count)
    return len(found)


async def put_terms(session: Session, rule: int, terms: Mapping[UUID, bytes]) -> int:
    """Store new terms of the passages that still exist; returns how many there were."""
    there = await passages(session, terms)
    for id, owner, no, _ in there:
        await session.run("renew_terms", owner, no, rule, terms[UUID(bytes=id)])
    await remark(session, there)
    return len(there)


async def passages(session: Session, ids: Mapping[UUID, bytes]) -> list[Row]:
    """Return id, owner, number and shelf of the passages that still exist, sorted by shelf."""
    return await session.all("where_passages_are", [id.bytes for id in ids])


async def remark(session: Session, touched: Sequence[Row]) -> list[ShelfState]:
    """Advance the marks of the shelves of these passages, so that indexes in memory fetch the passages again."""
    shelves: dict[int, ShelfState] = {}
    while touched:
        moved_away: list[bytes] = []
        for (owner, shelf), rows in groupby(touched, key=lambda row: (row[1], row[3])):
            moved = await session.one("move_mark", owner, shelf)
            assert moved is not None
            ids = [row[0] for row in rows]
            marked = {row[0] for row in await session.all("mark_records", moved[0], owner, shelf, ids)}
            moved_away += [id for id in ids if id not in marked]
            shelves[shelf] = ShelfState(owner, shelf, moved[1], moved[2])
        # Another transaction moved these to other shelves after they were looked up: look them up again.
        touched = await session.all("where_passages_are", moved_away) if moved_away else []
    return list(shelves.values())
