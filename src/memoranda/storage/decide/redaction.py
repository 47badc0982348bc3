"""Plans the redaction of messages and documents: what stays, and which statements came from the
words that are taken out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memoranda.errors import InvalidInput, Stale
from memoranda.model.items import Item
from memoranda.model.memories import Cited, Memory, searched_text
from memoranda.model.messages import NO_WORDS, Episode, Message, Overflow, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record, RecordType
from memoranda.model.redactions import (
    Redaction,
    as_now,
    as_said,
    cut,
    cut_strings,
    strings_of,
    united,
    with_strings,
)
from memoranda.model.values import Span
from memoranda.storage.damaged import Damaged
from memoranda.text.similarity import coverage, terms_in, words_with_forms

_PARTS: Final = {
    RecordType.MESSAGE: "parts of messages",
    RecordType.MEMORY: "parts of memories",
    RecordType.ITEM: "parts of items",
    RecordType.EPISODE: "parts of episodes",
    RecordType.OVERFLOW: "parts of episodes",
    RecordType.THREAD: "parts of threads",
    RecordType.PROFILE: "parts of profiles",
}
_WHERE: Final = {
    RecordType.MESSAGE: "native form",
    RecordType.MEMORY: "data",
    RecordType.ITEM: "value",
    RecordType.EPISODE: "text",
    RecordType.THREAD: "texts",
    RecordType.OVERFLOW: "calls",
}
_SPACE: Final = re.compile(r"\s+")


#: Records of which parts can be taken out: of a memory, of the strings in its ``data``; of an item,
#: of those in its value. They list the parts, so that a copy of the book loses them, too.
Redactable = Message | Memory | Item | Episode
#: Records that are made anew from others. A value of a profile, or an item of its list, goes whole.
Remade = Thread | Overflow | ProfileDocument
_FIELDS: Final = {
    RecordType.EPISODE: ("goal", "summary", "tags", "tool_calls"),
    RecordType.THREAD: ("title", "state", "result", "tags", "summary", "task_summary", "prepared"),
    RecordType.OVERFLOW: ("calls",),
    RecordType.PROFILE: ("body",),
}
#: In a memory that holds a document, what the book itself notes beside it: the schema's name, and
#: ids of sources.
_BESIDE_DOCUMENT: Final = re.compile(r"/schema$|/grounds/")


def texts_of(record: Record) -> dict[str | None, str]:
    """Return the texts of which parts can be taken out, by JSON pointer; a message's own text has
    none.
    """
    if isinstance(record, Message):
        return {None: record.content, **dict(strings_of(record.native))}
    if isinstance(record, Item):
        return dict(strings_of(record.value, kept=()))
    if isinstance(record, Episode | Thread | Overflow):
        return {
            pointer: text for pointer, text in strings_of(_fields(record), kept=_STAYING) if text
        }
    if not isinstance(record, Memory):
        return {}
    strings = strings_of(record.data, kept=())
    if record.document is None:
        return dict(strings)
    return {pointer: text for pointer, text in strings if not _BESIDE_DOCUMENT.match(pointer)}


#: Fields of calls that say what was called, and when.
_STAYING: Final = frozenset({"tool", "called_at", "outcome"})


def _fields(record: Record) -> Any:
    return record.model_dump(mode="json", include=set(_FIELDS[record.type]))


def without_parts(record: Record, spans: Collection[Span]) -> Any:
    """Return an episode, or a record that is made anew from others, without parts of its texts;
    None if nothing is left.
    """
    if isinstance(record, ProfileDocument):
        return record.without_places({one.path for one in spans if one.path is not None})
    _check(record, spans)
    texts, data = texts_of(record), _fields(record)
    left: dict[str, str | None] = {}
    for pointer in {one.path for one in spans if one.path is not None}:
        text = cut(texts[pointer], [one for one in spans if one.path == pointer])
        bare = (
            None
            if pointer.rpartition("/")[2].isdecimal()
            else NO_WORDS
            if pointer.count("/") > 1
            else ""
        )
        left[pointer] = text if text.strip() else bare
    changed = record.model_dump() | with_strings(data, left)
    if isinstance(record, Episode):
        if not changed["goal"] and not changed["summary"]:
            changed["goal"] = NO_WORDS
        changed["removed"] = united((*record.removed, *as_said(spans, record.removed)))
    return type(record).model_validate(changed)


def without_fields(record: Record, spans: Collection[Span]) -> Any:
    """Return another version of a record that is made anew from others, without each field in which
    it loses a part; None if nothing is left.
    """
    names = {one.path.split("/")[1] for one in spans if one.path is not None}
    if isinstance(record, ProfileDocument):
        paths = (one.path.split("/")[:3] for one in spans if one.path is not None)
        return record.without_places({"/".join(path) for path in paths})
    if isinstance(record, Overflow):
        return None
    made = {"summary", "task_summary", "prepared"}
    emptied = record.model_dump(include=names | made).keys()
    bare = {
        name: Thread.model_fields[name].get_default(call_default_factory=True) for name in emptied
    }
    return record.changed(**bare)


def without_spans(record: Redactable, spans: Collection[Span]) -> Any:
    """Return a record without some of its parts; None if nothing is left of it."""
    if isinstance(record, Message):
        return record.without_spans(spans)
    if isinstance(record, Episode):
        return without_parts(record, spans)
    name = "value" if isinstance(record, Item) else "data"
    data, removed = cut_strings(
        getattr(record, name), texts_of(record), united(spans), record.removed
    )
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
    #: The statements that are forgotten with them; empty where words alone are taken out.
    fact: str = ""

    @property
    def is_found_by_others(self) -> bool:
        """True if recall finds the record by other words than before."""
        return searched_text(self.before) != searched_text(self.left)

    def has_quote(self, quote: str) -> bool:
        """True if a quote from the record contains words that are taken out."""
        return _plain(quote) not in _plain(_all_of(self.left))

    @property
    def is_empty(self) -> bool:
        """True of a message that stays without a word."""
        return (
            isinstance(self.left, Message)
            and self.left.content == NO_WORDS
            and self.left.native is None
        )

    def is_source_of(self, text: str, quotes: Sequence[Cited]) -> bool:
        """True if a statement came from the words that are taken out, and more of its words are of
        the fact than of another one.
        """
        own = [one.quote for one in quotes if one.message == self.before.id]
        if own and not all(map(self.has_quote, own)):
            return False
        left = _all_of(self.left)
        if not self.fact and coverage(self.words, text) == 1 and coverage(self.words, left) < 1:
            # It tells all that is taken out, and nothing else does.
            return True
        if (
            not own
            and not self.is_empty
            and (coverage(text, self.words) < 1 or coverage(text, left) == 1)
        ):
            return False
        other, fact = self._other_terms(own), terms_in(self.fact)
        said = [forms for _, forms in words_with_forms(text) if not forms.isdisjoint(other)]
        rest = [forms for forms in said if forms.isdisjoint(fact)]
        if 2 * len(rest) == len(said):
            # As many of one as of the other: what is left of the record decides.
            return terms_in(left).isdisjoint(form for forms in rest for form in forms)
        return 2 * len(rest) < len(said)

    def _other_terms(self, quotes: Iterable[str]) -> frozenset[int]:
        """Return the terms that may be of another fact: of all that was said, or what quotes keep
        if no fact is forgotten.
        """
        if self.fact:
            return terms_in(_all_of(self.before))
        return frozenset().union(*(terms_in(self._left_of(one)) for one in quotes))

    def _left_of(self, quote: str) -> str:
        """Return a quote without the words that are taken out."""
        start = _all_of(self.before).find(quote)
        now = [
            one
            for one in as_now(self.spans, self.before.removed)
            if one.path is None and one.end > start
        ]
        inside = [(max(one.start - start, 0), min(one.end - start, len(quote))) for one in now]
        return "" if start < 0 else cut(quote, [Span(start=a, end=b) for a, b in inside if a < b])


def _all_of(record: Redactable) -> str:
    return record.content if isinstance(record, Message) else "\n".join(texts_of(record).values())


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def removed_from(record: Redactable, redaction: Redaction, fact: str = "") -> Removed | None:
    """Return what a redaction takes out of a record; None if it leaves nothing of it.

    With the ``fact`` that is forgotten a message stays without a word: another statement may come
    from it.
    """
    if redaction.version is None:
        spans, said = as_now(redaction.spans, record.removed), united(redaction.spans)
    else:
        check_version(record, redaction)
        _check(record, redaction.spans)
        native = _in_native(record, redaction.spans) if isinstance(record, Message) else ()
        spans = united((*redaction.spans, *native))
        said = as_said(spans, record.removed)
    left = without_spans(record, spans)
    if left is None and fact and isinstance(record, Message):
        bare = {"content": NO_WORDS, "native": None, "token_count": None}
        left = record.changed(**bare, removed=united((*record.removed, *said)))
    return None if left is None else Removed(record, left, said, _words(record, spans), fact)


def hidden_from(
    record: Redactable, earlier: Redactable, spans: tuple[Span, ...], fact: str
) -> Removed:
    """Return what was taken out of a record already, given the version that still had it."""
    return Removed(earlier, record, spans, _words(earlier, as_now(spans, earlier.removed)), fact)


def statements_of(records: Iterable[Record]) -> str:
    """Return what the memories among some records state."""
    told = (
        record
        for record in records
        if isinstance(record, Memory) and not isinstance(record, Damaged)
    )
    return "\n".join(memory.passage_text() for memory in told)


def check_version(record: Record, redaction: Redaction) -> None:
    """Raise ``Stale`` if the places of a redaction are those of another version."""
    if record.version != redaction.version:
        raise Stale(
            f"{record.type.value} {record.id} was read at version {redaction.version} and is at version {record.version}; "
            "read it again, then decide"
        )


def has(record: Record, spans: Iterable[Span]) -> bool:
    """True if a record that is made anew has all these parts; a profile may lack them."""
    texts = texts_of(record)
    return isinstance(record, ProfileDocument) or all(
        one.end <= len(texts.get(one.path, "")) for one in spans
    )


def _check(record: Record, spans: Iterable[Span]) -> None:
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


def parts_of(lost: Iterable[tuple[RecordType, int]]) -> Counter[str]:
    """Return how many parts records lose that stay, by type."""
    counts: Counter[str] = Counter()
    for type, parts in lost:
        counts[_PARTS[type]] += parts
    return counts


def quotes_left(memory: Memory, removed: Mapping[UUID, Removed]) -> tuple[Cited, ...]:
    """Return the quotes of a memory; of one that contains words that are taken out, the message and
    its day.
    """
    return tuple(
        _forgotten(one, removed[one.message].left)
        if one.message in removed and removed[one.message].has_quote(one.quote)
        else one
        for one in memory.quotes
    )


def _forgotten(cited: Cited, message: Record) -> Cited:
    at = message.observed_at if isinstance(message, Message) else message.recorded_at
    return Cited(message=cited.message, forgotten=at.date())


def text_of_value(value: Any) -> str:
    """Return the words of a profile's value."""
    if isinstance(value, dict):
        return " ".join(map(text_of_value, value.values()))
    return " ".join(map(text_of_value, value)) if isinstance(value, (list, tuple)) else str(value)
