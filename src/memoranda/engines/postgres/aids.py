"""Terms and use in the PostgreSQL tables: beside the records, and no part of their versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from uuid import UUID

from memoranda.engines.postgres import reading
from memoranda.engines.postgres.rows import Touched
from memoranda.engines.postgres.session import Row, Session
from memoranda.model.memories import Use
from memoranda.model.owner import Owner, View
from memoranda.model.values import micros


async def note_use(session: Session, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    """Keep how memories have served."""
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
    """Put terms made anew for passages that still exist."""
    there = await passages(session, terms)
    for id, owner, no, _ in there:
        await session.run("renew_terms", owner, no, rule, terms[UUID(bytes=id)])
    await remark(session, there)
    return len(there)


async def passages(session: Session, ids: Mapping[UUID, bytes]) -> list[Row]:
    """Id, owner, number and shelf of the passages that still exist, shelf by shelf."""
    return await session.all("where_passages_are", [id.bytes for id in ids])


async def remark(session: Session, touched: Sequence[Row]) -> list[Touched]:
    """Move the marks of shelves whose passages' aids changed, so that indexes fetch them again."""
    shelves: dict[int, Touched] = {}
    while touched:
        elsewhere: list[bytes] = []
        for (owner, shelf), rows in groupby(touched, key=lambda row: (row[1], row[3])):
            moved = await session.one("move_mark", owner, shelf)
            assert moved is not None
            ids = [row[0] for row in rows]
            marked = {row[0] for row in await session.all("mark_records", moved[0], owner, shelf, ids)}
            elsewhere += [id for id in ids if id not in marked]
            shelves[shelf] = Touched(owner, shelf, moved[1], moved[2])
        # Others changed who may read these since they were looked up: they are looked for once more.
        touched = await session.all("where_passages_are", elsewhere) if elsewhere else []
    return list(shelves.values())
