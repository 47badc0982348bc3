"""Validates documents against a part of JSON Schema 2020-12, with its formats; faults have a place
and a reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any
from uuid import UUID

from memoranda.formation.schemas.json_values import (
    TYPE_NAMES,
    pointer_to,
    printable,
    tokens_of,
    type_of,
)
from memoranda.formation.schemas.patterns import TEXT_LENGTH, matches
from memoranda.model.values import comparable


def _is_date(text: str) -> bool:
    return (
        _parses(date.fromisoformat, text)
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        else False
    )


def _is_moment(text: str) -> bool:
    shape = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
    return _parses(datetime.fromisoformat, text.upper()) if re.fullmatch(shape, text) else False


def _is_uuid(text: str) -> bool:
    return _parses(UUID, text) if re.fullmatch(r"[0-9a-fA-F-]{36}", text) else False


def _parses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


#: Checked formats; a date-time needs its offset.
CHECKED_FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_moment,
    "uuid": _is_uuid,
}
#: Formats that are shown to a model and not checked.
UNCHECKED_FORMATS = frozenset(
    "time duration email idn-email hostname ipv4 ipv6 uri uri-reference iri path file-path directory-path binary base64url "
    "password json-string regex json-pointer".split()
)


#: The most steps of one check: places of the schema times places of the document.
STEPS = 200_000
#: Steps that matching one pattern counts as.
PATTERN_STEPS = 500
#: The deepest nesting of schemas during a check.
NESTING = 150
#: The most faults that are reported for one document.
FAULTS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One violation of a schema: its place, a JSON Pointer into the checked value, and the
    reason.
    """

    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class _WrongType(Fault):
    wanted: str = ""


class _TooMuchWork(Exception):
    pass


def document_faults(
    schema: Mapping[str, Any], document: Any, limit: int = FAULTS
) -> tuple[Fault, ...]:
    """Return the faults of a document; the schema must be valid."""
    check = _Check(schema)
    try:
        return tuple(check.faults(schema, document, ())[:limit])
    except (_TooMuchWork, RecursionError):
        return (Fault("", "takes too many steps to check; simplify the schema or the document"),)


def resolve_reference(root: Mapping[str, Any], reference: str) -> Any:
    """Return the part of a schema that a local reference names."""
    place: Any = root
    for token in tokens_of(reference.removeprefix("#")):
        place = place[int(token)] if isinstance(place, list) else place[token]
    return place


def _wrong_type(value: Any, wanted: str, at: tuple[str, ...]) -> Fault:
    return _WrongType(
        pointer_to(at), f"is {TYPE_NAMES[type_of(value)]}; it should be {wanted}", wanted
    )


def _has_type(value: Any, wanted: Any) -> bool:
    found = type_of(value)
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    return found in names or (found == "integer" and "number" in names)


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.steps = STEPS
        self.nesting = 0

    def work(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _TooMuchWork

    def faults(self, schema: Any, value: Any, at: tuple[str, ...]) -> list[Fault]:
        self.work(1)
        if isinstance(schema, bool):
            return [] if schema else [Fault(pointer_to(at), "is not allowed here")]
        wanted = schema.get("type")
        if wanted is not None and not _has_type(value, wanted):
            names = " or ".join(
                TYPE_NAMES[one] for one in ([wanted] if isinstance(wanted, str) else wanted)
            )
            return [_wrong_type(value, names, at)]
        if self.nesting == NESTING:
            raise _TooMuchWork
        self.nesting += 1
        found: list[Fault] = []
        for keyword, given in schema.items():
            if keyword in _CHECKS:
                found += _CHECKS[keyword](self, given, schema, value, at)
        self.nesting -= 1
        return found


_KeywordCheck = Callable[[_Check, Any, Mapping[str, Any], Any, tuple[str, ...]], Iterable[Fault]]


def _reference(
    check: _Check, given: str, _: Any, value: Any, at: tuple[str, ...]
) -> Iterable[Fault]:
    return check.faults(resolve_reference(check.root, given), value, at)


def _among(
    check: _Check, given: list[Any], _: Any, value: Any, at: tuple[str, ...]
) -> Iterator[Fault]:
    check.work(len(given))
    if comparable(value) not in map(comparable, given):
        allowed = ", ".join(printable(repr(one)) for one in given[:10])
        yield Fault(pointer_to(at), f"is not one of {allowed}{', …' if len(given) > 10 else ''}")


def _exactly(check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]) -> Iterable[Fault]:
    return _among(check, [given], _, value, at)


def _properties(
    check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]
) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name, inner in given.items():
            if name in value:
                yield from check.faults(inner, value[name], (*at, name))


def _required(_: _Check, given: Any, __: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in given:
            if name not in value:
                yield Fault(pointer_to(at), f"has no {printable(name)!r}, which is required")


def _additional(
    check: _Check, given: Any, schema: Mapping[str, Any], value: Any, at: tuple[str, ...]
) -> Iterator[Fault]:
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    for name in [name for name in value if name not in known]:
        if given is False:
            yield Fault(pointer_to((*at, name)), "is not a field of this schema")
        else:
            yield from check.faults(given, value[name], (*at, name))


def _names(check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in value:
            for fault in check.faults(given, name, (*at, name)):
                yield Fault(fault.at, f"has a name that {fault.reason}")


def _items(
    check: _Check, given: Any, schema: Mapping[str, Any], value: Any, at: tuple[str, ...]
) -> Iterator[Fault]:
    if isinstance(value, list):
        for place in range(len(schema.get("prefixItems", ())), len(value)):
            yield from check.faults(given, value[place], (*at, str(place)))


def _first_items(
    check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]
) -> Iterator[Fault]:
    if isinstance(value, list):
        for place, (inner, one) in enumerate(zip(given, value, strict=False)):
            yield from check.faults(inner, one, (*at, str(place)))


def _unique(check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    if given and isinstance(value, list):
        check.work(len(value))
        if len({comparable(one) for one in value}) < len(value):
            yield Fault(pointer_to(at), "has the same entry twice")


def _all(check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    for inner in given:
        yield from check.faults(inner, value, at)


def _any(check: _Check, given: Any, _: Any, value: Any, at: tuple[str, ...]) -> Iterable[Fault]:
    tried = []
    for inner in given:
        found = check.faults(inner, value, at)
        if not found:
            return ()
        tried.append(found)
    here = pointer_to(at)
    mistyped = [
        one for found in tried for one in found if isinstance(one, _WrongType) and one.at == here
    ]
    if len(mistyped) == len(tried):
        return (_wrong_type(value, " or ".join(dict.fromkeys(one.wanted for one in mistyped)), at),)
    # If only one alternative has the right type, report its faults.
    meant = [
        found for found in tried if not (isinstance(found[0], _WrongType) and found[0].at == here)
    ]
    if len(meant) == 1:
        return meant[0]
    return (Fault(here, f"matches none of its {len(given)} alternatives"),)


def _one(
    check: _Check, given: Any, schema: Any, value: Any, at: tuple[str, ...]
) -> Iterable[Fault]:
    fitting = sum(not check.faults(inner, value, at) for inner in given)
    if fitting > 1:
        return (
            Fault(pointer_to(at), f"matches {fitting} alternatives; it must match exactly one"),
        )
    return () if fitting else _any(check, given, schema, value, at)


def _pattern(check: _Check, given: str, _: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    if not isinstance(value, str):
        return
    check.work(PATTERN_STEPS)
    if len(value) > TEXT_LENGTH:
        yield Fault(
            pointer_to(at),
            f"has {len(value)} characters; a text with a pattern has at most {TEXT_LENGTH}",
        )
        return
    if not matches(given, value):
        yield Fault(pointer_to(at), f"does not match the pattern {printable(given)}")


def _format(_: _Check, given: str, __: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
    if isinstance(value, str) and given in CHECKED_FORMATS and not CHECKED_FORMATS[given](value):
        yield Fault(pointer_to(at), f"is not a valid {given}")


def _bound(kinds: tuple[type, ...], holds: Callable[[Any, Any], bool], words: str) -> _KeywordCheck:
    def judge(_: _Check, given: Any, __: Any, value: Any, at: tuple[str, ...]) -> Iterator[Fault]:
        if isinstance(value, kinds) and not isinstance(value, bool) and not holds(value, given):
            yield Fault(pointer_to(at), words.format(limit=given))

    return judge


_NUMBER = (int, float)

_CHECKS: dict[str, _KeywordCheck] = {
    "$ref": _reference,
    "enum": _among,
    "const": _exactly,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "items": _items,
    "prefixItems": _first_items,
    "uniqueItems": _unique,
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "pattern": _pattern,
    "format": _format,
    "minimum": _bound(_NUMBER, lambda value, limit: value >= limit, "is less than {limit}"),
    "maximum": _bound(_NUMBER, lambda value, limit: value <= limit, "is more than {limit}"),
    "exclusiveMinimum": _bound(
        _NUMBER, lambda value, limit: value > limit, "is not more than {limit}"
    ),
    "exclusiveMaximum": _bound(
        _NUMBER, lambda value, limit: value < limit, "is not less than {limit}"
    ),
    "multipleOf": _bound(
        _NUMBER,
        lambda value, unit: (
            math.isfinite(value) and (Fraction(str(value)) / Fraction(str(unit))).denominator == 1
        ),
        "is not a multiple of {limit}",
    ),
    "minLength": _bound(
        (str,), lambda text, limit: len(text) >= limit, "is shorter than {limit} characters"
    ),
    "maxLength": _bound(
        (str,), lambda text, limit: len(text) <= limit, "is longer than {limit} characters"
    ),
    "minItems": _bound(
        (list,), lambda items, limit: len(items) >= limit, "has fewer entries than {limit}"
    ),
    "maxItems": _bound(
        (list,), lambda items, limit: len(items) <= limit, "has more entries than {limit}"
    ),
    "minProperties": _bound(
        (dict,), lambda fields, limit: len(fields) >= limit, "has fewer fields than {limit}"
    ),
    "maxProperties": _bound(
        (dict,), lambda fields, limit: len(fields) <= limit, "has more fields than {limit}"
    ),
}
#: The keywords that are checked.
CHECKED_KEYWORDS = frozenset({*_CHECKS, "type"})


#: The most places of a schema that are examined for one path.
_PLACES = 256


class Shape:
    """Valid parameters of a schema; empty parameters allow any document."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._root = parameters

    def faults(self, document: Any, limit: int = 100) -> tuple[Fault, ...]:
        """Return the faults of a document."""
        return document_faults(self._root, document, limit)

    def completed(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """Return a value with the default of each field that is not there and has one; null is
        none.
        """
        if isinstance(value, list):
            return [self.completed(one, (*path, str(place))) for place, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        defaults = {
            name: deepcopy(field["default"])
            for at in self._at(path)
            for name, field in at.get("properties", {}).items()
            if name not in value and isinstance(field, Mapping) and field.get("default") is not None
        }
        return {
            **{name: self.completed(inner, (*path, name)) for name, inner in value.items()},
            **defaults,
        }

    def types_at(self, path: tuple[str, ...]) -> frozenset[str]:
        """Return the JSON types that the schema names for a path; empty if it names none."""
        found: set[str] = set()
        for schema in self._at(path):
            named = schema.get("type", [])
            found.update([named] if isinstance(named, str) else named)
            if not named and "properties" in schema:
                found.add("object")
            if not named and ("items" in schema or "prefixItems" in schema):
                found.add("array")
        return frozenset(found)

    def defines(self, path: tuple[str, ...]) -> bool:
        """True if the schema names the field at a path."""
        return bool(path) and any(
            path[-1] in at.get("properties", {}) for at in self._at(path[:-1])
        )

    def allows(self, name: str) -> bool:
        """True if a document may have a field of that name."""
        places = self._at(())
        closed = any(at.get("additionalProperties") is False for at in places)
        return not closed or any(name in at.get("properties", {}) for at in places)

    def _at(self, path: tuple[str, ...]) -> list[Mapping[str, Any]]:
        places = self._with_alternatives([self._root])
        for token in path:
            places = self._with_alternatives(
                [inner for schema in places for inner in _children(schema, token)]
            )
        return places

    def _with_alternatives(self, schemas: list[Any]) -> list[Mapping[str, Any]]:
        """Return these schemas with the ones they refer to and their alternatives."""
        seen: dict[int, Mapping[str, Any]] = {}
        waiting = list(schemas)
        while waiting and len(seen) < _PLACES:
            schema = waiting.pop()
            if isinstance(schema, Mapping) and id(schema) not in seen:
                seen[id(schema)] = schema
                waiting += [
                    inner for word in ("allOf", "anyOf", "oneOf") for inner in schema.get(word, ())
                ]
                if "$ref" in schema:
                    waiting.append(resolve_reference(self._root, schema["$ref"]))
        return list(seen.values())


def _children(schema: Mapping[str, Any], token: str) -> Iterator[Any]:
    if token in schema.get("properties", {}):
        yield schema["properties"][token]
    elif "additionalProperties" in schema:
        yield schema["additionalProperties"]
    first = schema.get("prefixItems", ())
    if token.isascii() and token.isdigit() and len(token) < 5 and int(token) < len(first):
        yield first[int(token)]
    elif token == "-" or (token.isascii() and token.isdigit()):
        yield schema.get("items", True)


#: The shape of documents without a schema.
ANY_SHAPE = Shape({})
