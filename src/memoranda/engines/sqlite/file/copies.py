"""Copies of an open book, which are checked, counted and synced to disk before they get their
name.
"""

from __future__ import annotations

import glob
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from memoranda.engines.sqlite.file.connections import Connector
from memoranda.errors import Corrupt, InvalidInput, StorageError
from memoranda.first_use import dataclass

if sys.platform == "darwin":
    from fcntl import F_FULLFSYNC, fcntl

#: Suffixes of SQLite's own files; a database with such a name could be taken for one of them.
_SQLITES_OWN = ("-journal", "-wal", "-shm")

#: Pages copied between two reports of progress: 4 MB.
STEP_PAGES = 1024


@dataclass(frozen=True, slots=True)
class Contents:
    """The row counts by which a copy is compared with its book."""

    version: int
    rows: dict[str, int]


def contents(connection: sqlite3.Connection) -> Contents:
    """Count the rows of every table inside one transaction, so that all counts are of one
    moment.
    """
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name"
    ).fetchall()
    count = "SELECT count(*) FROM {}"
    rows = {
        name: connection.execute(count.format(quoted(name))).fetchone()[0] for (name,) in tables
    }
    return Contents(connection.execute("PRAGMA user_version").fetchone()[0], rows)


def copy_verified(book: Connector, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copy the book as it is now; the target gets its name only when it is complete, checked and
    durable.

    ``progress`` may raise an error to cancel the copy: then nothing is left behind.
    """
    name_copy(copy_unnamed(book, target, progress), target)


def copy_unnamed(book: Connector, target: Path, progress: Callable[[int, int], None]) -> Path:
    """Copy the book to a file of another name beside the target, check it, and return its path."""
    if not target.parent.is_dir():
        raise InvalidInput(
            f"The folder {target.parent} is not there: make it first.", field="target"
        )
    if target.name.endswith(_SQLITES_OWN):
        raise InvalidInput(
            f"{target} is a name that SQLite gives to files of its own, and removes: choose another one.",
            field="target",
        )
    if target.exists():
        raise _taken(target)
    # A name of its own, because another process may be making a copy with the same target.
    partial = target.with_name(f"{target.name}.{uuid4().hex[:12]}.partial")
    make_private(partial)
    copy = Connector(partial, "OFF", book.busy_seconds, book.connect)
    try:
        with _snapshot(book) as source:
            with closing(copy.writing()) as into:
                source.backup(
                    into,
                    pages=STEP_PAGES,
                    progress=lambda _, left, total: progress(total - left, total),
                )
            _verify(copy, contents(source), target)
    except BaseException:
        discard(partial)
        raise
    return partial


def name_copy(partial: Path, target: Path) -> None:
    """Sync a copy to disk and give it its name; an error leaves nothing behind."""
    try:
        sync_file(partial)
        _name(partial, target)
        sync_folder(target.parent)
    finally:
        discard(partial)


def discard(partial: Path) -> None:
    """Delete a copy that has no name yet, and the files that its users made beside it."""
    for path in partial.parent.glob(f"{glob.escape(partial.name)}*"):
        path.unlink(missing_ok=True)


def _name(partial: Path, target: Path) -> None:
    """Rename the finished copy to its final name; raise an error if there is a file of that name by
    now.
    """
    try:
        try:
            os.link(partial, target)
        except FileExistsError:
            raise
        except OSError:
            # On a file system without links, an empty file reserves the name first.
            make_private(target)
            partial.replace(target)
    except FileExistsError:
        raise _taken(target) from None


def _taken(target: Path) -> InvalidInput:
    return InvalidInput(
        f"{target} is there already: choose another name, or move it away.", field="target"
    )


@contextmanager
def _snapshot(book: Connector) -> Iterator[sqlite3.Connection]:
    """Copy within one read transaction, so that the copy does not restart whenever someone
    writes.
    """
    with closing(book.reading()) as source:
        source.execute("BEGIN")
        source.execute("PRAGMA user_version").fetchone()
        yield source
        source.execute("ROLLBACK")


def _verify(copy: Connector, expected: Contents, target: Path) -> None:
    with closing(copy.reading(immutable=True)) as opened:
        found = [row[0] for row in opened.execute("PRAGMA integrity_check(10)")]
        if found != ["ok"]:
            raise Corrupt(
                f"The copy {target} was not kept, for the book is damaged ({'; '.join(found)}): "
                "restore an older backup, or export what can still be read."
            )
        if contents(opened) != expected:
            raise StorageError(
                f"The copy {target} was not kept, for it differs from the book: check the disk."
            )


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read; raise an error if there is one."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def sync_file(path: Path) -> None:
    """Sync a file to disk. No connection of this process may have it open: closing it would drop
    SQLite's locks.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        if sys.platform == "darwin":
            fcntl(descriptor, F_FULLFSYNC)
        else:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Sync a folder's names to disk, on systems that can open a folder."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def quoted(name: str) -> str:
    """Return a table's name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'
