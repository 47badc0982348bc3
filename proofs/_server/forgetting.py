"""A book on a server in which a person's data is forgotten part by part and searched for in the
server's files.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import memoranda
from memoranda import Book
from memoranda.embedding import VectorMaker
from memoranda.engines.postgres.engine import PostgresEngine
from memoranda.model.ledger import ErasureReceipt, Scrubbed
from memoranda.model.records import Limits
from proofs._book.person import PARTS, Moving, Part, Person
from proofs._book.redacting import check_left, take_out
from proofs._book.remains import Remains
from proofs._book.scanning import Marking, Marks
from proofs._server.own import OwnServer

_LIMITS = Limits(content_length=100_000, writes_per_run=1000, memories_per_agent=100_000)
#: Small rows of the person's among others.
_ROWS = 40
#: Columns with long texts: stored as they are, so that no compression hides them from the scan.
_LONG = (
    ("records", "body"),
    ("versions", "body"),
    ("jobs", "payload"),
    ("kept", "payload"),
    ("ledger", "body"),
)
#: Operation ids are stored as keyed digests.
_NEVER_STORED = frozenset(f"{part} operation" for part in PARTS)

_TABLES = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = $1"
_SAMPLE = """
SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS -1', attrelid::regclass, attname)
FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
WHERE attstattarget = 0 AND c.relkind = 'r' AND c.relnamespace = $1::text::regnamespace
"""

Clearing = Callable[[Book], Awaitable[Scrubbed]]


class Life:
    """A person's data in a book, and its erasure."""

    def __init__(self, server: OwnServer, address: str, rng: random.Random) -> None:
        self._server = server
        self._address = address
        self._rng = rng
        self._marks = Marks(rng)
        self._embedders = Marking(self._marks, "read"), Marking(self._marks, "being made")
        self._clock = Moving()
        self._read: dict[Path, tuple[tuple[int, int, int], set[str]]] = {}
        #: Number of canaries found by the control.
        self.found = 0
        #: Number of them in dead rows before the files were cleared.
        self.dead = 0

    async def lived_and_forgotten(
        self,
        parts: tuple[str, ...] = PARTS,
        *,
        forgetting: AbstractContextManager[object] | None = None,
        sampled: bool = False,
        clearing: Clearing | None = None,
    ) -> None:
        """Write the data, forget it in these parts, and search the files after each.

        ``sampled`` is a control, in which the server samples every column; ``clearing`` clears the
        files, as the book does.
        """
        opened = memoranda.open(
            self._address, limits=_LIMITS, clock=self._clock, embed=self._embedders[0], worker=False
        )
        async with opened as book:
            await self._store_plainly(book)
            person = Person(book, self._marks, self._rng, self._clock, _ROWS)
            await person.live()
            await person.live_on()
            await self._embed(book)
            await self._analyse(book, sampled=sampled)
            with forgetting or nullcontext():
                for name in parts:
                    await self._forget(
                        book,
                        person,
                        person.parts[name],
                        clearing or (lambda book: book.admin.scrub()),
                    )
            if faults := (await book.admin.verify(whole=True)).faults:
                raise Remains(f"after everything verify says: {faults[0]}")
        self.look(parts, "after closing")

    async def _store_plainly(self, book: Book) -> None:
        schema = engine_of(book).server.schema
        alter = "ALTER TABLE {}.{} ALTER COLUMN {} SET STORAGE EXTERNAL"
        await self._server.said(*(alter.format(schema, table, column) for table, column in _LONG))

    async def _embed(self, book: Book) -> None:
        await book.admin.embed()
        await book.engine.begin_set(self._embedders[1].embedding)
        await VectorMaker(book.engine, self._embedders[1]).catch_up()

    async def _analyse(self, book: Book, *, sampled: bool) -> None:
        """Do as administrator what the server does by itself at times, so that all of it is in the
        files.
        """
        schema = engine_of(book).server.schema
        if sampled:
            await self._server.said(
                *(alter for (alter,) in await self._server.asked(_SAMPLE, schema))
            )
        tables = await self._server.asked(_TABLES, schema)
        await self._server.said(*(f"ANALYZE {name}" for (name,) in tables), "CHECKPOINT")

    async def _forget(self, book: Book, person: Person, part: Part, clearing: Clearing) -> None:
        before = self.labels((part.name,))
        missing = self._marks.labels(part.name) - before - _NEVER_STORED
        if missing:
            raise AssertionError(f"the scan does not find what is there: {sorted(missing)}")
        self.found += len(before)
        receipt = await self._ask(book, person, part)
        if receipt.state != "pending" or "dead rows" not in receipt.pending_because:
            raise Remains(f"{part.name}: {receipt.state} {receipt.pending_because}")
        if not any("pg_wal" in place and "replicas" in place for place in receipt.unchecked):
            raise Remains(f"the receipt does not name what may hold it still: {receipt.unchecked}")
        self.dead += len(self.labels((part.name,)))
        cleared = await clearing(book)
        if not cleared.complete:
            raise Remains(f"after forgetting {part.name}: {cleared.pending_because}")
        self.look((part.name,), f"after forgetting {part.name}")
        await check_left(book, person, part)

    async def _ask(self, book: Book, person: Person, part: Part) -> ErasureReceipt:
        if part.name == "owner":
            return await book.forget(person.owner, everything=True, as_owner=True)
        if part.redactions:
            return await take_out(book, person, part, backups=False)
        if part.name == "agent":
            return await book.forget(
                person.owner, part.ids, agent=person.agent, groups=[person.group]
            )
        return await book.forget(person.owner, part.ids, as_owner=True)

    def labels(self, parts: tuple[str, ...]) -> set[str]:
        """The labels of all canaries of these parts that are in the server's files."""
        return {label for path in self._server.files() for label in self._found_in(path, parts)}

    def look(self, parts: tuple[str, ...], when: str) -> None:
        """Raise if anything of these parts is in the server's files."""
        for path in self._server.files():
            if left := sorted(self._found_in(path, parts)):
                raise Remains(f"{when}: {path.relative_to(self._server.folder)} holds {left}")

    def _found_in(self, path: Path, parts: tuple[str, ...]) -> set[str]:
        """Return the canaries of these parts in a file; an unchanged file is not read again."""
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._read.get(path)
            if known is None or known[0] != stamp:
                known = self._read[path] = (stamp, self._marks.found_in(path.read_bytes()))
        except FileNotFoundError:  # a file that was written anew goes while one looks
            return set()
        return {label for label in known[1] if label.split()[0] in parts}


def engine_of(book: Book) -> Any:
    """Return the engine of a book on a server."""
    assert isinstance(book.engine, PostgresEngine)
    return book.engine
