"""Translates errors of the server and of its driver into Memoranda's errors."""

from __future__ import annotations

from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    OperationFailure,
    PyMongoError,
)

from memoranda.errors import Busy, LimitReached, OutcomeUnknown, ReadOnly, StorageError, StorageFull

#: The label of a commit whose result is not known, and of a transaction of which nothing was
#: stored.
UNKNOWN, TRANSIENT = "UnknownTransactionCommitResult", "TransientTransactionError"
DUPLICATE = 11000
#: A read may be tried again: its snapshot is not there yet, or not any more; or the server steps
#: down or stops.
TOO_OLD = 239
_READ_AGAIN = frozenset({246, TOO_OLD, 189, 91, 11600, 11602, 10107, 13435, 13436})
_UNAUTHORIZED, _WRONG_PASSWORD, _TOO_SLOW, _NO_SPACE = 13, 18, 50, 14031
_TOO_LARGE = frozenset({10334, 17419, 17420})


def code_of(exc: PyMongoError) -> int:
    """Return the server's number of an error; 0 if it has none."""
    if isinstance(exc, BulkWriteError):
        first = (exc.details.get("writeErrors") or [{}])[0]
        return int(first.get("code") or 0)
    return int(getattr(exc, "code", 0) or 0)


def key_of(exc: PyMongoError) -> dict[str, object]:
    """Return the key of the unique index that refused a document."""
    details = exc.details if isinstance(exc, OperationFailure) else None
    if details and details.get("writeErrors"):
        details = details["writeErrors"][0]
    return dict((details or {}).get("keyPattern") or {})


def may_read_again(exc: PyMongoError) -> bool:
    """True if a read that failed may succeed a moment later."""
    return may_write_again(exc) or code_of(exc) in _READ_AGAIN


def may_write_again(exc: PyMongoError) -> bool:
    """True if nothing of a transaction was stored, and it may succeed when it is run again."""
    return exc.has_error_label(TRANSIENT) or isinstance(exc, ConnectionFailure)


def message_of(exc: PyMongoError) -> str:
    """Return what the server says, without documents."""
    if isinstance(exc, OperationFailure):
        details = exc.details or {}
        first = (details.get("writeErrors") or [details])[0]
        said = str(first.get("errmsg") or details.get("codeName") or exc.code)
        return "a key is taken" if code_of(exc) == DUPLICATE else said
    return str(exc).partition(", Timeout:")[0].partition(", full error")[0]


def from_server(exc: PyMongoError, place: str) -> StorageError | LimitReached:
    """Return Memoranda's error for one of the server or of its driver; ``place`` must not contain a
    password.
    """
    code, said = code_of(exc), message_of(exc)
    if code == _WRONG_PASSWORD:
        return StorageError(
            f"{place} refuses this user or password: check the address; a user that another database has needs authSource=…"
        )
    if code == _UNAUTHORIZED:
        return ReadOnly(
            f"{place} does not permit this ({said}): give the user the role readWrite on this database"
        )
    if code == _NO_SPACE:
        return StorageFull(
            f"The disk of {place} is full: free some space and try again; nothing was stored."
        )
    if code in _TOO_LARGE or isinstance(exc, DocumentTooLarge):
        return LimitReached(
            f"a record is larger than {place} stores: make it smaller; nothing was stored"
        )
    if code == _TOO_SLOW or exc.timeout:
        return Busy(f"{place} did not finish in time ({said}): try again.")
    if code == TOO_OLD:
        return StorageError(
            f"{place} keeps a moment of the book for less time than this took: raise minSnapshotHistoryWindowInSeconds, "
            "which is 300 by default"
        )
    if isinstance(exc, ConnectionFailure):
        return Busy(f"{place} cannot be reached ({said}): check that it runs, and try again.")
    if isinstance(exc, ConfigurationError):
        return StorageError(f"{place} cannot be used so: {said}")
    return StorageError(f"{place} could not do this ({said}): see the server's log.")


def outcome_unknown(place: str) -> OutcomeUnknown:
    """Return the error of a commit whose result is not known."""
    return OutcomeUnknown(
        f"The connection to {place} was lost during a commit: the write may or may not be stored; "
        "repeat it with the same operation id, which writes it once."
    )
