"""Sets of vectors in the PostgreSQL tables."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from memoranda.engines.postgres.aids import passages, remark
from memoranda.engines.postgres.rows import ShelfState
from memoranda.engines.postgres.session import Session
from memoranda.errors import Corrupt
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, Embedding, SetState, VectorSet, check_packed
from memoranda.settle.rows import record_of


async def listed(session: Session) -> list[VectorSet]:
    """Return all sets, the active one first."""
    return [
        VectorSet(name, dimension, count, SetState.ACTIVE if active else SetState.MAKING)
        for _, name, dimension, count, active in await session.all("vector_sets")
    ]


async def find(session: Session, embedding: Embedding) -> VectorSet | None:
    """Return the set of an embedding; None if there is none."""
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
    """Store vectors of the passages that still exist; returns their number, and the shelves that recall must read again."""
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
    """Make a set the active one, and remove all others; False if the set does not exist."""
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
