"""Plans the redaction of messages: what stays of them, and which statements came from the words that are taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memoranda.errors import InvalidInput, Stale
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import Message
from memoranda.model.redactions import Redaction, Span, as_now, as_said, strings_of, united
from memoranda.text.similarity import coverage

_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Removed:
    """The parts that are taken out of one message that stays."""

    #: The message as it is before, and without them.
    before: Message
    left: Message
    #: The parts, as places in the message as it was said.
    spans: tuple[Span, ...]
    #: The words that are taken out.
    words: str

    def has_quote(self, quote: str) -> bool:
        """True if a quote from the message contains words that are taken out."""
        return _plain(quote) not in _plain(self.left.content)

    def tells(self, text: str) -> bool:
        """True if all words of a text are among those that are taken out."""
        return coverage(text, self.words) == 1

    def is_source_of(self, text: str, quotes: Sequence[Cited]) -> bool:
        """True if a statement with this text came from the words that are taken out: by its quotes, or by its own words."""
        own = [one.quote for one in quotes if one.message == self.before.id]
        return all(map(self.has_quote, own)) if own else self.tells(text)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def removed_from(message: Message, redaction: Redaction) -> Removed | None:
    """Return what a redaction takes out of a message; None if it leaves nothing of the message."""
    if redaction.version is None:
        spans, said = as_now(redaction.spans, message.removed), united(redaction.spans)
    else:
        if message.version != redaction.version:
            raise Stale(
                f"message {message.id} was read at version {redaction.version} and is at version {message.version}; "
                "read it again, then decide"
            )
        _check(message, redaction.spans)
        spans = united((*redaction.spans, *_in_native(message, redaction.spans)))
        said = as_said(spans, message.removed)
    left = message.without_spans(spans)
    return None if left is None else Removed(message, left, said, _words(message, spans))


def hidden_from(message: Message, earlier: Message, spans: tuple[Span, ...]) -> Removed:
    """Return what was taken out of a message already, given the version that still had it."""
    return Removed(earlier, message, spans, _words(earlier, as_now(spans, earlier.removed)))


def _check(message: Message, spans: Iterable[Span]) -> None:
    """Raise ``InvalidInput`` for a part that the message does not have."""
    texts: dict[str | None, str] = {None: message.content, **dict(strings_of(message.native))}
    for one in spans:
        if one.end > len(texts.get(one.path, "")):
            where = "text" if one.path is None else f"native form at {one.path!r}"
            raise InvalidInput(
                f"spans: the {where} of message {message.id} has no characters {one.start} to {one.end}",
                field="spans",
            )


def _in_native(message: Message, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield where a message's native form has the same words, with the white space around them."""
    wanted = {message.content[one.start : one.end] for one in spans if one.path is None}
    patterns = [_pattern(words) for words in wanted if words.strip()]
    for pointer, text in strings_of(message.native):
        for pattern in patterns:
            for found in pattern.finditer(text):
                yield Span(start=found.start(), end=found.end(), path=pointer)


def _pattern(words: str) -> re.Pattern[str]:
    bare = words.strip()
    before, after = words[: words.index(bare)], words[words.index(bare) + len(bare) :]
    return re.compile(f"(?:{re.escape(before)})?{re.escape(bare)}(?:{re.escape(after)})?")


def _words(message: Message, spans: Sequence[Span]) -> str:
    texts: dict[str | None, str] = {None: message.content, **dict(strings_of(message.native))}
    return "\n".join(texts.get(one.path, "")[one.start : one.end] for one in spans)


def quotes_left(memory: Memory, removed: Mapping[UUID, Removed]) -> tuple[Cited, ...]:
    """Return the quotes of a memory that contain no words that are taken out."""
    return tuple(
        one
        for one in memory.quotes
        if one.message not in removed or not removed[one.message].has_quote(one.quote)
    )


def text_of_value(value: Any) -> str:
    """Return the words of a profile's value."""
    if isinstance(value, dict):
        return " ".join(map(text_of_value, value.values()))
    return " ".join(map(text_of_value, value)) if isinstance(value, (list, tuple)) else str(value)
