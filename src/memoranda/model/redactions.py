"""Redactions: parts of messages that are taken out of their text and native form, and never come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from pydantic import Field, model_validator

from memoranda.model.values import Text, Value

#: Fields of a native form whose strings a program needs as they are: ids, types, names of tools and models, times.
_KEPT: Final = frozenset(
    {
        *("id", "tool_call_id", "tool_use_id", "toolCallId", "call_id", "response_id", "run_id"),
        *("type", "kind", "part_kind", "role", "name", "tool_name", "model", "model_name", "provider_name"),
        *("timestamp", "finish_reason", "stop_reason", "status", "outcome", "media_type"),
    }
)


class Span(Value):
    """A part of a message's text, or of one string in its native form: from one character up to another."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    #: The JSON pointer of the string in the native form; None: the text of the message.
    path: Text | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.end <= self.start:
            raise ValueError("end lies before start or on it; give the place after the last character")
        return self


@dataclass(frozen=True, slots=True)
class Redaction:
    """The parts of one message to take out."""

    message: UUID
    spans: tuple[Span, ...]
    #: The version of the message that the places belong to; None: they are places in the message as it was said.
    version: int | None = None


def strings_of(native: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield each string of a native form that may hold words, with its JSON pointer."""
    if isinstance(native, str):
        yield pointer, native
    elif isinstance(native, dict):
        for name, inner in native.items():
            if name not in _KEPT or not isinstance(inner, str):
                yield from strings_of(inner, f"{pointer}/{_escaped(name)}")
    elif isinstance(native, list):
        for place, inner in enumerate(native):
            yield from strings_of(inner, f"{pointer}/{place}")


def with_strings(native: Any, texts: dict[str, str], pointer: str = "") -> Any:
    """Return a native form with other texts in place of the strings at these JSON pointers."""
    if isinstance(native, str):
        return texts.get(pointer, native)
    if isinstance(native, dict):
        return {
            name: with_strings(inner, texts, f"{pointer}/{_escaped(name)}") for name, inner in native.items()
        }
    if isinstance(native, list):
        return [with_strings(inner, texts, f"{pointer}/{place}") for place, inner in enumerate(native)]
    return native


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, with those that overlap or touch as one."""
    found: list[Span] = []
    for one in sorted(spans, key=lambda span: (span.path is not None, span.path or "", span.start)):
        last = found[-1] if found else None
        if last is not None and last.path == one.path and one.start <= last.end:
            found[-1] = last.model_copy(update={"end": max(last.end, one.end)})
        else:
            found.append(one)
    return tuple(found)


def as_said(spans: Iterable[Span], removed: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans of a message as it is now as spans of the message as it was said, before ``removed`` was taken out."""
    return united(
        Span(
            start=_place_as_said(one.start, one.path, removed),
            end=_place_as_said(one.end - 1, one.path, removed) + 1,
            path=one.path,
        )
        for one in spans
    )


def as_now(spans: Iterable[Span], removed: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans of a message as it was said as spans of the message as it is now; what was ``removed`` is left out."""
    found = []
    for one in spans:
        gaps = [gap for gap in removed if gap.path == one.path]
        places = [one.start, one.end]
        places += [place for gap in gaps for place in (gap.start, gap.end) if one.start < place < one.end]
        places.sort()
        for start, end in pairwise(places):
            if start < end and not any(gap.start <= start < gap.end for gap in gaps):
                before = sum(gap.end - gap.start for gap in gaps if gap.end <= start)
                found.append(Span(start=start - before, end=end - before, path=one.path))
    return united(found)


def _place_as_said(place: int, path: str | None, removed: Sequence[Span]) -> int:
    for gap in removed:
        if gap.path == path and gap.start <= place:
            place += gap.end - gap.start
    return place


def cut(text: str, spans: Iterable[Span]) -> str:
    """Return a text without some parts; every other character stays."""
    kept, at = [], 0
    for one in united(spans):
        kept.append(text[at : one.start])
        at = one.end
    return "".join([*kept, text[at:]])


def dump_redactions(redactions: Iterable[Redaction]) -> list[Any]:
    """Return redactions as JSON: ids and places, no words."""
    return [
        [
            one.message.hex,
            [[span.start, span.end, *([] if span.path is None else [span.path])] for span in one.spans],
        ]
        for one in redactions
    ]


def load_redactions(given: Iterable[Any]) -> Iterator[tuple[UUID, tuple[Span, ...]]]:
    """Yield each message and its places from JSON that ``dump_redactions`` made; raise an error for anything else."""
    for id, spans in given:
        yield (
            UUID(id),
            tuple(Span(start=start, end=end, path=path[0] if path else None) for start, end, *path in spans),
        )


def joined(redactions: Iterable[Redaction]) -> tuple[Redaction, ...]:
    """Return redactions of messages as they were said, with one for each message."""
    found: dict[UUID, tuple[Span, ...]] = {}
    for one in redactions:
        found[one.message] = united((*found.get(one.message, ()), *one.spans))
    return tuple(Redaction(message, spans) for message, spans in found.items())
