"""Plans the redaction of messages and documents: what stays, and which statements came from the words that are taken out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memoranda.errors import InvalidInput, Stale
from memoranda.model.data.items import Item
from memoranda.model.memories import Cited, Memory, searched_text
from memoranda.model.messages import Message
from memoranda.model.records import Record, RecordType
from memoranda.model.redactions import Redaction, as_now, as_said, cut_strings, strings_of, united
from memoranda.model.values import Span
from memoranda.text.similarity import coverage

_PARTS: Final = {
    RecordType.MESSAGE: "parts of messages",
    RecordType.MEMORY: "parts of memories",
    RecordType.ITEM: "parts of items",
}
_WHERE: Final = {RecordType.MESSAGE: "native form", RecordType.MEMORY: "data", RecordType.ITEM: "value"}
_SPACE: Final = re.compile(r"\s+")


#: Records of which parts can be taken out: of a memory, of the strings in its ``data``; of an item, of those in its value.
Redactable = Message | Memory | Item
#: In a memory that holds a document, what the book itself notes beside it: the schema's name, and ids of sources.
_BESIDE_DOCUMENT: Final = re.compile(r"/schema$|/grounds/")


def texts_of(record: Record) -> dict[str | None, str]:
    """Return the texts of which parts can be taken out, by JSON pointer; a message's own text has none."""
    if isinstance(record, Message):
        return {None: record.content, **dict(strings_of(record.native))}
    if isinstance(record, Item):
        return dict(strings_of(record.value, kept=()))
    if not isinstance(record, Memory):
        return {}
    strings = strings_of(record.data, kept=())
    if record.document is None:
        return dict(strings)
    return {pointer: text for pointer, text in strings if not _BESIDE_DOCUMENT.match(pointer)}


def without_spans(record: Redactable, spans: Collection[Span]) -> Any:
    """Return a record without some of its parts; None if nothing is left of it."""
    if isinstance(record, Message):
        return record.without_spans(spans)
    name = "value" if isinstance(record, Item) else "data"
    data, removed = cut_strings(getattr(record, name), texts_of(record), united(spans), record.removed)
    if name == "value" and spans and _is_bare(data):
        return None
    return record.changed(**{name: data}, removed=removed)


def _is_bare(value: Any) -> bool:
    """True if nothing is left of a value but empty objects and lists."""
    if isinstance(value, (dict, list)):
        return all(map(_is_bare, value.values() if isinstance(value, dict) else value))
    return value is None


def is_earlier(record: Redactable, redaction: Redaction) -> bool:
    """True if a redaction is of an earlier value of an item than the present one."""
    return isinstance(record, Item) and redaction.at not in (None, record.updated_at)


@dataclass(frozen=True, slots=True)
class Removed:
    """The parts that are taken out of one record that stays."""

    #: The record as it is before, and without them.
    before: Redactable
    left: Redactable
    #: The parts, as places in the record as it was said.
    spans: tuple[Span, ...]
    #: The words that are taken out.
    words: str

    @property
    def is_found_by_others(self) -> bool:
        """True if recall finds the record by other words than before."""
        return searched_text(self.before) != searched_text(self.left)

    def has_quote(self, quote: str) -> bool:
        """True if a quote from the record contains words that are taken out."""
        left = (
            self.left.content if isinstance(self.left, Message) else "\n".join(texts_of(self.left).values())
        )
        return _plain(quote) not in _plain(left)

    def tells(self, text: str) -> bool:
        """True if all words of a text are among those that are taken out."""
        return coverage(text, self.words) == 1

    def is_source_of(self, text: str, quotes: Sequence[Cited]) -> bool:
        """True if a statement with this text came from the words that are taken out: by its quotes, or by its own words."""
        own = [one.quote for one in quotes if one.message == self.before.id]
        return all(map(self.has_quote, own)) if own else self.tells(text)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def removed_from(record: Redactable, redaction: Redaction) -> Removed | None:
    """Return what a redaction takes out of a record; None if it leaves nothing of it."""
    if redaction.version is None:
        spans, said = as_now(redaction.spans, record.removed), united(redaction.spans)
    else:
        if record.version != redaction.version:
            raise Stale(
                f"{record.type.value} {record.id} was read at version {redaction.version} and is at version {record.version}; "
                "read it again, then decide"
            )
        _check(record, redaction.spans)
        native = _in_native(record, redaction.spans) if isinstance(record, Message) else ()
        spans = united((*redaction.spans, *native))
        said = as_said(spans, record.removed)
    left = without_spans(record, spans)
    return None if left is None else Removed(record, left, said, _words(record, spans))


def hidden_from(record: Redactable, earlier: Redactable, spans: tuple[Span, ...]) -> Removed:
    """Return what was taken out of a record already, given the version that still had it."""
    return Removed(earlier, record, spans, _words(earlier, as_now(spans, earlier.removed)))


def _check(record: Redactable, spans: Iterable[Span]) -> None:
    """Raise ``InvalidInput`` for a part that the record does not have."""
    texts = texts_of(record)
    for one in spans:
        if one.path is None and None not in texts:
            raise InvalidInput(
                f"path: give the JSON pointer of a string in the {_WHERE[record.type]} of {record.type.value} {record.id}",
                field="path",
            )
        if one.end > len(texts.get(one.path, "")):
            where = "text" if one.path is None else f"{_WHERE[record.type]} at {one.path!r}"
            raise InvalidInput(
                f"spans: the {where} of {record.type.value} {record.id} has no characters {one.start} to {one.end}",
                field="spans",
            )


def _in_native(message: Message, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield where a message's native form has the same words, with the white space around them."""
    wanted = {message.content[one.start : one.end] for one in spans if one.path is None}
    return places_of(wanted, strings_of(message.native))


def places_of(wanted: Iterable[str], texts: Iterable[tuple[str | None, str]]) -> Iterator[Span]:
    """Yield where texts have some words, with the white space around them."""
    patterns = [_pattern(words) for words in wanted if words.strip()]
    for pointer, text in texts:
        for pattern in patterns:
            for found in pattern.finditer(text):
                yield Span(start=found.start(), end=found.end(), path=pointer)


def _pattern(words: str) -> re.Pattern[str]:
    bare = words.strip()
    before, after = words[: words.index(bare)], words[words.index(bare) + len(bare) :]
    return re.compile(f"(?:{re.escape(before)})?{re.escape(bare)}(?:{re.escape(after)})?")


def _words(record: Redactable, spans: Sequence[Span]) -> str:
    texts = texts_of(record)
    return "\n".join(texts.get(one.path, "")[one.start : one.end] for one in spans)


def parts_of(removed: Iterable[Removed]) -> Counter[str]:
    """Return how many parts records lose that stay, by type."""
    counts: Counter[str] = Counter()
    for one in removed:
        counts[_PARTS[one.left.type]] += len(one.spans)
    return counts


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
