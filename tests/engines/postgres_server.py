"""A PostgreSQL server for tests: one that is named, or one of their own."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field


@dataclass
class Place:
    """A database in which an ordinary role makes books, each in a schema of its own."""

    #: The address that the ordinary role uses.
    url: str
    #: The address of whoever may do anything; empty where a server was named.
    administrator: str = ""
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def new_book(self) -> str:
        """The address of a book that is not there yet."""
        return self.at_schema(f"book_{os.getpid()}_{next(self._numbers)}")

    def at_schema(self, schema: str) -> str:
        """The address of a schema."""
        return f"{self.url}{'&' if '?' in self.url else '?'}schema={schema}"
