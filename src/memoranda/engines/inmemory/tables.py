"""What a book in memory consists of: eras, shelves, records with their versions, links, and jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import takewhile
from typing import NamedTuple
from uuid import UUID

from memoranda.model.changes import Job
from memoranda.model.language_models import Sums
from memoranda.model.ledger import Entry
from memoranda.model.passages import PassageRow, Use
from memoranda.model.records import Audience, Owner, Record, View, owner_digest_parts
from memoranda.model.values import keyed, new_id
from memoranda.model.vectors import Embedding
from memoranda.storage import StoredRow, decode
from memoranda.text.terms import RULE


@dataclass(slots=True)
class Shelf:
    """All passages with the same owner and the same audience."""

    number: int
    audience: Audience
    mark: int = 0
    #: The mark at which all its passages changed: what is held of an earlier one is void.
    renewed: int = 0
    #: Passages that left, with the mark of their leaving; one that came back is on the shelf as well.
    gone: dict[UUID, int] = field(default_factory=dict)


@dataclass(slots=True)
class Era:
    """An owner's life between erasures; after its end only its ledger is left, without the name."""

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
        return self.ended_at is not None

    def visible(self, view: View) -> list[Kept]:
        """The records that a view may see: the one place where a view bounds what is read."""
        return [kept for kept in self.records.values() if kept.now.audience.readable_by(view)]

    def seen(self, view: View, id: UUID) -> Kept | None:
        """One record, where the view may see it."""
        kept = self.records.get(id)
        return kept if kept is not None and kept.now.audience.readable_by(view) else None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: its row, its readers, and the ledger position that wrote it."""

    #: Without a body where the content went with one of its sources.
    row: StoredRow
    audience: Audience
    position: int

    def blank(self) -> Version:
        """This version without its content."""
        return replace(self, row=self.row._replace(body="", hash=b""))


@dataclass(slots=True)
class Kept:
    """A record with all its versions, oldest first, and what stands beside them."""

    era: Era
    versions: list[Version]
    #: What it rests on; erasure walks from there to here.
    sources: tuple[UUID, ...]
    run: bytes | None = None
    terms: bytes | None = None
    rule: int = RULE
    #: Packed, by the name of their set.
    vectors: dict[str, bytes] = field(default_factory=dict)
    #: Of its shelf, at the last change.
    mark: int = 0
    #: Of a thread: the last place ever given out in it.
    tail: int = 0
    use: Use | None = None

    @property
    def now(self) -> Version:
        return self.versions[-1]

    @property
    def id(self) -> UUID:
        return UUID(bytes=self.now.row.id)

    @property
    def learnt(self) -> int:
        """When the book first learnt it."""
        return self.versions[0].row.recorded_at

    @property
    def ended(self) -> int | None:
        """When it ceased to be held; None while it is."""
        since = list(takewhile(lambda version: not version.row.held, reversed(self.versions)))
        return since[-1].row.recorded_at if since else None

    def record(self, version: Version | None = None) -> Record:
        """The record as it stands, or as it stood."""
        version = version or self.now
        row = version.row
        assert self.era.owner is not None
        id = UUID(bytes=row.id)
        return decode(row.type, id, self.era.owner, version.audience, row.version, row.recorded_at, row.body)

    def passage(self, active: str | None) -> PassageRow:
        """The record as an index needs it, with its vector of the active set."""
        row = self.now.row
        return PassageRow(
            row.id, row.type, row.kind, row.status, row.thread, row.seq, row.at, row.valid_from, row.valid_to,
            self.terms or b"", self.vectors.get(active or ""), row.facets, self.learnt, self.ended,
        )  # fmt: skip


@dataclass(slots=True)
class Work:
    """A job, and what stands beside it."""

    #: Without what is kept with it.
    job: Job
    #: How often it had been put when it was leased.
    leased_generation: int = 0
    #: It is not due before, however often it is put.
    not_before: datetime | None = None
    #: What is kept with it, as JSON, and all that it tells of.
    kept: str | None = None
    kept_about: frozenset[UUID] = frozenset()

    def let_go(self) -> None:
        """Take away what is kept with it."""
        self.kept, self.kept_about = None, frozenset()

    def silence(self) -> bool:
        """Take away what it failed with; False where there is nothing."""
        told = bool(self.job.error)
        self.job = replace(self.job, error="")
        return told


class SpentRow(NamedTuple):
    """What sums of spending have in common."""

    tenant: str
    #: The owner's number; 0 for those who are not here, or no more.
    era: int
    agent: str | None
    day: date
    task: str
    model: str


@dataclass(slots=True)
class Tables:
    """The whole book."""

    secret: bytes
    living: dict[Owner, Era] = field(default_factory=dict)
    eras: dict[UUID, Era] = field(default_factory=dict)
    #: Every record of every owner, in the order of their making.
    records: dict[UUID, Kept] = field(default_factory=dict)
    #: Source → the records that rest on it, whether it is here or not.
    resting: dict[UUID, set[UUID]] = field(default_factory=dict)
    #: Keyed digest of an operation id → its era and position.
    operations: dict[bytes, tuple[Era, int]] = field(default_factory=dict)
    #: Keyed digest of a record that was erased → when.
    tombstones: dict[bytes, int] = field(default_factory=dict)
    jobs: dict[UUID, Work] = field(default_factory=dict)
    #: The embeddings whose vectors passages have, by name; the first is the active one.
    sets: dict[str, Embedding] = field(default_factory=dict)
    spent: dict[SpentRow, Sums] = field(default_factory=dict)
    shelves_made: int = 0
    #: The marks of a book that is copied, or has moved, by name.
    marks: dict[str, bytes] = field(default_factory=dict)
    #: The id of the copy that made this book.
    made_by: str | None = None

    @property
    def active(self) -> str | None:
        """The name of the set that recall reads."""
        return next(iter(self.sets), None)

    def new_era(self, owner: Owner, id: UUID | None = None) -> Era:
        """An era for an owner that has none; it is not in the book until ``begin``."""
        digest = keyed(self.secret, "owner", owner_digest_parts(owner))
        return Era(len(self.eras) + 1, id or new_id(), owner, digest)

    def begin(self, era: Era) -> None:
        """Take an era into the book, unless it is there."""
        assert era.owner is not None
        self.eras[era.id] = self.living[era.owner] = era

    def shelf(self, era: Era, audience: Audience) -> Shelf:
        """The shelf of an era for an audience."""
        if audience not in era.shelves:
            self.shelves_made += 1
            era.shelves[audience] = Shelf(self.shelves_made, audience)
        return era.shelves[audience]

    def add(self, kept: Kept) -> None:
        """Take a new record into the book."""
        self.records[kept.id] = kept.era.records[kept.id] = kept
        self.rest(kept, kept.sources)

    def rest(self, kept: Kept, sources: tuple[UUID, ...]) -> None:
        """Let a record rest on these and on nothing else."""
        for source in kept.sources:
            resting = self.resting.get(source, set())
            resting.discard(kept.id)
            if not resting:
                self.resting.pop(source, None)
        kept.sources = tuple(dict.fromkeys(sources))
        for source in kept.sources:
            self.resting.setdefault(source, set()).add(kept.id)

    def write(self, era: Era, entry: Entry) -> None:
        """Put an entry at the end of an era's ledger."""
        era.ledger.append(entry)
        if entry.operation is not None:
            self.operations[entry.operation] = (era, entry.position)

    def buried(self, id: UUID) -> bool:
        """Whether a record of this id was erased from this book."""
        return self.tombstone(id) in self.tombstones

    def tombstone(self, id: UUID) -> bytes:
        return keyed(self.secret, "record", id.bytes)

    def all_versions(self) -> Iterator[tuple[Kept, Version]]:
        for kept in self.records.values():
            for version in kept.versions:
                yield kept, version
