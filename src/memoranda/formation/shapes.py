"""The shape of a document: which types and fields a schema allows at a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoranda.formation.validation import Fault, document_faults, resolve_reference

#: The most places of a schema that are examined for one path.
_PLACES = 256


class Shape:
    """Valid parameters of a schema; empty parameters allow any document."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._root = parameters

    def faults(self, document: Any, limit: int = 100) -> tuple[Fault, ...]:
        """Return the faults of a document."""
        return document_faults(self._root, document, limit)

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
        return bool(path) and any(path[-1] in at.get("properties", {}) for at in self._at(path[:-1]))

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
                waiting += [inner for word in ("allOf", "anyOf", "oneOf") for inner in schema.get(word, ())]
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
