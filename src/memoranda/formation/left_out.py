"""Tells what forming left out of an answer: in counters, and in the note of the operation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from memoranda import telemetry
from memoranda.model.drafts import DroppedPart
from memoranda.model.ledger import LEFT_OUT, LEFT_OUT_BECAUSE

#: A place in an answer. Other names are a model's own words, which the ledger never holds.
_PLACE: Final = re.compile(
    r"(?:notes|repeats|retracts|patches|experience|episode|title)(?:\[\d{1,4}\])?(?:\.operations\[\d{1,4}\])?"
)
_MOST: Final = 100
#: A change that was refused when it was written.
REFUSED: Final = DroppedPart(part="", code="refused", reason=LEFT_OUT_BECAUSE["refused"])


def note_of(parts: Iterable[DroppedPart]) -> dict[str, Any]:
    """Return the note for the ledger: the place and the code of each part, without any text."""
    told = [[one.part if _PLACE.fullmatch(one.part) else "", _code(one)] for one in parts]
    return {LEFT_OUT: told[:_MOST]} if told else {}


def count_left_out(parts: Iterable[DroppedPart]) -> None:
    """Count each part under its code."""
    for one in parts:
        telemetry.count(f"formation.left_out.{_code(one)}")
        if one is REFUSED:
            telemetry.count("formation.refused")


def _code(part: DroppedPart) -> str:
    return part.code if part.code in LEFT_OUT_BECAUSE else "invalid"
