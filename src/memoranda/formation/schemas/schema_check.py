"""Checks a JSON Schema before it is stored: finds everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from memoranda.formation.schemas.bound_fields import KEYWORD, keys_of
from memoranda.formation.schemas.formats import CHECKED_FORMATS, UNCHECKED_FORMATS
from memoranda.formation.schemas.json_values import (
    TYPE_NAMES,
    Copier,
    InvalidJson,
    pointer_to,
    printable,
    tokens_of,
)
from memoranda.formation.schemas.patterns import pattern_fault
from memoranda.formation.schemas.validation import (
    CHECKED_KEYWORDS,
    Fault,
    Shape,
    document_faults,
)
from memoranda.model.values import NAME_LENGTH

#: The approximate size limit of a schema in bytes; it is part of every prompt that uses it.
SCHEMA_BYTES = 65_536
#: The most fields in one schema.
PROPERTIES = 256
#: The longest chain of alternatives and references before a field is reached.
CHAIN = 8
#: The most patterns in one schema.
PATTERNS = 16
#: The most faults that are reported for one schema.
FAULTS = 20

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Keywords for readers and models only; their values are not checked. Those that begin with x- are,
#: too.
ANNOTATIONS = frozenset(
    "$comment $id $schema contentEncoding contentMediaType default deprecated description "
    "discriminator example examples readOnly title writeOnly".split()
)
_ONE = ("items", "additionalProperties", "propertyNames", "contentSchema")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_IN_PLACE = ("anyOf", "oneOf", "allOf")
_TYPE = {"enum": [*TYPE_NAMES]}
_LIST = {"type": "array", "minItems": 1}
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
#: Of each keyword, the schema of its value, and what is said of one that does not fit.
_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "type": (
        {"anyOf": [_TYPE, {**_LIST, "items": _TYPE}]},
        f"is not one of {', '.join(TYPE_NAMES)}, nor a list of them",
    ),
    "enum": (_LIST, "is not a list of values"),
    "required": (
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "is not a list of distinct names",
    ),
    "uniqueItems": ({"type": "boolean"}, "is neither true nor false"),
    "format": (
        {"enum": [*CHECKED_FORMATS, *UNCHECKED_FORMATS]},
        "is not a known format; docs/reference/schema-keywords.md lists them",
    ),
    "$schema": ({"const": DIALECT}, f"is not {DIALECT}"),
    **dict.fromkeys(_LISTS, (_LIST, "is not a list of schemas")),
    **dict.fromkeys(_NAMED, ({"type": "object"}, "is not an object of schemas by name")),
    **dict.fromkeys(
        _COUNTS,
        ({"type": "integer", "minimum": 0}, "is not a count: give a whole number from 0"),
    ),
    **dict.fromkeys(_LIMITS, ({"type": "number"}, "is not a valid limit: give a number")),
    "multipleOf": (
        {"type": "number", "exclusiveMinimum": 0},
        "is not a valid limit: give a number above 0",
    ),
}
#: All keywords that a schema may use.
KNOWN = CHECKED_KEYWORDS | ANNOTATIONS | {*_ONE, *_LISTS, *_NAMED, KEYWORD}

Place = tuple[str, ...]


def schema_faults(parameters: Any) -> tuple[Fault, ...]:
    """Return what is wrong with a schema; empty if it can be used."""
    try:
        copy = Copier(SCHEMA_BYTES).copy(parameters)
    except InvalidJson as exc:
        return (Fault("", str(exc)),)
    if not isinstance(copy, dict):
        return (Fault("", "is not a JSON object"),)
    reader = _SchemaReader()
    found = [*reader.read(copy, ())]
    for later in (reader.reference_faults, reader.root_faults, reader.name_faults):
        found = found or [*later()]
    found = found or [*_key_faults(copy)]
    return tuple(found[:FAULTS])


class _SchemaReader:
    def __init__(self) -> None:
        self.places: dict[Place, Any] = {}
        self.properties = 0
        self.patterns = 0

    def read(self, schema: Any, at: Place) -> Iterator[Fault]:
        """Yield the faults of a schema and of all schemas inside it."""
        self.places[at] = schema
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            yield Fault(pointer_to(at), "is not a schema: give an object, true or false")
            return
        for keyword, given in schema.items():
            reason = self._reason(keyword, given, at)
            if reason is not None:
                yield Fault(pointer_to((*at, keyword)), reason)
            else:
                for place, inner in _subschemas(keyword, given):
                    yield from self.read(inner, (*at, *place))
        if "contentSchema" in schema and (
            schema.get("contentMediaType") != "application/json" or "contentEncoding" in schema
        ):
            reason = (
                "is checked only beside contentMediaType application/json, without contentEncoding"
            )
            yield Fault(pointer_to((*at, "contentSchema")), reason)

    def _reason(self, keyword: str, given: Any, at: Place) -> str | None:
        custom = keyword.startswith("x-") and not keyword.startswith("x-memoranda-")
        if keyword not in KNOWN and not custom:
            return "is not a supported keyword; docs/reference/schema-keywords.md lists them"
        if keyword == KEYWORD:
            return _fault_of_key(given, at)
        if keyword == "$id" and at:
            return "is allowed at the root only; references are local"
        if keyword == "$ref":
            return _fault_of_reference(given)
        fits, reason = _VALUES.get(keyword, ({}, ""))
        return reason if document_faults(fits, given) else self._count_reason(keyword, given)

    def _count_reason(self, keyword: str, given: Any) -> str | None:
        faults: Iterator[str | None] = iter(())
        if keyword in ("pattern", "patternProperties"):
            patterns = [*given] if isinstance(given, dict) else [given]
            self.patterns += len(patterns)
            if self.patterns > PATTERNS:
                return f"is one pattern too many; at most {PATTERNS}"
            faults = map(pattern_fault, patterns)
        elif keyword in _NAMED:
            self.properties += len(given) if keyword == "properties" else 0
            if self.properties > PROPERTIES:
                return f"brings the fields to {self.properties}; at most {PROPERTIES} in all"
            faults = map(_fault_of_name, given)
        return next(filter(None, faults), None)

    def reference_faults(self) -> Iterator[Fault]:
        """Yield references without a target, and references that form a loop before they reach a
        field.
        """
        onward: dict[Place, list[Place]] = {}
        for at, schema in self.places.items():
            if not isinstance(schema, dict):
                continue
            onward[at] = [
                (*at, *place)
                for word in _IN_PLACE
                for place, _ in _subschemas(word, schema.get(word, []))
            ]
            if "$ref" in schema:
                target = tokens_of(schema["$ref"].removeprefix("#"))
                if target not in self.places:
                    yield Fault(
                        pointer_to((*at, "$ref")),
                        f"refers to no schema: {printable(schema['$ref'])}",
                    )
                else:
                    onward[at].append(target)
        yield from _chain_faults(onward)

    def root_faults(self) -> Iterator[Fault]:
        """Yield the faults of the schema as a whole: it must describe an object."""
        if not self._is_object(self.places[()]):
            yield Fault("", 'does not describe an object: add "type": "object" and "properties"')

    def _is_object(self, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return False
        if "$ref" in schema:
            return self._is_object(self.places[tokens_of(schema["$ref"].removeprefix("#"))])
        given = schema.get("anyOf") or schema.get("oneOf") or ()
        return schema.get("type") == "object" or (bool(given) and all(map(self._is_object, given)))

    def name_faults(self) -> Iterator[Fault]:
        """Yield schemas of names that no name can fit, as Pydantic writes them for keys that are
        numbers.
        """
        shape = Shape(self.places[()])
        for at, schema in self.places.items():
            names = schema.get("propertyNames") if isinstance(schema, dict) else None
            if not all("string" in one.get("type", "string") for one in shape.parts(names)):
                reason = "can fit no name, because names are texts; describe texts"
                yield Fault(pointer_to((*at, "propertyNames")), reason)


def _subschemas(keyword: str, given: Any) -> Iterator[tuple[Place, Any]]:
    if keyword in _ONE:
        yield (keyword,), given
    elif keyword in _LISTS:
        yield from (((keyword, str(place)), inner) for place, inner in enumerate(given))
    elif keyword in _NAMED:
        yield from (((keyword, name), inner) for name, inner in given.items())


def _chain_faults(onward: Mapping[Place, list[Place]]) -> Iterator[Fault]:
    """Yield a fault if a chain of references is a loop, or too long."""
    lengths: dict[Place, int] = {}

    def length(at: Place, before: frozenset[Place]) -> int:
        if at in before or len(before) > CHAIN:
            return CHAIN + 1
        if at not in lengths:
            lengths[at] = max(
                (1 + length(inner, before | {at}) for inner in onward.get(at, ())), default=0
            )
        return lengths[at]

    for at in onward:
        if length(at, frozenset()) > CHAIN:
            yield Fault(
                pointer_to(at),
                f"refers to itself, or through more than {CHAIN} references and alternatives, "
                "before it reaches a field",
            )
            return


def _fault_of_key(given: Any, at: Place) -> str | None:
    if len(at) != 2 or at[0] != "properties":
        return "is allowed only in a field of the document itself"
    if given is None:
        return None
    fits = isinstance(given, str) and given == given.strip() and 0 < len(given) <= NAME_LENGTH
    return None if fits and given.isprintable() else "is not a key: give one line of text"


def _key_faults(schema: dict[str, Any]) -> Iterator[Fault]:
    """Yield fields that cannot be bound to their key: lists, and fields that name the key of an
    earlier field.
    """
    taken: dict[str, str] = {}
    for name, key in keys_of(schema).items():
        at = pointer_to(("properties", name, KEYWORD))
        if "array" in Shape(schema).types_at((name,)):
            yield Fault(at, "binds a list; only a field with one value can be bound to a key")
        elif key in taken:
            yield Fault(at, f"is the key of the field {printable(taken[key])!r} already")
        taken.setdefault(key, name)


def _fault_of_reference(given: Any) -> str | None:
    if not isinstance(given, str) or not given.startswith("#"):
        return "refers to something outside the schema; a reference must begin with #"
    if "%" in given and unquote(given) != given:
        return "is percent-encoded; write the characters themselves"
    try:
        tokens_of(given[1:])
    except InvalidJson as exc:
        return str(exc)
    return None


def _fault_of_name(name: str) -> str | None:
    if not name.strip() or len(name) > NAME_LENGTH or not name.isprintable():
        return f"has a name that is not one line of 1 to {NAME_LENGTH} visible characters: {printable(name)!r}"
    return None
