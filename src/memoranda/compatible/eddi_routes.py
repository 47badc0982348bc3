"""Routes of EDDI's user memory and of its older properties, for EDDI's clients."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memoranda.compatible import user_memory_entries as entries
from memoranda.compatible.operations import (
    TEXT,
    TEXTS,
    Schema,
    Unreadable,
    described,
    guard_of,
    json_answer,
    json_body,
    object_of,
    route_class,
)
from memoranda.errors import Conflict, Erased, InvalidInput, MemorandaError, NotAllowed, NotFound

_FAILURE: Final = object_of({"error": TEXT}, "error")
_MAYBE_TEXT: Final[Schema] = {"type": ["string", "null"]}
_ENTRY: Final = object_of(
    {
        "id": TEXT,
        "userId": TEXT,
        "key": TEXT,
        "value": {},
        "category": TEXT,
        "visibility": {"enum": list(entries.VISIBILITIES)},
        "sourceAgentId": _MAYBE_TEXT,
        "groupIds": TEXTS,
        "sourceConversationId": _MAYBE_TEXT,
        "conflicted": {"type": "boolean"},
        "accessCount": {"type": "integer"},
        "createdAt": TEXT,
        "updatedAt": TEXT,
    },
    *"id userId key value category visibility sourceAgentId groupIds createdAt updatedAt".split(),
)
_ENTRIES: Final[Schema] = {"type": "array", "items": _ENTRY}
_NEW_ENTRY: Final = object_of(
    {
        "userId": {**TEXT, "minLength": 1},
        "key": {**TEXT, "minLength": 1, "maxLength": entries.KEY_LENGTH},
        "value": {},
        "category": _MAYBE_TEXT,
        "visibility": {"enum": [*entries.VISIBILITIES, None]},
        "sourceAgentId": _MAYBE_TEXT,
        "groupIds": {"type": ["array", "null"], "items": TEXT},
        "sourceConversationId": _MAYBE_TEXT,
    },
    "userId",
    "key",
)
_STATUSES: Final[tuple[tuple[type[MemorandaError], int], ...]] = (
    (InvalidInput, 400),
    (NotAllowed, 403),
    # A user that this credential does not open is refused before the book is asked, so the status
    # tells nothing.
    (NotFound, 403),
    (Conflict, 409),
    (Erased, 410),
)
_RESTRICTED: Final = "processing_restricted"


def answer_error(error: MemorandaError) -> Response | None:
    """Return EDDI's answer to an error; None for one of the storage."""
    if error.code == "restricted":
        return json_answer({"error": _RESTRICTED}, 403)
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return json_answer({"error": str(error)}, status)
    return None


_RESULT: Final = object_of(
    {
        "userId": TEXT,
        "entriesPruned": {"type": "integer"},
        "contradictionsFound": {"type": "integer"},
        "entriesSummarized": {"type": "integer"},
        "durationMs": {"type": "integer"},
        "estimatedCostUsd": {"type": "number"},
        "error": _MAYBE_TEXT,
    },
    "userId",
    "error",
)
_SCHEDULE: Final = object_of(
    {
        "agentId": _MAYBE_TEXT,
        "metadata": {"type": "object"},
        "fireStatus": TEXT,
        "nextFire": TEXT,
        "failCount": {"type": "integer"},
        "lastError": _MAYBE_TEXT,
    },
    *"agentId metadata fireStatus nextFire failCount lastError".split(),
)
memory_routes = APIRouter(
    prefix="/usermemorystore/memories",
    tags=["usermemorystore"],
    route_class=route_class(answer_error),
)
property_routes = APIRouter(
    prefix="/propertiesstore/properties",
    tags=["propertiesstore"],
    route_class=route_class(answer_error),
)
schedule_routes = APIRouter(
    prefix="/schedulestore/schedules", tags=["schedulestore"], route_class=route_class(answer_error)
)
_USER: Final = ("userId",)


@memory_routes.get(
    "/{userId}",
    **described("list_user_memories", answers={200: _ENTRIES}, path=_USER, failure=_FAILURE),
)
async def list_memories(request: Request) -> Response:
    """List the entries of a user."""
    return json_answer(await entries.list_entries(guard_of(request), request.path_params["userId"]))


@memory_routes.get(
    "/{userId}/visible",
    **described(
        "list_visible_memories",
        answers={200: _ENTRIES},
        path=_USER,
        query={"agentId": TEXT, "groupId": TEXTS, "order": TEXT, "limit": {"type": "integer"}},
        failure=_FAILURE,
    ),
)
async def list_visible(request: Request) -> Response:
    """List the entries that an agent sees."""
    asked = request.query_params
    try:
        limit = int(asked.get("limit") or 50)
    except ValueError:
        raise InvalidInput("limit: give a whole number", field="limit") from None
    found = await entries.visible_entries(
        guard_of(request),
        request.path_params["userId"],
        asked.get("agentId"),
        [one for one in asked.getlist("groupId") if one],
        asked.get("order", ""),
        limit,
    )
    return json_answer(found)


@memory_routes.get(
    "/{userId}/search",
    **described(
        "search_user_memories",
        answers={200: _ENTRIES},
        path=_USER,
        query={"q": TEXT},
        failure=_FAILURE,
    ),
)
async def search(request: Request) -> Response:
    """List the entries that have a text in their key or value."""
    text = request.query_params.get("q", "")
    return json_answer(
        await entries.search_entries(guard_of(request), request.path_params["userId"], text)
    )


@memory_routes.get(
    "/{userId}/category/{category}",
    **described(
        "list_memories_in_category",
        answers={200: _ENTRIES},
        path=("userId", "category"),
        failure=_FAILURE,
    ),
)
async def list_category(request: Request) -> Response:
    """List the entries of one category."""
    user, category = request.path_params["userId"], request.path_params["category"]
    return json_answer(await entries.entries_in_category(guard_of(request), user, category))


@memory_routes.get(
    "/{userId}/key/{key}",
    **described(
        "get_memory_by_key", answers={200: _ENTRY}, path=("userId", "key"), failure=_FAILURE
    ),
)
async def get_by_key(request: Request) -> Response:
    """Get the entry with a key."""
    user, key = request.path_params["userId"], request.path_params["key"]
    found = await entries.entry_by_key(guard_of(request), user, key)
    if found is None:
        return json_answer({"error": f"No memory with key '{key}' found for user: {user}"}, 404)
    return json_answer(found)


@memory_routes.get(
    "/{userId}/count",
    **described(
        "count_user_memories",
        answers={200: object_of({"userId": TEXT, "count": {"type": "integer"}}, "userId", "count")},
        path=_USER,
        failure=_FAILURE,
    ),
)
async def count(request: Request) -> Response:
    """Count the entries of a user."""
    user = request.path_params["userId"]
    return json_answer(
        {"userId": user, "count": await entries.count_entries(guard_of(request), user)}
    )


@memory_routes.post(
    "/{userId}/dream",
    **described(
        "run_dream",
        answers={200: _RESULT},
        path=_USER,
        query={"agentId": TEXT},
        failure=_FAILURE,
        writes=True,
    ),
)
async def run_dream(request: Request) -> Response:
    """Do a night of an agent for a user: archive what was not used for long, and count what
    contradicts itself.
    """
    user, agent = request.path_params["userId"], request.query_params.get("agentId")
    return json_answer(await entries.dream_result(guard_of(request), user, agent))


@schedule_routes.get(
    "",
    **described(
        "list_schedules",
        answers={200: {"type": "array", "items": _SCHEDULE}},
        path=(),
        failure=_FAILURE,
    ),
)
async def list_schedules(request: Request) -> Response:
    """List the scheduled nights."""
    return json_answer(await entries.list_schedules(guard_of(request)))


@memory_routes.put(
    "",
    **described(
        "upsert_user_memory",
        answers={200: object_of({"id": TEXT}, "id")},
        body=_NEW_ENTRY,
        failure=_FAILURE,
        writes=True,
    ),
)
@memory_routes.put("/", include_in_schema=False)
async def upsert(request: Request) -> Response:
    """Store an entry, or replace the one it stands for."""
    try:
        given = await json_body(request)
    except Unreadable as exc:
        return json_answer({"error": str(exc)}, 400)
    fault = _fault(given)
    if fault:
        return json_answer({"error": fault}, 400)
    return json_answer({"id": await entries.upsert_entry(guard_of(request), given)})


@memory_routes.delete(
    "/entry/{entryId}",
    **described(
        "delete_user_memory", answers={204: None}, path=("entryId",), failure=_FAILURE, writes=True
    ),
)
async def delete_one(request: Request) -> Response:
    """Erase an entry."""
    id = request.path_params["entryId"]
    if not await entries.delete_entry(guard_of(request), id):
        return json_answer({"error": f"Memory entry not found: {id}"}, 404)
    return Response(status_code=204)


@memory_routes.delete(
    "/{userId}",
    **described(
        "delete_user_memories", answers={204: None}, path=_USER, failure=_FAILURE, writes=True
    ),
)
async def delete_all(request: Request) -> Response:
    """Erase all entries of a user."""
    await entries.delete_entries(guard_of(request), request.path_params["userId"])
    return Response(status_code=204)


@property_routes.get(
    "/{userId}",
    **described("read_properties", answers={200: {"type": "object"}}, path=_USER, failure=_FAILURE),
)
async def read_properties(request: Request) -> Response:
    """Read the values of the global entries by their keys."""
    return json_answer(
        await entries.read_properties(guard_of(request), request.path_params["userId"])
    )


@property_routes.post(
    "/{userId}",
    **described(
        "merge_properties",
        answers={200: None},
        path=_USER,
        body={"type": "object"},
        failure=_FAILURE,
        writes=True,
    ),
)
async def merge_properties(request: Request) -> Response:
    """Store each property as a global entry."""
    try:
        given = await json_body(request)
    except Unreadable as exc:
        return json_answer({"error": str(exc)}, 400)
    if not isinstance(given, dict):
        return json_answer({"error": "Request body is required"}, 400)
    for key in given:
        fault = _fault({"userId": "-", "key": key})
        if fault:
            return json_answer({"error": fault}, 400)
    await entries.merge_properties(guard_of(request), request.path_params["userId"], given)
    return Response(status_code=200)


@property_routes.delete(
    "/{userId}",
    **described(
        "delete_properties", answers={200: None}, path=_USER, failure=_FAILURE, writes=True
    ),
)
async def delete_properties(request: Request) -> Response:
    """Erase all global entries of a user."""
    await entries.delete_properties(guard_of(request), request.path_params["userId"])
    return Response(status_code=200)


def _fault(given: Any) -> str:
    """Return the fault of an entry in EDDI's words and order; empty if there is none."""
    if not isinstance(given, dict):
        return "Request body is required"
    user, key = given.get("userId"), given.get("key")
    if not isinstance(user, str) or not user.strip():
        return "userId is required"
    if not isinstance(key, str) or not key.strip():
        return "key is required"
    if len(key) > entries.KEY_LENGTH:
        return f"key must not exceed {entries.KEY_LENGTH} characters"
    return ""
