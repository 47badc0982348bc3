"""Translates errors of SQLite and the operating system to Memoranda's own."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoranda.errors import (
    Busy,
    Corrupt,
    MemorandaError,
    NotABook,
    ReadOnly,
    StorageError,
    StorageFull,
)

if sys.platform != "win32":
    import resource

#: Below this many free bytes a failed input or output operation is taken for a full disk.
NO_ROOM = 64 * 1024

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_REFUSED = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
}
#: What SQLite says where only someone who may write can bring the file in order after a crash.
_UNRECOVERED = {sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_PERMITTED = {errno.EACCES, errno.EPERM, errno.EROFS}


def primary_code(exc: sqlite3.Error) -> int | None:
    """Return SQLite's error code without its extension; None if the error is the Python module's
    own.
    """
    code: int | None = getattr(exc, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def is_busy(exc: sqlite3.Error) -> bool:
    """True if SQLite could not get a lock in time, so that a later attempt may succeed."""
    return primary_code(exc) in _BUSY


def is_undecodable(exc: BaseException) -> bool:
    """True if a stored text is not UTF-8; the error itself quotes the text, so it must not be
    shown.
    """
    return isinstance(exc, UnicodeDecodeError) or (
        isinstance(exc, sqlite3.OperationalError) and str(exc).startswith("Could not decode")
    )


def from_sqlite(exc: sqlite3.Error, path: Path) -> StorageError:
    """Return the error for one of SQLite's; a StorageError if its code has no class of its own."""
    if is_undecodable(exc):
        return Corrupt(
            f"{path} is damaged (a text is not UTF-8): verify the book, or restore a backup."
        )
    code, extended = primary_code(exc), getattr(exc, "sqlite_errorcode", None)
    if extended == sqlite3.SQLITE_READONLY_DBMOVED:
        return _displaced(path)
    if extended in _UNRECOVERED:
        return ReadOnly(
            f"{path} was left behind by a crash: open it once without read_only, which recovers it."
        )
    if code in _BUSY:
        return Busy(
            f"{path} is held by another process: try again; if it lasts, end the program that holds it."
        )
    if code in _REFUSED:
        return _read_only(path, exc)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return _full(path)
    if extended == sqlite3.SQLITE_IOERR_WRITE and _at_size_limit(path):
        return StorageFull(
            f"{path}, or its log, has reached the largest size that this process may write (ulimit -f): raise that limit "
            "and start the program again; nothing was kept of this."
        )
    if code == sqlite3.SQLITE_CORRUPT:
        # SQLite reports a read that failed once in the same way as damage.
        return Corrupt(
            f"{path} could not be read ({exc}): the disk failed to read it, or the file is damaged. Verify the book first; "
            "only if that finds damage, restore a backup, or export what can still be read."
        )
    if code == sqlite3.SQLITE_NOTADB:
        return NotABook(
            f"{path} is not a Memoranda book: give the path of a book, or of a file that is not there yet."
        )
    return StorageError(
        f"SQLite could not do this with {path} ({exc}): check the disk, and verify the book."
    )


def from_system(exc: OSError, path: Path) -> StorageError:
    """Return the error for one of the operating system: StorageFull, ReadOnly, or else a plain
    StorageError.
    """
    if exc.errno in _NO_ROOM:
        return _full(path)
    if exc.errno in _NOT_PERMITTED:
        return _read_only(path, exc)
    return StorageError(
        f"The system could not do this with {path} ({exc}): check the disk and the folder."
    )


def from_damage(exc: UnicodeDecodeError, path: Path) -> Corrupt:
    """Return the error for damaged data: Python's SQLite module could not decode a message that
    quotes it.
    """
    return Corrupt(
        f"{path} is damaged ({exc.reason}): restore a backup, or export what can still be read."
    )


def refuse_moved(path: Path, opened: os.stat_result) -> None:
    """Raise an error if the path no longer leads to the open file, whose data would be lost when it
    is closed.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise _displaced(path) from None
    if not os.path.samestat(found, opened):
        raise _displaced(path)


def _displaced(path: Path) -> StorageError:
    return StorageError(
        f"{path} was moved, replaced or removed while it was open, so nothing was stored: close this book, put the right "
        "file there, and open it again."
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and the operating system as Memoranda's own; its own pass
    unchanged.
    """
    try:
        yield
    except sqlite3.Error as exc:
        raise from_sqlite(exc, path) from exc
    except UnicodeDecodeError as exc:
        raise from_damage(exc, path) from exc
    except MemorandaError:
        # Some of ours are system errors too, by inheritance.
        raise
    except OSError as exc:
        raise from_system(exc, path) from exc


def _read_only(path: Path, exc: Exception) -> ReadOnly:
    return ReadOnly(
        f"{path} cannot be written or opened ({exc}): let this user write the file and its folder, "
        "or open the book with read_only=True."
    )


def _full(path: Path) -> StorageFull:
    return StorageFull(
        f"There is no room left for {path}: free some on its disk and try again; nothing was kept of this."
    )


def _no_room(path: Path) -> bool:
    return path.parent.is_dir() and shutil.disk_usage(path.parent).free < NO_ROOM


def _at_size_limit(path: Path) -> bool:
    """True if a file of the book is as large as the process may make one."""
    if sys.platform == "win32":
        return False
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if largest == resource.RLIM_INFINITY:
        return False
    files = (path, path.with_name(f"{path.name}-wal"))
    return any(file.exists() and file.stat().st_size + NO_ROOM > largest for file in files)
