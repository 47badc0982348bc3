"""What a schema may say when it is configured: everything that can be told wrong of it, before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from memoranda.formation.documents import WORDS, Copier, Unfit, pointer_to, shown, tokens_of
from memoranda.formation.formats import CHECKED, TOLD
from memoranda.formation.patterns import pattern_fault
from memoranda.formation.validation import JUDGED, Fault
from memoranda.model.values import NAME_LENGTH

#: Bytes of a schema, about; it stands in every prompt that uses it.
SCHEMA_BYTES = 65_536
#: Fields that it may name in all.
PROPERTIES = 256
#: Alternatives and references that may follow each other before a field is reached.
CHAIN = 8
#: Patterns in all.
PATTERNS = 16
#: Faults that are told of one schema.
FAULTS = 20

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: What only tells a reader, or a model, something; what stands in it is not looked at.
TELLING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
    | {"discriminator", "$id", "$schema"}
)
_ONE = ("items", "additionalProperties", "propertyNames")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")
_IN_PLACE = ("anyOf", "oneOf", "allOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
#: Every word that a schema may use.
KNOWN = JUDGED | TELLING | {*_ONE, *_LISTS, *_NAMED}

Place = tuple[str, ...]


def schema_faults(parameters: Any) -> tuple[Fault, ...]:
    """What is wrong with a schema; nothing where it can be used."""
    try:
        copy = Copier(SCHEMA_BYTES).copy(parameters)
    except Unfit as exc:
        return (Fault("", str(exc)),)
    if not isinstance(copy, dict):
        return (Fault("", "is no JSON object"),)
    reader = _Reader()
    found = [*reader.read(copy, ())]
    if not found:
        found = [*reader.references(), *reader.whole(copy)]
    return tuple(found[:FAULTS])


class _Reader:
    def __init__(self) -> None:
        self.places: dict[Place, Any] = {}
        self.properties = 0
        self.patterns = 0

    def read(self, schema: Any, at: Place) -> Iterator[Fault]:
        """Go through a schema and all that stand in it."""
        self.places[at] = schema
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            yield Fault(pointer_to(at), "is no schema: give an object, true or false")
            return
        for keyword, given in schema.items():
            reason = self._reason(keyword, given, at)
            if reason is not None:
                yield Fault(pointer_to((*at, keyword)), reason)
            else:
                for place, inner in _inner(keyword, given):
                    yield from self.read(inner, (*at, *place))

    def _reason(self, keyword: str, given: Any, at: Place) -> str | None:
        if keyword not in KNOWN:
            return "is no keyword that is known here; docs/schemas.md lists them"
        if keyword in _NAMED or keyword in _LISTS or keyword == "pattern":
            return self._counted(keyword, given)
        if keyword == "$schema":
            return None if given == DIALECT else f"is not {DIALECT}"
        if keyword == "$id" and at:
            return "may stand at the root alone; references are local"
        return _fault_of(keyword, given)

    def _counted(self, keyword: str, given: Any) -> str | None:
        if keyword == "pattern":
            self.patterns += 1
            return pattern_fault(given) if self.patterns <= PATTERNS else f"is one of more than {PATTERNS}"
        if keyword in _LISTS:
            return None if isinstance(given, list) and given else "is no list of schemas"
        if not isinstance(given, dict):
            return "is no object of schemas by name"
        if keyword == "properties":
            self.properties += len(given)
            if self.properties > PROPERTIES:
                return f"brings the fields to {self.properties}; at most {PROPERTIES} in all"
        return next(filter(None, map(_fault_of_name, given)), None)

    def references(self) -> Iterator[Fault]:
        """References that lead nowhere, and what leads to itself without entering the document."""
        onward: dict[Place, list[Place]] = {}
        for at, schema in self.places.items():
            if not isinstance(schema, dict):
                continue
            onward[at] = [
                (*at, *place) for word in _IN_PLACE for place, _ in _inner(word, schema.get(word, []))
            ]
            if "$ref" in schema:
                target = tokens_of(schema["$ref"].removeprefix("#"))
                if target not in self.places:
                    yield Fault(pointer_to((*at, "$ref")), f"leads to no schema: {shown(schema['$ref'])}")
                else:
                    onward[at].append(target)
        yield from _chains(onward)

    def whole(self, schema: Mapping[str, Any]) -> Iterator[Fault]:
        """What must be so of a schema as a whole."""
        seen: set[Place] = set()
        at: Place = ()
        while "$ref" in schema and at not in seen:
            seen.add(at)
            at = tokens_of(schema["$ref"].removeprefix("#"))
            schema = self.places[at] if isinstance(self.places[at], dict) else {}
        if schema.get("type") != "object":
            yield Fault("", 'describes no object: say "type": "object" and name its "properties"')


def _inner(keyword: str, given: Any) -> Iterator[tuple[Place, Any]]:
    if keyword in _ONE:
        yield (keyword,), given
    elif keyword in _LISTS:
        yield from (((keyword, str(place)), inner) for place, inner in enumerate(given))
    elif keyword in _NAMED:
        yield from (((keyword, name), inner) for name, inner in given.items())


def _chains(onward: Mapping[Place, list[Place]]) -> Iterator[Fault]:
    """Faults where a chain closes on itself, or is longer than a check would follow."""
    lengths: dict[Place, int] = {}

    def length(at: Place, before: frozenset[Place]) -> int:
        if at in before or len(before) > CHAIN:
            return CHAIN + 1
        if at not in lengths:
            lengths[at] = max((1 + length(inner, before | {at}) for inner in onward.get(at, ())), default=0)
        return lengths[at]

    for at in onward:
        if length(at, frozenset()) > CHAIN:
            yield Fault(
                pointer_to(at),
                f"leads to itself, or through more than {CHAIN} references and alternatives, "
                "before it comes to a field",
            )
            return


def _fault_of(keyword: str, given: Any) -> str | None:
    match keyword:
        case "type":
            names = [given] if isinstance(given, str) else given
            good = isinstance(names, list) and names and all(isinstance(n, str) and n in WORDS for n in names)
            return None if good else f"is none of {', '.join(WORDS)}, nor a list of them"
        case "enum":
            return None if isinstance(given, list) and given else "is no list of values"
        case "required":
            good = isinstance(given, list) and all(isinstance(name, str) for name in given)
            return None if good and len(set(given)) == len(given) else "is no list of names, each once"
        case "uniqueItems":
            return None if isinstance(given, bool) else "is neither true nor false"
        case "format":
            known = isinstance(given, str) and (given in CHECKED or given in TOLD)
            return None if known else f"is no format that is known here; checked are {', '.join(CHECKED)}"
        case "$ref":
            return _fault_of_reference(given)
    if keyword in _COUNTS:
        return None if _is_number(given) and given >= 0 and given == int(given) else "is no count"
    if keyword in _NUMBERS:
        good = _is_number(given) and (keyword != "multipleOf" or given > 0)
        return None if good else "is no number that can bound another"
    return None


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool)


def _fault_of_reference(given: Any) -> str | None:
    if not isinstance(given, str) or not given.startswith("#"):
        return "leads out of the schema; only references that begin with # are followed"
    if "%" in given and unquote(given) != given:
        return "is percent-encoded; write its characters as they are"
    try:
        tokens_of(given[1:])
    except Unfit as exc:
        return str(exc)
    return None


def _fault_of_name(name: str) -> str | None:
    if not name.strip() or len(name) > NAME_LENGTH or not name.isprintable():
        return f"holds a name that is not one line of 1 to {NAME_LENGTH} visible characters: {shown(name)!r}"
    return None
