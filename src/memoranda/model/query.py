"""Filters for reads, and the results of reads: pages, history, hits of recall, and facts about a
whole book.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.errors import InvalidInput
from memoranda.first_use import dataclass
from memoranda.model.data_filters import DataFilter
from memoranda.model.forming_results import conversations_wait
from memoranda.model.ledger import Actor, Verb
from memoranda.model.messages import Message
from memoranda.model.quotations import Excerpt, FindExcerpt, excerpt_at, listed_lines
from memoranda.model.records import Owner, Record, RecordType, View

#: Words of a question, and the stretches of time that they may mean, each up to its end;
#: microseconds since the epoch.
Times = Sequence[tuple[str, Sequence[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions for records, all of which must be met; None sets no condition."""

    types: frozenset[RecordType] | None = None
    kinds: frozenset[str] | None = None
    #: Records whose kind begins with this: of items their namespace, as ``namespace_text`` writes
    #: its first labels.
    kind_prefix: str | None = None
    statuses: frozenset[str] | None = None
    thread: UUID | None = None
    #: Of other threads than this.
    not_thread: UUID | None = None
    #: Threads that a job forms (turns into memories), if they have messages that are not formed,
    #: and these messages.
    unformed: bool = False
    #: The holder of this key or name only.
    slots: tuple[bytes, ...] | None = None
    #: Said, observed or begun at or after, and before.
    since: datetime | None = None
    until: datetime | None = None
    #: A moment at which memories were valid.
    valid_at: datetime | None = None
    #: Memories with one of these keys.
    keys: frozenset[str] | None = None
    #: Memories about this.
    subject: str | None = None
    #: Written by, or said to, this agent.
    agent: str | None = None
    #: With at least one of these.
    tags: frozenset[str] | None = None
    #: With one of these trusts.
    trust: frozenset[str] | None = None
    #: What was true at this moment: memories valid then, active or superseded since; records
    #: without validity pass.
    as_of: datetime | None = None
    #: What the book knew at this moment: stored by then, and active then.
    known_at: datetime | None = None
    #: Memories whose ``valid_to`` had not passed at this moment; commitments stay, since what is
    #: overdue is still owed.
    current_at: datetime | None = None
    #: Records that had expired at this moment; for upkeep.
    expired_at: datetime | None = None
    #: Records that cite one of these.
    sources: frozenset[UUID] | None = None
    #: A test of a memory's or message's content: those that fail it are left out where nothing else
    #: of theirs has text. It is a shortcut, so that they need not be built: some that fail it may
    #: be there.
    touches: Callable[[str], bool] | None = None
    #: Only records that were withdrawn, such as deleted items; a caller of a book cannot ask for
    #: them.
    withdrawn: bool = False
    #: Of memories, those that are pinned.
    pinned: bool = False
    #: Conditions on the data of memories and items.
    data: DataFilter | None = None
    #: Newest first instead of oldest first.
    newest_first: bool = False

    @property
    def by_places(self) -> bool:
        """True if the filter selects the messages of one thread; these are ordered by their
        places.
        """
        return self.thread is not None and self.types == frozenset({RecordType.MESSAGE})


@dataclass(frozen=True, slots=True)
class Page:
    """A page of records, and the cursor for the next page."""

    records: tuple[Record, ...]
    #: Give it to the next call; None at the end.
    cursor: str | None
    #: On the first page of what forming makes: how many conversations wait to be formed, which this
    #: view sees.
    waiting: int = 0

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> Record:
        return self.records[place]

    def __repr__(self) -> str:
        rest = "the last page" if self.cursor is None else "more to come"
        waits = f"; {conversations_wait(self.waiting)}" if self.waiting else ""
        return f"<Page of {len(self)} {'record' if len(self) == 1 else 'records'}, {rest}{waits}>"

    def __str__(self) -> str:
        return listed_lines(repr(self), self.records)


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One change of one record: its author, kind and time, and the version that it made."""

    position: int
    at: datetime
    actor: Actor
    verb: Verb
    version: int
    #: The version's content; None where it was erased.
    record: Record | None


@dataclass(frozen=True, slots=True)
class Source:
    """One of a record's sources, with the words quoted from it."""

    id: UUID
    type: RecordType
    #: Who said or did it, and "from tool" or "from web" where that was neither user nor operator:
    #: 'user "Mallory", from web'.
    by: str
    at: datetime
    quote: str
    #: The sources of this source.
    sources: tuple[Source, ...] = ()
    #: True if it is not in the book any more: it was removed by age, or not imported, and the quote
    #: is the one the record kept; or the words quoted from it were forgotten, and the quote is
    #: empty.
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a record: its sources and its history."""

    record: Record
    #: A page of its sources; the first page begins with those that the record lists.
    sources: tuple[Source, ...]
    history: tuple[HistoryStep, ...]
    #: The number of all its sources; of a profile each value's are counted.
    source_count: int = 0
    #: Give it to the next call for more sources; None at the end.
    cursor: str | None = None

    def __repr__(self) -> str:
        return f"<Why {self.record!r}: sources {self.source_count}, changes {len(self.history)}>"


class Because(StrEnum):
    """The reason why a passage is shown with another one instead of alone."""

    #: It says the same in the same words.
    SAME = "same"
    #: It is a source of the other passage.
    SOURCE = "source"
    #: It was derived from the other passage, which answers better.
    CONCLUSION = "conclusion"


@dataclass(frozen=True, slots=True)
class Folded:
    """A found passage that is shown together with a related passage instead of alone."""

    record: Record
    score: float
    because: Because


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that recall found, and what explains why."""

    record: Record
    score: float
    rank: int
    #: Each word of the question that it holds, with its share of the words score.
    words: tuple[tuple[str, float], ...] = ()
    #: The cosine of its vector and the question's, 0 if it has none; None if no vectors were
    #: compared.
    cosine: float | None = None
    #: Of a memory: its strength when found, which raised its score, and how often it was used.
    strength: float | None = None
    uses: int = 0
    #: Passages found too that say the same, or are sources of this one.
    folded: tuple[Folded, ...] = ()
    #: Its first few sources, quoted, as far as the view may see them.
    sources: tuple[Source, ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    #: What its score consists of: the name and the amount of each term. They add up to the score.
    terms: tuple[tuple[str, float], ...] = ()
    #: The same for words of which it holds only a near word.
    near_words: tuple[tuple[str, float], ...] = ()
    #: The chance that it answers the question, from 0 to 1; None where the question was ignored.
    confidence: float | None = None
    #: True for a memory whose time is over: its end or, of what lay ahead when it was said, its
    #: last day has passed.
    past: bool = False
    #: Finds its excerpt; without it, that is the whole text.
    find_excerpt: FindExcerpt | None = field(
        default=None, compare=False, metadata={"internal": True}
    )

    def __repr__(self) -> str:
        words = f" by {', '.join(word for word, _ in self.words[:5])}" if self.words else ""
        return f"<Hit {self.rank}, score {self.score:.2f}{words}: {self.record!r}>"

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

    @property
    def excerpt(self) -> Excerpt:
        """The part of a long text with most of the question's words; its beginning without any; all
        of a short text.
        """
        if self.find_excerpt is None:
            return excerpt_at(self.text, 0, len(self.text))
        return self.find_excerpt(self.text, self.words, self.near_words)

    @property
    def disputed(self) -> str:
        """The reason why contexts leave out this statement; empty if they do not."""
        other = getattr(self.record, "disputes", None)
        return "" if other is None else f"memory {other} contradicts it and has more trust"


class WhyMissing(StrEnum):
    """The reason why a passage is not among recall's hits."""

    #: The view may see no record with this id.
    UNKNOWN = "unknown"
    #: It is no message, memory or episode.
    NOT_A_PASSAGE = "not_a_passage"
    #: It does not meet a condition.
    FILTERED = "filtered"
    #: Nothing in it answers the question.
    NO_MATCH = "no_match"
    #: Its confidence is below ``at_least``.
    UNSURE = "unsure"
    #: Others answer better.
    OUTRANKED = "outranked"
    #: It is shown with another.
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class MissingHit:
    """The explanation why one id is not among recall's hits."""

    id: UUID
    because: WhyMissing
    #: The same for people, with its figures.
    reason: str
    #: Its place among all that answer, and what that counted; nothing where it does not answer at
    #: all.
    rank: int | None = None
    score: float | None = None
    #: What that score consists of, as in ``Hit.terms``.
    terms: tuple[tuple[str, float], ...] = ()


class Hits(list[Hit]):
    """The passages that recall found, best first."""

    #: Why vectors were not compared although the mode asked for them; empty if they were.
    no_vectors_because: str = ""
    #: The ids named in ``explain`` that are no hits, each with the reason.
    missing: tuple[MissingHit, ...] = ()
    #: The name of the set of vectors that the book reads; empty if no passage told.
    reads: str = ""

    def __str__(self) -> str:
        return listed_lines(f"<Hits: {len(self)}>", self)


def place_of(cursor: str | None) -> int | None:
    """Return the place (position in a thread) that a cursor names."""
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 18:
        raise InvalidInput(
            "cursor: it was not returned by a page; begin without a cursor", field="cursor"
        )
    return int(cursor)


class Scan(NamedTuple):
    """The arguments of one scan."""

    owner: Owner
    view: View
    filter: Filter
    cursor: str | None
    limit: int


# ── facts about a whole book ──────────────────────────────────────────────────────────────────────

#: Called with the pages done and the total.
Progress: TypeAlias = Callable[[int, int], None]
#: Verifies a copy at a path; an error refuses the copy.
Prove: TypeAlias = Callable[[Path], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of ``verify``."""

    records: int
    versions: int
    entries: int
    #: One sentence for each thing that is not as the ledger says.
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BookFacts:
    """Facts about a book and its content, for people and for monitoring."""

    engine: str
    address: str
    format: int
    owners: int
    records: Mapping[str, int]
    jobs: Mapping[str, int]
    bytes: int
    stale_terms: int
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = (
            ", ".join(f"{type} {count}" for type, count in self.records.items() if count)
            or "no records"
        )
        return f"<BookFacts {self.engine} {self.address}: owners {self.owners}; {held}; {self.bytes:,} bytes>"
