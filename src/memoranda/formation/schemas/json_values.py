"""JSON values: JSON Pointers, bounded copies, strict parsing."""

from __future__ import annotations

import json
import math
from typing import Any

from memoranda.model.values import DATA_BYTES, DATA_DEPTH, text_fault

#: The most levels and characters of a path.
PATH_DEPTH = DATA_DEPTH
PATH_LENGTH = 2_000
#: The most characters of a given text that a fault repeats.
SHOWN_LENGTH = 200
#: Larger integers cannot be read by every JSON parser.
INTEGER_BITS = 64
#: An index with more digits exceeds any document.
_INDEX_DIGITS = 9

#: The JSON types, in words.
TYPE_NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


class InvalidJson(ValueError):
    """A value that is not acceptable; the message says why and may be shown to a model."""


def tokens_of(pointer: object) -> tuple[str, ...]:
    """Return the parts of a JSON Pointer (RFC 6901); empty for the whole document."""
    if not isinstance(pointer, str):
        raise InvalidJson("is not a text; give a JSON Pointer such as /interests/0")
    if len(pointer) > PATH_LENGTH:
        raise InvalidJson(f"has {len(pointer)} characters; at most {PATH_LENGTH}")
    if fault := text_fault(pointer):
        raise InvalidJson(fault)
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise InvalidJson("does not begin with /")
    parts = pointer[1:].split("/")
    if len(parts) > PATH_DEPTH:
        raise InvalidJson(f"has {len(parts)} levels; at most {PATH_DEPTH}")
    return tuple(_unescaped(part) for part in parts)


def _unescaped(part: str) -> str:
    if "~" in part.replace("~0", "").replace("~1", ""):
        raise InvalidJson(
            "contains a ~ that is not followed by 0 or 1; write ~0 for ~ and ~1 for /"
        )
    return part.replace("~1", "/").replace("~0", "~")


def pointer_to(tokens: tuple[str, ...]) -> str:
    """Return the JSON Pointer of these parts."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def index_in(token: str, length: int) -> int:
    """Return the list index that a part of a pointer names; ``length`` is the length of the
    list.
    """
    if token == "-":
        raise InvalidJson("- means the place after the last entry; only add may use it")
    if not (token.isascii() and token.isdigit()) or (token[0] == "0" and token != "0"):
        raise InvalidJson(f"{printable(token)!r} is not a list index; give 0, 1, 2 and so on")
    if len(token) > _INDEX_DIGITS or int(token) >= length:
        raise InvalidJson(f"the list has {length} entries, so there is no {printable(token)}")
    return int(token)


def printable(given: object) -> str:
    """Return any value as a short text that can be stored and printed everywhere."""
    text = given if isinstance(given, str) else type(given).__name__
    cut = text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "…"
    return cut.encode("utf-8", "replace").decode().replace("\x00", "?")


class Copier:
    """Copies JSON values; refuses other values, too deep nesting, and more than a total size."""

    def __init__(self, bytes_left: int = DATA_BYTES) -> None:
        #: Bytes of JSON that may still be copied; sizes are never overestimated.
        self.bytes_left = bytes_left

    def copy(self, value: Any, depth: int = 0) -> Any:
        """Return a copy that shares nothing with the value; ``depth`` is its level in the
        document.
        """
        if depth > DATA_DEPTH:
            raise InvalidJson(f"is nested deeper than {DATA_DEPTH} levels; flatten it")
        if isinstance(value, dict):
            self._take(2)
            return {self._key(key): self.copy(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            self._take(2)
            return [self.copy(inner, depth + 1) for inner in value]
        return self._leaf(value)

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise InvalidJson("has a key that is not a text; JSON objects have text keys")
        return str(self._leaf(key))

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, str):
            self._take(len(value) + 2)
            if fault := text_fault(value):
                raise InvalidJson(fault)
            return str(value)
        self._take(1)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if value.bit_length() > INTEGER_BITS:
                raise InvalidJson(
                    f"contains a whole number of more than {INTEGER_BITS} bits; write it as text"
                )
            return int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise InvalidJson(
                    "contains a number that is not finite; JSON has no NaN and no Infinity"
                )
            return float(value)
        raise InvalidJson(f"contains a {type(value).__name__}, which is not a JSON type")

    def _take(self, bytes: int) -> None:
        self.bytes_left -= bytes
        if self.bytes_left < 0:
            raise InvalidJson(f"is larger than the limit of {DATA_BYTES} bytes; give less")


def type_of(value: Any) -> str:
    """Return the JSON type of a value; a number without a fraction is an integer."""
    if value is None:
        return "null"
    for name, kind in (("boolean", bool), ("string", str), ("object", dict), ("array", list)):
        if isinstance(value, kind):
            return name
    return "integer" if isinstance(value, int) or float(value).is_integer() else "number"


def read_json(text: str) -> Any:
    """Parse JSON text; refuse texts that two parsers could read differently, and values that cannot
    be stored.
    """
    if len(text) > DATA_BYTES:
        raise InvalidJson(f"has {len(text)} characters; at most {DATA_BYTES}")
    try:
        found = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
        return Copier().copy(found)
    except InvalidJson:
        raise
    except (ValueError, RecursionError) as exc:
        raise InvalidJson(f"is not JSON: {printable(str(exc))}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidJson(f"names {printable(key)!r} twice in one object")
        found[key] = value
    return found


def _reject_constant(name: str) -> Any:
    raise InvalidJson(f"contains {name}, which is not a number in JSON")
