"""What a server refuses, told in Memoranda's own errors."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from memoranda.errors import (
    Busy,
    Corrupt,
    MemorandaError,
    NotABook,
    OutcomeUnknown,
    ReadOnly,
    StorageError,
    StorageFull,
)
from memoranda.model.moving import refusal

#: What may go well when it is done again from the start: nothing of it was kept.
AGAIN = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)

#: What the server itself raises where a book has a mark that keeps writers off; the message is the mark.
MARKED = "CP001"

#: An operator's limit on transactions, of which the driver knows only at times.
_TRANSACTION_TIMEOUT = "25P04"

#: The connection is of no more use; the driver's own confusion is what a server's farewell between two statements makes of it.
LOST = (
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.exceptions.IdleSessionTimeoutError,
    OSError,
)
#: Nothing came back at all.
SILENT = TimeoutError
#: The setting that bounds how many tables and indexes all transactions may be using.
_LOCKS = "max_locks_per_transaction"
_CREDENTIALS = (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)
_BUSY = (
    asyncpg.TooManyConnectionsError,
    asyncpg.LockNotAvailableError,
    asyncpg.OutOfMemoryError,
    *AGAIN,
)
_DAMAGED = (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError)
_ABSENT = (asyncpg.InvalidCatalogNameError, asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)


def is_lost(exc: BaseException) -> bool:
    """Whether a connection is of no more use; some of our own errors are system errors too, by inheritance."""
    return isinstance(exc, LOST) and not isinstance(exc, MemorandaError)


def from_server(exc: Exception, place: str) -> StorageError:
    """Our error for the server's or the driver's; ``place`` holds no password."""
    if getattr(exc, "sqlstate", None) == MARKED:
        name, _, mark = str(exc).partition(" ")
        return refusal({name: mark.encode()})
    if _TRANSACTION_TIMEOUT in (getattr(one, "sqlstate", None) for one in (exc, exc.__cause__)):
        return Busy(
            f"{place} ends transactions that take long: try again, or give the book's role a longer transaction_timeout."
        )
    found = _of_the_connection(exc, place) if isinstance(exc, LOST) else _of_the_work(exc, place)
    return found or StorageError(f"{place} could not do this ({exc}): see the server's log.")


def _of_the_work(exc: Exception, place: str) -> StorageError | None:
    if isinstance(exc, _CREDENTIALS):
        return StorageError(f"{place} refuses this user or password ({exc}): check the address.")
    if isinstance(exc, asyncpg.InsufficientPrivilegeError):
        return ReadOnly(
            f"{place} does not permit this ({exc}): let the book's user own its schema and everything in it "
            "(ALTER … OWNER TO); to make a schema, GRANT CREATE ON DATABASE."
        )
    if isinstance(exc, asyncpg.ReadOnlySQLTransactionError):
        return ReadOnly(
            f"{place} only lets itself be read: it was opened with read_only, or is a replica; write at the primary."
        )
    if isinstance(exc, asyncpg.QueryCanceledError):
        return Busy(
            f"{place} took too long for this ({exc}): try again, or give it longer (longest_statement=…)."
        )
    if isinstance(exc, asyncpg.OutOfMemoryError) and _LOCKS in str(exc):
        return Busy(
            f"{place} has no room for more locks ({exc}): give it more ({_LOCKS}), or make the book in fewer partitions."
        )
    if isinstance(exc, _BUSY):
        return Busy(f"{place} has no hand free for this ({exc}): try again.")
    if isinstance(exc, asyncpg.DiskFullError):
        return StorageFull(
            f"There is no room left on {place}: free some and try again; nothing was kept of this."
        )
    if isinstance(exc, _DAMAGED):
        return Corrupt(f"{place} is damaged ({exc}): restore a backup, or export what can still be read.")
    if isinstance(exc, _ABSENT):
        return NotABook(f"{place} holds no book ({exc}): check the names of the database and the schema.")
    return None


def _of_the_connection(exc: Exception, place: str) -> StorageError | None:
    if isinstance(exc, SILENT):
        return Busy(f"{place} does not answer: check that it runs and can be reached, and try again.")
    if isinstance(exc, asyncpg.CannotConnectNowError):
        return Busy(f"{place} is starting or stopping ({exc}): try again.")
    if isinstance(exc, ssl.SSLError) or "SSL upgrade" in str(exc):
        return StorageError(
            f"{place} and this program agree on no secure connection ({exc}): check sslmode and certificates."
        )
    return Busy(f"{place} cannot be reached ({exc}): check that it runs, and try again.")


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Tell the driver's and the system's errors in our own; our own pass as they are."""
    try:
        yield
    except MemorandaError:
        raise  # some of ours are system errors too, by inheritance
    except (asyncpg.PostgresError, *LOST) as exc:
        raise from_server(exc, place) from exc


def outcome_unknown(place: str, exc: BaseException) -> OutcomeUnknown:
    """Nobody can say whether what was being committed is kept."""
    return OutcomeUnknown(
        f"{place} was lost while it committed ({str(exc) or 'it did not answer'}): what was written may be kept or not; "
        "repeat it with the same operation id, which writes it once."
    )
