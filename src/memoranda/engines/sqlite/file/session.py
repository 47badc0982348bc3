"""One transaction of a use case: it runs named statements, and knows the owner that the questions are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memoranda.engines.sqlite.file.connections import secret_of, sql
from memoranda.model.records import Audience
from memoranda.storage.use_case import OwnerBase, Question, Write

Row = tuple[Any, ...]

#: The most placeholders of one statement; longer lists need several statements.
MANY = 500


class Session:
    """A connection with an open transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        #: The number of the owner that the questions are about; -1 if that owner has no row.
        self.no = -1
        #: The same owner.
        self.base: OwnerBase | None = None
        #: Number and revision of the shelves that were read in this transaction, by audience.
        self.shelves: dict[Audience, tuple[int, int]] = {}

    def secret(self) -> bytes:
        """Return the key of the book's digests; read in each transaction, because an import may have replaced it."""
        return secret_of(self.connection)

    def all(self, name: str, *values: Any, **named: Any) -> list[Row]:
        """Return all rows of a named statement."""
        return self.connection.execute(sql(name), named or values).fetchall()

    def one(self, name: str, *values: Any, **named: Any) -> Row | None:
        """Return the first row of a named statement; None if there is none."""
        row: Row | None = self.connection.execute(sql(name), named or values).fetchone()
        return row

    def value(self, name: str, *values: Any, **named: Any) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = self.connection.execute(sql(name), named or values).fetchone()
        return None if row is None else row[0]

    def run(self, name: str, *values: Any, **named: Any) -> int:
        """Run a named statement; returns the number of affected rows."""
        return self.connection.execute(sql(name), named or values).rowcount

    def many(self, name: str, items: Sequence[Any], *fixed: Any, list_name: str = "ids") -> list[Row]:
        """Return all rows of a statement with a long list, read in parts; ``fixed`` values precede the list."""
        return [row for part in self._parts(name, items, fixed, list_name) for row in part.fetchall()]

    def run_many(self, name: str, items: Sequence[Any], *fixed: Any, list_name: str = "ids") -> int:
        """Run a statement with a long list, in parts; returns the number of affected rows."""
        return sum(part.rowcount for part in self._parts(name, items, fixed, list_name))

    def _parts(
        self, name: str, items: Sequence[Any], fixed: Sequence[Any], list_name: str
    ) -> Iterator[sqlite3.Cursor]:
        wanted = list(dict.fromkeys(items))
        for start in range(0, len(wanted), MANY):
            part = wanted[start : start + MANY]
            yield self.connection.execute(sql(name, **{list_name: len(part)}), (*fixed, *part))


#: The functions that answer questions, and those that carry out writes.
Answers = dict[type[Question[Any]], Callable[[Session, Any], Any]]
Writes = dict[type[Write], Callable[[Session, Any], None]]
