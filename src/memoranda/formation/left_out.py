"""Tells what forming left out of an answer: in counters, and in the note of the operation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from memoranda import telemetry
from memoranda.formation.extract.attribution import is_from_user
from memoranda.formation.rules.replies import asks, only_thanks
from memoranda.formation.schemas.definitions import NOTE
from memoranda.model.drafts import DroppedPart, Formed, Reading
from memoranda.model.ledger import LEFT_OUT, LEFT_OUT_BECAUSE
from memoranda.model.profiles import ProfileDocument

#: A place in an answer, or a message by its number. Other names are a model's own words, which the
#: ledger never holds.
_PLACE: Final = re.compile(
    r"(?:notes|repeats|retracts|patches|experience|episode|title)(?:\[\d{1,4}\])?(?:\.operations\[\d{1,4}\])?"
    r"|message \d{1,9}"
)
_MOST: Final = 100
#: A change that was refused when it was written.
REFUSED: Final = DroppedPart(part="", code="refused", reason=LEFT_OUT_BECAUSE["refused"])
#: A part of a thread of whose answers nothing could be used.
UNUSABLE: Final = DroppedPart(part="", code="unusable", reason=LEFT_OUT_BECAUSE["unusable"])


def without_newer(formed: Formed, profiles: Iterable[ProfileDocument]) -> Formed:
    """Return what was formed late, without operations on fields of documents that have a value by
    now.
    """
    held = {document.schema_name: document.body for document in profiles}
    patches, left_out = [], [*formed.left_out]
    for place, patch in enumerate(formed.patches):
        body = held.get(patch.schema_name, {})
        kept = [
            (operation, of)
            for operation, of in patch.with_sources()
            if str(operation["path"]).endswith("/-")
            or str(operation["path"]).split("/")[1] not in body
        ]
        if len(kept) < len(patch.operations):
            reason = LEFT_OUT_BECAUSE["older"]
            left_out.append(DroppedPart(part=f"patches[{place}]", code="older", reason=reason))
        if kept:
            operations, sources = tuple(one for one, _ in kept), tuple(of for _, of in kept)
            patches.append(
                patch.model_copy(update={"operations": operations, "sources_of": sources})
            )
    return formed.model_copy(update={"patches": tuple(patches), "left_out": tuple(left_out)})


def with_unread(formed: Formed, reading: Reading) -> Formed:
    """Return what rules formed; if they found nothing, the last message that tells something is
    left out.
    """
    if not formed.empty or formed.left_out or reading.due(NOTE.name) is None:
        return formed
    told = [
        one
        for one in filter(is_from_user, reading.new)
        if not asks(one.content) and not only_thanks(one.content)
    ]
    parts = [
        DroppedPart(part=f"message {one.seq}", code="unread", reason=LEFT_OUT_BECAUSE["unread"])
        for one in told
    ]
    return formed.model_copy(update={"left_out": tuple(parts[-1:])})


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
