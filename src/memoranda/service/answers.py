"""Answers of the service beside results: problem documents, and the error that becomes one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi.responses import Response
from pydantic_core import to_json

from memoranda.errors import MemorandaError, ModelDown, StorageError
from memoranda.wire.problems import PROBLEM, problem, problem_of, told_outside

#: Seconds after which a request that found the book busy or lost is worth repeating.
_AGAIN = 1

_log = logging.getLogger("memoranda.service")


class Refused(Exception):
    """A request that the service refuses before it asks the book."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    def answer(self, request: str) -> Response:
        """Return the answer to the request with this id."""
        document = problem(self.status, str(self), code=self.code, request=request)
        return problem_answer(document, self.headers)


def mistake(request: str) -> Response:
    """Return the answer to a request that failed for no reason of its own."""
    detail = f"the service made a mistake; its log has more under {request}"
    return Refused(500, "internal", detail).answer(request)


def problem_answer(
    document: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with a problem document."""
    body = to_json(_encodable(document))
    return Response(
        body, status_code=document["status"], media_type=PROBLEM, headers=dict(headers or {})
    )


def error_document(error: MemorandaError, request: str) -> dict[str, Any]:
    """Return what a caller is told of an error; the log has the engine's own words."""
    document = problem_of(error, request)
    if isinstance(error, StorageError):
        _log.warning("request %s: %s", request, error)
        document["detail"] = f"{told_outside(error)}; the service's log has more under {request}"
    return document


def error_answer(error: MemorandaError, request: str) -> Response:
    """Return the answer to a request that the book refused."""
    document = error_document(error, request)
    headers = {}
    if document["status"] in (429, 503):
        pause = error.retry_after if isinstance(error, ModelDown) else None
        headers["Retry-After"] = str(max(_AGAIN, round(pause or _AGAIN)))
    return problem_answer(document, headers)


def _encodable(value: Any) -> Any:
    """Return a value whose texts can all be written as UTF-8."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {key: _encodable(one) for key, one in value.items()}
    return [_encodable(one) for one in value] if isinstance(value, list) else value
