"""What commands answer as JSON: stable keys, ISO times, and nothing in it that a terminal would obey."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from memoranda.model.ledger import Ignored
from memoranda.model.query import Hit, MissingHit, ScorerScore
from memoranda.model.records import Record
from memoranda.surfaces.cli.glyphs import visible


def document(value: Any) -> Any:
    """A value of the book as plain JSON values."""
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
            own = {name: document(getattr(value, name)) for name in _OF_A_HIT}
            words = [{"word": word, "share": share} for word, share in value.words]
            return {**own, "text": value.text, "words": words, "scores": _scores(value.scores)}
        case MissingHit():
            return {**_of_dataclass(value), "scores": _scores(value.scores)}
        case BaseModel():
            own = {name: document(getattr(value, name)) for name in type(value).model_fields}
            return {"type": value.type.value, **own} if isinstance(value, Record) else own
        case Mapping():
            return {str(document(name)): document(inner) for name, inner in value.items()}
        case list() | tuple():
            return [document(inner) for inner in value]
        case Set():
            return sorted(document(inner) for inner in value)
    return _of_dataclass(value)


_OF_A_HIT = "rank score names_speaker strength uses folded sources conditions record".split()


def _scores(scores: Iterable[ScorerScore]) -> list[Any]:
    return [score._asdict() for score in scores]


def _of_dataclass(value: Any) -> dict[str, Any]:
    assert is_dataclass(value), type(value)
    own = {field.name: document(getattr(value, field.name)) for field in fields(value)}
    return {**own, "reason": value.reason} if isinstance(value, Ignored) else own


def spelled(value: Any) -> str:
    """The one-line JSON of a value."""
    return harmless(json.dumps(document(value), ensure_ascii=False))


def harmless(text: str) -> str:
    """The same JSON with escapes for the characters that a terminal would obey; they occur inside texts only."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable() or visible(character) == character:
        return character
    return json.dumps(character)[1:-1]
