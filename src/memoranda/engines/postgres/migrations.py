"""Creates the schema of a book on a server, and upgrades it to the latest version."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from memoranda.engines.postgres import former
from memoranda.engines.postgres.address import FORMER_SCHEMA, Place
from memoranda.engines.postgres.faults import RETRYABLE
from memoranda.engines.postgres.session import UNLIMITED
from memoranda.errors import NotABook, ReadOnly, StorageError, VersionMismatch

#: Attempts at an upgrade that conflicts with other transactions.
_ATTEMPTS = 5


class Migration(NamedTuple):
    """One step of the schema; ``number`` is the version it leads to."""

    number: int
    name: str
    sql: str


@lru_cache(maxsize=1)
def book_migrations() -> tuple[Migration, ...]:
    """The versions of the schema, oldest first."""
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
    """Create the book, or upgrade it to the latest version, unless another process did it first; returns the version.

    ``silence``: seconds to wait for the answer to a check; the upgrade itself has no time limit.
    """
    latest = len(book_migrations())
    if await former.is_in_former_schema(connection, place, silence):
        if read_only:
            raise former.refuse_to_read(place)
    else:
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
                f"{place.name} has format {version} of {latest}: open it once without read_only to bring it forward."
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
        # Older programs make their books under these locks, too: their names stay as they were.
        for schema in (place.schema,) if place.names_schema else (FORMER_SCHEMA, place.schema):
            await connection.execute(
                "SELECT pg_advisory_xact_lock(hashtext('commonplace schema'), hashtext($1))", schema
            )
        if await former.is_in_former_schema(connection, place, silence):
            await former.rename_schema(connection, place, silence)
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
        await former.hold_alone(connection, place.schema)
    if version == 0:
        await connection.execute(
            "CREATE TABLE migrations (number bigint PRIMARY KEY, name text NOT NULL, "
            "at timestamptz NOT NULL DEFAULT now())"
        )
    # Only a book that is made asks for them; the first step, which never changes, reads the setting under its former name.
    await connection.execute("SELECT set_config('commonplace.partitions', $1, true)", str(place.partitions))
    for step in book_migrations()[version:]:
        await connection.execute(step.sql)
        await connection.execute(
            "INSERT INTO migrations (number, name) VALUES ($1, $2)", step.number, step.name
        )


async def _version(connection: Any, place: Place, silence: float) -> int:
    """Return the version of the schema; 0 if it is empty."""
    tables = await former.tables_of(connection, place.schema, silence)
    if not tables:
        return 0
    former.refuse_placeholder(place, tables)
    if not tables >= former.BOOK_TABLES:
        raise NotABook(f"{place.name} holds tables of another program: give the book a schema of its own.")
    version: int = await connection.fetchval(
        f'SELECT max(number) FROM "{place.schema}".migrations',  # noqa: S608 - a name that was checked
        timeout=silence,
    )
    if version > len(book_migrations()):
        raise VersionMismatch(
            f"{place.name} has format {version}, and this program knows formats up to {len(book_migrations())}: "
            "upgrade Memoranda."
        )
    return version
