"""Creates the schema of a book on a server, and upgrades it."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from memoranda.engines.postgres.server.address import Place
from memoranda.engines.postgres.server.faults import RETRYABLE
from memoranda.engines.postgres.server.session import UNLIMITED
from memoranda.errors import NotABook, ReadOnly, StorageError, VersionMismatch

#: A book's schema has at least these tables,
BOOK_TABLES = frozenset({"formats", "book", "owners", "ledger"})
#: and that of a development build these.
_DEVELOPMENT_TABLES = frozenset({"migrations", "owners", "ledger"})


async def tables_of(connection: Any, schema: str, seconds: float) -> frozenset[str]:
    """Return the names of a schema's tables and views; none if there is no such schema."""
    rows = await connection.fetch(
        "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v')",
        schema,
        timeout=seconds,
    )
    return frozenset(row[0] for row in rows)


async def hold_alone(connection: Any, schema: str) -> None:
    """Lock the book: wait until nobody writes to it, and keep all writers out until the transaction
    ends.
    """
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtext('memoranda book'), hashtext($1))", schema
    )


#: Attempts at an upgrade that conflicts with other transactions.
_ATTEMPTS = 5


class Migration(NamedTuple):
    """One step of the schema; ``number`` is the version it leads to."""

    number: int
    name: str
    sql: str


@lru_cache(maxsize=1)
def book_migrations() -> tuple[Migration, ...]:
    """Return the steps of the schema, oldest first."""
    folder = files("memoranda.engines.postgres").joinpath("schema")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(
            int(name.split("_")[0]),
            name.removesuffix(".sql").split("_", 1)[1],
            folder.joinpath(name).read_text("utf-8"),
        )
        for name in names
    )


async def upgrade_schema(
    connection: Any, place: Place, silence: float, *, create: bool, read_only: bool
) -> int:
    """Create the book, or upgrade it to the latest version, unless another process did it first;
    returns the version.

    ``silence``: seconds to wait for the answer to a check; the upgrade itself has no time limit.
    """
    latest = len(book_migrations())
    version = await _version(connection, place, silence)
    if version:
        await _check_choice(connection, place, silence)
    if version == latest:
        return version
    if version == 0 and (read_only or not create):
        raise NotABook(
            f"{place.name} holds no book: open it to write, without create=False, to make one."
        )
    if read_only:
        raise ReadOnly(
            f"{place.name} has format {version} of {latest}: open it once without read_only to upgrade it."
        )
    for left in reversed(range(_ATTEMPTS)):
        try:
            await _upgrade_schema(connection, place, silence)
            break
        except RETRYABLE:
            # A reader may hold the lock of one table and wait for another.
            if not left:
                raise
    return latest


async def _upgrade_schema(connection: Any, place: Place, silence: float) -> None:
    # In this isolation a process that waited for another sees the changes of the other.
    async with connection.transaction(isolation="read_committed"):
        await connection.execute(UNLIMITED)
        await connection.execute(
            "SELECT pg_advisory_xact_lock(hashtext('memoranda schema'), hashtext($1))", place.schema
        )
        await _migrate(connection, place, await _version(connection, place, silence), silence)


async def _check_choice(connection: Any, place: Place, silence: float) -> None:
    """Raise unless the connection uses the book's schema: statements name none."""
    if await connection.fetchval("SELECT current_schema()", timeout=silence) != place.schema:
        raise StorageError(
            f"{place.name} ignores the search_path of a connection; perhaps there is a pooler before it: "
            f"ALTER ROLE … SET search_path = {place.schema}, or connect without the pooler."
        )


async def _check_encoding(connection: Any, place: Place) -> None:
    encoding = await connection.fetchval("SELECT current_setting('server_encoding')")
    if encoding != "UTF8":
        raise StorageError(
            f"{place.name} keeps text as {encoding}, which cannot hold every language: "
            "make a database with ENCODING 'UTF8' TEMPLATE template0."
        )


async def _migrate(connection: Any, place: Place, version: int, silence: float) -> None:
    await _check_encoding(connection, place)
    if not await connection.fetchval("SELECT 1 FROM pg_namespace WHERE nspname = $1", place.schema):
        await connection.execute(f'CREATE SCHEMA "{place.schema}"')
    await _check_choice(connection, place, silence)
    if 0 < version < len(book_migrations()):
        await hold_alone(connection, place.schema)
    if version == 0:
        await connection.execute(
            "CREATE TABLE formats (number bigint PRIMARY KEY, name text NOT NULL, "
            "at timestamptz NOT NULL DEFAULT now())"
        )
    # Only a book that is made asks for them.
    await connection.execute(
        "SELECT set_config('memoranda.partitions', $1, true)", str(place.partitions)
    )
    for step in book_migrations()[version:]:
        await connection.execute(step.sql)
        await connection.execute(
            "INSERT INTO formats (number, name) VALUES ($1, $2)", step.number, step.name
        )


async def _version(connection: Any, place: Place, silence: float) -> int:
    """Return the version of the schema; 0 if it is empty."""
    tables = await tables_of(connection, place.schema, silence)
    if not tables:
        return 0
    if tables >= _DEVELOPMENT_TABLES:
        raise VersionMismatch(
            f"{place.name} holds a book of a development build, which no release reads: "
            "give the book a schema of its own."
        )
    if not tables >= BOOK_TABLES:
        raise NotABook(
            f"{place.name} holds tables of another program: give the book a schema of its own."
        )
    version: int = await connection.fetchval(
        f'SELECT max(number) FROM "{place.schema}".formats',  # noqa: S608 - a name that was checked
        timeout=silence,
    )
    if version > len(book_migrations()):
        raise VersionMismatch(
            f"{place.name} has format {version}, and this program knows formats up to {len(book_migrations())}: "
            "upgrade Memoranda."
        )
    return version
