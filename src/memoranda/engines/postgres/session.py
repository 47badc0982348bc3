"""Runs the engine's named statements in one transaction on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg

from memoranda.engines.postgres.statements import Statement, numbered, statement

Row = Sequence[Any]

#: Removes the time limits of a transaction; ``transaction_timeout`` exists since PostgreSQL 17.
UNLIMITED = (
    "SET LOCAL statement_timeout = 0; SELECT set_config('transaction_timeout', '0', true) "
    "WHERE current_setting('transaction_timeout', true) IS NOT NULL"
)
#: The same for a whole connection.
ALWAYS_UNLIMITED = UNLIMITED.replace("SET LOCAL", "SET").replace("'0', true", "'0', false")

#: Rows that a cursor fetches at a time.
_AT_A_TIME = 256


class Session:
    """A connection with an open transaction."""

    def __init__(
        self, connection: asyncpg.Connection[asyncpg.Record], schema: str, seconds: float | None = None
    ) -> None:
        self._connection = connection
        self.schema = schema
        #: Seconds to wait for the answer to a statement; None: the caller watches the connection.
        self._seconds = seconds

    async def all(self, name: str, *values: Any, conditions: str = "", **named: Any) -> list[Row]:
        """Return all rows of a named statement."""
        asked = statement(name, conditions)
        rows: list[Row] = await self._connection.fetch(
            asked.text, *asked.arguments(values, named), timeout=self._seconds
        )
        return rows

    async def one(self, name: str, *values: Any, conditions: str = "", **named: Any) -> Row | None:
        """Return the first row of a named statement; None if there is none."""
        asked = statement(name, conditions)
        row: Row | None = await self._connection.fetchrow(
            asked.text, *asked.arguments(values, named), timeout=self._seconds
        )
        return row

    async def value(self, name: str, *values: Any, conditions: str = "", **named: Any) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = await self.one(name, *values, conditions=conditions, **named)
        return None if row is None else row[0]

    async def run(self, name: str, *values: Any, **named: Any) -> int:
        """Run a named statement; returns the number of affected rows."""
        return await self._touch(statement(name), values, named)

    async def run_text(self, text: str, *values: Any) -> int:
        """Run a statement given as text; returns the number of affected rows."""
        return await self._touch(numbered(text), values, {})

    async def text(self, text: str, *values: Any) -> list[Row]:
        """Return all rows of a statement given as text."""
        rows: list[Row] = await self._connection.fetch(numbered(text).text, *values, timeout=self._seconds)
        return rows

    async def walk(self, text: str, *values: Any) -> AsyncIterator[list[Row]]:
        """Yield the rows of a statement given as text, some at a time."""
        cursor = await self._connection.cursor(numbered(text).text, *values, timeout=self._seconds)
        while rows := await cursor.fetch(_AT_A_TIME, timeout=self._seconds):
            yield rows

    async def walk_named(self, name: str, *values: Any, **named: Any) -> AsyncIterator[list[Row]]:
        """Yield the rows of a named statement, some at a time."""
        asked = statement(name)
        cursor = await self._connection.cursor(
            asked.text, *asked.arguments(values, named), timeout=self._seconds
        )
        while rows := await cursor.fetch(_AT_A_TIME, timeout=self._seconds):
            yield rows

    async def _touch(self, asked: Statement, values: Sequence[Any], named: dict[str, Any]) -> int:
        status: str = await self._connection.execute(
            asked.text, *asked.arguments(values, named), timeout=self._seconds
        )
        return int(status.rsplit(" ", 1)[-1]) if status[-1:].isdigit() else 0
