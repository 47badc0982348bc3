"""Takes up a book from the schema that was the default before the product was renamed."""

from __future__ import annotations

from typing import Any

from memoranda.engines.postgres.address import FORMER_SCHEMA, SCHEMA, Place
from memoranda.errors import NotABook, ReadOnly, VersionMismatch

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
        "open it once without read_only to bring it forward."
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
    """Wait until nobody writes to the book, and keep all writers out until the transaction ends."""
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
