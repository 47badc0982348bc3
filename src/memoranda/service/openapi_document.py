"""The OpenAPI document of the service, written from the declared operations, their arguments and
their results.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from memoranda.book.all_operations import OPERATIONS
from memoranda.operations import Operation
from memoranda.service.v1_requests import TURN_CONTEXT, takes_version
from memoranda.wire.problems import PROBLEM, TITLES
from memoranda.wire.results import compact_hits_schema, gives_hits, schemas
from memoranda.wire.verb_shapes import Shape, shape_of, wire_name

_REF = "#/components/schemas/{model}"
_PROBLEM_REF = {"$ref": "#/components/schemas/Problem"}
#: Statuses that every request may get.
_ALWAYS = (400, 401, 403, 404, 405, 408, 409, 413, 421, 422, 429, 500, 503)
#: Statuses that only requests that change something may get.
_OF_WRITES = (410, 412, 507)
#: With ``each=true``: a result or a problem for every item of a batch.
_OUTCOMES = {
    "type": "object",
    "properties": {"outcomes": {"type": "array", "items": {"type": "object"}}},
    "required": ["outcomes"],
}


@cache
def _own() -> dict[str, Any]:
    """Return the part of the document that the declared operations make."""
    shapes = [shape_of(verb.name) for verb in OPERATIONS.values()]
    bodies = [(shape.model, "validation") for shape in shapes]
    _, defined = models_json_schema(bodies, ref_template=_REF)  # type: ignore[arg-type]
    components, results = schemas()
    definitions: dict[str, Any] = {**components, "Problem": _problem_schema()}
    paths: dict[str, dict[str, Any]] = {}
    models = defined.get("$defs", {})
    for verb in filter(gives_hits, results):
        results[verb] = {"anyOf": [compact_hits_schema(definitions), results[verb]]}
    for shape in shapes:
        model = models.pop(shape.model.__name__)
        paths.setdefault(shape.verb.path, {})[shape.verb.method.lower()] = _operation(
            shape, model, definitions, results[shape.verb.name]
        )
    definitions |= models
    paths["/v1/owners/{owner}/threads/{thread}/turns"] = {
        "post": _turn(paths, definitions, results)
    }
    return {"paths": paths, "schemas": definitions}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of the service with the routes of other products' clients."""
    whole = get_openapi(title=app.title, version=app.version, routes=app.routes)
    own = _own()
    whole["paths"] = {**own["paths"], **whole.get("paths", {})}
    components = whole.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **own["schemas"]}
    components["responses"] = {_response(status): _problem_response(status) for status in TITLES}
    components["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "A key of the book, or a token.",
        },
        "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    }
    whole["security"] = [{"key": []}, {"header": []}]
    return whole


def _operation(
    shape: Shape, model: dict[str, Any], definitions: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    verb = shape.verb
    fields: dict[str, Any] = model.get("properties", {})
    in_path = [
        _parameter(wire_name(name), "path", {"type": "string", "minLength": 1})
        for name in verb.in_path
    ]
    rest = {name: field for name, field in fields.items() if name not in verb.in_path}
    required = [name for name in model.get("required", ()) if name in rest]
    made: dict[str, Any] = {
        "operationId": operation_id(verb),
        "summary": verb.summary.rstrip("."),
        "tags": [verb.name.partition(".")[0] if "." in verb.name else "book"],
        "parameters": [*in_path, *_beside(shape)],
        "responses": _responses(verb, result),
    }
    if verb.method == "GET":
        made["parameters"] += [
            _query(name, field, name in required) for name, field in rest.items()
        ]
    elif verb.name == "admin.import_":
        made["requestBody"] = {
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
            "required": True,
        }
    elif rest:
        name = shape.model.__name__
        definitions[name] = {**model, "properties": rest, "required": required, "title": name}
        if not required:
            del definitions[name]["required"]
        body: dict[str, Any] = {"schema": {"$ref": _REF.format(model=name)}}
        if verb.example is not None:
            body["example"] = verb.example
        made["requestBody"] = {"content": {"application/json": body}, "required": bool(required)}
    return made


def operation_id(verb: Operation) -> str:
    """Return the operation's name, which begins with a verb."""
    part, dot, name = verb.name.partition(".")
    return verb.title or (f"{name}_{part}" if dot else part)


def _beside(shape: Shape) -> list[dict[str, Any]]:
    found = []
    if "owner" in shape.verb.in_path:
        kinds = {"type": "string", "enum": ["user", "agent", "group", "tenant"], "default": "user"}
        found.append(_parameter("owner_kind", "query", kinds))
    if gives_hits(shape.verb.name):
        found.append(_parameter("fields", "query", {"type": "string", "enum": ["all"]}))
    if shape.verb.batch:
        found.append(_parameter("each", "query", {"type": "string", "enum": ["true", "false"]}))
    if shape.takes_operation and "operation" not in shape.verb.in_path:
        found.append(
            _parameter(
                "Idempotency-Key", "header", {"type": "string", "minLength": 1, "maxLength": 200}
            )
        )
    if takes_version(shape):
        found.append(
            _parameter("If-Match", "header", {"type": "string", "pattern": '^"[0-9]{1,9}"$'})
        )
    return found


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _query(name: str, field: dict[str, Any], required: bool) -> dict[str, Any]:
    schema = {key: value for key, value in field.items() if key not in ("title", "default")}
    made = {"name": name, "in": "query", "required": required}
    options = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    if any(one.get("type") == "object" or "$ref" in one for one in options):
        return {**made, "content": {"application/json": {"schema": {"type": "object"}}}}
    lists = [one for one in options if one.get("type") == "array"]
    if lists:
        return {**made, "schema": lists[0], "style": "form", "explode": True}
    return {**made, "schema": options[0] if len(options) == 1 else {"anyOf": options}}


def _responses(verb: Operation, result: dict[str, Any]) -> dict[str, Any]:
    if verb.name == "admin.export":
        content: dict[str, Any] = {"application/x-ndjson": {"schema": {"type": "string"}}}
    else:
        outcomes = [_OUTCOMES] if verb.batch else []
        if verb.method == "GET":
            result = _without_null(result)
        content = {
            "application/json": {"schema": {"anyOf": [result, *outcomes]} if outcomes else result}
        }
    statuses = _ALWAYS if verb.reads else (*_ALWAYS, *_OF_WRITES)
    return {
        "200": {"description": "Done", "content": content},
        **{
            str(status): {"$ref": f"#/components/responses/{_response(status)}"}
            for status in sorted(statuses)
        },
    }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a result's schema for a GET: what is not there is answered with 404."""
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if not options:
        return schema
    return options[0] if len(options) == 1 else {**schema, "anyOf": options}


def _turn(
    paths: dict[str, dict[str, Any]],
    definitions: dict[str, Any],
    results: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the operation of a turn: it takes the arguments of an append and of a context."""
    append = paths["/v1/owners/{owner}/threads/{thread}/messages"]["post"]
    asked = definitions["ContextArguments"]["properties"]
    own = definitions["ThreadAppendArguments"]
    beside = {name: field for name, field in asked.items() if name in TURN_CONTEXT}
    definitions["ThreadTurnArguments"] = {
        **own,
        "title": "ThreadTurnArguments",
        "properties": {**beside, **own["properties"]},
    }
    both = {"receipt": results["thread.append"], "context": results["context"]}
    answer = {"type": "object", "properties": both, "required": list(both)}
    return {
        **append,
        "operationId": "take_turn",
        "summary": "Append a turn to a thread, and return the context for the next answer",
        "parameters": [one for one in append["parameters"] if one["name"] != "each"],
        "requestBody": {
            "content": {
                "application/json": {"schema": {"$ref": _REF.format(model="ThreadTurnArguments")}}
            },
            "required": True,
        },
        "responses": {
            **append["responses"],
            "200": {"description": "Done", "content": {"application/json": {"schema": answer}}},
        },
    }


def _response(status: int) -> str:
    return f"Problem{status}"


def _problem_response(status: int) -> dict[str, Any]:
    headers = {"Retry-After": {"schema": {"type": "string"}}} if status in (429, 503) else {}
    return {
        "description": TITLES[status],
        "content": {PROBLEM: {"schema": _PROBLEM_REF}},
        **({"headers": headers} if headers else {}),
    }


def _problem_schema() -> dict[str, Any]:
    text = {"type": "string"}
    one = {
        "type": "object",
        "properties": {
            "field": {"type": ["string", "null"]},
            "item": {"type": ["integer", "null"]},
            "detail": text,
        },
        "required": ["detail"],
    }
    return {
        "type": "object",
        "description": "An error (RFC 9457): what was wrong, where, and what to do.",
        "properties": {
            "type": text,
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": text,
            "error": text,
            "errors": {"type": "array", "items": one},
            "request_id": text,
        },
        "required": ["type", "title", "status", "detail", "code", "errors", "request_id"],
    }
