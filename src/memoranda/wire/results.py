"""Results: what a verb returns as JSON, and back again; the annotations of the verbs say of which
type it is.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from inspect import unwrap
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel

from memoranda.book import ThreadHandle
from memoranda.book.admin.transfer import ImportReport
from memoranda.book.all_operations import OPERATIONS
from memoranda.formation.schemas.definitions import DocumentReport
from memoranda.model.forming_results import LeftOutPart
from memoranda.model.items import Item
from memoranda.model.ledger import Ignored
from memoranda.model.query import BookFacts, Filter, Hit, Hits, MissingHit
from memoranda.model.records import Owner, Record, View
from memoranda.model.redactions import Telling
from memoranda.operations import first_paragraph
from memoranda.storage.rows import CLASS_OF
from memoranda.text.excerpts import find_excerpt
from memoranda.text.origins import said_at, said_by
from memoranda.wire.scalar_forms import (
    COMPONENTS,
    SCALARS,
    Form,
    Json,
    Malformed,
    simple_schema,
    wrong,
)


def form_of(annotation: Any) -> Form:
    """Return the form of an annotation; raise TypeError for a type that no verb returns."""
    try:
        return _form(annotation)
    except TypeError as exc:
        raise TypeError(f"{annotation} has no form on the wire: {exc}") from exc


@cache
def _form(annotation: Any) -> Form:
    origin, given = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _form(given[0])
    if origin in (Union, types.UnionType):
        return _union(given)
    if origin is Literal:
        return _literals(given)
    if origin is tuple and not (len(given) == 2 and given[1] is ...):
        return _fixed(given)
    if origin in (tuple, list, Sequence):
        return _several(_form(given[0]), tuple if origin is tuple else list)
    if origin in (dict, Mapping, Counter):
        key, value = given if len(given) == 2 else (given[0], int)
        return _by_key(_form(key), _form(value), Counter if origin is Counter else dict)
    if annotation in SCALARS:
        return SCALARS[annotation]
    if isinstance(annotation, type):
        return _of_class(annotation)
    raise TypeError("it is none of the types that cross")


def _literals(words: Sequence[Any]) -> Form:
    known = frozenset(words)

    def read(given: Any) -> Any:
        if isinstance(given, str) and given in known:
            return given
        raise Malformed("", f"must be one of {', '.join(map(str, words))}")

    return Form(None, read, simple_schema("string", enum=list(words)))


def _enumeration(kind: type[Enum]) -> Form:
    values = [one.value for one in kind]
    by_value = {one.value: one for one in kind}

    def read(given: Any) -> Any:
        found = by_value.get(given) if isinstance(given, str) else None
        if found is None:
            raise Malformed("", f"must be one of {', '.join(values)}")
        return found

    def schema(known: dict[str, Json]) -> Json:
        return _named(known, kind, lambda: {"type": "string", "enum": values})

    return Form(lambda value: value.value, read, schema)


# ── what holds other values ───────────────────────────────────────────────────────────────────────


def _union(of: Sequence[Any]) -> Form:
    others = [one for one in of if one is not type(None)]
    if len(others) > 1:
        if all(get_origin(one) is Literal for one in others):
            inner = _literals([word for one in others for word in get_args(one)])
        else:
            raise TypeError("several types without a tag cannot be told apart")
    else:
        inner = _form(others[0])
    if len(others) == len(of):
        return inner
    write, read = inner.write, inner.read
    return Form(
        None if write is None else lambda value: None if value is None else write(value),
        lambda given: None if given is None else read(given),
        lambda known: {"anyOf": [inner.schema(known), {"type": "null"}]},
    )


def _several(inner: Form, make: type[list[Any]] | type[tuple[Any, ...]]) -> Form:
    write, read_one = inner.write, inner.read

    def read(given: Any) -> Any:
        if type(given) is not list:
            raise wrong("a list", given)
        return make(_each(read_one, given))

    return Form(
        list if write is None else lambda values: [write(one) for one in values],
        read,
        lambda known: {"type": "array", "items": inner.schema(known)},
    )


def _each(read: Callable[[Any], Any], given: list[Any]) -> list[Any]:
    found: list[Any] = []
    try:
        for one in given:
            found.append(read(one))
    except Malformed as exc:
        raise exc.under(f"[{len(found)}]") from None
    return found


def _fixed(of: Sequence[Any]) -> Form:
    forms = [_form(one) for one in of]

    def read(given: Any) -> Any:
        if type(given) is not list or len(given) != len(forms):
            raise Malformed("", f"must be a list of {len(forms)}")
        return tuple(form.read(one) for form, one in zip(forms, given, strict=True))

    def schema(known: dict[str, Json]) -> Json:
        parts = [form.schema(known) for form in forms]
        return {
            "type": "array",
            "items": {"anyOf": parts},
            "minItems": len(forms),
            "maxItems": len(forms),
        }

    return Form(
        lambda values: [_written(form, one) for form, one in zip(forms, values, strict=True)],
        read,
        schema,
    )


def _by_key(key: Form, value: Form, make: type[dict[Any, Any]]) -> Form:
    def read(given: Any) -> Any:
        if type(given) is not dict:
            raise wrong("an object", given)
        found = make()
        for name, one in given.items():
            try:
                found[key.read(name)] = value.read(one)
            except Malformed as exc:
                raise exc.under(str(name)) from None
        return found

    return Form(
        lambda values: {_written(key, name): _written(value, one) for name, one in values.items()},
        read,
        lambda known: {"type": "object", "additionalProperties": value.schema(known)},
    )


def _written(form: Form, value: Any) -> Any:
    return value if form.write is None else form.write(value)


# ── classes ───────────────────────────────────────────────────────────────────────────────────────

#: Forms that a module of values with their own rules adds for a class, or for a field of one.
CLASSES: dict[type, Form] = {}
FIELDS: dict[tuple[type, str], Form] = {}
#: What a class tells besides its fields, for readers in other languages; it is not read back.
TOLD: dict[type, tuple[str, ...]] = {}


def _of_class(kind: type) -> Form:
    if kind in CLASSES:
        return CLASSES[kind]
    if kind is Record:
        return Form(_write_record, _read_record, _record_schema)
    if issubclass(kind, Enum):
        return _enumeration(kind)
    if not (is_dataclass(kind) or issubclass(kind, BaseModel) or hasattr(kind, "_fields")):
        raise TypeError(f"{kind.__name__} has no fields")
    fielded = _Fielded(kind)
    return Form(fielded.write, fielded.read, fielded.schema)


def _named(known: dict[str, Json], kind: type, make: Callable[[], Json]) -> Json:
    """Return a reference to the schema of a class; make the schema at its first use."""
    name = kind.__name__
    if name not in known:
        known[name] = {}  # for a class that holds itself
        known[name] = {"title": name, "description": first_paragraph(kind), **make()}
    return {"$ref": COMPONENTS + name}


class _Fielded:
    """The form of a class with fields: a dataclass, a model, or a named tuple; read from its
    annotations at its first use.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._tag: Json = {"type": kind.type.value} if issubclass(kind, Record) else {}
        self._forms: dict[str, Form] = {}

    def _ready(self) -> dict[str, Form]:
        if not self._forms:
            self._forms = {
                name: FIELDS.get((self._kind, name)) or form_of(of)
                for name, of in _annotations(self._kind).items()
            }
            self._writers = [(name, form.write) for name, form in self._forms.items()]
            self._readers = [(name, form.read) for name, form in self._forms.items()]
            self._build = _builder(self._kind)
        return self._forms

    def write(self, value: Any) -> Json:
        if not self._forms:
            self._ready()
        written: Json = dict(self._tag)
        for name, write in self._writers:
            one = getattr(value, name)
            written[name] = one if write is None or one is None else write(one)
        for name in TOLD.get(self._kind, ()):
            written[name] = to_json(getattr(value, name))
        return written

    def read(self, given: Any) -> Any:
        if type(given) is not dict:
            raise wrong("an object", given)
        if not self._forms:
            self._ready()
        values: Json = {}
        name = ""
        try:
            for name, read in self._readers:
                if name in given:
                    values[name] = read(given[name])
        except Malformed as exc:
            raise exc.under(name) from None
        return self._build(values)

    def schema(self, known: dict[str, Json]) -> Json:
        def make() -> Json:
            properties = {name: {"type": "string", "const": tag} for name, tag in self._tag.items()}
            properties |= {name: form.schema(known) for name, form in self._ready().items()}
            properties |= {
                name: _told(self._kind, name).schema(known) for name in TOLD.get(self._kind, ())
            }
            return {"type": "object", "properties": properties, "required": list(properties)}

        return _named(known, self._kind, make)


def _told(kind: type, name: str) -> Form:
    """Return the form of a property that a class tells."""
    return form_of(get_type_hints(getattr(kind, name).fget)["return"])


def _annotations(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    if issubclass(kind, BaseModel):
        return {name: hints[name] for name in kind.model_fields}
    if is_dataclass(kind):
        return {
            one.name: hints[one.name] for one in fields(kind) if not one.metadata.get("internal")
        }
    return {name: hints[name] for name in cast(Any, kind)._fields}


def _builder(kind: type) -> Callable[[Json], Any]:
    """Return the function that makes a value of read fields; a field that did not cross gets its
    default.
    """
    needed = _needed(kind)
    make: Callable[..., Any] = _unchecked(kind) if issubclass(kind, BaseModel) else kind

    def build(values: Json) -> Any:
        if not needed <= values.keys():
            raise Malformed("", f"lacks {min(needed - values.keys())}")
        return make(**values)

    return build


def _unchecked(kind: type[BaseModel]) -> Callable[..., Any]:
    """Return the function that makes a model of its fields without its rules: of a masked record,
    not all of them hold.
    """
    count = len(kind.model_fields)

    def make(**values: Any) -> BaseModel:
        if len(values) < count:
            return kind.model_construct(**values)
        made = kind.__new__(kind)
        object.__setattr__(made, "__dict__", values)
        object.__setattr__(made, "__pydantic_fields_set__", set(values))
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made

    return make


def _needed(kind: type) -> frozenset[str]:
    if issubclass(kind, BaseModel):
        return frozenset(name for name, field in kind.model_fields.items() if field.is_required())
    if is_dataclass(kind):
        unset = (
            one for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING
        )
        return frozenset(one.name for one in unset)
    return frozenset(cast(Any, kind)._fields) - frozenset(cast(Any, kind)._field_defaults)


def _write_record(record: Record) -> Json:
    written: Json = _written(_form(type(record)), record)
    return written


def _read_record(given: Any) -> Any:
    tag = given.get("type") if isinstance(given, dict) else None
    kind = CLASS_OF.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise Malformed("type", f"must be one of {', '.join(CLASS_OF)}")
    return _form(kind).read(given)


def _record_schema(known: dict[str, Json]) -> Json:
    def make() -> Json:
        kinds = {tag: _form(kind).schema(known) for tag, kind in CLASS_OF.items()}
        mapping = {tag: ref["$ref"] for tag, ref in kinds.items()}
        return {
            "oneOf": [*kinds.values()],
            "discriminator": {"propertyName": "type", "mapping": mapping},
        }

    return _named(known, Record, make)


def to_json(value: Any) -> Any:
    """Return what a verb returned as plain JSON values, by its own type, whatever was announced;
    classes as their forms have it.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if type(value) is dict or (isinstance(value, Mapping) and not isinstance(value, BaseModel)):
        return {
            name if type(name) is str else to_json(name): to_json(one)
            for name, one in value.items()
        }
    if type(value) in (list, tuple):
        return [to_json(one) for one in value]
    return _written(form_of(type(value)), value)


#: What annotations name that their modules import for type checkers alone.
_NAMES: Final[dict[str, dict[str, Any]]] = {
    "profiles": {"DocumentReport": DocumentReport},
}


@dataclass(frozen=True, slots=True)
class ThreadAddress:
    """A thread, and the view that opened it."""

    thread: UUID
    owner: Owner
    view: View


def from_json(verb: str, data: Any) -> Any:
    """Return the value that a verb of this name returned; raise ``InvalidInput`` if the JSON is not
    of its type.

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
    """Return the JSON Schema of what a verb returns, with the schemas that it refers to under
    ``$defs``.
    """
    known: dict[str, Json] = {}
    schema = result_form(verb).schema(known)
    moved: Json = _moved({**schema, "$defs": known})
    return moved


def schemas(verbs: Iterable[str] = tuple(OPERATIONS)) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the schemas of all classes that verbs return, by name, and the schema of each verb's
    result.
    """
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


# ── values with rules of their own ────────────────────────────────────────────────────────────────

_HITS, _MISSING = form_of(list[Hit]), form_of(tuple[MissingHit, ...])
_ADDRESS = form_of(ThreadAddress)


def _write_hits(hits: Hits) -> Json:
    assert _HITS.write is not None
    return _with_hits(hits, _HITS.write(hits))


def _with_hits(hits: Hits, written: list[Json]) -> Json:
    return {
        "hits": written,
        "no_vectors_because": hits.no_vectors_because,
        "missing": to_json(hits.missing),
        "reads": hits.reads,
    }


def compact_hits(hits: Hits) -> Json:
    """Return hits as most programs need them: what was said, by whom and when, and how sure recall
    is of it.
    """
    return _with_hits(hits, [_compact(hit) for hit in hits])


def _compact(hit: Hit) -> Json:
    record = hit.record
    made = {
        "id": str(record.id),
        "type": record.type.value,
        "text": hit.text,
        "who": ", ".join(said_by(record)),
        "when": to_json(said_at(record)),
        "trust": getattr(record, "trust", None),
        "score": hit.score,
        "confidence": hit.confidence,
        "past": hit.past,
    }
    if isinstance(record, Item):
        made |= {
            "namespace": list(record.namespace),
            "name": record.name,
            "value": to_json(record.value),
        }
    return made


def compact_hits_schema(known: dict[str, Json]) -> Json:
    """Return the schema of compact hits, and add it to the known ones."""
    if "CompactHits" not in known:
        text, number = {"type": "string"}, {"type": "number"}
        parts = {
            "id": {"type": "string", "format": "uuid"},
            "type": text,
            "text": text,
            "who": {
                **text,
                "description": "The role and speaker of a message; else the agent that wrote it.",
            },
            "when": {"type": "string", "format": "date-time"},
            "trust": {"type": ["string", "null"]},
            "score": number,
            "confidence": {"type": ["number", "null"]},
            "past": {
                "type": "boolean",
                "description": "True for a memory past its time, such as an old appointment.",
            },
        }
        of_items = {"namespace": {"type": "array", "items": text}, "name": text, "value": {}}
        hit = {"type": "object", "properties": {**parts, **of_items}, "required": [*parts]}
        whole = known[_hits_schema(known)["$ref"].rpartition("/")[2]]
        known["CompactHits"] = {
            **whole,
            "title": "CompactHits",
            "properties": {**whole["properties"], "hits": {"type": "array", "items": hit}},
        }
    return {"$ref": COMPONENTS + "CompactHits"}


def gives_hits(verb: str) -> bool:
    """True if a verb returns hits, which requests get compact unless they ask for all fields."""
    return result_form(verb) is CLASSES[Hits]


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
    return {"thread": str(thread.id), "owner": to_json(thread.owner), "view": to_json(thread._view)}


CLASSES |= {
    Hits: Form(_write_hits, _read_hits, _hits_schema),
    ThreadHandle: Form(_write_thread, _ADDRESS.read, _ADDRESS.schema),
}


def _objects(first: str, second: str, annotation: Any, kinds: tuple[str, str]) -> Form:
    """Return the form of pairs as objects with two names, which other languages can say better than
    pairs.
    """
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
    (Hit, "conditions"): Form(to_json, _read_conditions, _any_object),
    (ImportReport, "errors"): _objects(
        "line", "reason", list[tuple[int, str]], ("integer", "string")
    ),
    (BookFacts, "details"): Form(to_json, dict, _any_object),
}
TOLD |= {
    Hit: ("text", "excerpt", "disputed"),
    Ignored: ("reason",),
    LeftOutPart: ("reason",),
    Telling: ("name",),
}
