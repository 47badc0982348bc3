"""The SQLite engine: one file that many processes use, behind every protocol of ``ports``."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.sqlite import batches, book_rows, costs, erasure, jobs, maintenance, reads, vector_sets
from memoranda.engines.sqlite.file.connections import has_secret, make_secret, secret_of, sql
from memoranda.engines.sqlite.file.faults import refuse_moved
from memoranda.engines.sqlite.file.migrations import book_migrations
from memoranda.engines.sqlite.file.session import Answers, Session, Writes
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.engines.sqlite.moves import CopyableBook
from memoranda.errors import StorageError
from memoranda.model.book_facts import BookFacts
from memoranda.model.book_rows import OwnerPieces, StonePiece, refuse_marked
from memoranda.model.ledger import Entry, ErasureReceipt, Erasures, Scrubbed, Target
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, HistoryStep, Page
from memoranda.model.records import Owner, Record, View
from memoranda.model.values import utc_now
from memoranda.model.vectors import Embedding, VectorSet
from memoranda.ports import Scan
from memoranda.storage.questions import Deciding, Question, run
from memoranda.storage.rows import owner_of, record_of
from memoranda.storage.store import Store

#: A file up to this size is cleared of erased content before ``erase`` returns; the worker clears a larger one.
SCRUB_AT_ONCE_BYTES = 256 * 1024 * 1024

_READ_ELSEWHERE = "another process is reading; the worker clears the log when it is done"

#: Copies of content that a book cannot know of; receipts name them.
UNSEEN = (
    "exports and copies that others made of this book",
    "snapshots and freed blocks of the disk",
)


A = TypeVar("A")

_ANSWERS: Answers = {
    **batches.ANSWERS,
    **book_rows.ANSWERS,
    **costs.ANSWERS,
    **jobs.ANSWERS,
    **maintenance.ANSWERS,
}
_WRITES: Writes = {
    **batches.WRITES,
    **costs.WRITES,
    **jobs.WRITES,
    **maintenance.WRITES,
}


def _answer(on: Session, question: Question[Any]) -> Any:
    return _ANSWERS[type(question)](on, question)


class SqliteEngine(CopyableBook, Store):
    """A book in one SQLite file."""

    name = "sqlite"

    def __init__(self, file: SqliteFile, path: Path) -> None:
        super().__init__(file)
        self._path = path

    @classmethod
    async def open(cls, path: Path, **options: Any) -> SqliteEngine:
        """Open a book, or make one; ``options`` are those of ``SqliteFile.open``."""
        path = path.absolute()  # also if the program changes its folder later
        migrations = options.pop("migrations", None) or book_migrations()
        file = await SqliteFile.open(path, migrations=migrations, **options)
        try:
            if not options.get("read_only") and not await file.read(has_secret):
                await file.write(make_secret)
        except BaseException:
            await file.close()
            raise
        return cls(file, path)

    @property
    def path(self) -> Path:
        """The path of the book."""
        return self._path

    @property
    def file(self) -> SqliteFile:
        """The open database file, with its counters."""
        return self._file

    async def close(self) -> None:
        await self._file.close()

    async def read(self, make: Callable[[], Deciding[A]], *, whole: bool = False, long: bool = False) -> A:
        def work(connection: sqlite3.Connection) -> A:
            return run(make(), partial(_answer, Session(connection)))[0]

        return await self._file.read(work)

    async def write(
        self,
        make: Callable[[], Deciding[A]],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> A:
        def work(connection: sqlite3.Connection) -> A:
            if guarded:
                refuse_marked(dict(connection.execute(sql("marks")).fetchall()))
            else:
                refuse_moved(self._file.path, self._file.found)
            on = Session(connection)
            found, writes = run(make(), partial(_answer, on))
            for write in writes:
                _WRITES[type(write)](on, write)
            return found

        return await self._file.write(work)

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        return await self._file.read(lambda c: reads.get(c, owner, view, ids))

    async def scan(self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
        return await self._file.read(lambda c: reads.scan(c, owner, view, filter, cursor, limit))

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        return await self._file.read(lambda c: reads.scans(c, asked))

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        return await self._file.read(lambda c: reads.count(c, owner, view, filter))

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        return await self._file.read(lambda c: reads.history(c, owner, view, id))

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        return await self._file.read(lambda c: reads.entries(c, owner, after, limit))

    # ── passages and aids ────────────────────────────────────────────────────────────────────────────────────────

    async def since(
        self, owner: Owner, view: View, cached: Callable[[int], int | None]
    ) -> list[tuple[Shelf, ShelfDelta]]:
        return await self._file.read(lambda c: reads.since(c, owner, view, cached))

    async def look(
        self, owner: Owner, view: View, cached: Callable[[int], int | None], choose: Choose
    ) -> Sight:
        return await self._file.read(lambda c: reads.look(c, owner, view, cached, choose))

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        return await self._write(lambda c: vector_sets.note_use(c, owner, view, uses))

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        return await self._file.read(lambda c: reads.uses(c, owner, view, ids))

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        return await self._file.read(lambda c: reads.most_used(c, owner, view, filter, limit))

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        return await self._file.read(
            lambda c: [record_of(row) for row in c.execute(sql("stale_terms"), (rule, limit)).fetchall()]
        )

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes]) -> int:
        return await self._write(lambda c: vector_sets.put_terms(c, rule, terms))

    async def vector_sets(self) -> list[VectorSet]:
        return await self._file.read(vector_sets.listed)

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        return await self._write(lambda c: vector_sets.begin(c, embedding))

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        return await self._file.read(lambda c: vector_sets.lacking(c, embedding, limit))

    async def put_vectors(self, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
        return await self._write(lambda c: vector_sets.put(c, embedding, vectors))

    async def switch_set(self, embedding: Embedding) -> bool:
        return await self._write(lambda c: vector_sets.switch(c, embedding))

    async def drop_set(self, embedding: Embedding) -> bool:
        return await self._write(lambda c: vector_sets.drop(c, embedding))

    # ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        erased = await self._write(lambda c: erasure.erase(c, secret_of(c), target, at))
        owner_of.cache_clear()
        pending = ""
        if erased.removed or target.everything:
            try:
                pending = await self._clear()
            except StorageError as exc:
                # The erasure itself is committed; the worker continues the clearing.
                pending = f"clearing the file failed, and the worker tries again: {exc}"
        return ErasureReceipt(
            owner=target.owner,
            at=at,
            removed=dict(erased.removed),
            kept=erased.kept,
            state="pending" if pending else "complete",
            pending_because=pending,
            still_in=await self.known_backups(),
            unchecked=UNSEEN,
            not_found=erased.unknown,
            ids=erased.ids,
            era=erased.era,
            superseded=erased.superseded,
        )

    async def _clear(self) -> str:
        """Clear the file of erased data now if it is small; otherwise report that a worker will do it."""
        if os.path.getsize(self._path) > SCRUB_AT_ONCE_BYTES:
            return "the file is large; the worker rewrites it without what was erased"
        return (await self.scrub()).pending_because

    async def scrub(self) -> Scrubbed:
        """Rewrite the file and empty its log: deleted rows may still have copies in unused parts of pages."""
        if not await self._file.checkpoint():
            return Scrubbed(_READ_ELSEWHERE)
        await self._file.rewrite()
        if not await self._file.checkpoint():
            return Scrubbed(_READ_ELSEWHERE)
        await self._file.write(lambda c: c.execute("DELETE FROM jobs WHERE owner = 0 AND kind = 'scrub'"))
        return Scrubbed()

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def owners(self, tenant: str) -> list[Owner]:
        return await self._file.read(lambda c: maintenance.owners(c, tenant))

    async def facts(self) -> BookFacts:
        counts = await self.counts()
        format, backups = await self._file.read(
            lambda c: (c.execute("PRAGMA user_version").fetchone()[0], maintenance.backups(c, utc_now()))
        )
        return BookFacts(
            engine=self.name,
            address=str(self._path),
            format=format,
            bytes=sum(_size(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")),
            details={
                "backups": backups,
                "commits": self._file.counters.commits,
                "writes": self._file.counters.writes,
            },
            **asdict(counts),
        )

    async def adopt_book(
        self, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
    ) -> bool:
        return await self._write(lambda c: maintenance.adopt_book(c, secret, ended, tombstones))

    async def adopt(self, secret: bytes, whole: OwnerPieces) -> bool:
        return await self._write(lambda c: maintenance.adopt(c, secret, whole))

    # ── copies of itself ─────────────────────────────────────────────────────────────────────────────────────────

    async def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        # Stored first, so that forgetting knows of the backup even if this process is killed.
        path = str(target.resolve())
        await self._write(lambda c: maintenance.note_backup(c, path, utc_now(), made=False))
        await self._file.backup(target, progress)
        await self._write(lambda c: maintenance.note_backup(c, path, utc_now(), made=True))

    async def erasures(self) -> Erasures:
        return await self._file.read(erasure.erasures)

    async def reapply(self, erasures: Erasures, at: datetime) -> int:
        removed = await self._write(lambda c: erasure.reapply(c, secret_of(c), erasures, at))
        await self.scrub()
        return removed

    async def known_backups(self) -> tuple[str, ...]:
        """Return the book's own backups that still exist, including those made before an upgrade."""
        return await self._file.read(lambda c: maintenance.known_backups(c, self._path, utc_now()))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0
