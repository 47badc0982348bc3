"""JSON documents as plain values: addressed by pointer, copied within bounds."""

from __future__ import annotations

import json
import math
from typing import Any

from memoranda.model.values import DATA_BYTES, DATA_DEPTH, text_fault

#: How deep a path may lead, and how many characters it may have.
PATH_DEPTH = DATA_DEPTH
PATH_LENGTH = 2_000
#: The most of a given text that a fault repeats.
SHOWN_LENGTH = 200
#: Integers beyond it are not numbers that every reader of JSON can hold.
INTEGER_BITS = 64
#: An index of more digits points at nothing that fits into a document.
_INDEX_DIGITS = 9

#: The JSON types, in words.
WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


class Unfit(ValueError):
    """What was given is no such thing; the message says why in words that may be shown to a model."""


def tokens_of(pointer: object) -> tuple[str, ...]:
    """The parts of a JSON Pointer (RFC 6901); no parts for the whole document."""
    if not isinstance(pointer, str):
        raise Unfit("is no text; give a JSON Pointer such as /interests/0")
    if len(pointer) > PATH_LENGTH:
        raise Unfit(f"has {len(pointer)} characters; at most {PATH_LENGTH}")
    if fault := text_fault(pointer):
        raise Unfit(fault)
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise Unfit("does not begin with /")
    parts = pointer[1:].split("/")
    if len(parts) > PATH_DEPTH:
        raise Unfit(f"leads {len(parts)} levels deep; at most {PATH_DEPTH}")
    return tuple(_unescaped(part) for part in parts)


def _unescaped(part: str) -> str:
    if "~" in part.replace("~0", "").replace("~1", ""):
        raise Unfit("holds a ~ that is followed by neither 0 nor 1; a ~ is written ~0, a / is written ~1")
    return part.replace("~1", "/").replace("~0", "~")


def pointer_to(tokens: tuple[str, ...]) -> str:
    """The JSON Pointer of these parts."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def index_in(token: str, length: int) -> int:
    """The place in a list of that length to which a part of a pointer leads."""
    if token == "-":
        raise Unfit("- is the place behind a list's end, where nothing is; only add goes there")
    if not (token.isascii() and token.isdigit()) or (token[0] == "0" and token != "0"):
        raise Unfit(f"{shown(token)!r} is no index of a list; give 0, 1, 2 and so on")
    if len(token) > _INDEX_DIGITS or int(token) >= length:
        raise Unfit(f"the list has {length} entries, so there is no {shown(token)}")
    return int(token)


def shown(given: object) -> str:
    """Any value as a short text that can be written everywhere."""
    text = given if isinstance(given, str) else type(given).__name__
    cut = text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "…"
    return cut.encode("utf-8", "replace").decode().replace("\x00", "?")


class Copier:
    """Copies JSON values, and refuses what is none, too deep, or beyond a size in all."""

    def __init__(self, room: int = DATA_BYTES) -> None:
        #: How many bytes of JSON may still be copied, counted so that nothing is taken for larger than it is.
        self.room = room

    def copy(self, value: Any, depth: int = 0) -> Any:
        """A copy that shares nothing with what was given; ``depth`` is where it will stand."""
        if depth > DATA_DEPTH:
            raise Unfit(f"is nested deeper than {DATA_DEPTH} levels; flatten it")
        if isinstance(value, dict):
            self._take(2)
            return {self._key(key): self.copy(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            self._take(2)
            return [self.copy(inner, depth + 1) for inner in value]
        return self._leaf(value)

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise Unfit("has a key that is no text; JSON objects have text keys")
        return str(self._leaf(key))

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, str):
            self._take(len(value) + 2)
            if fault := text_fault(value):
                raise Unfit(fault)
            return str(value)
        self._take(1)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if value.bit_length() > INTEGER_BITS:
                raise Unfit(f"holds a whole number of more than {INTEGER_BITS} bits; write it as text")
            return int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise Unfit("holds a number that is not finite; JSON has no NaN and no Infinity")
            return float(value)
        raise Unfit(f"holds a {type(value).__name__}, which JSON does not have")

    def _take(self, bytes: int) -> None:
        self.room -= bytes
        if self.room < 0:
            raise Unfit(f"is larger than the {DATA_BYTES} bytes that are kept; give less")


def type_of(value: Any) -> str:
    """The JSON type of a value; a number without a fraction is an integer."""
    if value is None:
        return "null"
    for name, kind in (("boolean", bool), ("string", str), ("object", dict), ("array", list)):
        if isinstance(value, kind):
            return name
    return "integer" if isinstance(value, int) or float(value).is_integer() else "number"


def read_json(text: str) -> Any:
    """What a text of JSON says; texts that two readers could understand differently are refused."""
    if len(text) > DATA_BYTES:
        raise Unfit(f"has {len(text)} characters; at most {DATA_BYTES}")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except Unfit:
        raise
    except (ValueError, RecursionError) as exc:
        raise Unfit(f"is no JSON: {shown(str(exc))}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Unfit(f"names {shown(key)!r} twice in one object")
        found[key] = value
    return found


def _no_number(name: str) -> Any:
    raise Unfit(f"holds {name}, which is no number in JSON")
