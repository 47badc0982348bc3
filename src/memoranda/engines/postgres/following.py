"""Large shelves are followed by their marks: what finds candidates on them, beside the records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from memoranda.engines.postgres.rows import Touched
from memoranda.engines.postgres.session import Row, Session
from memoranda.model.vectors import unpack_vectors

#: Passages of a shelf from which on it is searched on the server.
LARGE = 200_000
#: As many passages as a shelf has that the index of large shelves knows.
_INDEXED = 10_000
#: As many passages may wait to be followed while their shelf is searched: they are candidates, whatever they hold.
MOST_WAITING = 500
#: Passages that are followed in one commit.
STEP = 250
#: The largest dimension that the extension has an index for.
_LARGEST_DIMENSION = 4_000
_TERM_BYTES, _HASH_BYTES = 9, 8
_ROOM = (
    "SELECT set_config(name, greatest(setting::bigint, {})::text, false) "
    "FROM pg_settings WHERE name = 'maintenance_work_mem'"
)
_CREATE = 'CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (numbers "{}".halfvec_cosine_ops)'
#: What the graph of an index takes for a vector beside its numbers, while it is made.
_GRAPH_BYTES = 600
#: Memory that making an index may take at most; what does not fit makes it several times as slow.
_MOST_KILOBYTES = 1 << 20


class Step(Enum):
    """What a step on a shelf came to."""

    #: There is more to be followed.
    MORE = auto()
    DONE = auto()
    #: Another follows the shelf at this moment, and may have begun before what came last.
    TAKEN = auto()
    #: The table or the index of the vectors is to be made, which is upkeep's.
    UNREADY = auto()


#: Whether a shelf is searched on the server.
IsSearched = Callable[[Session, Touched], Awaitable[bool]]


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
    found = await session.one("active_set")
    if found is None:
        return None
    number, name, dimension, extension = found
    fits = extension is not None and dimension <= _LARGEST_DIMENSION
    return Vectors(number, name, dimension, extension if fits else "")


async def waiting(session: Session, shelf: Touched) -> int | None:
    """How many passages wait to be followed, as far as it matters; None where the shelf cannot be searched here."""
    if shelf.followed is None:
        return None
    found = await vectors_of(session)
    # Without its index a search would put every vector of the owner in order.
    if found is not None and not (found.extension and await _has_index(session, found)):
        return None
    count: int = await session.value(
        "waiting_to_be_followed", shelf.owner, shelf.shelf, shelf.followed, MOST_WAITING + 1
    )
    return count


def follows(shelves: Sequence[Touched], least: int) -> tuple[list[Touched], bool]:
    """Of shelves that changed, those that are searched here; and whether others are to be from now on."""
    large = [shelf for shelf in shelves if shelf.passages >= least]
    followed = [shelf for shelf in large if shelf.followed is not None]
    return followed, len(followed) < len(large)


async def behind(session: Session, least: int) -> list[tuple[int, int]]:
    """Owner and number of the shelves with at least so many passages that have something to be followed."""
    vectors = await vectors_of(session)
    if vectors is not None and not vectors.extension:
        return []
    name = "large_shelves_behind" if least >= _INDEXED else "shelves_behind"
    return [(row[0], row[1]) for row in await session.all(name, least)]


async def is_due(session: Session, least: int) -> bool:
    """Whether a shelf is behind, an index is to be made, or what searched a set that is gone is to be taken away."""
    return bool(await behind(session, least) or await lacking_index(session) or await of_no_set(session))


async def make_ready(session: Session) -> None:
    """Make the table of the set that recall reads, where it is not there."""
    vectors = await vectors_of(session)
    if vectors is not None and vectors.extension and not await session.value("relation", vectors.table):
        await _make_table(session, vectors)


async def follow(session: Session, owner: int, shelf: int, least: int) -> Step:
    """Follow one shelf a step further."""
    vectors = await vectors_of(session)
    if vectors is not None and not vectors.extension:
        return Step.DONE
    if vectors is not None and not await session.value("relation", vectors.table):
        return Step.UNREADY
    if not await session.value("take_turn_of_shelf", shelf):
        return Step.TAKEN
    # Asked first: what has this mark or a lower one is among the rows.
    marks = await session.one("marks_of_large_shelf", owner, shelf, least)
    if marks is None:
        return Step.DONE
    mark, followed = marks
    number = 0 if vectors is None else vectors.number
    rows = await session.all("to_follow", owner=owner, shelf=shelf, followed=followed, set=number, limit=STEP)
    whole = [row for row in rows if row[3] is not None]
    if whole:
        await _put(session, owner, shelf, whole)
        if vectors is not None:
            await _put_vectors(session, vectors, owner, shelf, whole)
    reached = rows[-1][2] if rows else mark
    reached = reached if len(rows) >= STEP else max(reached, mark)
    await session.run("set_followed", mark=reached, owner=owner, shelf=shelf)
    if len(rows) >= STEP:
        return Step.MORE
    return Step.DONE if vectors is None or await _has_index(session, vectors) else Step.UNREADY


class Index(NamedTuple):
    """How the index of a set's vectors is made: at once, beside what is written, in memory where that does."""

    turn: str
    #: Finds something where it is there already.
    unless: str
    statements: tuple[str, ...]


async def lacking_index(session: Session) -> Index | None:
    """The index that the set that recall reads has not; None where it has it, or nothing is followed yet."""
    vectors = await vectors_of(session)
    if vectors is None or not vectors.extension or not await session.value("relation", vectors.table):
        return None
    if await _has_index(session, vectors):
        return None
    rows = await session.value("about_how_many")
    needed = int(max(rows, LARGE) * (2 * vectors.dimension + _GRAPH_BYTES) * 1.2) >> 10
    index = f"{vectors.table}_index"
    return Index(
        index,
        f"SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('{index}') AND indisvalid",  # noqa: S608 - our own names
        (
            # It waits for whoever began before, and nobody waits for it.
            "SET lock_timeout = 0",
            _ROOM.format(min(needed, _MOST_KILOBYTES)),
            # Several workers would share memory of a kind of which servers in containers have little.
            "SET max_parallel_maintenance_workers = 0",
            # One that was not made to its end is of no use.
            f"DROP INDEX CONCURRENTLY IF EXISTS {index}",
            _CREATE.format(index, vectors.table, vectors.extension),
            # Questions are planned by what is known of these tables.
            f"ANALYZE {vectors.table}, records",
        ),
    )


async def of_no_set(session: Session) -> list[str]:
    """Tables of sets that are gone: they are empty, and whoever is reading may have one open still."""
    return [row[0] for row in await session.all("tables_of_no_set")]


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
    await session.one("lock_name", vectors.table)
    await session.run_text(
        f"CREATE TABLE IF NOT EXISTS {vectors.table} (owner bigint NOT NULL, record bigint NOT NULL, "
        "set bigint NOT NULL, shelf bigint NOT NULL, "
        f'numbers "{vectors.extension}".halfvec({vectors.dimension}) NOT NULL, PRIMARY KEY (owner, record), '
        "FOREIGN KEY (owner, record, set) REFERENCES vectors (owner, record, set) ON DELETE CASCADE)"
    )
    # As of every column that tells of people, the server keeps no samples.
    await session.run_text(f"ALTER TABLE {vectors.table} ALTER COLUMN numbers SET STATISTICS 0")


async def _has_index(session: Session, vectors: Vectors) -> bool:
    return bool(await session.value("index_that_serves", f"{vectors.table}_index"))


def _mixed(packed: bytes, shelf: int) -> list[int]:
    """A passage's terms as its shelf has them."""
    hashes = np.frombuffer(packed[: len(packed) // _TERM_BYTES * _HASH_BYTES], dtype="<i8")
    mixed: list[int] = (hashes ^ np.int64(shelf)).tolist()
    return mixed
