"""What a reader asks for: filters, pages, and the answers' shapes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from commonplace.errors import InvalidInput
from commonplace.model.ledger import Actor, Verb
from commonplace.model.messages import Message
from commonplace.model.records import Record, RecordType


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that a record meets all of; None sets no condition."""

    types: frozenset[RecordType] | None = None
    kinds: frozenset[str] | None = None
    statuses: frozenset[str] | None = None
    thread: UUID | None = None
    #: The holder of this key or name only.
    slots: tuple[bytes, ...] | None = None
    #: Said, observed or begun at or after, and before.
    since: datetime | None = None
    until: datetime | None = None
    #: True for memories at a moment means that they held then.
    valid_at: datetime | None = None
    #: Memories with one of these keys.
    keys: frozenset[str] | None = None
    #: Memories about this.
    subject: str | None = None
    #: Written by, or said to, this agent.
    agent: str | None = None
    #: With at least one of these.
    tags: frozenset[str] | None = None
    #: Come in by one of these ways.
    trust: frozenset[str] | None = None
    #: What was true at this moment: memories valid then, held or superseded since; what has no validity passes.
    as_of: datetime | None = None
    #: What the book knew at this moment: learnt by then, and held then.
    known_at: datetime | None = None
    #: Of memories, those that are pinned.
    pinned: bool = False
    #: Newest first instead of oldest first.
    newest_first: bool = False

    @property
    def by_places(self) -> bool:
        """Whether it asks for the messages of one thread, which come in the order of their places."""
        return self.thread is not None and self.types == frozenset({RecordType.MESSAGE})


@dataclass(frozen=True, slots=True)
class Page:
    """Some records, and where to go on."""

    records: tuple[Record, ...]
    #: Give it to the next call; None at the end.
    cursor: str | None


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One change of one record: who did what when, and the version that came of it."""

    position: int
    at: datetime
    actor: Actor
    verb: Verb
    version: int
    #: The version's content; None where it was erased.
    record: Record | None


@dataclass(frozen=True, slots=True)
class Source:
    """Something that a record rests on, quoted."""

    id: UUID
    type: RecordType
    #: Who said or did it.
    by: str
    at: datetime
    quote: str
    #: What this source rests on in turn.
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why the book holds a record: what it rests on, who wrote it, and how it came to be as it is."""

    record: Record
    sources: tuple[Source, ...]
    history: tuple[HistoryStep, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that recall found, and why."""

    record: Record
    score: float
    rank: int
    #: Each word of the question that the passage holds, with its share of the score.
    words: tuple[tuple[str, float], ...]

    @property
    def id(self) -> UUID:
        """The passage's id."""
        return self.record.id

    @property
    def text(self) -> str:
        """The passage's text."""
        if isinstance(self.record, Message):
            return self.record.content
        return self.record.passage_text() or ""


def place_of(cursor: str | None) -> int | None:
    """The place in a thread that a cursor names."""
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 18:
        raise InvalidInput("cursor: not one that a page gave; begin without one", field="cursor")
    return int(cursor)


def quote(text: str, length: int = 300) -> str:
    """A text short enough to be shown as evidence."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
