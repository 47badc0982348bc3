"""Results: what a verb returns as JSON, and back again; the annotations of the verbs say of which type it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final, get_args, get_origin, get_type_hints
from uuid import UUID

from memoranda.book import ThreadHandle
from memoranda.book.admin.transfer import ImportReport
from memoranda.book.all_operations import OPERATIONS
from memoranda.formation.schemas.definitions import DocumentReport
from memoranda.model.beside.forming_results import LeftOutPart
from memoranda.model.ledger import Ignored
from memoranda.model.query import BookFacts, Filter, Hit, Hits, MissingHit
from memoranda.model.records import Owner, View
from memoranda.model.redactions import Telling
from memoranda.text.excerpts import find_excerpt
from memoranda.wire.scalar_forms import COMPONENTS, Form, Json, Malformed
from memoranda.wire.value_forms import CLASSES, FIELDS, TOLD, form_of, plain

#: What annotations name that their modules import for type checkers alone.
_NAMES: Final[dict[str, dict[str, Any]]] = {
    "profile": {"DocumentReport": DocumentReport},
}


@dataclass(frozen=True, slots=True)
class ThreadAddress:
    """A thread, and the view that opened it."""

    thread: UUID
    owner: Owner
    view: View


def to_json(value: Any) -> Any:
    """Return what a verb returned as plain JSON values."""
    return plain(value)


def from_json(verb: str, data: Any) -> Any:
    """Return the value that a verb of this name returned; raise ``InvalidInput`` if the JSON is not of its type.

    For ``thread`` it is a ``ThreadAddress``.
    """
    try:
        return result_form(verb).read(data)
    except Malformed as exc:
        raise exc.refusal(verb) from None


@cache
def result_form(verb: str) -> Form:
    """Return the form of what a verb returns."""
    function = unwrap(OPERATIONS[verb].function)
    written = SimpleNamespace(__annotations__={"return": function.__annotations__["return"]})
    named = _NAMES.get(verb.partition(".")[0], {})
    of = get_type_hints(written, function.__globals__, named)["return"]
    # A stream of lines is answered as lines.
    return form_of(get_args(of)[0] if get_origin(of) is AsyncIterator else of)


def schema_of(verb: str) -> Json:
    """Return the JSON Schema of what a verb returns, with the schemas that it refers to under ``$defs``."""
    known: dict[str, Json] = {}
    schema = result_form(verb).schema(known)
    moved: Json = _moved({**schema, "$defs": known})
    return moved


def schemas(verbs: Iterable[str] = tuple(OPERATIONS)) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the schemas of all classes that verbs return, by name, and the schema of each verb's result."""
    known: dict[str, Json] = {}
    results = {verb: result_form(verb).schema(known) for verb in verbs}
    return dict(sorted(known.items())), results


def _moved(schema: Any) -> Any:
    """Return a schema whose references lead into the schema itself."""
    if isinstance(schema, dict):
        return {name: _moved(inner) for name, inner in schema.items()}
    if isinstance(schema, list):
        return [_moved(inner) for inner in schema]
    return schema.replace(COMPONENTS, "#/$defs/") if isinstance(schema, str) else schema


# ── values with rules of their own ───────────────────────────────────────────────────────────────────────────────────

_HITS, _MISSING = form_of(list[Hit]), form_of(tuple[MissingHit, ...])
_ADDRESS = form_of(ThreadAddress)


def _write_hits(hits: Hits) -> Json:
    assert _HITS.write is not None
    return {
        "hits": _HITS.write(hits),
        "no_vectors_because": hits.no_vectors_because,
        "missing": plain(hits.missing),
        "reads": hits.reads,
    }


def _read_hits(given: Any) -> Hits:
    if type(given) is not dict or "hits" not in given:
        raise Malformed("", "must be an object with hits")
    try:
        found = Hits(replace(hit, find_excerpt=find_excerpt) for hit in _HITS.read(given["hits"]))
    except Malformed as exc:
        raise exc.under("hits") from None
    found.no_vectors_because = str(given.get("no_vectors_because", ""))
    found.missing = _MISSING.read(given.get("missing", []))
    found.reads = str(given.get("reads", ""))
    return found


def _hits_schema(known: dict[str, Json]) -> Json:
    if Hits.__name__ not in known:
        parts = {"hits": _HITS.schema(known), "missing": _MISSING.schema(known)}
        parts |= {name: {"type": "string"} for name in ("no_vectors_because", "reads")}
        described = {"title": "Hits", "description": (Hits.__doc__ or "").strip()}
        known["Hits"] = {**described, "type": "object", "properties": parts, "required": [*parts]}
    return {"$ref": COMPONENTS + "Hits"}


def _write_thread(thread: ThreadHandle) -> Json:
    return {"thread": str(thread.id), "owner": plain(thread.owner), "view": plain(thread._view)}


CLASSES |= {
    Hits: Form(_write_hits, _read_hits, _hits_schema),
    ThreadHandle: Form(_write_thread, _ADDRESS.read, _ADDRESS.schema),
}


def _objects(first: str, second: str, annotation: Any, kinds: tuple[str, str]) -> Form:
    """Return the form of pairs as objects with two names, which other languages can say better than pairs."""
    pairs = form_of(annotation)

    def write(values: Sequence[tuple[Any, Any]]) -> list[Json]:
        return [{first: one, second: other} for one, other in values]

    def read(given: Any) -> Any:
        if type(given) is not list or not all(type(one) is dict for one in given):
            raise Malformed("", "must be a list of objects")
        return pairs.read([[one.get(first), one.get(second)] for one in given])

    properties = {first: {"type": kinds[0]}, second: {"type": kinds[1]}}
    item = {"type": "object", "properties": properties, "required": [first, second]}
    return Form(write, read, lambda _: {"type": "array", "items": item})


_FILTERED = get_type_hints(Filter)
#: The conditions of a hit whose values are not JSON already.
_TIMED = {name for name, of in _FILTERED.items() if datetime in get_args(of)}


def _read_conditions(given: Any) -> Json:
    if type(given) is not dict:
        raise Malformed("", "must be an object")
    return {name: _condition(name, value) for name, value in given.items()}


def _condition(name: str, value: Any) -> Any:
    if name in _TIMED:
        return form_of(datetime).read(value)
    if name == "thread":
        return form_of(UUID).read(value)
    return value


def _any_object(_: Mapping[str, Json]) -> Json:
    return {"type": "object", "additionalProperties": True}


_TERMS = _objects("term", "amount", tuple[tuple[str, float], ...], ("string", "number"))
FIELDS |= {
    (Hit, "words"): _objects("word", "share", tuple[tuple[str, float], ...], ("string", "number")),
    (Hit, "terms"): _TERMS,
    (MissingHit, "terms"): _TERMS,
    (Hit, "conditions"): Form(plain, _read_conditions, _any_object),
    (ImportReport, "errors"): _objects("line", "reason", list[tuple[int, str]], ("integer", "string")),
    (BookFacts, "details"): Form(plain, dict, _any_object),
}
TOLD |= {
    Hit: ("text", "excerpt", "disputed"),
    Ignored: ("reason",),
    LeftOutPart: ("reason",),
    Telling: ("name",),
}
