"""The SQLite engine: one file that many processes use, behind every protocol of ``ports``."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from memoranda.engines.sqlite import (
    batches,
    costs,
    erasure,
    jobs,
    maintenance,
    pieces,
    reads,
    service_rows,
    vector_sets,
)
from memoranda.engines.sqlite.file.connections import Answers, Session, Writes, sql
from memoranda.engines.sqlite.file.migrations import book_migrations
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import Busy, StorageError
from memoranda.model.book_rows import Arrival, refusal
from memoranda.model.ledger import ErasureReceipt, Erasures, Scrubbed
from memoranda.model.query import BookFacts, Progress, Prove
from memoranda.model.values import utc_now
from memoranda.storage.store import Store
from memoranda.storage.use_case import Deciding, Question, Write, run

#: A file up to this size is cleared of erased content before ``erase`` returns; the worker clears a
#: larger one.
SCRUB_AT_ONCE_BYTES = 256 * 1024 * 1024

_READ_ELSEWHERE = "another process is reading; the worker clears the log when it is done"

#: Copies of content that a book cannot know of; receipts name them.
UNSEEN = (
    "exports and copies that others made of this book",
    "snapshots and freed blocks of the disk",
)


A = TypeVar("A")

_PARTS = (batches, vector_sets, reads, pieces, costs, jobs, maintenance, erasure, service_rows)
_ANSWERS: Answers = {asked: function for part in _PARTS for asked, function in part.ANSWERS.items()}
_WRITES: Writes = {given: function for part in _PARTS for given, function in part.WRITES.items()}


def _has_secret(connection: sqlite3.Connection) -> bool:
    """Return True if the book has the key of its digests already."""
    return connection.execute("SELECT 1 FROM book WHERE name = 'secret'").fetchone() is not None


def _make_secret(connection: sqlite3.Connection) -> None:
    """Make the key of the book's digests, unless another process has made one."""
    connection.execute(
        "INSERT OR IGNORE INTO book (name, value) VALUES ('secret', ?)", (os.urandom(32),)
    )


def _answer(on: Session, question: Question[Any]) -> Any:
    return _ANSWERS[type(question)](on, question)


class SqliteEngine(Store):
    """A book in one SQLite file."""

    name = "sqlite"

    def __init__(self, file: SqliteFile, path: Path) -> None:
        self._file = file
        self._path = path

    @classmethod
    async def open(cls, path: Path, **options: Any) -> SqliteEngine:
        """Open a book, or make one; ``options`` are those of ``SqliteFile.open``."""
        path = path.absolute()  # also if the program changes its folder later
        migrations = options.pop("migrations", None) or book_migrations()
        file = await SqliteFile.open(path, migrations=migrations, **options)
        try:
            if not options.get("read_only") and not await file.read(_has_secret):
                await file.write(_make_secret)
        except BaseException:
            await file.close()
            raise
        return cls(file, path)

    @property
    def path(self) -> Path:
        """The path of the book."""
        return self._path

    @property
    def address(self) -> str:
        return str(self._file.path)

    @property
    def file(self) -> SqliteFile:
        """The open database file, with its counters."""
        return self._file

    async def close(self) -> None:
        await self._file.close()

    async def read(self, make: Callable[[], Deciding[A]], *, brief: bool = False, **_: Any) -> A:
        def work(connection: sqlite3.Connection) -> A:
            return run(make(), partial(_answer, Session(connection)))[0]

        return await self._file.read(work, brief=brief)

    async def write(self, make: Callable[[], Deciding[A]], *, guarded: bool = True, **_: Any) -> A:
        def work(connection: sqlite3.Connection) -> A:
            on = Session(connection)
            if guarded and (marks := on.standing().marks):
                raise refusal(marks)
            found, writes = run(make(), partial(_answer, on))
            for write in writes:
                _WRITES[type(write)](on, write)
            return found

        return await self._file.write(work)

    # ── erasure ───────────────────────────────────────────────────────────────────────────────────

    def upkeep_of(self, erasures: Erasures, at: datetime) -> list[Write]:
        return erasure.upkeep_of(erasures, at)

    async def finish_erasure(self, receipt: ErasureReceipt, *, changed: bool) -> ErasureReceipt:
        pending = ""
        try:
            if changed or await self._waiting_scrub() is not None:
                pending = await self._clear()
        except StorageError as exc:
            # The erasure itself is committed; the worker continues the clearing.
            pending = f"clearing the file failed, and the worker tries again: {exc}"
        still_in: tuple[str, ...] = ()
        left = ""
        try:
            still_in = await self.known_backups()
        except StorageError as exc:
            left = f"the book's backups are not known ({exc}): forget the same ids again, which names them"
        return replace(
            receipt,
            state="pending" if pending else "complete",
            pending_because=pending,
            still_in=still_in,
            unchecked=UNSEEN,
            left_to_do=left,
        )

    async def _clear(self) -> str:
        """Clear the file of erased data now if it is small; otherwise report that a worker will do
        it.
        """
        if os.path.getsize(self._path) > SCRUB_AT_ONCE_BYTES:
            return "the file is large; the worker rewrites it without what was erased"
        return (await self.scrub()).pending_because

    async def scrub(self) -> Scrubbed:
        """Rewrite the file and empty its log: deleted rows may still have copies in unused parts of
        pages.
        """
        waiting = await self._waiting_scrub()
        if not await self._file.checkpoint():
            return Scrubbed(_READ_ELSEWHERE)
        await self._file.rewrite()
        if not await self._file.checkpoint():
            return Scrubbed(_READ_ELSEWHERE)
        if waiting is not None:
            # Only as it was at the beginning: another process may have erased more since.
            await self._file.write(lambda c: c.execute(sql("end_scrub"), waiting))
        return Scrubbed()

    async def _waiting_scrub(self) -> tuple[bytes, int] | None:
        """Return the id and the generation of the job that clears the file; None if there is
        nothing to clear.
        """
        return await self._file.read(lambda c: c.execute(sql("scrub_waiting")).fetchone())

    # ── keeping ───────────────────────────────────────────────────────────────────────────────────

    async def facts(self, tenant: str | None = None) -> BookFacts:
        counts = asdict(await self.counts(tenant))
        format, backups = await self._file.read(
            lambda c: (
                c.execute("PRAGMA user_version").fetchone()[0],
                maintenance.backups(c, utc_now()),
            )
        )
        return BookFacts(
            engine=self.name,
            address=str(self._path),
            format=format,
            bytes=sum(_size(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")),
            details={
                "vectors": counts.pop("vectors"),
                "backups": backups,
                "commits": self._file.counters.commits,
                "writes": self._file.counters.writes,
            },
            **counts,
        )

    # ── copies ────────────────────────────────────────────────────────────────────────────────────

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        is_copy = await super().arrive(arrival, secret)
        if is_copy and await self._waiting_scrub() is not None:
            # What was forgotten since an earlier run copied it leaves the file with the rest of
            # that copy.
            await self.scrub()
        return is_copy

    # ── copies of itself ──────────────────────────────────────────────────────────────────────────

    async def backup(
        self, target: Path, progress: Progress | None = None, prove: Prove | None = None
    ) -> None:
        # Stored first, so that forgetting knows of the backup even if this process is killed.
        path = str(target.resolve())
        await self.write(lambda: maintenance.note_backup(path, utc_now(), made=False))
        await self._file.backup(target, progress, prove)
        # The backup is there. Without this note it is known as long as its file is there, too.
        with suppress(StorageError):
            await self.write(lambda: maintenance.note_backup(path, utc_now(), made=True))

    async def reapply(self, erasures: Erasures, at: datetime) -> int:
        removed = await self.repeat_erasures(erasures, at)
        if not (done := await self.scrub()).complete:
            raise Busy(
                f"{self._path} may still contain what was erased from it: {done.pending_because}; do it again"
            )
        return removed

    async def known_backups(self) -> tuple[str, ...]:
        """Return the book's own backups that still exist, including those made before an
        upgrade.
        """
        return await self._file.read(lambda c: maintenance.known_backups(c, self._path, utc_now()))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0
