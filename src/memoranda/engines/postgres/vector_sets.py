"""Sets of vectors in the PostgreSQL tables, and the search terms and uses that are stored beside records."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from uuid import UUID

from memoranda.engines.postgres import reads
from memoranda.engines.postgres.reads import ShelfState
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.errors import Corrupt
from memoranda.model.passages import Use
from memoranda.model.records import Owner, Record, View
from memoranda.model.values import micros
from memoranda.model.vectors import EMBED, Embedding, SetState, VectorSet, check_packed
from memoranda.storage.rows import record_of


async def note_use(session: Session, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    """Store the use of memories that the view may see; returns how many were stored."""
    seen = await reads.visible(session, owner, view)
    if not seen.shelves:
        return 0
    found = await session.all("numbers_in_view", seen.owner, [id.bytes for id in uses], seen.numbers)
    for id, no, owner_no in found:
        use = uses[UUID(bytes=id)]
        used = None if use.used_at is None else micros(use.used_at)
        await session.run("put_use", owner_no, no, use.strength, used, use.count)
    return len(found)


async def put_terms(session: Session, rule: int, terms: Mapping[UUID, bytes]) -> int:
    """Store recomputed search terms of the passages that still exist; returns how many there were."""
    there = await passages(session, terms)
    for id, owner, no, _ in there:
        await session.run("renew_terms", owner, no, rule, terms[UUID(bytes=id)])
    await remark(session, there)
    return len(there)


async def passages(session: Session, ids: Mapping[UUID, bytes]) -> list[Row]:
    """Return id, owner, number and shelf of the passages that still exist, sorted by shelf."""
    return await session.all("where_passages_are", [id.bytes for id in ids])


async def remark(session: Session, touched: Sequence[Row]) -> list[ShelfState]:
    """Increase the revisions of the shelves of these passages, so that indexes in memory fetch the passages again."""
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


async def listed(session: Session) -> list[VectorSet]:
    """Return all sets of vectors, the active one first."""
    return [
        VectorSet(name, dimension, count, SetState.ACTIVE if active else SetState.MAKING)
        for _, name, dimension, count, active in await session.all("vector_sets")
    ]


async def find(session: Session, embedding: Embedding) -> VectorSet | None:
    """Return the set of vectors of an embedding; None if there is none."""
    return next((found for found in await listed(session) if found.name == embedding.name), None)


async def begin(session: Session, embedding: Embedding) -> VectorSet:
    """Return an embedding's set, created empty if needed; the caller must hold the book's exclusive lock."""
    if await session.run("add_vector_set", embedding.name, embedding.dimension):
        await session.run("all_unmade", set=await session.value("vector_set", embedding.name))
    found = await find(session, embedding)
    assert found is not None
    return found


async def lacking(session: Session, embedding: Embedding, limit: int) -> list[Record]:
    """Return passages that have no vector in the set, oldest first; unreadable records are skipped."""
    number = await session.value("vector_set", embedding.name)
    records: list[Record] = []
    if number is None:
        return records
    through = 0
    while (left := limit - len(records)) > 0:
        rows = await session.all("lacking", set=number, through=through, limit=left)
        for row in rows:
            through = row[-1]
            with contextlib.suppress(Corrupt):
                records.append(record_of(row))
        if len(rows) < left:
            break
    return records


async def put(
    session: Session, embedding: Embedding, vectors: Mapping[UUID, bytes]
) -> tuple[int, list[ShelfState]]:
    """Store vectors of passages that still exist; returns their number, and the shelves that recall must reread."""
    check_packed(embedding, vectors.values())
    found = await session.one("lock_vector_set", embedding.name)
    if found is None:
        return 0, []
    number, active = found
    there = await passages(session, vectors)
    given = {
        "owners": [row[1] for row in there],
        "records": [row[2] for row in there],
        "packed": [vectors[UUID(bytes=row[0])] for row in there],
    }
    added = await session.run("add_vectors", set=number, **given)
    if added < len(there):
        await session.run("renew_vectors", set=number, **given)
    await session.run("grow_vector_set", added, number)
    return len(there), await remark(session, there) if active else []


async def switch(session: Session, embedding: Embedding) -> bool:
    """Make a set of vectors the active one, which recall uses, and remove all others; False if it does not exist."""
    found = await session.one("lock_vector_set", embedding.name)
    if found is None:
        return False
    if not found[1]:
        for number, name, *_ in await session.all("vector_sets"):
            if number != found[0]:
                await remove(session, number, name)
        await session.run("activate_vector_set", found[0])
        await session.run("renew_shelves")
    return True


async def drop(session: Session, embedding: Embedding) -> bool:
    """Remove a set that is not active; False if it is active or does not exist."""
    found = await session.one("lock_vector_set", embedding.name)
    if found is None or found[1]:
        return False
    await remove(session, found[0], embedding.name)
    return True


async def remove(session: Session, number: int, name: str) -> None:
    """Remove a set with its vectors and its waiting job.

    The table of its index for large shelves loses its rows by foreign key; upkeep drops that table later, because a
    drop waits for all transactions that read vectors.
    """
    await session.run("delete_vectors_of_set", set=number)
    await session.run("delete_vector_set", number)
    await session.run("delete_upkeep", EMBED, name)


class VectorRemoval:
    """Removes the vectors of erased records from every set."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._gone: Counter[int] = Counter()

    async def delete(self, owner: int, records: list[int]) -> int:
        """Delete the vectors of an owner's records; returns how many there were."""
        gone = [row[0] for row in await self._session.all("delete_vectors", owner=owner, records=records)]
        self._gone.update(gone)
        return len(gone)

    async def finish(self) -> None:
        """Subtract the deleted vectors from the count of each set."""
        for number, gone in self._gone.items():
            await self._session.run("grow_vector_set", -gone, number)
