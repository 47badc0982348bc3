"""The form of an answer as a short outline: a JSON Schema says the same with three times the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: A longer list of values is left out: the instructions name them.
_MOST_VALUES: Final = 5
_WORDS: Final = {"string": "text", "object": "{…}"}


def answer_outline(schema: Mapping[str, Any]) -> str:
    """Return the outline of a JSON Schema: ``{notes: [{content, kind: fact | note}], title}``. A name alone is a text."""
    return _outline(schema, dict(schema.get("$defs", {})))


def _outline(schema: Any, defined: dict[str, Any]) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        # Defined where it comes first.
        return _outline(defined.pop(name), defined) if name in defined else name
    if "enum" in schema:
        values = schema["enum"]
        return " | ".join(map(str, values)) if len(values) <= _MOST_VALUES else "text"
    if "items" in schema:
        return f"[{_outline(schema['items'], defined)}]"
    fields = schema.get("properties")
    if isinstance(fields, Mapping):
        return "{" + ", ".join(_field(name, one, defined) for name, one in fields.items()) + "}"
    kinds = schema.get("type", "any")
    return " | ".join(_WORDS.get(one, one) for one in ([kinds] if isinstance(kinds, str) else kinds))


def _field(name: str, schema: Any, defined: dict[str, Any]) -> str:
    told = _outline(schema, defined)
    return name if told in ("text", name) else f"{name}: {told}"
