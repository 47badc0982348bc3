"""Parses the one JSON object in a model's answer, alone, in a code fence or within prose; what is
no such object is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from pydantic import TypeAdapter, ValidationError

from memoranda.model.values import Document

#: A longer list of values is left out: the instructions name them.
_MOST_VALUES: Final = 5
_WORDS: Final = {"string": "text", "object": "{…}"}


def answer_outline(schema: Mapping[str, Any]) -> str:
    """Return the outline of a JSON Schema: ``{notes: [{content, kind: fact | note}], title}``. A
    name alone is a text.
    """
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
    return " | ".join(
        _WORDS.get(one, one) for one in ([kinds] if isinstance(kinds, str) else kinds)
    )


def _field(name: str, schema: Any, defined: dict[str, Any]) -> str:
    told = _outline(schema, defined)
    return name if told in ("text", name) else f"{name}: {told}"


#: Characters of an answer that are read.
LONGEST_ANSWER = 1_000_000

#: The beginning of JSON in prose: a brace before a name, or a list of objects.
_START = re.compile(r'\{\s*"|\[\s*\{')
#: Prose may contain {}: an empty object counts only if the answer has nothing else except a code
#: fence.
_EMPTY = re.compile(r"(?:```\w*\s*)?\{\s*\}(?:\s*```)?")
#: Thoughts that some models write before their answer; they may contain drafts.
_THOUGHT = re.compile(r"\A\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_DOCUMENT = TypeAdapter(Document)


class Unreadable(ValueError):
    """The answer has no usable value. The message is for the model and quotes nothing of its
    answer.
    """


def read_json(text: str) -> dict[str, Any]:
    """Return the only JSON object in an answer; it must be complete, and may be within prose or a
    code fence.
    """
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer is longer than {LONGEST_ANSWER} characters")
    answer = _THOUGHT.sub("", text, count=1).strip()
    if not answer:
        raise Unreadable("the answer is empty; write one JSON object")
    if _EMPTY.fullmatch(answer):
        return {}
    found = _found(answer)
    if not found:
        raise Unreadable("the answer contains no JSON object; write one")
    if any(value != found[0] for value in found[1:]):
        raise Unreadable(
            f"the answer contains {len(found)} different JSON values; write one object"
        )
    if not isinstance(found[0], dict):
        raise Unreadable("the answer is a list; write one object")
    return _storable(found[0])


def _found(answer: str) -> list[Any]:
    """Return every JSON value in a text that is not inside another one."""
    found = []
    at = 0
    while match := _START.search(answer, at):
        value, at = _decoded(answer, match.start())
        found.append(value)
    return found


def _decoded(answer: str, start: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(answer, start)
    except json.JSONDecodeError as exc:
        if exc.pos >= len(answer) or exc.msg.startswith("Unterminated"):
            raise Unreadable("the JSON of the answer is cut off: its end is missing") from None
        raise Unreadable(
            f"the answer is not valid JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}"
        ) from None
    except RecursionError:
        raise Unreadable("the JSON of the answer is nested too deeply") from None
    except Unreadable:
        raise
    except ValueError:
        raise Unreadable("the answer is not valid JSON: a number has too many digits") from None


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """Check that the object can be stored (size, depth, text) and return a copy; raise
    ``Unreadable`` if it cannot.
    """
    try:
        return _DOCUMENT.validate_python(value)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_context=False, include_input=False)[0]
        raise Unreadable(
            f"the JSON of the answer cannot be stored: it {first['msg'].removeprefix('Value error, ')}"
        ) from None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Unreadable("the JSON of the answer has the same field twice in one object")
    return fields


def _no_number(_: str) -> NoReturn:
    raise Unreadable("the JSON of the answer contains NaN or Infinity, which are not JSON numbers")


_decoder = json.JSONDecoder(object_pairs_hook=_fields, parse_constant=_no_number, strict=False)
