"""Bodies, errors and documentation of the routes of other products."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic_core import from_json, to_json

from memoranda.access.guard import Guard
from memoranda.errors import MemorandaError
from memoranda.wire.problems import PROBLEM

Schema: TypeAlias = dict[str, Any]
#: Returns a product's answer to an error; None: that of the service.
AnswerError: TypeAlias = Callable[[MemorandaError], Response | None]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
#: Answers that the service itself gives on every route.
_ALWAYS = (400, 401, 403, 404, 408, 413, 421, 429, 500, 503)
#: Answers that only what writes may get.
_OF_WRITES = (409, 410, 422, 507)


class Unreadable(ValueError):
    """A body that is no JSON."""


def guard_of(request: Request) -> Guard:
    """Return the book as the principal of this request may use it."""
    guard: Guard = request.state.guard
    return guard


async def json_body(request: Request) -> Any:
    """Return the body's JSON value, None for an empty body; raise ``Unreadable`` if it is no
    JSON.
    """
    body = await request.body()
    if not body:
        return None
    try:
        return from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as exc:
        raise Unreadable("the body is no JSON") from exc


def json_answer(value: Any, status: int = 200) -> Response:
    """Return an answer with a JSON value."""
    return Response(to_json(value), status_code=status, media_type="application/json")


def route_class(answer_error: AnswerError) -> type[APIRoute]:
    """Return the class of routes that answer the library's errors in a product's form."""

    class ProductRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def handled(request: Request) -> Response:
                try:
                    return await handler(request)
                except MemorandaError as exc:
                    answer = answer_error(exc)
                    if answer is None:
                        raise
                    return answer

            return handled

    return ProductRoute


def described(
    operation: str,
    *,
    answers: Mapping[int, Schema | None],
    path: Sequence[str] = (),
    query: Mapping[str, Schema] | None = None,
    body: Schema | None = None,
    failure: Schema | None = None,
    writes: bool = False,
) -> dict[str, Any]:
    """Return a route's arguments for FastAPI: its name, and what the OpenAPI document says of it.

    ``failure`` is the product's own form of an error; the service's own refusals have theirs, on
    every route.
    """
    parameters = [_parameter(name, "path", {**TEXT, "minLength": 1}) for name in path]
    parameters += [_parameter(name, "query", schema) for name, schema in (query or {}).items()]
    problems = {status: _refusal(failure) for status in (*_ALWAYS, *(_OF_WRITES if writes else ()))}
    told = {**problems, **{status: _answer(schema) for status, schema in answers.items()}}
    more: dict[str, Any] = {"responses": {str(status): one for status, one in sorted(told.items())}}
    if parameters:
        more["parameters"] = parameters
    if body is not None:
        more["requestBody"] = {"content": {"application/json": {"schema": body}}, "required": True}
    status = min(answers)
    return {
        "operation_id": operation,
        "status_code": status,
        "response_model": None,
        "response_class": Response,
        "openapi_extra": more,
    }


def object_of(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of an object."""
    made: Schema = {"type": "object", "properties": dict(properties)}
    return {**made, "required": list(required)} if required else made


def _parameter(name: str, place: str, schema: Schema) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _answer(schema: Schema | None) -> dict[str, Any]:
    if schema is None:
        return {"description": "Done"}
    return {"description": "Done", "content": {"application/json": {"schema": schema}}}


def _refusal(failure: Schema | None) -> dict[str, Any]:
    own = {} if failure is None else {"application/json": {"schema": failure}}
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": "Refused", "content": {**own, PROBLEM: problem}}
