"""Large shelves are followed by their marks: what finds candidates on them, beside the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from commonplace.engines.postgres.rows import Touched
from commonplace.engines.postgres.session import Row, Session
from commonplace.model.vectors import unpack_vectors

#: Passages of a shelf from which on it is searched on the server.
LARGE = 200_000
#: As many passages may wait to be followed while their shelf is searched: they are candidates, whatever they hold.
MOST_WAITING = 500
#: Passages that are followed in one commit.
STEP = 1_000
#: The largest dimension that the extension has an index for.
_LARGEST_DIMENSION = 4_000
_TERM_BYTES, _HASH_BYTES = 9, 8


class Vectors(NamedTuple):
    """The set that recall reads, and the schema of the extension; no schema where it is not there."""

    number: int
    name: str
    dimension: int
    extension: str

    @property
    def table(self) -> str:
        return f"nearness_{self.number}"


async def vectors_of(session: Session) -> Vectors | None:
    """The set that recall reads; None where the book has none."""
    for number, name, dimension, _, active in await session.all("vector_sets"):
        if active:
            found = await session.one("extension")
            fits = found is not None and dimension <= _LARGEST_DIMENSION
            return Vectors(number, name, dimension, found[0] if found is not None and fits else "")
    return None


async def is_searched(session: Session, owner: int, shelf: int, followed: int | None) -> bool:
    """Whether a shelf can be searched here as it stands."""
    if followed is None:
        return False
    waiting = await session.value("waiting_to_be_followed", owner, shelf, followed, MOST_WAITING + 1)
    if waiting > MOST_WAITING:
        return False
    found = await vectors_of(session)
    return found is None or bool(found.extension)


def follows(shelves: Sequence[Touched], least: int) -> tuple[list[Touched], bool]:
    """Of shelves that changed, those that are searched here; and whether others are to be from now on."""
    large = [shelf for shelf in shelves if shelf.passages >= least]
    followed = [shelf for shelf in large if shelf.followed is not None]
    return followed, len(followed) < len(large)


async def behind(session: Session, least: int) -> list[tuple[int, int]]:
    """Owner and number of the shelves with at least so many passages that have something to be followed."""
    return [(row[0], row[1]) for row in await session.all("shelves_behind", least)]


async def follow(session: Session, owner: int, shelf: int, least: int) -> bool:
    """Follow one shelf a step further; False where nothing is left, or another does it."""
    vectors = await vectors_of(session)
    if vectors is not None and not vectors.extension:
        return False
    if not await session.value("take_turn_of_shelf", shelf):
        return False
    if vectors is not None:
        await _make_table(session, vectors)
    number = 0 if vectors is None else vectors.number
    rows = await session.all("to_follow", owner=owner, shelf=shelf, set=number, least=least, limit=STEP)
    if rows:
        await _put(session, owner, shelf, rows)
        if vectors is not None:
            await _put_vectors(session, vectors, owner, shelf, rows)
        await session.run("set_followed", rows[-1][2], owner, shelf)
    if len(rows) >= STEP:
        return True
    if vectors is not None:
        await _make_index(session, vectors)
    return False


async def missing_vectors(session: Session) -> list[str]:
    """What a search by vectors would miss, or have at the wrong place."""
    vectors = await vectors_of(session)
    if vectors is None or not await session.value("relation", vectors.table):
        return []
    text = (
        "SELECT v.record FROM shelves AS s JOIN records AS r ON r.owner = s.owner AND r.shelf = s.no "  # noqa: S608 - our own names
        "JOIN vectors AS v ON v.owner = r.owner AND v.record = r.no AND v.set = ? "
        "WHERE r.mark > 0 AND r.mark <= s.followed AND NOT EXISTS ("
        f"SELECT 1 FROM {vectors.table} AS n "
        "WHERE n.owner = v.owner AND n.record = v.record AND n.set = v.set AND n.shelf = r.shelf)"
    )
    return [
        f"vector of record number {row[0]}: its shelf is searched on the server, and it is not found there"
        for row in await session.text(text, vectors.number)
    ]


async def _put(session: Session, owner: int, shelf: int, rows: Sequence[Row]) -> None:
    await session.run(
        "put_findable",
        owner=owner,
        shelf=shelf,
        records=[row[0] for row in rows],
        ats=[row[1] for row in rows],
        lengths=[sum(row[3][len(row[3]) // _TERM_BYTES * _HASH_BYTES :]) for row in rows],
        words=[" ".join(map(str, _mixed(row[3], shelf))) for row in rows],
    )


async def _put_vectors(
    session: Session, vectors: Vectors, owner: int, shelf: int, rows: Sequence[Row]
) -> None:
    there = [row for row in rows if row[4] is not None and len(row[4]) == vectors.dimension + 4]
    if not there:
        return
    _, numbers = unpack_vectors([row[4] for row in there])
    # What is compared is the angle: the stored whole numbers have it exactly, without their scale.
    lines = [f"[{','.join(map(str, line))}]" for line in numbers.tolist()]
    await session.run_text(
        f"INSERT INTO {vectors.table} (owner, record, set, shelf, numbers) "  # noqa: S608 - our own names
        f'SELECT ?::bigint, g.record, ?::bigint, ?::bigint, g.line::"{vectors.extension}".halfvec '
        "FROM unnest(?::bigint[], ?::text[]) AS g (record, line) "
        "ON CONFLICT (owner, record) DO UPDATE SET shelf = excluded.shelf, numbers = excluded.numbers",
        owner,
        vectors.number,
        shelf,
        [row[0] for row in there],
        lines,
    )


async def _make_table(session: Session, vectors: Vectors) -> None:
    if await session.value("relation", vectors.table):
        return
    await session.one("lock_name", vectors.table)
    await session.run_text(
        f"CREATE TABLE IF NOT EXISTS {vectors.table} (owner bigint NOT NULL, record bigint NOT NULL, "
        "set bigint NOT NULL, shelf bigint NOT NULL, "
        f'numbers "{vectors.extension}".halfvec({vectors.dimension}) NOT NULL, PRIMARY KEY (owner, record), '
        "FOREIGN KEY (owner, record, set) REFERENCES vectors (owner, record, set) ON DELETE CASCADE)"
    )
    # As of every column that tells of people, the server keeps no samples.
    await session.run_text(f"ALTER TABLE {vectors.table} ALTER COLUMN numbers SET STATISTICS 0")


async def _make_index(session: Session, vectors: Vectors) -> None:
    """Made when the first large shelf has been followed: an index grows much sooner from all at once."""
    if await session.value("relation", f"{vectors.table}_index"):
        return
    await session.one("lock_name", vectors.table)
    await session.run_text(
        f"CREATE INDEX IF NOT EXISTS {vectors.table}_index ON {vectors.table} "
        f'USING hnsw (numbers "{vectors.extension}".halfvec_cosine_ops)'
    )


def _mixed(packed: bytes, shelf: int) -> list[int]:
    """A passage's terms as its shelf has them."""
    hashes = np.frombuffer(packed[: len(packed) // _TERM_BYTES * _HASH_BYTES], dtype="<i8")
    mixed: list[int] = (hashes ^ np.int64(shelf)).tolist()
    return mixed
