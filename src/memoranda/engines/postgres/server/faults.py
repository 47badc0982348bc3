"""Translates errors of the server and of its driver into Memoranda's errors."""

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
from memoranda.model.book_rows import refusal

#: Errors after which the whole transaction can be repeated: nothing of it was stored.
RETRYABLE = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)

#: The SQLSTATE that our own SQL raises where a book is marked as moving; the message is that mark.
MARKED = "CP001"

#: The SQLSTATE of ``transaction_timeout``, for which the driver does not always have a class.
_TRANSACTION_TIMEOUT = "25P04"

#: Errors after which a connection is unusable; the driver raises ``InternalClientError`` if the
#: server ends it between statements.
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
#: The error of a server that did not answer in time.
NO_ANSWER = TimeoutError
#: The setting that limits how many tables and indexes all transactions together may use.
_LOCKS = "max_locks_per_transaction"
_CREDENTIALS = (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)
_BUSY = (
    asyncpg.TooManyConnectionsError,
    asyncpg.LockNotAvailableError,
    asyncpg.OutOfMemoryError,
    *RETRYABLE,
)
_DAMAGED = (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError)
_ABSENT = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
)


def is_lost(exc: BaseException) -> bool:
    """True if the connection is unusable after this error, which Memoranda's own errors never
    imply.
    """
    return isinstance(exc, LOST) and not isinstance(exc, MemorandaError)


def from_server(exc: Exception, place: str) -> StorageError:
    """Return Memoranda's error for one of the server or of asyncpg; ``place`` must not contain a
    password.
    """
    if getattr(exc, "sqlstate", None) == MARKED:
        name, _, mark = str(exc).partition(" ")
        return refusal({name: mark.encode()})
    if _TRANSACTION_TIMEOUT in (getattr(one, "sqlstate", None) for one in (exc, exc.__cause__)):
        return Busy(
            f"{place} ended a transaction that took too long: try again, or set a longer transaction_timeout for the book's role."
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
            f"{place} can only be read: the book was opened with read_only=True, or the server is a replica. Write to the primary."
        )
    if isinstance(exc, asyncpg.QueryCanceledError):
        return Busy(
            f"{place} did not finish a statement in time ({exc}): try again, or allow more time in the address (longest_statement=…)."
        )
    if isinstance(exc, asyncpg.OutOfMemoryError) and _LOCKS in str(exc):
        return Busy(
            f"{place} cannot hold more locks ({exc}): raise {_LOCKS}, or create the book with fewer partitions."
        )
    if isinstance(exc, _BUSY):
        return Busy(f"{place} is busy ({exc}): try again.")
    if isinstance(exc, asyncpg.DiskFullError):
        return StorageFull(
            f"The disk of {place} is full: free some space and try again; nothing was stored."
        )
    if isinstance(exc, _DAMAGED):
        return Corrupt(
            f"{place} is damaged ({exc}): restore a backup, or export what can still be read."
        )
    if isinstance(exc, _ABSENT):
        return NotABook(
            f"{place} holds no book ({exc}): check the names of the database and the schema."
        )
    return None


def _of_the_connection(exc: Exception, place: str) -> StorageError | None:
    if isinstance(exc, NO_ANSWER):
        return Busy(
            f"{place} does not answer: check that it runs and can be reached, and try again."
        )
    if isinstance(exc, asyncpg.CannotConnectNowError):
        return Busy(f"{place} is starting or stopping ({exc}): try again.")
    if isinstance(exc, ssl.SSLError) or "SSL upgrade" in str(exc):
        return StorageError(
            f"No secure connection to {place} could be made ({exc}): check sslmode and the certificates."
        )
    return Busy(f"{place} cannot be reached ({exc}): check that it runs, and try again.")


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Translate errors of asyncpg and the operating system that the block raises; Memoranda's own
    pass unchanged.
    """
    try:
        yield
    except MemorandaError:
        raise  # some of ours are system errors too, by inheritance
    except (asyncpg.PostgresError, *LOST) as exc:
        raise from_server(exc, place) from exc


def outcome_unknown(place: str, exc: BaseException) -> OutcomeUnknown:
    """Return the error of a commit whose result is not known."""
    return OutcomeUnknown(
        f"The connection to {place} was lost during a commit ({str(exc) or 'no answer'}): the write may or may not be stored; "
        "repeat it with the same operation id, which writes it once."
    )
