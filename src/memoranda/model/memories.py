"""Memories: statements about an owner, with the messages that they cite as sources."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from memoranda.first_use import expression
from memoranda.model.data_filters import record_data
from memoranda.model.items import named_parts
from memoranda.model.records import AudienceKind, Record, RecordType, Trust, past_of
from memoranda.model.unlisted import Unlisted, with_earlier
from memoranda.model.values import Data, ExternalId, FilledText, Moment, Name, Span, Text, Value

#: Characters of a quote that a note carries.
QUOTE_LENGTH = 300
#: Quotes that one statement keeps.
MOST_QUOTES = 100


class Cited(Value):
    """One of a statement's source messages, and the words quoted from it, if any."""

    message: UUID
    quote: Text = Field(default="", max_length=QUOTE_LENGTH)
    #: The day of the message, where the words quoted from it were taken out of it.
    forgotten: date | None = None


def quotes_of(cited: Iterable[Cited], sources: Collection[UUID]) -> tuple[Cited, ...]:
    """Return the quotes from these sources, each once, up to the number that is kept."""
    quoted = (one for one in cited if (one.quote or one.forgotten) and one.message in sources)
    return tuple({(one.message, one.quote): one for one in quoted}.values())[:MOST_QUOTES]


#: As many records may one statement name as its sources.
SOURCES = 10_000


class Cardinality(StrEnum):
    """The number of statements of the same sort that can be true at one time: one, many, or
    recurring ones.
    """

    ONE = "one"
    MANY = "many"
    RECURRING = "recurring"


class MemoryStatus(StrEnum):
    """The status of a memory: active, or why it is not."""

    ACTIVE = "active"
    #: A newer statement took its place.
    SUPERSEDED = "superseded"
    #: It was retracted.
    RETRACTED = "retracted"
    #: The operation that made it was undone.
    UNDONE = "undone"


#: The kind of a memory that says how the assistant should act, whatever is asked.
INSTRUCTION = "instruction"
#: The status of active memories that are not archived, for filters.
HELD = frozenset({MemoryStatus.ACTIVE.value})
#: What filters name an active memory that is archived: nobody used it for long, or it made room at
#: a limit.
ARCHIVED = "archived"
#: The statuses of all active memories, for filters.
STANDING = HELD | {ARCHIVED}


class Granularity(StrEnum):
    """How exactly a time was said: a day that nobody named is not made up."""

    HOUR = "hour"
    PART_OF_DAY = "part_of_day"
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"
    #: From one day, month or year to another.
    SPAN = "span"


_ISO_PARTS = expression(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_DAY = timedelta(days=1)


def _span_of_text(text: str) -> dict[str, Any]:
    """Return the fields of the span for "2023-05-07", "2023-05", "2023" or "2026-10-12/2026-10-16"
    (both days included).
    """
    sides = [_ISO_PARTS.fullmatch(side.strip()) for side in text.split("/")]
    if len(sides) > 2 or None in sides:
        raise ValueError(
            "is no day; write 2023-05-07, 2023-05, 2023, or two of them with / between"
        )
    first, last = (_ends_of(side) for side in (sides[0], sides[-1]) if side is not None)
    parts = sides[0].lastindex if sides[0] is not None else 0
    named = (Granularity.YEAR, Granularity.MONTH, Granularity.DAY)[(parts or 1) - 1]
    return {
        "first": first[0],
        "after": last[1],
        "granularity": Granularity.SPAN if len(sides) == 2 else named,
    }


def _ends_of(found: re.Match[str]) -> tuple[date, date]:
    """Return the first day of a written day, month or year, and the day after its last one."""
    year, month, day = (None if one is None else int(one) for one in found.groups())
    if day is not None:
        first = date(year or 0, month or 0, day)
        return first, first + _DAY
    if month is not None:
        first = date(year or 0, month, 1)
        return first, date(first.year + month // 12, month % 12 + 1, 1)
    return date(year or 0, 1, 1), date((year or 0) + 1, 1, 1)


class DaySpan(Value):
    """Whole days, with the granularity in which they were said."""

    first: date
    #: The day after the last one.
    after: date
    granularity: Granularity = Granularity.DAY

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        try:
            if type(given) is date:
                return {"first": given, "after": given + _DAY}
            return _span_of_text(given) if isinstance(given, str) else given
        except OverflowError as exc:
            raise ValueError("lies after the last day that can be stored") from exc

    @model_validator(mode="after")
    def _ordered(self) -> DaySpan:
        if self.after <= self.first:
            raise ValueError("after lies before first or on it; give the day after the last one")
        return self

    @property
    def begins(self) -> datetime:
        """The moment at which the first day begins, in UTC."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def ends(self) -> datetime:
        """The moment at which the last day ends, in UTC."""
        return datetime.combine(self.after, time(), UTC)

    def meets(self, other: DaySpan) -> bool:
        """True if the two have a day in common."""
        return self.first < other.after and other.first < self.after


def _is_among(id: Any, gone: Container[UUID]) -> bool:
    try:
        return UUID(id) in gone
    except (TypeError, ValueError, AttributeError):
        return False


class Memory(Record):
    """One statement worth keeping. Its content never changes; a correction is a newer memory."""

    type: ClassVar[RecordType] = RecordType.MEMORY

    kind: Name = "fact"
    content: FilledText
    #: Whom or what it is about; the owner where it is not said.
    subject: Name | None = None
    cardinality: Cardinality = Cardinality.MANY
    #: With a key, one holds at a time, for its owner, audience and agent.
    key: Name | None = None
    #: When it applies, and what to beware of.
    applies_when: Text = ""
    data: Data = None
    #: The parts that were taken out of strings in ``data``, as places in what was stored first.
    removed: tuple[Span, ...] = ()
    tags: tuple[Name, ...] = Field(default=(), max_length=100)
    #: The agent that wrote it.
    agent: Name | None = None
    #: The thread in which it was said.
    thread: UUID | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    #: The granularity in which each of the two was said; None for days and moments.
    valid_from_granularity: Granularity | None = None
    valid_to_granularity: Granularity | None = None
    #: From this moment on it is out of every read; upkeep erases it.
    expires_at: Moment | None = None
    #: The days on which it happened or will happen; how long it is true is something else.
    happened: DaySpan | None = None
    observed_at: Moment
    #: Its sources; of more than eight the first, the last and the best ones (``source_count``
    #: counts all of them).
    sources: tuple[UUID, ...] = Field(default=(), max_length=SOURCES)
    #: Its other sources, which are not listed.
    unlisted: tuple[Unlisted, ...] = ()
    #: Sources that only earlier versions have.
    past: tuple[UUID, ...] = ()
    #: Quotes from the sources that it lists; they stay when a message is removed by age.
    quotes: tuple[Cited, ...] = Field(default=(), max_length=MOST_QUOTES)
    #: The language of what was said, as far as it is known.
    language: Name | None = None
    trust: Trust = Trust.USER
    pinned: bool = False
    #: How often it was said again.
    confirmations: int = Field(default=0, ge=0)
    supersedes: tuple[UUID, ...] = ()
    superseded_by: UUID | None = None
    #: The statement that it would have replaced, had it enough trust; it has no claim to its key as
    #: long as this is set.
    disputes: UUID | None = None
    status: MemoryStatus = MemoryStatus.ACTIVE
    #: Why it was retracted or archived.
    reason: Text = ""
    #: It is active and recall finds it, but lists of active memories, counts and limits leave it
    #: out.
    archived: bool = False
    #: The caller's own id for it, unique among the owner's memories with the same audience.
    external_id: ExternalId | None = None
    #: The episode that tells of the part of a conversation from which it comes. ``get``, ``why``
    #: and exports look it up; it is never stored.
    source_episode: UUID | None = None

    @field_validator("key")
    @classmethod
    def _trimmed(cls, key: str | None) -> str | None:
        return None if key is None else key.strip()

    @model_validator(mode="after")
    def _period(self) -> Memory:
        if (
            self.valid_from is not None
            and self.valid_to is not None
            and self.valid_to < self.valid_from
        ):
            raise ValueError("valid_to lies before valid_from; correct one of them")
        return self

    @model_validator(mode="after")
    def _quoted(self) -> Memory:
        if any(one.message not in self.sources for one in self.quotes):
            raise ValueError(
                "a quote is from a message that is not among the sources; add it to the sources"
            )
        return self

    @property
    def ends_at(self) -> datetime | None:
        """The moment from which it is not valid any more, or not kept; None if there is none."""
        return min(
            (end for end in (self.valid_to, self.expires_at) if end is not None), default=None
        )

    @property
    def active(self) -> bool:
        """True if the statement is active."""
        return self.status is MemoryStatus.ACTIVE and not self.withdrawn

    @property
    def counts(self) -> bool:
        """True if the statement is active and not archived."""
        return self.active and not self.archived

    @property
    def document(self) -> dict[str, Any] | None:
        """The document of a memory that follows a schema; None for other memories."""
        found = self.data.get("document") if isinstance(self.data, dict) else None
        return found if isinstance(found, dict) else None

    @property
    def has_value(self) -> bool:
        """True if ``data`` has the value of a profile field that is bound to its key."""
        return isinstance(self.data, dict) and "value" in self.data

    def holds_at(self, now: datetime) -> bool:
        """True if the statement is valid at a moment."""
        begun = self.valid_from is None or self.valid_from <= now
        return begun and (self.valid_to is None or self.valid_to > now)

    @property
    def source_count(self) -> int:
        """The number of all its sources."""
        return len(self.sources) + sum(group.count for group in self._standing())

    def identity(self) -> tuple[Any, ...] | None:
        """Return key, audience and agent (none in a global audience); None if inactive, disputed or
        without a key.
        """
        if self.key is None or not self.active or self.disputes is not None:
            return None
        agent = None if self.audience.kind is AudienceKind.GLOBAL else self.agent
        return (self.key, self.audience.kind.value, agent, *self.audience.groups)

    def rests_on(self) -> tuple[UUID, ...]:
        return (*self.stands_on(), *self.past)

    def stands_on(self) -> tuple[UUID, ...]:
        """Return its sources and the groups of unlisted ones; without any, the thread in which it
        was said, if there is one.
        """
        if self.sources:
            return (*self.sources, *(group.id for group in self._standing()))
        return () if self.thread is None else (self.thread,)

    def _standing(self) -> Iterator[Unlisted]:
        return (group for group in self.unlisted if group.id not in self.past)

    def following(self, earlier: Record) -> Any:
        return self.changed(
            past=past_of(self, earlier), unlisted=with_earlier(self.unlisted, earlier)
        )

    def _grounds_without(self, gone: Container[UUID]) -> list[list[Any]]:
        """Return what is left of the sources of each part of a document: of the earlier statement,
        and of each change.
        """
        parts = (
            self.data.get("grounds")
            if isinstance(self.data, dict) and "document" in self.data
            else None
        )
        listed = parts if isinstance(parts, list) else []
        return [
            [one for one in part if not _is_among(one, gone)]
            for part in listed
            if part and isinstance(part, list)
        ]

    def without(self, gone: Container[UUID]) -> Memory | None:
        """Return this statement without erased sources and earlier versions, or None if no source
        is left.
        """
        grounds = self.stands_on()
        if grounds and all(ground in gone for ground in grounds):
            return None
        left_of_parts = self._grounds_without(gone)
        if not all(left_of_parts):
            # Its document and its words cannot be told apart by their sources.
            return None
        sources = tuple(source for source in self.sources if source not in gone)
        thread = None if self.thread is None or self.thread in gone else self.thread
        left: Memory = self.changed(
            sources=sources,
            unlisted=tuple(group for group in self._standing() if group.id not in gone),
            past=(),
            quotes=quotes_of(self.quotes, sources),
            thread=thread,
            data={**self.data, "grounds": left_of_parts} if left_of_parts else self.data,
        )
        return left

    def passage_text(self) -> str:
        """Return the content; the key and a colon come before it if there is a key."""
        return self.content if self.key is None else f"{self.key}: {self.content}"

    def document_lines(self) -> list[str]:
        """Return what the inserted document says and the content does not, a line for each text or
        number; none without one.
        """
        data = self.data
        if not isinstance(data, dict) or "document" not in data:
            return []
        found = record_data(self.type.value, {"data": data})
        if found is None or found.schema is None:
            return []
        told = self.passage_text().casefold()
        return [
            f"{name.replace('_', ' ')}: {text}" if name else text
            for name, text in ((name, str(part)) for name, part in named_parts(found.value))
            if text.strip() and text.casefold() not in told
        ]


def searched_text(record: Record) -> str | None:
    """Return the text by which recall finds a record; None if recall does not search such records.

    It is the passage's text, and of a statement with an inserted document also what that says
    besides.
    """
    text = record.passage_text()
    if not isinstance(record, Memory) or text is None:
        return text
    return "\n".join((text, *record.document_lines()))
