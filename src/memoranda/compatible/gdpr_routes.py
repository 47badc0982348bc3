"""Routes to erase, export and restrict the data of one person, in the form of EDDI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic_core import to_json

from memoranda.access.guard import Guard
from memoranda.compatible.eddi_routes import answer_error
from memoranda.compatible.operations import (
    TEXT,
    Schema,
    described,
    guard_of,
    json_answer,
    object_of,
    route_class,
)
from memoranda.compatible.user_memory_entries import count_entries, list_entries, owner_named

_FAILURE: Final = object_of({"error": TEXT}, "error")
_NUMBER: Final[Schema] = {"type": "integer"}
_COUNTS: Final = (
    "memoriesDeleted",
    "conversationsDeleted",
    "conversationMappingsDeleted",
    "logsPseudonymized",
    "auditEntriesPseudonymized",
)
_ERASED: Final = object_of(
    {"userId": TEXT, **dict.fromkeys(_COUNTS, _NUMBER), "completedAt": TEXT}, "userId", *_COUNTS
)
_RESTRICTION: Final = object_of(
    {"userId": TEXT, "restricted": {"type": "boolean"}}, "userId", "restricted"
)
_EXPORT: Final = object_of(
    {
        "userId": TEXT,
        "exportedAt": TEXT,
        "memories": {"type": "array", "items": {"type": "object"}},
        "records": {"type": "array", "items": {"type": "object"}},
    },
    "userId",
    "memories",
    "records",
)
_USER: Final = ("userId",)

gdpr_routes = APIRouter(prefix="/admin/gdpr", tags=["gdpr"], route_class=route_class(answer_error))
restriction_routes = APIRouter(
    prefix="/admin/gdpr", tags=["gdpr"], route_class=route_class(answer_error)
)


@gdpr_routes.delete(
    "/{userId}",
    **described("erase_user", answers={200: _ERASED}, path=_USER, failure=_FAILURE, writes=True),
)
async def erase(request: Request) -> Response:
    """Erase everything of a user."""
    guard, user = guard_of(request), request.path_params["userId"]
    memories = await count_entries(guard, user, archived=True)
    owner = owner_named(guard, user)
    threads = await guard.call("records.count", owner=owner, types="thread", as_owner=True)
    receipt = await guard.call("forget", owner=owner, everything=True, as_owner=True)
    counts = {
        **dict.fromkeys(_COUNTS, 0),
        "memoriesDeleted": memories,
        "conversationsDeleted": threads,
        "auditEntriesPseudonymized": receipt.removed.get("ledger contents", 0),
    }
    return json_answer({"userId": user, **counts, "completedAt": _moment(receipt.at)})


@gdpr_routes.get(
    "/{userId}/export",
    **described("export_user", answers={200: _EXPORT}, path=_USER, failure=_FAILURE),
)
async def export(request: Request) -> Response:
    """Export everything of a user: their entries, and the lines of an export with what others hold
    about them.
    """
    guard, user = guard_of(request), request.path_params["userId"]
    head = {
        "userId": user,
        "exportedAt": _moment(datetime.now(UTC)),
        "memories": await list_entries(guard, user, archived=True),
    }
    lines = guard.stream("admin.export", owner=owner_named(guard, user), everything=True)
    return StreamingResponse(_streamed(head, lines), media_type="application/json")


async def _streamed(head: dict[str, Any], lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    yield to_json(head)[:-1] + b',"records":['
    between = b"\n"
    async for line in lines:
        yield between + line.strip().encode()
        between = b",\n"
    yield b"\n]}"


@restriction_routes.post(
    "/{userId}/restrict",
    **described(
        "restrict_user", answers={200: _RESTRICTION}, path=_USER, failure=_FAILURE, writes=True
    ),
)
async def restrict(request: Request) -> Response:
    """Restrict the processing of a user's data."""
    guard, user = guard_of(request), request.path_params["userId"]
    await guard.call("admin.restrict", owner=owner_named(guard, user))
    return await _restriction(guard, user)


@restriction_routes.delete(
    "/{userId}/restrict",
    **described(
        "unrestrict_user", answers={200: _RESTRICTION}, path=_USER, failure=_FAILURE, writes=True
    ),
)
async def unrestrict(request: Request) -> Response:
    """End the restriction of a user's data."""
    guard, user = guard_of(request), request.path_params["userId"]
    await guard.call("admin.unrestrict", owner=owner_named(guard, user))
    return await _restriction(guard, user)


@restriction_routes.get(
    "/{userId}/restrict",
    **described("get_restriction", answers={200: _RESTRICTION}, path=_USER, failure=_FAILURE),
)
async def restriction(request: Request) -> Response:
    """Tell if the processing of a user's data is restricted."""
    return await _restriction(guard_of(request), request.path_params["userId"])


async def _restriction(guard: Guard, user: str) -> Response:
    found = await guard.call("admin.restriction", owner=owner_named(guard, user))
    return json_answer({"userId": user, "restricted": found is not None and found is not False})


def _moment(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
