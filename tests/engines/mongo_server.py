"""A MongoDB server for tests: one that is named, or one of their own."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from tools.mongod import Mongod


@dataclass
class MongoPlace:
    """A server on which tests make books, each in a database of its own."""

    url: str
    #: The tests' own server; None where one was named.
    own: Mongod | None = None
    #: Databases that were emptied: making collections takes longer than most tests.
    free: list[str] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def new_book(self) -> str:
        """Return the address of a book that is not there yet, or that was emptied."""
        name = self.free.pop() if self.free else f"book_{os.getpid()}_{next(self._numbers)}"
        return self.at(name)

    def at(self, database: str) -> str:
        """Return the address of a database."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))
