"""A MongoDB server for a proof: books in databases of their own; it is killed and started again."""

from __future__ import annotations

import itertools

from tools.mongod import Mongod


class OwnMongo(Mongod):
    """A replica set of one member that runs while its context is entered."""

    def __init__(self, *options: str) -> None:
        super().__init__(*options)
        self._numbers = itertools.count(1)

    def new_book(self) -> str:
        """Return the address of a new book."""
        return self.at(f"book_{next(self._numbers)}")

    def start_again(self) -> None:
        """Start it again on the killed server's files; return when it is the primary."""
        self.start()
