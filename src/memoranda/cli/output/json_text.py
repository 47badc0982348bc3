"""JSON output and JSON Lines input: stable keys, ISO times, and no control character for a
terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from memoranda.cli.output.terminal import visible
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Ignored
from memoranda.model.query import Hit, MissingHit
from memoranda.model.records import Record
from memoranda.model.redactions import Telling

_OF_A_HIT = (
    "rank score confidence cosine near_words strength uses folded sources conditions record".split()
)


def json_value(value: Any) -> Any:
    """Turn a value of the book into plain JSON values."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case UUID() | Path():
            return str(value)
        case bytes():
            return value.hex()
        case Hit():
            own = {name: json_value(getattr(value, name)) for name in _OF_A_HIT}
            words = [{"word": word, "share": share} for word, share in value.words]
            told = {
                "text": value.text,
                "excerpt": json_value(value.excerpt),
                "terms": _terms(value),
            }
            return {**own, **told, "words": words}
        case MissingHit():
            return {**_of_dataclass(value), "terms": _terms(value)}
        case BaseModel():
            own = {name: json_value(getattr(value, name)) for name in type(value).model_fields}
            return {"type": value.type.value, **own} if isinstance(value, Record) else own
        case Mapping():
            return {str(json_value(name)): json_value(inner) for name, inner in value.items()}
        case list() | tuple():
            return [json_value(inner) for inner in value]
        case Set():
            return sorted(json_value(inner) for inner in value)
    return _of_dataclass(value)


def _terms(value: Hit | MissingHit) -> list[dict[str, Any]]:
    return [{"term": term, "amount": amount} for term, amount in value.terms]


def _of_dataclass(value: Any) -> dict[str, Any]:
    assert is_dataclass(value), type(value)
    shown = [field.name for field in fields(value) if not field.metadata.get("internal")]
    own = {name: json_value(getattr(value, name)) for name in shown}
    if isinstance(value, Telling):
        return {"name": value.name, **own}
    return {**own, "reason": value.reason} if isinstance(value, Ignored) else own


def json_line(value: Any) -> str:
    """Return a value of the book as JSON on one line."""
    return harmless(json.dumps(json_value(value), ensure_ascii=False))


def harmless(text: str) -> str:
    """Escape the control characters in a JSON text; they only occur inside strings."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable() or visible(character) == character:
        return character
    return json.dumps(character)[1:-1]


def read_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Decode the lines of a UTF-8 stream; raise InvalidInput with the number of a line that is not
    UTF-8.
    """
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as exc:
            raise InvalidInput(
                f"line {number}: not UTF-8 at byte {exc.start}; convert the file to UTF-8",
                field="file",
            ) from exc


def read_objects(stream: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Parse a stream with one JSON object on each line; skip empty lines."""
    for number, line in enumerate(read_lines(stream), 1):
        if line.isspace() or not line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InvalidInput(f"line {number}: not JSON: {exc}", field="file") from exc
        if not isinstance(value, dict):
            raise InvalidInput(
                f"line {number}: not a JSON object; write one object on each line", field="file"
            )
        yield value
