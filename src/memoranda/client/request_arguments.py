"""Requests: the arguments of a verb as its path, its query and its body; what cannot cross is
refused.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final
from uuid import UUID, uuid4

from pydantic import BaseModel

from memoranda.book import ThreadHandle
from memoranda.book.all_operations import OPERATIONS
from memoranda.book.forgetting.hidden_facts import Hidden
from memoranda.book.input import as_names, owner_named
from memoranda.book.nouns.items import ItemPut
from memoranda.client.transport import Asked
from memoranda.errors import InvalidInput
from memoranda.model.ledger import ErasureReceipt, Receipt
from memoranda.model.memories import DaySpan
from memoranda.model.records import Audience, Owner, OwnerKind
from memoranda.model.redactions import Traces
from memoranda.model.values import fields_of_object, json_schema_of
from memoranda.operations import Operation
from memoranda.wire.results import gives_hits, to_json
from memoranda.wire.routes import path_of
from memoranda.wire.verb_shapes import shape_of, wire_name

_DEPTH: Final = 64


@cache
def signature_of(name: str) -> inspect.Signature:
    """Return the signature of a verb; fields it does not know are taken, too, for the service to
    name them.
    """
    function = OPERATIONS[name].function
    found = inspect.signature(function)
    code = inspect.unwrap(function).__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        more = inspect.Parameter("more__", inspect.Parameter.VAR_KEYWORD)
        found = found.replace(parameters=[*found.parameters.values(), more])
    return found


def arguments_of(
    verb: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call by name; a wrong call raises TypeError, as the verb itself
    does.
    """
    function = verb.function
    try:
        bound = signature_of(verb.name).bind(None, *args, **kwargs)
    except TypeError as exc:
        raise TypeError(f"{function.__qualname__}(): {exc}") from None
    given = dict(bound.arguments)
    given.pop(next(iter(given)))  # self
    given |= given.pop("more__", {})
    own = inspect.unwrap(function).__code__.co_varnames
    defaults = signature_of(verb.name).parameters
    # What a verb itself names may be left out where it is the default; a field that is None is a
    # field that was given.
    return {
        name: value
        for name, value in given.items()
        if not (name in own and value is None and defaults[name].default is None)
    }


def request_of(verb: Operation, given: dict[str, Any], tenant: str) -> Asked:
    """Return the request for a verb with these arguments."""
    shape = shape_of(verb.name)
    for name, reason in shape.local.items():
        if given.pop(name, None) is not None:
            raise InvalidInput(
                f"{name}: {reason}; leave it out, or call {verb.name} where the book is", field=name
            )
    operation = None
    if shape.takes_operation and "operation" not in verb.in_path:
        operation = _operation(given.pop("operation", None))
    query: list[tuple[str, str]] = []
    if "owner" in given:
        owner = owner_named(given["owner"], tenant)
        given["owner"] = owner.id
        if owner.kind is not OwnerKind.USER:
            query.append(("owner_kind", owner.kind.value))
    if "groups" in given:
        given["groups"] = as_names(given["groups"] or (), "groups")
    path = path_of(
        verb, {name: _part(name, _path_value(verb, name, given)) for name in verb.in_path}
    )
    sent = {
        wire_name(name): _crossing(value, name)
        for name, value in given.items()
        if name not in verb.in_path
    }
    body = None
    if verb.method == "GET":
        query += [pair for name, value in sent.items() for pair in _in_query(name, value)]
    else:
        body = _json(sent)
        if gives_hits(verb.name):
            query.append(("fields", "all"))
    return Asked(
        verb.method, path, tuple(query), body, operation, verb.reads or operation is not None
    )


def _operation(given: Any) -> str:
    """Return the id under which a write is applied once, however often it is sent."""
    if given is None:
        return uuid4().hex
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput("operation: give a text that is not empty", field="operation")
    if not given.isprintable() or given != given.strip():
        raise InvalidInput(
            "operation: it holds a character that no header takes; use visible text",
            field="operation",
        )
    return given


def _path_value(verb: Operation, name: str, given: Mapping[str, Any]) -> Any:
    if name in given:
        return given[name]
    return signature_of(verb.name).parameters[name].default


def _part(name: str, value: Any) -> str:
    if isinstance(value, ThreadHandle):
        return str(value.id)
    of = (str, UUID, int) if name == "position" else (str, UUID)
    if isinstance(value, bool) or not isinstance(value, of):
        raise InvalidInput(f"{name}: give a text, not {type(value).__name__}", field=name)
    text = str(value)
    if not text or not text.isprintable():
        raise InvalidInput(f"{name}: {text!r} names nothing", field=name)
    return text


def _in_query(name: str, value: Any) -> list[tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, list):
        return [(name, _word(one)) for one in value]
    return [(name, _word(value))]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(sent: Any) -> bytes:
    try:
        return json.dumps(sent, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"an argument cannot be written as JSON: {exc}") from None


def _crossing(value: Any, name: str, depth: int = 0) -> Any:
    """Return an argument as JSON; raise InvalidInput for a value that has no form there."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if depth > _DEPTH:
        raise InvalidInput(f"{name}: is nested deeper than {_DEPTH} levels; flatten it", field=name)
    if (found := _scalar(value)) is not None:
        return found
    if name == "index" and value is False:
        return False
    if isinstance(value, ItemPut):
        put = {field: one for field, one in vars_of(value).items() if one is not None}
        return _crossing({**put, "value": value.value}, name, depth + 1)
    if name in ("names", "deletes") and depth == 1 and isinstance(value, tuple) and len(value) == 2:
        return {"namespace": _crossing(value[0], name, depth + 1), "name": value[1]}
    if isinstance(value, (Receipt, Hidden)) and name == "receipt":
        return value.position if isinstance(value, Receipt) else value.receipt.position
    if isinstance(value, (Traces, ErasureReceipt, Hidden)):
        return to_json(value)
    if isinstance(value, type) and issubclass(value, BaseModel):
        return json_schema_of(value, name)
    if isinstance(value, BaseModel):
        return fields_of_object(value)
    if isinstance(value, Mapping):
        return {
            _key(key, name): _crossing(one, name if depth else str(key), depth + 1)
            for key, one in value.items()
        }
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [_crossing(one, name, depth + 1) for one in value]
    raise InvalidInput(
        f"{name}: {type(value).__name__} cannot cross a network; give JSON values, or do this where the book is",
        field=name,
    )


def vars_of(put: ItemPut) -> dict[str, Any]:
    """Return the fields of an item to store."""
    return {name: getattr(put, name) for name in ("namespace", "name", "index", "ttl", "new")}


def _scalar(value: Any) -> Any:
    """Return a value of a few classes as a text or a number; None for every other."""
    match value:
        case ThreadHandle():
            return str(value.id)
        case Enum():
            return value.value
        case UUID():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case tzinfo():
            return _zone(value)
        case Owner():
            return {"kind": value.kind.value, "id": value.id}
        case Audience():
            return {"kind": value.kind.value, "agent": value.agent, "groups": list(value.groups)}
        case DaySpan():
            return {
                "first": str(value.first),
                "after": str(value.after),
                "granularity": value.granularity.value,
            }
    return str(value) if isinstance(value, str) else None


def _zone(zone: tzinfo) -> str:
    name = getattr(zone, "key", None) or ("UTC" if zone is UTC else None)
    if name is None:
        raise InvalidInput(
            "time_zone: give a zone with a name, such as 'Europe/Paris'", field="time_zone"
        )
    return str(name)


def _key(key: Any, name: str) -> str:
    if isinstance(key, (str, UUID)):
        return str(key)
    raise InvalidInput(
        f"{name}: has a key that is no text; JSON objects have text keys", field=name
    )
