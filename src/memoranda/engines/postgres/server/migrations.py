"""Creates the schema of a book on a server, upgrades it, and takes over the schema of the former name."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from memoranda.engines.postgres.server.address import FORMER_SCHEMA, SCHEMA, Place
from memoranda.engines.postgres.server.faults import RETRYABLE
from memoranda.engines.postgres.server.session import UNLIMITED
from memoranda.errors import NotABook, ReadOnly, StorageError, VersionMismatch

#: A book's schema has at least these tables, or views.
BOOK_TABLES = frozenset({"migrations", "book", "owners", "ledger"})

#: The one table that stays in the former schema: an older program finds a schema that is not its own there, and makes no
#: empty book in it.
PLACEHOLDER = f"renamed_to_{SCHEMA}"
_RENAME = f"ALTER SCHEMA {FORMER_SCHEMA} RENAME TO {SCHEMA}"
_KEEP_CLOSED = f"CREATE SCHEMA {FORMER_SCHEMA}; CREATE TABLE {FORMER_SCHEMA}.{PLACEHOLDER} ()"

_EXISTS = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)"
_MAY_RENAME = """
SELECT pg_has_role(nspowner, 'USAGE') AND has_database_privilege(current_database(), 'CREATE')
FROM pg_namespace WHERE nspname = $1
"""
_VERSION = f"SELECT max(number) FROM {FORMER_SCHEMA}.migrations"  # noqa: S608 - a constant of ours


async def tables_of(connection: Any, schema: str, seconds: float) -> frozenset[str]:
    """Return the names of a schema's tables and views; none if there is no such schema."""
    rows = await connection.fetch(
        "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v')",
        schema,
        timeout=seconds,
    )
    return frozenset(row[0] for row in rows)


async def is_in_former_schema(connection: Any, place: Place, seconds: float) -> bool:
    """True if the address names no schema, its default holds no book, and the former default does."""
    if place.names_schema or await tables_of(connection, place.schema, seconds) >= BOOK_TABLES:
        return False
    return await tables_of(connection, FORMER_SCHEMA, seconds) >= BOOK_TABLES


def refuse_to_read(place: Place) -> ReadOnly:
    """Return the error for a book in the former schema that is opened to be read only."""
    return ReadOnly(
        f"{place.name} has its book in the schema {FORMER_SCHEMA}, the default of an earlier version: "
        "open it once without read_only to upgrade it."
    )


async def rename_schema(connection: Any, place: Place, seconds: float) -> None:
    """Rename the former schema within the transaction that upgrades the book, or raise the error that says why not.

    Nobody writes to the book in the meantime: its lock is held, under the name that older programs use.
    """
    await _refuse_where_it_cannot_be_renamed(connection, place, seconds)
    await hold_alone(connection, FORMER_SCHEMA)
    await connection.execute(_RENAME)
    await connection.execute(_KEEP_CLOSED)


async def hold_alone(connection: Any, schema: str) -> None:
    """Lock the book: wait until nobody writes to it, and keep all writers out until the transaction ends."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtext('commonplace book'), hashtext($1))", schema
    )


async def _refuse_where_it_cannot_be_renamed(connection: Any, place: Place, seconds: float) -> None:
    if await connection.fetchval(_EXISTS, SCHEMA, timeout=seconds):
        is_empty = not await tables_of(connection, SCHEMA, seconds)
        before = f"DROP SCHEMA {SCHEMA}" if is_empty else f"ALTER SCHEMA {SCHEMA} RENAME TO {SCHEMA}_other"
        raise _needs_an_administrator(place, f"a schema {SCHEMA} is there already", f"{before}; ")
    if not await connection.fetchval(_MAY_RENAME, FORMER_SCHEMA, timeout=seconds):
        raise _needs_an_administrator(place, "this role may not rename it")
    if await connection.fetchval(_VERSION, timeout=seconds) != 1:
        # Another program opens it under its name, and would not find it any more.
        raise _needs_an_administrator(place, f"it is served there under schema={FORMER_SCHEMA}")


def _needs_an_administrator(place: Place, why: str, before: str = "") -> VersionMismatch:
    return VersionMismatch(
        f"{place.name} has its book in the schema {FORMER_SCHEMA}, the default of an earlier version, and {why}. "
        f"Add schema={FORMER_SCHEMA} to the address, or let an administrator run: {before}{_RENAME}; {_KEEP_CLOSED};"
    )


def refuse_placeholder(place: Place, tables: frozenset[str]) -> None:
    """Raise NotABook if the schema only says that its book was renamed."""
    if tables == {PLACEHOLDER}:
        raise NotABook(
            f"{place.name} holds no book any more: the schema was renamed to {SCHEMA}; "
            "leave schema=… out of the address."
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
    """Create the book, or upgrade it to the latest version, unless another process did it first; returns the version.

    ``silence``: seconds to wait for the answer to a check; the upgrade itself has no time limit.
    """
    latest = len(book_migrations())
    if await is_in_former_schema(connection, place, silence):
        if read_only:
            raise refuse_to_read(place)
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
        # Older programs make their books under these locks, too: their names stay as they were.
        for schema in (place.schema,) if place.names_schema else (FORMER_SCHEMA, place.schema):
            await connection.execute(
                "SELECT pg_advisory_xact_lock(hashtext('commonplace schema'), hashtext($1))", schema
            )
        if await is_in_former_schema(connection, place, silence):
            await rename_schema(connection, place, silence)
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
    tables = await tables_of(connection, place.schema, silence)
    if not tables:
        return 0
    refuse_placeholder(place, tables)
    if not tables >= BOOK_TABLES:
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
