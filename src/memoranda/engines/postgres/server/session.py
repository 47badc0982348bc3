"""Runs the engine's named statements in one transaction on a server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import asyncpg

from memoranda.storage.sql_files import named_statements
from memoranda.storage.use_case import OwnerBase, Question, Write


class Statement(NamedTuple):
    """The text of a statement as sent, and the names of its parameters; empty if they are given by
    position.
    """

    text: str
    names: tuple[str, ...]

    def arguments(self, values: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Return the values in the order of the parameters."""
        return [named[name] for name in self.names] if self.names else values


@lru_cache(maxsize=1)
def _texts() -> dict[str, str]:
    return named_statements("memoranda.engines.postgres", "queries.sql", "large/queries.sql")


@lru_cache(maxsize=1)
def upkeep() -> dict[str, str]:
    """Return the statements that read or write whole tables, by their names and in their order."""
    return named_statements("memoranda.engines.postgres", "upkeep.sql")


def names() -> list[str]:
    """Return the names of all statements."""
    return list(_texts())


@lru_cache(maxsize=1024)
def statement(name: str, conditions: str = "") -> Statement:
    """Return a statement by its name.

    ``{conditions}`` in its text is replaced by ``conditions``, and ``{view}`` by the statement
    ``visible_shelves``.
    """
    texts = _texts()
    return numbered(
        texts[name].replace("{view}", texts["visible_shelves"]).replace("{conditions}", conditions)
    )


def numbered(text: str) -> Statement:
    """Replace the parameters ``?`` or ``:name`` of a text by numbers."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    named = re.sub(r'(?<![:"]):([a-z_]\w*)', number, text)
    if names:
        return Statement(named, tuple(names))
    places = iter(range(1, text.count("?") + 1))
    return Statement(re.sub(r"\?", lambda _: f"${next(places)}", text), ())


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
        self,
        connection: asyncpg.Connection[asyncpg.Record],
        schema: str,
        seconds: float | None = None,
    ) -> None:
        self._connection = connection
        self.schema = schema
        #: The number of the owner that the questions are about; -1 if that owner has no row.
        self.no = -1
        #: The same owner.
        self.base: OwnerBase | None = None
        #: Shelves whose vectors changed: the server's index of large ones is updated after the
        #: commit.
        self.changed_shelves: list[Any] = []
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
        rows: list[Row] = await self._connection.fetch(
            numbered(text).text, *values, timeout=self._seconds
        )
        return rows

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


#: The functions that answer questions, and those that carry out writes.
Answers = dict[type[Question[Any]], Callable[[Session, Any], Awaitable[Any]]]
Writes = dict[type[Write], Callable[[Session, Any], Awaitable[None]]]
#: Adds the job that updates the index of large shelves, if that is out of date.
PutJobIfBehind = Callable[[Session], Awaitable[None]]
