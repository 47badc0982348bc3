"""Quotations: shortened texts, and the part of a long text that answers a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from memoranda.first_use import dataclass

#: Words, each with its share of a score.
Shares: TypeAlias = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that answers a question; all of a short text."""

    #: The part as the text has it. "…" stands at each end where text was left out.
    text: str
    #: Its place: without "…" it is ``text[start:end]`` of the whole text.
    start: int
    end: int

    def __str__(self) -> str:
        return self.text


#: Returns the excerpt of a text by the question's words that it holds, and by those of which it
#: holds a near word.
FindExcerpt: TypeAlias = Callable[[str, Shares, Shares], Excerpt]


def excerpt_at(text: str, start: int, end: int) -> Excerpt:
    """Return this part of a text as an excerpt."""
    before, after = text[:start].strip() and "…", text[end:].strip() and "…"
    return Excerpt(f"{before}{text[start:end]}{after}", start, end)


def quote(text: str, length: int = 300, *, around: str = "") -> str:
    """Return a text shortened to the length shown as evidence: its beginning, or what stands around
    some of its words.
    """
    if len(text) <= length:
        return text
    at = text.find(around)
    if at + len(around) < length:
        return text[: length - 1].rstrip() + "…"
    room = length - 2
    start = max(min(at, at - (room - len(around)) // 2), 0)
    if start < at:
        # No word is torn: the next one begins the quote.
        start = text.find(" ", start, at) + 1 or start
    part = text[start : start + room].strip()
    return f"…{part}…" if start + room < len(text) else f"…{part}"


#: Records or hits that a printed page or list of hits shows.
_LINES = 20


def listed_lines(head: str, items: Sequence[object]) -> str:
    """Return a line for each item, up to a number, below a first line."""
    more = [f"  … and {len(items) - _LINES} more"] if len(items) > _LINES else []
    return "\n".join([head, *(f"  {item!r}" for item in items[:_LINES]), *more])
