"""Redactions: parts of messages and of the strings in documents that are taken out for good; and
the traces of a fact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.memories import Memory
from memoranda.model.records import Owner, RecordType, View
from memoranda.model.values import Span, micros, moment

#: Fields of a native form whose strings a program needs as they are: ids, types, names of tools and
#: models, times.
_KEPT: Final = frozenset(
    {
        *("id", "tool_call_id", "tool_use_id", "toolCallId", "call_id", "response_id", "run_id"),
        *(
            "type",
            "kind",
            "part_kind",
            "role",
            "name",
            "tool_name",
            "model",
            "model_name",
            "provider_name",
        ),
        *("timestamp", "finish_reason", "stop_reason", "status", "outcome", "media_type"),
    }
)


@dataclass(frozen=True, slots=True)
class Redaction:
    """The parts of one record to take out."""

    #: The id of the message, or of another record with strings in JSON.
    message: UUID
    spans: tuple[Span, ...]
    #: The version of the record that the places belong to; None: they are places in the record as
    #: it was said.
    version: int | None = None
    #: Of an item: when the value was stored that has these places; None: the present one.
    at: datetime | None = None
    #: Of a record that is made anew from others: the version that has these places, where that may
    #: be an earlier or a later one.
    of_version: int | None = None


@dataclass(frozen=True, slots=True)
class Erasures:
    """The erasures of a book: eras (whole owners), and single records."""

    eras: tuple[UUID, ...] = ()
    records: tuple[UUID, ...] = ()
    #: Parts of records, as places in the records as they were said.
    redactions: tuple[Redaction, ...] = ()


#: Why a part of a record tells a fact. Those of ``TAKEN`` are taken; the others are listed, and
#: taken when they are named.
QUOTE: Final = "a source's quote"
SENTENCE: Final = "a sentence with all words of it"
#: Where the assistant or a tool repeats it, in a table, a list or a call.
VALUE: Final = "its value"
ONE_WORD: Final = "its only word"
SOMEBODY_ELSE: Final = "all its words, of somebody else"
#: The reasons for which a part is taken without being asked for.
TAKEN: Final = frozenset({QUOTE, SENTENCE, VALUE})
#: Where a language model was asked; its name has the version of the record, so that it can be taken
#: without asking again.
BY_MODEL: Final = "a language model finds it told here"
#: Of an item: it goes whole if this is named.
ITS_NAME: Final = "its namespace and name"


@dataclass(frozen=True, slots=True)
class Telling:
    """A part of a record that tells a fact."""

    #: The id of the record.
    message: UUID
    #: The version of the record that has it.
    version: int
    span: Span
    #: The words of the part.
    text: str
    why: str
    type: RecordType = RecordType.MESSAGE
    #: Of an earlier version: when it was stored.
    at: datetime | None = None

    @property
    def name(self) -> str:
        """The name by which ``take`` asks for this part."""
        earlier = "" if self.at is None else f"@{self.version}"
        version = f"#{self.version}" if self.why == BY_MODEL else ""
        return f"{self.message}:{self.span.start}-{self.span.end}{self.span.path or ''}{earlier}{version}"

    @property
    def to_the_letter(self) -> bool:
        """True if forgetting the fact takes this part without being asked for it."""
        return self.why in TAKEN


@dataclass(frozen=True, slots=True)
class Trace:
    """A text that tells a fact, or may tell it, with the reason."""

    id: UUID
    type: RecordType
    #: Up to 300 characters of it.
    text: str
    why: str
    #: How likely it tells the fact, from 0 to 1.
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Asking:
    """The cost of asking a language model if records without the value of a fact still tell it."""

    #: The records that share a word or a topic with it and are asked about, newest first, and how
    #: many older ones are not.
    records: int
    left_out: int
    calls: int
    #: The most tokens, of questions and answers.
    tokens: int
    #: True if the model was asked; what it found is among the ``listed`` parts.
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Traces:
    """Traces of a fact: a plan for forgetting it."""

    owner: Owner
    view: View
    #: The memories meant; if a question may mean several, those, and nothing else was looked for.
    memories: tuple[Memory, ...]
    is_ambiguous: bool = False
    #: ``fact`` or ``record``: if the words in messages go, too.
    what: str = "fact"
    #: How well each memory answers the question, if they were asked for by words.
    scores: Mapping[UUID, float] = field(default_factory=dict)
    #: Statements under the same key that are other facts: they stay unless they are named.
    earlier: tuple[Memory, ...] = ()
    #: The records to forget: what was named, and memories that say the same.
    ids: tuple[UUID, ...] = ()
    #: The parts of records to take out.
    spans: tuple[Telling, ...] = ()
    #: Parts that are taken only if the call names them.
    listed: tuple[Telling, ...] = ()
    #: The episodes and threads that were looked through, with their versions: they lose no other
    #: parts.
    looked: Mapping[UUID, int] = field(default_factory=dict)
    #: The records that go, with what rests on them alone, as far as the view may see them.
    goes: tuple[Trace, ...] = ()
    #: The records that stay without a part: profiles without items, threads without their summary
    #: or title.
    changes: tuple[Trace, ...] = ()
    #: What goes, counted by place.
    removed: Mapping[str, int] = field(default_factory=dict)
    #: What stays and has to do with it: somebody else's with the same value, a source in other
    #: words, another agent's.
    still_tells: tuple[Trace, ...] = ()
    #: How many more there are than ``still_tells`` names.
    more: int = 0
    #: What a language model was asked, or could be; None without a model.
    asking: Asking | None = None

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """The parts of records to take out, by record."""
        parts: dict[Redaction, list[Span]] = {}
        for one in self.spans:
            if one.at is None:
                place = Redaction(one.message, (), one.version)
            elif one.type is RecordType.ITEM:
                # Places in an earlier value of an item are those of what was stored.
                place = Redaction(one.message, (), at=one.at)
            else:
                place = Redaction(one.message, (), of_version=one.version)
            parts.setdefault(place, []).append(one.span)
        for id, version in self.looked.items():
            parts.setdefault(Redaction(id, (), version), [])
        return tuple(replace(place, spans=united(spans)) for place, spans in parts.items())

    def __repr__(self) -> str:
        if self.is_ambiguous:
            return f"<Traces: one of {len(self.memories)} memories may be meant>"
        parts = [f"{len(self.memories)} memories", f"{len(self.spans)} parts of records"]
        parts += [f"{len(self.listed)} parts listed"] if self.listed else []
        return f"<Traces: {', '.join(parts)}; may still be told by {len(self.still_tells) + self.more}>"


def strings_of(
    native: Any, pointer: str = "", *, kept: Collection[str] = _KEPT
) -> Iterator[tuple[str, str]]:
    """Yield each string and number in JSON with its JSON pointer, without the fields that a program
    needs as they are.
    """
    if isinstance(native, str):
        yield pointer, native
    elif isinstance(native, (int, float)) and not isinstance(native, bool):
        yield pointer, str(native)
    elif isinstance(native, dict):
        for name, inner in native.items():
            if name not in kept or not isinstance(inner, str):
                yield from strings_of(inner, f"{pointer}/{escaped(name)}", kept=kept)
    elif isinstance(native, list):
        for place, inner in enumerate(native):
            yield from strings_of(inner, f"{pointer}/{place}", kept=kept)


def with_strings(native: Any, texts: Mapping[str, str | None], pointer: str = "") -> Any:
    """Return JSON with other texts in place of the strings at these JSON pointers; those with None
    are left out.

    A number that loses its text becomes null.
    """
    if isinstance(native, str):
        return texts.get(pointer, native)
    if isinstance(native, (int, float)) and not isinstance(native, bool):
        return native if texts.get(pointer, str(native)) else None
    if isinstance(native, dict):
        fields = ((name, inner, f"{pointer}/{escaped(name)}") for name, inner in native.items())
        return {
            name: with_strings(inner, texts, place)
            for name, inner, place in fields
            if texts.get(place, "") is not None
        }
    if isinstance(native, list):
        entries = ((inner, f"{pointer}/{place}") for place, inner in enumerate(native))
        return [
            with_strings(inner, texts, place)
            for inner, place in entries
            if texts.get(place, "") is not None
        ]
    return native


def cut_strings(
    data: Any, strings: Mapping[str | None, str], spans: Collection[Span], removed: Sequence[Span]
) -> tuple[Any, tuple[Span, ...]]:
    """Return JSON without parts of its strings, and all that was taken out of it, as places in what
    was said.

    A string of which nothing is left goes: its field is unset, and the later entries of its list
    move up.
    """
    texts: dict[str, str | None] = {}
    taken = [*spans]
    for pointer in {one.path for one in spans if one.path is not None}:
        left = cut(strings[pointer], [one for one in spans if one.path == pointer])
        texts[pointer] = left if left.strip() else None
        if texts[pointer] is None and _is_listed(data, pointer):
            taken.append(Span(start=0, end=len(strings[pointer]), path=pointer, unlisted=True))
    return with_strings(data, texts), united((*removed, *as_said(taken, removed)))


def _is_listed(data: Any, pointer: str) -> bool:
    """True if a JSON pointer leads to an entry of a list."""
    for token in pointer.split("/")[1:-1]:
        data = (
            data[int(token)]
            if isinstance(data, list)
            else data[token.replace("~1", "/").replace("~0", "~")]
        )
    return isinstance(data, list)


def escaped(name: str) -> str:
    """Return a name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, with those that overlap or touch as one."""
    found: list[Span] = []
    for one in sorted(spans, key=lambda span: (span.path is not None, span.path or "", span.start)):
        last = found[-1] if found else None
        if last is not None and last.path == one.path and one.start <= last.end:
            whole = {"end": max(last.end, one.end), "unlisted": last.unlisted or one.unlisted}
            found[-1] = last.model_copy(update=whole)
        else:
            found.append(one)
    return tuple(found)


def as_said(spans: Iterable[Span], removed: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans of a record as it is now as spans of the record as it was said, before
    ``removed`` was taken out.
    """
    found = []
    for one in spans:
        path = _pointer_as_said(one.path, removed)
        start, last = (_place_as_said(place, path, removed) for place in (one.start, one.end - 1))
        found.append(Span(start=start, end=last + 1, path=path, unlisted=one.unlisted))
    return united(found)


def as_now(spans: Iterable[Span], removed: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans of a record as it was said as spans of the record as it is now; what was
    ``removed`` is left out.
    """
    found = []
    for one in spans:
        gaps = [gap for gap in removed if gap.path == one.path]
        places = [one.start, one.end]
        places += [
            place for gap in gaps for place in (gap.start, gap.end) if one.start < place < one.end
        ]
        places.sort()
        for start, end in pairwise(places):
            if start < end and not any(gap.start <= start < gap.end for gap in gaps):
                before = sum(gap.end - gap.start for gap in gaps if gap.end <= start)
                path = _pointer_as_now(one.path, removed)
                found.append(Span(start=start - before, end=end - before, path=path))
    return united(found)


def _unlisted_at(pointer: str, removed: Iterable[Span]) -> list[int]:
    """Return the places, as it was said, of the entries that left the list at a JSON pointer."""
    paths = [gap.path.rpartition("/") for gap in removed if gap.unlisted and gap.path is not None]
    return sorted(int(last) for parent, _, last in paths if parent == pointer)


def _pointer_as_said(pointer: str | None, removed: Sequence[Span]) -> str | None:
    if pointer is None or not any(gap.unlisted for gap in removed):
        return pointer
    said = ""
    for token in pointer.split("/")[1:]:
        gaps = _unlisted_at(said, removed)
        place = int(token) if gaps else 0
        for gap in gaps:
            place += gap <= place
        said += f"/{place if gaps else token}"
    return said


def _pointer_as_now(pointer: str | None, removed: Sequence[Span]) -> str | None:
    if pointer is None or not any(gap.unlisted for gap in removed):
        return pointer
    now, said = "", ""
    for token in pointer.split("/")[1:]:
        gaps = _unlisted_at(said, removed)
        now += f"/{int(token) - sum(gap < int(token) for gap in gaps) if gaps else token}"
        said += f"/{token}"
    return now


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
            [
                [span.start, span.end, *([] if span.path is None else [span.path])]
                for span in one.spans
            ],
            *([] if one.at is None else [micros(one.at)]),
            *([] if one.of_version is None else [None, one.of_version]),
        ]
        for one in redactions
    ]


def load_redactions(given: Iterable[Any]) -> Iterator[Redaction]:
    """Yield redactions from JSON that ``dump_redactions`` made; raise an error for anything
    else.
    """
    for id, places, *more in given:
        spans = (
            Span(start=start, end=end, path=path[0] if path else None)
            for start, end, *path in places
        )
        at, version = (*more, None, None)[:2]
        yield Redaction(
            UUID(id),
            tuple(spans),
            at=None if at is None else moment(at),
            of_version=None if version is None else int(version),
        )


def joined(redactions: Iterable[Redaction]) -> tuple[Redaction, ...]:
    """Return redactions of records as they were said, with one for each record, for each value of
    an item, and for each version of a record that is made anew.
    """
    found: dict[tuple[UUID, datetime | None, int | None], tuple[Span, ...]] = {}
    for one in redactions:
        key = one.message, one.at, one.of_version
        found[key] = united((*found.get(key, ()), *one.spans))
    return tuple(
        Redaction(id, spans, at=at, of_version=version)
        for (id, at, version), spans in found.items()
    )
