"""Copies of an open book, and what makes them trustworthy: opened, checked, counted, and on the disk."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from memoranda.engines.sqlite.file.connections import Connector
from memoranda.errors import Corrupt, InvalidInput, StorageError

if sys.platform == "darwin":
    from fcntl import F_FULLFSYNC, fcntl

#: What SQLite adds to a database's name for its own files; a database called so may be taken for one of them.
_SQLITES_OWN = ("-journal", "-wal", "-shm")

#: Pages copied between two reports of progress: 4 MB.
STEP_PAGES = 1024


@dataclass(frozen=True, slots=True)
class Contents:
    """What a copy has to have in common with its book."""

    version: int
    rows: dict[str, int]


def contents(connection: sqlite3.Connection) -> Contents:
    """Counts every table; inside a transaction, so that the numbers belong together."""
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name"
    ).fetchall()
    count = "SELECT count(*) FROM {}"
    rows = {name: connection.execute(count.format(quoted(name))).fetchone()[0] for (name,) in tables}
    return Contents(connection.execute("PRAGMA user_version").fetchone()[0], rows)


def copy_verified(book: Connector, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copy the book as it stands now; the target has its name only once it is whole, checked and durable.

    ``progress`` may raise to give up: then nothing is left.
    """
    if not target.parent.is_dir():
        raise InvalidInput(f"The folder {target.parent} is not there: make it first.", field="target")
    if target.name.endswith(_SQLITES_OWN):
        raise InvalidInput(
            f"{target} is a name that SQLite gives to files of its own, and removes: choose another one.",
            field="target",
        )
    if target.exists():
        raise _taken(target)
    # Of its own, for someone else may be making a copy with the same target.
    partial = target.with_name(f"{target.name}.{uuid4().hex[:12]}.partial")
    make_private(partial)
    copy = Connector(partial, "OFF", book.busy_seconds, book.connect)
    try:
        with _snapshot(book) as source:
            with closing(copy.writing()) as into:
                source.backup(
                    into, pages=STEP_PAGES, progress=lambda _, left, total: progress(total - left, total)
                )
            _verify(copy, contents(source), target)
        sync_file(partial)
        _name(partial, target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def _name(partial: Path, target: Path) -> None:
    """Give the copy its name, but never over what came there meanwhile."""
    try:
        try:
            os.link(partial, target)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no links: taking the name with an empty file first keeps others from it.
            make_private(target)
            partial.replace(target)
    except FileExistsError:
        raise _taken(target) from None


def _taken(target: Path) -> InvalidInput:
    return InvalidInput(f"{target} is there already: choose another name, or move it away.", field="target")


@contextmanager
def _snapshot(book: Connector) -> Iterator[sqlite3.Connection]:
    """Holding one read transaction, a copy does not begin anew whenever someone writes."""
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
    """Make an empty file that only its owner may read; refuses one that is there."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def sync_file(path: Path) -> None:
    """Only for a file that no connection of this process has open: closing it would drop SQLite's locks."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        if sys.platform == "darwin":
            fcntl(descriptor, F_FULLFSYNC)
        else:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, where the system lets one open a folder."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def quoted(name: str) -> str:
    """A table's name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
