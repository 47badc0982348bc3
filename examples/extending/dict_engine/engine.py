"""The engine: it runs use cases on the tables."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from examples.extending.dict_engine import beside, pieces, reads, records
from examples.extending.dict_engine.tables import Session, empty_tables
from memoranda.model.book_rows import refuse_marked
from memoranda.model.ledger import Scrubbed
from memoranda.model.query import BookFacts
from memoranda.storage.store import Store
from memoranda.storage.use_case import Deciding, run

A = TypeVar("A")

#: Each registers functions that answer questions and carry out writes when it is imported.
PARTS = (records, reads, beside, pieces)


class DictEngine(Store):
    """A book in the dicts of this process; it ends with the object."""

    name = "dict"
    #: The address of every such book.
    address = "dict"

    def __init__(self) -> None:
        self._tables = empty_tables(secret=os.urandom(32))
        self._writing = threading.Lock()

    async def read(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        # The tables stay as they are at this moment: a write makes tables of its own. The other
        # arguments are hints.
        return run(make(), Session(self._tables).answer)[0]

    async def write(self, make: Callable[[], Deciding[A]], *, guarded: bool = True, **_: Any) -> A:
        # Each write is alone. It changes a copy of the tables, which takes their place at the end:
        # all of it or none.
        with self._writing:
            on = Session({table: dict(rows) for table, rows in self._tables.items()})
            if guarded:
                refuse_marked(on.properties)
            found, writes = run(make(), on.answer)
            for write in writes:
                on.carry_out(write)
            # Here an engine with files or a server commits, and returns when the commit is durable.
            self._tables = on.tables
            return found

    async def close(self) -> None:
        """Do nothing: the engine has no files and no connections."""

    async def scrub(self) -> Scrubbed:
        """Return that nothing is left to clear: the engine has no files."""
        return Scrubbed()

    async def facts(self, tenant: str | None = None) -> BookFacts:
        """Return facts about the book and its content, or about a tenant's part of it."""
        counts = asdict(await self.counts(tenant))
        details = {"vectors": counts.pop("vectors")}
        rows = self._tables["records"].values()
        size = sum(len(version["body"]) for row in rows for version in records.all_versions(row))
        return BookFacts(self.name, self.address, format=1, bytes=size, details=details, **counts)
