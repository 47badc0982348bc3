"""The tables and indexes of large shelves; each shelf's revision tells which passages are still to
be indexed.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from memoranda.engines.postgres.reads import ShelfState
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.model.vectors import unpack_vectors

#: The usual threshold: a shelf with at least so many passages is searched on the server.
LARGE = 200_000
#: Shelves with at least so many passages are in the partial index ``shelves_large``.
_INDEXED = 10_000
#: A shelf is searched while at most so many passages are not indexed yet; these are candidates of
#: every search.
MOST_WAITING = 500
#: Passages that are indexed in one transaction.
STEP = 250
#: The largest dimension that the extension has an index for.
_LARGEST_DIMENSION = 4_000
_TERM_BYTES, _HASH_BYTES = 9, 8
_ROOM = (
    "SELECT set_config(name, greatest(setting::bigint, {})::text, false) "
    "FROM pg_settings WHERE name = 'maintenance_work_mem'"
)
_CREATE = 'CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (numbers "{}".halfvec_cosine_ops)'
#: Bytes that building the graph takes for each vector, beside its numbers.
_GRAPH_BYTES = 600
#: The most memory for building an index; a graph that does not fit makes it several times as slow.
_MOST_KILOBYTES = 1 << 20


class Step(Enum):
    """The result of indexing some passages of a shelf."""

    #: There are more passages to index.
    MORE = auto()
    DONE = auto()
    #: Another transaction is indexing the shelf, and may not see the newest passages.
    TAKEN = auto()
    #: The table or the index of the vectors does not exist yet; ``update`` makes it.
    UNREADY = auto()


class Vectors(NamedTuple):
    """The active set of vectors, and the schema of the extension; empty if the extension cannot be
    used.
    """

    number: int
    name: str
    dimension: int
    extension: str

    @property
    def table(self) -> str:
        """The name of the table with this set's vectors of large shelves."""
        return f"nearness_{self.number}"


async def vectors_of(session: Session) -> Vectors | None:
    """Return the active set of vectors; None if the book has none."""
    found = await session.one("active_set")
    if found is None:
        return None
    number, name, dimension, extension = found
    fits = extension is not None and dimension <= _LARGEST_DIMENSION
    return Vectors(number, name, dimension, extension if fits else "")


async def count_waiting(session: Session, shelf: ShelfState) -> int | None:
    """Count a shelf's passages that are not indexed, up to a limit; None if the server cannot
    search the shelf.
    """
    if shelf.indexed is None:
        return None
    found = await vectors_of(session)
    # Without this index a search would sort every vector of the owner.
    if found is not None and not (found.extension and await _has_index(session, found)):
        return None
    count: int = await session.value(
        "count_waiting", shelf.owner, shelf.shelf, shelf.indexed, MOST_WAITING + 1
    )
    return count


def indexed_of(shelves: Sequence[ShelfState], threshold: int) -> tuple[list[ShelfState], bool]:
    """Return the large shelves that are indexed, and True if there are others that are not."""
    large = [shelf for shelf in shelves if shelf.passages >= threshold]
    indexed = [shelf for shelf in large if shelf.indexed is not None]
    return indexed, len(indexed) < len(large)


async def behind(session: Session, threshold: int) -> list[tuple[int, int]]:
    """Return owner and number of each large shelf that has passages to index."""
    vectors = await vectors_of(session)
    if vectors is not None and not vectors.extension:
        return []
    name = "large_shelves_behind" if threshold >= _INDEXED else "shelves_behind"
    return [(row[0], row[1]) for row in await session.all(name, threshold)]


async def is_due(session: Session, threshold: int) -> bool:
    """True if indexing is due: passages or an index are missing, or the table of a removed set of
    vectors exists.
    """
    return bool(
        await behind(session, threshold)
        or await missing_index(session)
        or await unused_tables(session)
    )


async def make_table(session: Session) -> None:
    """Create the table of the active set's vectors, if it does not exist."""
    vectors = await vectors_of(session)
    if (
        vectors is not None
        and vectors.extension
        and not await session.value("relation", vectors.table)
    ):
        await _make_table(session, vectors)


async def index_some(session: Session, owner: int, shelf: int, threshold: int) -> Step:
    """Index the next passages of a shelf."""
    vectors = await vectors_of(session)
    if vectors is not None and not vectors.extension:
        return Step.DONE
    if vectors is not None and not await session.value("relation", vectors.table):
        return Step.UNREADY
    if not await session.value("lock_shelf_for_indexing", shelf):
        return Step.TAKEN
    # Read before the rows: these then include every passage with this mark or a lower one.
    marks = await session.one("marks_of_large_shelf", owner, shelf, threshold)
    if marks is None:
        return Step.DONE
    mark, indexed = marks
    number = 0 if vectors is None else vectors.number
    rows = await session.all(
        "passages_to_index", owner=owner, shelf=shelf, indexed=indexed, set=number, limit=STEP
    )
    whole = [row for row in rows if row[3] is not None]
    if whole:
        await _put(session, owner, shelf, whole)
        if vectors is not None:
            await _put_vectors(session, vectors, owner, shelf, whole)
    reached = rows[-1][2] if rows else mark
    reached = reached if len(rows) >= STEP else max(reached, mark)
    await session.run("set_indexed", mark=reached, owner=owner, shelf=shelf)
    if len(rows) >= STEP:
        return Step.MORE
    return Step.DONE if vectors is None or await _has_index(session, vectors) else Step.UNREADY


class Index(NamedTuple):
    """How the index of a set's vectors is built: without blocking writers, and in memory if it
    fits.
    """

    #: Only one process at a time builds the index of this name.
    turn: str
    #: A query that finds a row if the index exists already.
    unless: str
    statements: tuple[str, ...]


async def missing_index(session: Session) -> Index | None:
    """Return how to build the active set's index; None if it exists, or if there is nothing to
    index.
    """
    vectors = await vectors_of(session)
    if (
        vectors is None
        or not vectors.extension
        or not await session.value("relation", vectors.table)
    ):
        return None
    if await _has_index(session, vectors):
        return None
    rows = await session.value("count_indexed")
    needed = int(max(rows, LARGE) * (2 * vectors.dimension + _GRAPH_BYTES) * 1.2) >> 10
    index = f"{vectors.table}_index"
    return Index(
        index,
        f"SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('{index}') AND indisvalid",  # noqa: S608 - our own names
        (
            # It waits for older transactions, and blocks none.
            "SET lock_timeout = 0",
            _ROOM.format(min(needed, _MOST_KILOBYTES)),
            # Parallel workers need shared memory, of which servers in containers have little.
            "SET max_parallel_maintenance_workers = 0",
            # An index whose building was interrupted is unusable.
            f"DROP INDEX CONCURRENTLY IF EXISTS {index}",
            _CREATE.format(index, vectors.table, vectors.extension),
            # Searches are planned by the statistics of these tables.
            f"ANALYZE {vectors.table}, records",
        ),
    )


async def unused_tables(session: Session) -> list[str]:
    """Return the tables of removed sets of vectors; they are empty, but a transaction may still
    read them.
    """
    return [row[0] for row in await session.all("tables_of_no_set")]


async def vectors_not_indexed(session: Session) -> list[int]:
    """Return the records whose vector the index of a large shelf should contain and does not, or
    has on another shelf.
    """
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
    return [row[0] for row in await session.text(text, vectors.number)]


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
    # Only angles are compared, so the stored whole numbers serve without their scale.
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
    # No statistics: the server must keep no samples of a column with personal data.
    await session.run_text(f"ALTER TABLE {vectors.table} ALTER COLUMN numbers SET STATISTICS 0")


async def _has_index(session: Session, vectors: Vectors) -> bool:
    return bool(await session.value("index_that_serves", f"{vectors.table}_index"))


def _mixed(packed: bytes, shelf: int) -> list[int]:
    """Return the hashes of a passage's terms, mixed with the number of its shelf."""
    hashes = np.frombuffer(packed[: len(packed) // _TERM_BYTES * _HASH_BYTES], dtype="<i8")
    mixed: list[int] = (hashes ^ np.int64(shelf)).tolist()
    return mixed
