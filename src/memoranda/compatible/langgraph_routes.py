"""Routes of LangGraph's store over items, for LangGraph's clients."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from memoranda.access.guard import Guard
from memoranda.book.input import Who
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
from memoranda.model.items import Item
from memoranda.model.query import Hit
from memoranda.model.records import Owner
from memoranda.wire.langgraph_store import (
    Labels,
    NamespaceOwners,
    OwnerOf,
    Place,
    StoreReads,
    owner_at,
    paths_of,
)

_FAILURE: Final = object_of({"detail": TEXT, "error": TEXT})
_MAYBE_TEXTS: Final[Schema] = {"type": ["array", "null"], "items": TEXT}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_ITEM_FIELDS: Final[dict[str, Schema]] = {
    "namespace": TEXTS,
    "key": TEXT,
    "value": {"type": "object"},
    "created_at": TEXT,
    "updated_at": TEXT,
}
_ITEM: Final = object_of(_ITEM_FIELDS, *_ITEM_FIELDS)
_FOUND: Final = object_of(
    {**_ITEM_FIELDS, "score": {"type": ["number", "null"]}}, *_ITEM_FIELDS, "score"
)
_NEW_ITEM: Final = object_of(
    {
        "namespace": {"type": "array", "items": {**TEXT, "minLength": 1}, "minItems": 1},
        "key": {**TEXT, "minLength": 1},
        "value": {"type": "object"},
        "index": {"anyOf": [{"const": False}, TEXTS, {"type": "null"}]},
        "ttl": {"type": ["number", "null"], "exclusiveMinimum": 0},
    },
    "namespace",
    "key",
    "value",
)
_STATUSES: Final[tuple[tuple[type[MemorandaError], int], ...]] = (
    (InvalidInput, 422),
    (NotFound, 404),
    (NotAllowed, 403),
    (Conflict, 409),
    (Erased, 410),
)
_SECONDS_A_MINUTE: Final = 60.0
#: More minutes than the book keeps an item; a whole number in JSON may be too large for a float.
_TOO_LONG: Final = 10**12
#: The most that a page may begin after, or have.
_FARTHEST: Final = 1_000_000


def answer_error(error: MemorandaError) -> Response | None:
    """Return the answer of LangGraph's server to an error; None for one of the storage."""
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return json_answer({"detail": str(error)}, status)
    return None


class _Items:
    """The items of a book as a principal reads them."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def get_many(self, owner: Owner, names: Any, **more: Any) -> Sequence[Item | None]:
        found: Sequence[Item | None] = await self._guard.call(
            "items.get_many", owner=owner, names=names, **more
        )
        return found

    async def search(
        self, owner: Owner, question: str, namespace: Labels, **more: Any
    ) -> Sequence[Hit]:
        found: Sequence[Hit] = await self._guard.call(
            "items.search", owner=owner, query=question, namespace=namespace, **more
        )
        return found

    async def list(self, owner: Owner, namespace: Labels, **more: Any) -> Sequence[Item]:
        found: Sequence[Item] = await self._guard.call(
            "items.list", owner=owner, namespace=namespace, **more
        )
        return found

    async def namespaces(self, owner: Owner, **more: Any) -> Sequence[Labels]:
        found: Sequence[Labels] = await self._guard.call("items.namespaces", owner=owner, **more)
        return found


class _Store:
    """The store of one request: whose it is comes from the credential."""

    def __init__(self, guard: Guard, label: int) -> None:
        principal = guard.principal
        self.guard = guard
        self.owners = NamespaceOwners(
            guard.book.tenant,
            lambda: guard.call("admin.owners"),
            _owner_of(guard, label),
            None,
            # Only what an administrator asks for may span owners.
            principal.is_admin,
        )
        agents = principal.agents
        self.who: Who = (
            {"agent": next(iter(agents))} if agents is not None and len(agents) == 1 else {}
        )
        self.reads = StoreReads(
            _Items(guard), self.owners, self.who, lambda: not guard.book.no_vectors_because
        )


def _owner_of(guard: Guard, label: int) -> OwnerOf:
    principal = guard.principal
    if not principal.is_admin:
        if principal.person is not None:
            person = principal.person
            return lambda _: person
        if principal.owners is not None and len(principal.owners) == 1:
            (only,) = principal.owners
            return lambda _: only
    return owner_at(label)


def store_routes(owner_label: int = 0) -> APIRouter:
    """Return the routes of the store.

    A credential of one user has all its namespaces under that user. Another one's namespaces name
    the user: the label at ``owner_label``.
    """
    router = APIRouter(prefix="/store", tags=["store"], route_class=route_class(answer_error))
    for method, path, handle, told in (
        ("PUT", "/items", _put, _put_told()),
        ("GET", "/items", _get, _get_told()),
        ("DELETE", "/items", _delete, _delete_told()),
        ("POST", "/items/search", _search, _search_told()),
        ("POST", "/namespaces", _namespaces, _namespaces_told()),
    ):
        router.add_api_route(path, _handler(handle, owner_label), methods=[method], **told)
    return router


def _told(operation: str, status: int, answer: Schema | None, **more: Any) -> dict[str, Any]:
    return described(operation, answers={status: answer}, failure=_FAILURE, writes=True, **more)


def _with_refused_label(told: dict[str, Any]) -> dict[str, Any]:
    """Add the text that the real server answers to a label with a period."""
    told["openapi_extra"]["responses"]["422"]["content"]["text/plain"] = {"schema": TEXT}
    return told


def _put_told() -> dict[str, Any]:
    return _with_refused_label(_told("put_store_item", 204, None, body=_NEW_ITEM))


def _get_told() -> dict[str, Any]:
    asked = {"namespace": TEXT, "key": TEXT, "refresh_ttl": {"type": "boolean"}}
    return _told("get_store_item", 200, {"anyOf": [_ITEM, {"type": "null"}]}, query=asked)


def _delete_told() -> dict[str, Any]:
    address = object_of({"namespace": TEXTS, "key": TEXT}, "namespace", "key")
    return _with_refused_label(_told("delete_store_item", 204, None, body=address))


def _search_told() -> dict[str, Any]:
    asked: dict[str, Schema] = {
        "namespace_prefix": TEXTS,
        "filter": {"type": ["object", "null"]},
        "query": {"type": ["string", "null"]},
        "refresh_ttl": {"type": ["boolean", "null"]},
        "limit": {**_COUNT, "minimum": 1},
        "offset": _COUNT,
    }
    found = object_of({"items": {"type": "array", "items": _FOUND}}, "items")
    return _told("search_store_items", 200, found, body=object_of(asked))


def _namespaces_told() -> dict[str, Any]:
    asked: dict[str, Schema] = {
        "prefix": _MAYBE_TEXTS,
        "suffix": _MAYBE_TEXTS,
        "max_depth": {"type": ["integer", "null"], "minimum": 1},
        "limit": {**_COUNT, "minimum": 1},
        "offset": _COUNT,
    }
    listed = object_of({"namespaces": {"type": "array", "items": TEXTS}}, "namespaces")
    return _told("list_store_namespaces", 200, listed, body=object_of(asked))


class _Answered(Exception):
    """An answer that ends a request early."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _handler(handle: Any, label: int) -> Any:
    async def handler(request: Request) -> Response:
        try:
            answer: Response = await handle(request, _Store(guard_of(request), label))
        except _Answered as exc:
            return exc.response
        return answer

    handler.__doc__ = handle.__doc__
    return handler


# ── one route each ────────────────────────────────────────────────────────────────────────────────


async def _put(request: Request, store: _Store) -> Response:
    """Store an item, or replace the one that is there."""
    body = await _body(request)
    place = _address(store, _labels(body, "namespace"))
    value, index, ttl = body.get("value"), body.get("index"), body.get("ttl")
    if not isinstance(value, dict):
        raise InvalidInput("value: give an object", field="value")
    if ttl is not None and (
        isinstance(ttl, bool) or not isinstance(ttl, int | float) or abs(ttl) > _TOO_LONG
    ):
        raise InvalidInput("ttl: give minutes", field="ttl")
    if index is not None and index is not False and not isinstance(index, list):
        raise InvalidInput("index: give a list of paths, or false", field="index")
    await store.guard.call(
        "items.put",
        owner=place.owner,
        namespace=place.inner,
        name=_key(body),
        value=value,
        index=paths_of(index) if isinstance(index, list) else index,
        ttl=None if ttl is None else float(ttl) * _SECONDS_A_MINUTE,
        **store.who,
    )
    return Response(status_code=204)


async def _get(request: Request, store: _Store) -> Response:
    """Get an item; null if there is none."""
    asked = request.query_params
    if asked.get("key") is None:
        raise _Answered(json_answer({"error": "Key is required"}, 400))
    given = asked.get("namespace")
    place = _address(store, tuple(given.split(".")) if given else ())
    renews = asked.get("refresh_ttl", "true").lower() not in ("false", "0")
    try:
        item = await store.guard.call(
            "items.get",
            owner=place.owner,
            namespace=place.inner,
            name=asked["key"],
            renew=renews,
            **store.who,
        )
    except NotFound:
        item = None
    return json_answer(None if item is None else _item(item, place.outside(item.namespace)))


async def _delete(request: Request, store: _Store) -> Response:
    """Delete an item, if it is there."""
    body = await _body(request)
    place, key = _address(store, _labels(body, "namespace")), _key(body)
    # What is not there is deleted already, as the real server sees it.
    with contextlib.suppress(NotFound):
        await store.guard.call(
            "items.delete", owner=place.owner, namespace=place.inner, name=key, **store.who
        )
    return Response(status_code=204)


async def _search(request: Request, store: _Store) -> Response:
    """Search the items below a prefix."""
    body = await _body(request)
    prefix, query, filter = _labels(body, "namespace_prefix"), body.get("query"), body.get("filter")
    if query is not None and not isinstance(query, str):
        raise InvalidInput("query: give a text", field="query")
    if filter is not None and not isinstance(filter, dict):
        raise InvalidInput("filter: give an object", field="filter")
    limit, offset = _number(body, "limit", 10, 1), _number(body, "offset", 0)
    found = []
    with contextlib.suppress(NotFound):
        found = await store.reads.search(
            store.owners.of_prefix(prefix),
            prefix,
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            renews=body.get("refresh_ttl") is not False,
        )
    items = [{**_item(item, namespace), "score": score} for item, score, namespace in found]
    return json_answer({"items": items})


async def _namespaces(request: Request, store: _Store) -> Response:
    """List the namespaces that have items."""
    body = await _body(request)
    prefix, suffix = _labels(body, "prefix"), _labels(body, "suffix")
    depth = None if body.get("max_depth") is None else _number(body, "max_depth", 1, 1)
    limit, offset = _number(body, "limit", 100, 1), _number(body, "offset", 0)
    found: Sequence[Labels] = []
    with contextlib.suppress(NotFound):
        found = await store.reads.namespaces(
            store.owners.of_prefix(prefix, listing=True),
            [prefix] if prefix else [],
            [suffix] if suffix else [],
            max_depth=depth,
            limit=limit,
            offset=offset,
        )
    return json_answer({"namespaces": found})


# ── what a request names ──────────────────────────────────────────────────────────────────────────


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = await json_body(request)
    except Unreadable as exc:
        raise _Answered(json_answer({"detail": str(exc)}, 400)) from exc
    if not isinstance(body, dict):
        raise InvalidInput("body: give an object", field="body")
    return body


def _labels(body: dict[str, Any], field: str) -> Labels:
    given = body.get(field)
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(label, str) for label in given):
        raise InvalidInput(f"{field}: give a list of labels", field=field)
    return tuple(given)


def _address(store: _Store, labels: Labels) -> Place:
    """Return the place of an item; answer with the real server's texts where its namespace cannot
    be.
    """
    if not labels:
        raise _Answered(json_answer({"detail": "Namespace cannot be empty."}, 400))
    for label in labels:
        if "." in label:
            text = f"Namespace labels cannot contain periods. Received label: {label!r}"
            raise _Answered(PlainTextResponse(text.encode(errors="backslashreplace"), 422))
    return store.owners.of_item(labels)


def _key(body: dict[str, Any]) -> str:
    key = body.get("key")
    if not isinstance(key, str) or not key:
        raise InvalidInput("key: give a text", field="key")
    return key


def _number(body: dict[str, Any], field: str, default: int, least: int = 0) -> int:
    given = body.get(field)
    if given is None:
        return default
    if type(given) is not int or not least <= given <= _FARTHEST:
        raise InvalidInput(f"{field}: give a whole number of at least {least}", field=field)
    return given


def _item(item: Item, namespace: Labels) -> dict[str, Any]:
    return {
        "namespace": list(namespace),
        "key": item.name,
        "value": item.value,
        "created_at": item.created_at.isoformat(),
        "updated_at": item.updated_at.isoformat(),
    }
