"""Validates documents against a part of JSON Schema 2020-12, with its formats; faults have a place
and a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import ge, gt, le, lt
from typing import Any, NamedTuple, TypeGuard

from memoranda.formation.schemas.formats import CHECKED_FORMATS, format_fault
from memoranda.formation.schemas.json_values import (
    TYPE_NAMES,
    InvalidJson,
    pointer_to,
    printable,
    read_json,
    tokens_of,
    type_of,
)
from memoranda.formation.schemas.patterns import TEXT_LENGTH, matches
from memoranda.model.values import comparable

#: The most steps of one check: places of the schema times places of the document, and characters
#: that are matched.
STEPS = 200_000
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
    wanted: str


@dataclass(frozen=True, slots=True)
class _NotAmong(Fault):
    allowed: tuple[str, ...]


class _TooMuchWork(Exception):
    pass


def document_faults(
    schema: Mapping[str, Any], document: Any, limit: int = FAULTS
) -> tuple[Fault, ...]:
    """Return the faults of a document; the schema must be valid."""
    try:
        return tuple(_Check(schema).faults(schema, document, ())[:limit])
    except (_TooMuchWork, RecursionError):
        return (Fault("", "takes too many steps to check; simplify the schema or the document"),)


def resolve_reference(root: Mapping[str, Any], reference: str) -> Any:
    """Return the part of a schema that a local reference names."""
    place: Any = root
    for token in tokens_of(reference.removeprefix("#")):
        place = place[int(token)] if isinstance(place, list) else place[token]
    return place


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
        here = _Here(self, schema, value, at)
        wanted = schema.get("type")
        if wanted is not None and not _has_type(value, wanted):
            names = [wanted] if isinstance(wanted, str) else wanted
            return [here.wrong_type(TYPE_NAMES[one] for one in names)]
        if self.nesting == NESTING:
            raise _TooMuchWork
        self.nesting += 1
        found: list[Fault] = []
        for keyword, given in schema.items():
            if keyword in _CHECKS:
                kinds, judge = _CHECKS[keyword]
                if isinstance(value, kinds) and not (kinds is _NUMBER and isinstance(value, bool)):
                    found += judge(here, given)
        self.nesting -= 1
        return found


class _Here(NamedTuple):
    """A value under a check, with its schema and its place."""

    check: _Check
    schema: Mapping[str, Any]
    value: Any
    at: tuple[str, ...]

    def fault(self, reason: str, *below: str) -> Fault:
        return Fault(pointer_to((*self.at, *below)), reason)

    def wrong_type(self, names: Iterable[str]) -> Fault:
        wanted = " or ".join(dict.fromkeys(names))
        reason = f"is {TYPE_NAMES[type_of(self.value)]}; it should be {wanted}"
        return _WrongType(pointer_to(self.at), reason, wanted)

    def not_among(self, allowed: Iterable[str], at: str) -> Fault:
        words = tuple(dict.fromkeys(allowed))
        reason = f"is not one of {', '.join(words[:10])}{', …' if len(words) > 10 else ''}"
        return _NotAmong(at, reason, words)

    def same(self, schema: Any) -> list[Fault]:
        """Return the faults of the value by another schema."""
        return self.check.faults(schema, self.value, self.at)

    def below(self, schema: Any, token: str | int) -> list[Fault]:
        """Return the faults of a part of the value."""
        return self.check.faults(schema, self.value[token], (*self.at, str(token)))

    def patterned(self, name: str) -> Iterator[Any]:
        """Yield the schemas of the patterns that a field's name matches."""
        for pattern, inner in self.schema.get("patternProperties", {}).items():
            self.check.work(1 + len(name))
            if matches(pattern, name):
                yield inner


def _among(here: _Here, given: list[Any]) -> Iterator[Fault]:
    here.check.work(len(given))
    if comparable(here.value) not in map(comparable, given):
        yield here.not_among((printable(repr(one)) for one in given), pointer_to(here.at))


def _properties(here: _Here, given: Mapping[str, Any]) -> Iterator[Fault]:
    for name, inner in given.items():
        if name in here.value:
            yield from here.below(inner, name)


def _required(here: _Here, given: list[str]) -> Iterator[Fault]:
    for name in given:
        if name not in here.value:
            yield here.fault(f"has no {printable(name)!r}, which is required")


def _patterned(here: _Here, _: Any) -> Iterator[Fault]:
    for name in here.value:
        for inner in here.patterned(name):
            yield from here.below(inner, name)


def _additional(here: _Here, given: Any) -> Iterator[Fault]:
    known = here.schema.get("properties", {})
    for name in here.value:
        if name in known or any(True for _ in here.patterned(name)):
            continue
        if given is False:
            yield here.fault("is not a field of this schema", name)
        else:
            yield from here.below(given, name)


def _names(here: _Here, given: Any) -> Iterator[Fault]:
    for name in here.value:
        for fault in here.check.faults(given, name, (*here.at, name)):
            yield Fault(fault.at, f"has a name that {fault.reason}")


def _items(here: _Here, given: Any) -> Iterator[Fault]:
    for place in range(len(here.schema.get("prefixItems", ())), len(here.value)):
        yield from here.below(given, place)


def _first_items(here: _Here, given: list[Any]) -> Iterator[Fault]:
    for place, (inner, _) in enumerate(zip(given, here.value, strict=False)):
        yield from here.below(inner, place)


def _unique(here: _Here, given: bool) -> Iterator[Fault]:
    here.check.work(len(here.value))
    if given and len({comparable(one) for one in here.value}) < len(here.value):
        yield here.fault("has the same entry twice")


def _all(here: _Here, given: list[Any]) -> Iterator[Fault]:
    for inner in given:
        yield from here.same(inner)


def _any(here: _Here, given: list[Any]) -> Iterable[Fault]:
    tried = []
    for inner in given:
        found = here.same(inner)
        if not found:
            return ()
        tried.append(found)
    at = pointer_to(here.at)
    mistyped = [
        one for found in tried for one in found if isinstance(one, _WrongType) and one.at == at
    ]
    if len(mistyped) == len(tried):
        return (here.wrong_type(one.wanted for one in mistyped),)
    # Report on the alternative that was meant: the only one of the right type, or with the right
    # value in a field that has one value only.
    meant = [
        found for found in tried if not (isinstance(found[0], _WrongType) and found[0].at == at)
    ]
    tags = [[one for one in found if _is_tag(one, at)] for found in meant]
    named = [found for found, tag in zip(meant, tags, strict=True) if not tag]
    if len(named or meant) == 1:
        return (named or meant)[0]
    if not named and len({one.at for tag in tags for one in tag}) == 1:
        words = (word for tag in tags for one in tag for word in one.allowed)
        return (here.not_among(words, tags[0][0].at),)
    return (Fault(at, f"matches none of its {len(given)} alternatives"),)


def _is_tag(fault: Fault, at: str) -> TypeGuard[_NotAmong]:
    """True if a field at a place has another value than the only one that it may have."""
    return (
        isinstance(fault, _NotAmong)
        and len(fault.allowed) == 1
        and fault.at.rpartition("/")[0] == at
    )


def _one(here: _Here, given: list[Any]) -> Iterable[Fault]:
    fitting = sum(not here.same(inner) for inner in given)
    if fitting > 1:
        return (here.fault(f"matches {fitting} alternatives; it must match exactly one"),)
    return () if fitting else _any(here, given)


def _pattern(here: _Here, given: str) -> Iterator[Fault]:
    length = len(here.value)
    here.check.work(length)
    if length > TEXT_LENGTH:
        yield here.fault(
            f"has {length} characters; a text with a pattern has at most {TEXT_LENGTH}"
        )
    elif not matches(given, here.value):
        yield here.fault(f"does not match the pattern {printable(given)}")


def _format(here: _Here, given: str) -> Iterator[Fault]:
    reason = format_fault(given, here.value) if given in CHECKED_FORMATS else None
    if reason is not None:
        yield here.fault(reason)


def _content(here: _Here, given: Any) -> Iterator[Fault]:
    try:
        value = read_json(here.value)
    except InvalidJson as exc:
        yield here.fault(str(exc))
        return
    for fault in here.check.faults(given, value, ()):
        yield here.fault(f"is JSON that does not fit: {fault.at} {fault.reason}".replace("  ", " "))


def _is_multiple(value: float, unit: float) -> bool:
    return math.isfinite(value) and (Fraction(str(value)) / Fraction(str(unit))).denominator == 1


_KeywordCheck = Callable[[_Here, Any], Iterable[Fault]]


def _limit(holds: Callable[[Any, Any], bool], words: str) -> _KeywordCheck:
    def judge(here: _Here, given: Any) -> Iterator[Fault]:
        measured = here.value if isinstance(here.value, _NUMBER) else len(here.value)
        if not holds(measured, given):
            yield here.fault(words.format(given))

    return judge


_NUMBER = (int, float)

#: Of each keyword that is checked: the values that it speaks of, and its check.
_CHECKS: dict[str, tuple[type | tuple[type, ...], _KeywordCheck]] = {
    "$ref": (object, lambda here, given: here.same(resolve_reference(here.check.root, given))),
    "enum": (object, _among),
    "const": (object, lambda here, given: _among(here, [given])),
    "allOf": (object, _all),
    "anyOf": (object, _any),
    "oneOf": (object, _one),
    "properties": (dict, _properties),
    "required": (dict, _required),
    "patternProperties": (dict, _patterned),
    "additionalProperties": (dict, _additional),
    "propertyNames": (dict, _names),
    "minProperties": (dict, _limit(ge, "has fewer fields than {}")),
    "maxProperties": (dict, _limit(le, "has more fields than {}")),
    "items": (list, _items),
    "prefixItems": (list, _first_items),
    "uniqueItems": (list, _unique),
    "minItems": (list, _limit(ge, "has fewer entries than {}")),
    "maxItems": (list, _limit(le, "has more entries than {}")),
    "pattern": (str, _pattern),
    "format": (str, _format),
    "contentSchema": (str, _content),
    "minLength": (str, _limit(ge, "is shorter than {} characters")),
    "maxLength": (str, _limit(le, "is longer than {} characters")),
    "minimum": (_NUMBER, _limit(ge, "is less than {}")),
    "maximum": (_NUMBER, _limit(le, "is more than {}")),
    "exclusiveMinimum": (_NUMBER, _limit(gt, "is not more than {}")),
    "exclusiveMaximum": (_NUMBER, _limit(lt, "is not less than {}")),
    "multipleOf": (_NUMBER, _limit(_is_multiple, "is not a multiple of {}")),
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

    def completed(self, value: Any) -> Any:
        """Return a value with the default of each field that is not there and has one; null is
        none.
        """
        try:
            return self._completed(value, [self._root], _Check(self._root))
        except (_TooMuchWork, RecursionError):
            return value

    def _completed(self, value: Any, schemas: list[Any], check: _Check) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        places = self.parts(*schemas, chosen=lambda inner: not check.faults(inner, value, ()))
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        found = {
            token: self._completed(
                one, [child for at in places for child in _children(at, str(token))], check
            )
            for token, one in parts
        }
        if isinstance(value, list):
            return list(found.values())
        for at in places:
            for name, field in at.get("properties", {}).items():
                if isinstance(field, Mapping) and field.get("default") is not None:
                    found.setdefault(name, deepcopy(field["default"]))
        return found

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
        return not closed or any(
            child is not False for at in places for child in _children(at, name)
        )

    def _at(self, path: tuple[str, ...]) -> list[Mapping[str, Any]]:
        places = self.parts(self._root)
        for token in path:
            places = self.parts(*(inner for schema in places for inner in _children(schema, token)))
        return places

    def parts(
        self, *schemas: Any, chosen: Callable[[Any], bool] | None = None
    ) -> list[Mapping[str, Any]]:
        """Return these schemas with the ones they refer to and their alternatives; of alternatives
        the first that is chosen.
        """
        seen: dict[int, Mapping[str, Any]] = {}
        waiting = list(schemas)
        while waiting and len(seen) < _PLACES:
            schema = waiting.pop()
            if isinstance(schema, Mapping) and id(schema) not in seen:
                seen[id(schema)] = schema
                waiting += schema.get("allOf", ())
                for word in ("anyOf", "oneOf"):
                    given = schema.get(word, ())
                    waiting += given if chosen is None else islice(filter(chosen, given), 1)
                if "$ref" in schema:
                    waiting.append(resolve_reference(self._root, schema["$ref"]))
        return list(seen.values())


def _children(schema: Mapping[str, Any], token: str) -> Iterator[Any]:
    patterns = schema.get("patternProperties", {})
    named = [inner for pattern, inner in patterns.items() if matches(pattern, token)]
    if token in schema.get("properties", {}):
        named.append(schema["properties"][token])
    yield from named
    if not named and "additionalProperties" in schema:
        yield schema["additionalProperties"]
    first = schema.get("prefixItems", ())
    if token.isascii() and token.isdigit() and len(token) < 5 and int(token) < len(first):
        yield first[int(token)]
    elif token == "-" or (token.isascii() and token.isdigit()):
        yield schema.get("items", True)


#: The shape of documents without a schema.
ANY_SHAPE = Shape({})
