"""Errors on the wire: the status and the problem document of each, and the error that a document
stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda import errors as tree
from memoranda.errors import (
    Busy,
    Conflict,
    EmbedderDown,
    EmbeddingFailed,
    Erased,
    HasDependents,
    InvalidInput,
    LimitReached,
    MemorandaError,
    ModelDown,
    ModelFailed,
    ModelRefused,
    NotAllowed,
    NotFound,
    OutcomeUnknown,
    ReadOnly,
    StorageError,
    StorageFull,
)

#: The media type of an error (RFC 9457).
PROBLEM = "application/problem+json"

#: The status of each error; the first class that fits counts.
_STATUSES: tuple[tuple[type[MemorandaError], int], ...] = (
    (InvalidInput, 422),
    (NotFound, 404),
    (NotAllowed, 403),
    (Conflict, 409),
    (Erased, 410),
    (StorageFull, 507),
    (ReadOnly, 503),
    (EmbedderDown, 503),
    # Without an embedder the same request is refused again.
    (EmbeddingFailed, 409),
    (ModelFailed, 503),
    (StorageError, 503),
)
#: The code of the answer to a GET of one thing that is not there, or is not the caller's; the
#: library returns None.
ABSENT = "nothing_there"
#: Statuses after which the same request may succeed later.
RETRIED = frozenset({429, 502, 503, 504})

#: The title of each status.
TITLES = {
    400: "The request could not be read",
    401: "A valid credential is needed",
    403: "This credential may not do this",
    404: "Not found",
    405: "No such method here",
    406: "The client would not take the answer",
    408: "The request took too long to arrive",
    409: "The request contradicts what is stored",
    410: "It was forgotten",
    412: "It has changed since it was read",
    413: "The request is too large",
    421: "This service has another name",
    422: "Something in the request is malformed",
    429: "Too many requests",
    500: "The service made a mistake",
    503: "The book cannot be used now",
    507: "There is no room left",
}
#: What is said of an engine's errors.
_SAID: dict[type[StorageError], str] = {
    Busy: "the book is busy, or its server cannot be reached: ask again in a moment",
    OutcomeUnknown: "it is unknown whether this was stored: send it again with the same Idempotency-Key",
    StorageFull: "there is no room for this, and nothing was stored: make room, and send it again",
}
_NOT_NOW = "the book cannot be used now"
_BY_NAME: dict[str, type[MemorandaError]] = {
    name: kind
    for name, kind in vars(tree).items()
    if isinstance(kind, type) and issubclass(kind, MemorandaError)
}


def status_of(error: MemorandaError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def told_outside(error: MemorandaError) -> str:
    """Return the words of an error for callers from outside: an engine's own name files and servers
    of this machine, and are for the log.
    """
    if not isinstance(error, StorageError):
        return str(error)
    return next((said for kind, said in _SAID.items() if isinstance(error, kind)), _NOT_NOW)


def problem(status: int, detail: str, *, code: str, request: str, **more: Any) -> dict[str, Any]:
    """Return a problem document."""
    body = {
        "type": f"urn:memoranda:{code}",
        "title": TITLES.get(status, "The request failed"),
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request,
        **more,
    }
    return {"errors": [], **body}


def problem_of(error: MemorandaError, request: str) -> dict[str, Any]:
    """Return the problem document of an error of the library."""
    more: dict[str, Any] = {"error": type(error).__name__}
    if isinstance(error, InvalidInput):
        more["errors"] = [
            {"field": one.field, "item": one.item, "detail": str(one)} for one in error.errors[:100]
        ]
    elif isinstance(error, HasDependents):
        more["positions"] = list(error.positions)
    elif isinstance(error, ModelDown):
        more["retry_after"] = error.retry_after
    elif isinstance(error, ModelRefused):
        more["reason"] = error.reason
    return problem(status_of(error), str(error), code=error.code, request=request, **more)


def error_of(status: int, body: Mapping[str, Any]) -> MemorandaError:
    """Return the library's error that a problem document stands for."""
    detail = str(body.get("detail") or body.get("title") or f"the service answered {status}")
    kind = _BY_NAME.get(str(body.get("error")))
    if kind is None:
        return _of_status(status, detail)
    if issubclass(kind, InvalidInput):
        return _invalid(kind, detail, body.get("errors") or [])
    if issubclass(kind, HasDependents):
        return kind(detail, positions=body.get("positions") or ())
    if issubclass(kind, ModelDown):
        return kind(detail, retry_after=body.get("retry_after"))
    if issubclass(kind, ModelRefused):
        return kind(detail, reason=str(body.get("reason", "request")))
    return kind(detail)


def _invalid(
    kind: type[InvalidInput], detail: str, errors: list[Mapping[str, Any]]
) -> InvalidInput:
    parts = [
        kind(str(one.get("detail", detail)), field=one.get("field"), item=one.get("item"))
        for one in errors
    ]
    first = kind(
        detail,
        field=parts[0].field if parts else None,
        item=parts[0].item if parts else None,
    )
    first.errors = (first, *parts[1:])
    return first


def _of_status(status: int, detail: str) -> MemorandaError:
    """Return the nearest error of the library where the service names none."""
    match status:
        case 400 | 405 | 413 | 421 | 422:
            return InvalidInput(detail)
        case 401 | 403:
            return NotAllowed(detail)
        case 404:
            return NotFound(detail)
        case 409 | 412:
            return Conflict(detail)
        case 429:
            return LimitReached(detail)
    return StorageError(detail)
