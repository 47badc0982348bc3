"""The tables of a book in memory: eras, shelves, records with their versions, links, and jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any
from uuid import UUID

from memoranda.model.book_rows import ReadPiece
from memoranda.model.ledger import Entry
from memoranda.model.passages import PassageRow, Use, data_body
from memoranda.model.records import Audience, Owner, Record, View, owner_digest_parts
from memoranda.model.service_records import Appends
from memoranda.model.values import keyed, new_id
from memoranda.model.vectors import Embedding
from memoranda.storage import StoredRow, decode
from memoranda.storage.upkeep_questions import JobRow
from memoranda.storage.use_case import OwnerBase, Question, Write
from memoranda.text.terms import RULE


@dataclass(slots=True)
class Shelf:
    """A shelf: all passages with the same owner and the same audience."""

    number: int
    audience: Audience
    mark: int = 0
    #: The revision at which all its passages changed: a cache of an earlier one is invalid.
    renewed: int = 0
    #: Passages that left, with the revision at which they did; one that came back is on the shelf
    #: as well.
    gone: dict[UUID, int] = field(default_factory=dict)


@dataclass(slots=True)
class Era:
    """The time of an owner between erasures; after its end only the ledger is left, without the
    name.
    """

    number: int
    id: UUID
    owner: Owner | None
    #: Keyed digest of the owner's name.
    digest: bytes
    #: Microseconds since the epoch; None while it lasts.
    ended_at: int | None = None
    ledger: list[Entry] = field(default_factory=list)
    shelves: dict[Audience, Shelf] = field(default_factory=dict)
    records: dict[UUID, Kept] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """True once the owner was erased; later records of that owner belong to a new era."""
        return self.ended_at is not None

    def visible(self, view: View) -> list[Kept]:
        """Return the records that a view may see; every read uses this method or ``seen``."""
        return [kept for kept in self.records.values() if kept.now.audience.readable_by(view)]

    def seen(self, view: View, id: UUID) -> Kept | None:
        """Return a record if the view may see it, else None."""
        kept = self.records.get(id)
        return kept if kept is not None and kept.now.audience.readable_by(view) else None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: its row, its readers, and the ledger position that wrote it."""

    #: Its body is empty if the content was erased with one of its sources.
    row: StoredRow
    audience: Audience
    position: int

    def blank(self) -> Version:
        """Return this version without its content."""
        return replace(self, row=self.row._replace(body="", hash=b""))


@dataclass(slots=True)
class Kept:
    """A record with all its versions, oldest first, and its search terms, vectors and use."""

    era: Era
    versions: list[Version]
    #: Its sources; erasure follows them from a source to this record.
    sources: tuple[UUID, ...]
    run: bytes | None = None
    terms: bytes | None = None
    rule: int = RULE
    #: Packed vectors, by the name of their set.
    vectors: dict[str, bytes] = field(default_factory=dict)
    #: The shelf's revision at the last change.
    mark: int = 0
    #: In a thread, the last place that was given to a message.
    tail: int = 0
    use: Use | None = None
    #: Its groups of unlisted sources.
    groups: dict[UUID, set[UUID]] = field(default_factory=dict)

    @property
    def now(self) -> Version:
        """The newest version."""
        return self.versions[-1]

    @property
    def id(self) -> UUID:
        """The record's id, which all its versions share."""
        return UUID(bytes=self.now.row.id)

    @property
    def learnt(self) -> int:
        """The time at which the first version was recorded."""
        return self.versions[0].row.recorded_at

    @property
    def ended(self) -> int | None:
        """The time since which the record is not active any more; None while it is active."""
        since = list(takewhile(lambda version: not version.row.held, reversed(self.versions)))
        return since[-1].row.recorded_at if since else None

    def all_sources(self) -> set[UUID]:
        """Return its sources, listed or not."""
        return set(self.sources).union(*self.groups.values())

    def record(self, version: Version | None = None) -> Record:
        """Return the current record, or the one of an earlier version."""
        version = version or self.now
        row = version.row
        assert self.era.owner is not None
        id = UUID(bytes=row.id)
        return decode(
            row.type, id, self.era.owner, version.audience, row.version, row.recorded_at, row.body
        )

    def passage(self, active: str | None) -> PassageRow:
        """Return the row for an index, with the vector of the active set."""
        row = self.now.row
        return PassageRow(
            row.id, row.type, row.kind, row.status, row.thread, row.seq, row.at, row.valid_from, row.valid_to,
            self.terms or b"", self.vectors.get(active or ""), row.facets, self.learnt, self.ended, data_body(row.type, row.body),
        )  # fmt: skip


@dataclass(slots=True)
class Tables:
    """All tables of one book in memory."""

    secret: bytes
    living: dict[Owner, Era] = field(default_factory=dict)
    eras: dict[UUID, Era] = field(default_factory=dict)
    #: Every record of every owner, in the order in which they were made.
    records: dict[UUID, Kept] = field(default_factory=dict)
    #: Source → the records that have it as a source; the source itself may be missing.
    resting: dict[UUID, set[UUID]] = field(default_factory=dict)
    #: Keyed digest of an operation id → its era and position.
    operations: dict[bytes, tuple[Era, int]] = field(default_factory=dict)
    #: Keyed digest of a record that was erased → when.
    tombstones: dict[bytes, int] = field(default_factory=dict)
    #: Keyed digest of an owner whose processing is restricted → when, and what happens to new
    #: content.
    restrictions: dict[bytes, tuple[int, str]] = field(default_factory=dict)
    #: The id of a key → its last use.
    key_uses: dict[bytes, int] = field(default_factory=dict)
    #: Lines about reads, by their keys.
    reads: dict[bytes, ReadPiece] = field(default_factory=dict)
    jobs: dict[bytes, JobRow] = field(default_factory=dict)
    #: The embeddings whose vectors passages have, by name; the first is the active one.
    sets: dict[str, Embedding] = field(default_factory=dict)
    #: Sums of spending, by the number of their owner, who may be nobody (0): the columns of the
    #: key, and the others.
    spent: dict[int, dict[tuple[Any, ...], tuple[int, ...]]] = field(default_factory=dict)
    shelves_made: int = 0
    #: The named values of the book except its key: the marks of a copy, and the id of the copy that
    #: made it.
    properties: dict[str, bytes] = field(default_factory=dict)

    @property
    def active(self) -> str | None:
        """The name of the active set of vectors; None if there is none."""
        return next(iter(self.sets), None)

    def new_era(self, owner: Owner, id: UUID | None = None) -> Era:
        """Return a new era for an owner that has none; ``begin`` adds it to the book."""
        digest = keyed(self.secret, "owner", owner_digest_parts(owner))
        return Era(len(self.eras) + 1, id or new_id(), owner, digest)

    def restricted(self, digest: bytes) -> Appends | None:
        """Return what happens to new content of an owner; None if the processing is not
        restricted.
        """
        return Appends.stored(self.restrictions[digest][1]) if digest in self.restrictions else None

    def begin(self, era: Era) -> None:
        """Add an owner's era to the book, unless the book has it already."""
        assert era.owner is not None
        self.eras[era.id] = self.living[era.owner] = era

    def shelf(self, era: Era, audience: Audience) -> Shelf:
        """Return an owner's shelf for an audience; make it if there is none."""
        if audience not in era.shelves:
            self.shelves_made += 1
            era.shelves[audience] = Shelf(self.shelves_made, audience)
        return era.shelves[audience]

    def add(self, kept: Kept) -> None:
        """Add a new record to the book."""
        self.records[kept.id] = kept.era.records[kept.id] = kept
        self.rest(kept, kept.sources)

    def rest(self, kept: Kept, sources: tuple[UUID, ...]) -> None:
        """Replace the sources that a record lists."""
        before, kept.sources = kept.sources, tuple(dict.fromkeys(sources))
        self._index(kept, before)

    def group(self, kept: Kept, groups: dict[UUID, set[UUID]]) -> None:
        """Replace the groups of unlisted sources of a record."""
        before, kept.groups = kept.groups, groups
        self._index(kept, set().union(*before.values()))

    def _index(self, kept: Kept, before: Iterable[UUID]) -> None:
        now = kept.all_sources()
        for source in before:
            resting = self.resting.get(source, set())
            if source not in now:
                resting.discard(kept.id)
            if not resting:
                self.resting.pop(source, None)
        for source in now:
            self.resting.setdefault(source, set()).add(kept.id)

    def write(self, era: Era, entry: Entry) -> None:
        """Append an entry to the ledger of an owner's era."""
        era.ledger.append(entry)
        if entry.operation is not None:
            self.operations[entry.operation] = (era, entry.position)

    def buried(self, id: UUID) -> bool:
        """Return True if a record with this id was erased from this book."""
        return self.tombstone(id) in self.tombstones

    def tombstone(self, id: UUID) -> bytes:
        """Return the digest that is stored when a record is erased; without the book's secret it
        reveals no id.
        """
        return keyed(self.secret, "record", id.bytes)


@dataclass(slots=True)
class Session:
    """The tables as one use case reads and writes them, and the owner that the questions are
    about.
    """

    tables: Tables
    #: The era of that owner; an empty one that is not in the book if the owner has none.
    era: Era
    base: OwnerBase | None = None

    @classmethod
    def of(cls, tables: Tables) -> Session:
        """Return a session without an owner."""
        return cls(tables, Era(0, UUID(int=0), None, b""))


#: The functions that answer questions, those that carry out writes, and those that may refuse a
#: write beforehand.
Answers = dict[type[Question[Any]], Callable[[Session, Any], Any]]
Writes = dict[type[Write], Callable[[Session, Any], None]]
Checks = dict[type[Write], Callable[[Session, Any], object]]
