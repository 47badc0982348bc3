"""Requests of the API under ``/v1``: each means one verb; it is parsed, asked of the guard, and
answered as JSON.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from pydantic_core import from_json, to_json

from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.access.sealing import sealed, unsealed
from memoranda.book.input import as_id
from memoranda.errors import InvalidInput, MemorandaError, NotAllowed, Stale
from memoranda.model.query import Hits
from memoranda.model.records import Owner, OwnerKind, Record
from memoranda.operations import Operation
from memoranda.service.answers import Refused, error_document, problem_answer
from memoranda.wire.problems import ABSENT, TITLES, problem_of
from memoranda.wire.results import compact_hits, gives_hits
from memoranda.wire.results import from_json as result_from_json
from memoranda.wire.results import to_json as result_to_json
from memoranda.wire.routes import match
from memoranda.wire.verb_shapes import Shape, shape_of

#: Arguments that are what another verb returned: what was shown before it is done.
_SHOWN = {"plan": ("forgetting.find_traces", "forget"), "since": ("forgetting.hide",)}
#: Verbs that give somebody a secret. Until a book has a key, whoever reached the service could lock
#: everybody else out.
_MAKE_KEYS = frozenset({"keys.create", "keys.put", "keys.rotate"})
#: Query parameters of requests whose arguments stand in the body.
_BESIDE = frozenset({"owner_kind", "each"})
#: A version in If-Match; a proxy that compresses answers marks tags as weak, and versions are exact
#: all the same.
_VERSION = re.compile(r'(?:W/)?"([0-9]{1,15})"|([0-9]{1,15})')
#: Arguments of a request for one turn that belong to the context, not to what is appended.
TURN_CONTEXT = frozenset(
    {"query", "budget", "limit", "types", "kinds", "time_zone", "mark_used", "vector"}
)


def _is_append(path: bytes) -> bool:
    found = match("POST", path)
    return found is not None and found.verb is not None and found.verb.name == "thread.append"


async def answer(request: Request) -> Response:
    """Answer a request of the API."""
    guard: Guard = request.state.guard
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    raw = raw.partition(b"?")[0]
    turn = raw.endswith(b"/turns") and _is_append(raw[: -len(b"/turns")] + b"/messages")
    found = match(request.method, raw[: -len(b"/turns")] + b"/messages" if turn else raw)
    if turn and request.method != "POST":
        raise Refused(405, "method", "this path takes POST", headers={"Allow": "POST"})
    if found is None:
        raise Refused(
            404, "not_found", "there is nothing at this path; GET /openapi.json lists all paths"
        )
    if found.verb is None:
        allowed = {"Allow": ", ".join(found.methods)}
        raise Refused(405, "method", f"this path takes {allowed['Allow']}", headers=allowed)
    request.state.verb = "thread.turn" if turn else found.verb.name
    _refuse_encoded(request)
    if found.verb.name == "admin.import_":
        for name in request.query_params:
            raise InvalidInput(f"{name}: an import takes no argument; leave it out", field=name)
        await _add_headers(request, shape_of("admin.import_"), {})
        return json_answer(await guard.call("admin.import_", lines=_lines(request)))
    given = await _given(request, found.verb, found.given, turn=turn)
    try:
        return await (_turn(guard, given) if turn else _called(request, guard, found.verb, given))
    except Stale as exc:
        if "if-match" not in request.headers:
            raise
        changed = {"status": 412, "title": TITLES[412]}
        return problem_answer({**problem_of(exc, request.state.request_id), **changed})


async def _called(
    request: Request, guard: Guard, verb: Operation, given: dict[str, Any]
) -> Response:
    if verb.name in _MAKE_KEYS and guard.principal == local_admin(guard.book.tenant):
        raise NotAllowed(
            f"{verb.name}: a request without a credential makes no key; make the first one beside the book: "
            "memoranda keys create NAME --role admin"
        )
    if verb.name == "admin.export":
        lines = guard.stream("admin.export", **given)
        return StreamingResponse(_encoded(lines), media_type="application/x-ndjson")
    if request.query_params.get("each") == "true":
        return await _each(request, guard, verb, given)
    result = await guard.call(verb.name, **given)
    if result is None and request.method == "GET":
        raise Refused(404, ABSENT, "there is nothing here that you may see")
    whole = not isinstance(result, Hits) or request.query_params.get("fields") == "all"
    body = result_to_json(result) if whole else compact_hits(result)
    if isinstance(body, dict) and isinstance(body.get("cursor"), str):
        body["cursor"] = sealed(guard.principal, verb.name, given.get("owner"), body["cursor"])
    headers = {"ETag": f'"{result.version}"'} if isinstance(result, Record) else None
    return json_answer(body, headers)


def json_answer(body: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with JSON; what is no plain JSON value yet is converted first."""
    plain = (
        body
        if isinstance(body, dict | list | str | int | float | bool | None)
        else result_to_json(body)
    )
    return Response(
        to_json(plain, inf_nan_mode="null"),
        media_type="application/json",
        headers=dict(headers or {}),
    )


# ── what was sent ─────────────────────────────────────────────────────────────────────────────────


async def _given(
    request: Request, verb: Operation, in_path: dict[str, str], *, turn: bool
) -> dict[str, Any]:
    shape = shape_of(verb.name)
    query = request.query_params.multi_items()
    kind = request.query_params.get("owner_kind")
    if request.method == "GET":
        given = shape.read_query([one for one in query if one[0] != "owner_kind"], in_path)
    else:
        known = _BESIDE | {"fields"} if gives_hits(verb.name) else _BESIDE
        if "fields" in known and not {value for name, value in query if name == "fields"} <= {
            "all"
        }:
            raise InvalidInput("fields: give all, or leave it out", field="fields")
        if unknown := {name for name, _ in query} - known:
            raise InvalidInput(f"{min(unknown)}: it belongs into the body", field=min(unknown))
        sent = await json_body(request)
        beside = {name: sent.pop(name) for name in TURN_CONTEXT & sent.keys()} if turn else {}
        given = shape.read(sent, in_path)
        if turn:
            given["beside"] = _context_arguments(beside, given)
    if kind is not None and "owner" in given:
        given["owner"] = _owner(request.state.guard, kind, given["owner"])
    if isinstance(given.get("cursor"), str):
        given["cursor"] = unsealed(
            request.state.guard.principal, verb.name, given.get("owner"), given["cursor"]
        )
        if given["cursor"] is None:
            raise InvalidInput(
                "cursor: it was not returned by a page of this request; begin without a cursor",
                field="cursor",
            )
    for name in _SHOWN.keys() & given.keys():
        if isinstance(given[name], dict) and name in shape.annotations:
            given[name] = _shown(name, given[name])
    await _add_headers(request, shape, given)
    return given


def _shown(name: str, value: dict[str, Any]) -> Any:
    for verb in _SHOWN[name]:
        try:
            return result_from_json(verb, value)
        except (ValueError, TypeError, KeyError):
            continue
    raise InvalidInput(f"{name}: pass what {' or '.join(_SHOWN[name])} returned", field=name)


def _refuse_encoded(request: Request) -> None:
    encoding = request.headers.get("content-encoding", "")
    if encoding.strip().lower() not in ("", "identity"):
        raise Refused(
            400,
            "undecodable",
            "Content-Encoding: bodies are read as they are sent; send it uncompressed",
        )


async def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request's body; an empty body is an empty object."""
    body = await request.body()
    if not body:
        return {}
    try:
        sent = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        raise Refused(400, "undecodable", f"the body is not JSON in UTF-8: {exc}") from None
    if not isinstance(sent, dict):
        raise Refused(400, "undecodable", 'the body is no JSON object; send {"argument": value}')
    return sent


def _context_arguments(beside: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    place = {"owner": str(given["owner"])}
    read = shape_of("context").read(beside, place)
    return {name: value for name, value in read.items() if name != "owner"}


def takes_version(shape: Shape) -> bool:
    """Return True if a request has one record whose version If-Match can name."""
    of = shape.annotations.get("expect", "")
    return of.startswith("int") or (bool(of) and shape.verb.of_thread)


async def _add_headers(request: Request, shape: Shape, given: dict[str, Any]) -> None:
    """Add the operation id and the expected version that headers name."""
    key = request.headers.get("idempotency-key")
    if key is not None:
        if not shape.takes_operation or "operation" in shape.verb.in_path:
            raise InvalidInput(
                "Idempotency-Key: this request takes none; leave it out", field="Idempotency-Key"
            )
        given["operation"] = _operation_of(key)
    if request.method != "GET" and "if-none-match" in request.headers:
        raise InvalidInput(
            'If-None-Match: it is not compared; leave it out. For an item that must be new, send If-Match: "0"',
            field="If-None-Match",
        )
    header = request.headers.get("if-match")
    if header is not None:
        version = _version_of(header, shape, given)
        by_id = shape.annotations["expect"].startswith("Mapping")
        given["expect"] = (
            {await _thread_id(request.state.guard, given): version} if by_id else version
        )


def _version_of(header: str, shape: Shape, given: Mapping[str, Any]) -> int:
    """Return the version that If-Match names."""
    if "expect" not in shape.annotations:
        raise InvalidInput(
            "If-Match: this request compares no version; leave it out", field="If-Match"
        )
    if not takes_version(shape) or given.get("expect") is not None:
        raise InvalidInput(
            "If-Match: leave it out, and name the versions in expect", field="If-Match"
        )
    found = _VERSION.fullmatch(header.strip())
    if found is None:
        raise InvalidInput(
            'If-Match: give the version that was read, such as "3"', field="If-Match"
        )
    return int(found[1] or found[2])


async def _thread_id(guard: Guard, given: Mapping[str, Any]) -> UUID:
    """Return the id of the thread that a path names by its id or its name."""
    try:
        return as_id(given["thread"])
    except InvalidInput:
        reader = {name: given[name] for name in ("agent", "groups", "as_owner") if name in given}
        thread = await guard.call(
            "thread.get", owner=given["owner"], thread=given["thread"], **reader
        )
        return UUID(str(thread.id))


def _operation_of(header: str) -> str:
    """Return the operation id that a header names in UTF-8; the framework has read its bytes as
    Latin-1.
    """
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise InvalidInput("Idempotency-Key: it is not UTF-8", field="Idempotency-Key") from None


def _owner(guard: Guard, kind: str, name: Any) -> Owner:
    try:
        return Owner(tenant=guard.book.tenant, kind=OwnerKind(kind), id=name)
    except ValueError:
        raise InvalidInput(
            f"owner_kind: {kind!r} is none; use user, agent, group or tenant", field="owner_kind"
        ) from None


# ── several at once ───────────────────────────────────────────────────────────────────────────────


async def _turn(guard: Guard, given: dict[str, Any]) -> Response:
    """Append a turn and return the context for the next answer."""
    asked = given.pop("beside")
    receipt = await guard.call("thread.append", **given)
    reader = {name: given[name] for name in ("agent", "groups", "as_owner") if name in given}
    made = await guard.call(
        "context", owner=given["owner"], thread=given["thread"], **reader, **asked
    )
    return json_answer({"receipt": result_to_json(receipt), "context": result_to_json(made)})


async def _each(request: Request, guard: Guard, verb: Operation, given: dict[str, Any]) -> Response:
    """Do every item of a batch as its own operation, and return the outcome of each."""
    if not verb.batch:
        raise InvalidInput(f"each: {verb.name} takes no batch; leave it out", field="each")
    key = given.pop("operation", None)
    items = [(word, item) for word in verb.batch for item in given.pop(word, ()) or ()]
    if isinstance(next(iter(items), ("", ""))[1], str):
        raise InvalidInput("each: give a list of messages", field="each")
    outcomes = []
    for number, (word, item) in enumerate(items):
        operation = {} if key is None else {"operation": f"{key}:{number}"}
        try:
            done = await guard.call(verb.name, **given, **operation, **{word: [item]})
            outcomes.append({"status": 200, "result": result_to_json(done)})
        except MemorandaError as exc:
            outcomes.append(error_document(exc, request.state.request_id))
    return json_answer({"outcomes": outcomes})


async def _encoded(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for line in lines:
        yield line.rstrip("\n").encode() + b"\n"


async def _lines(request: Request) -> AsyncIterator[str]:
    """Yield the lines of a body as they arrive."""
    rest = b""
    async for piece in request.stream():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield _decoded(line)
    if rest:
        yield _decoded(rest)


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Refused(400, "undecodable", "a line of the export is not UTF-8") from None
