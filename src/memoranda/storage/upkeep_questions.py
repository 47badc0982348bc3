"""The questions of copies, spending, jobs, verification, vectors and erasure, which an engine
answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.book_rows import BookFrame, Frame, JobPiece, Piece, PieceKind, SpentPiece
from memoranda.model.ledger import Erasures
from memoranda.model.records import Owner, Record
from memoranda.model.vectors import SetState, VectorSet
from memoranda.storage.use_case import OwnerBase, Question

# ── pieces ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ErasAfter(Question[list[bytes]]):
    """The ids of the book's next eras after this one, ended ones included, in order."""

    after: bytes
    limit: int


@dataclass(frozen=True, slots=True)
class PiecesAfter(Question[list[Piece]]):
    """The next pieces of an era (or the book's tombstones) after a key, in the order of their keys;
    texts are unchecked.

    ``readers`` of a record or a version are three times None if it stands on no shelf of its owner.
    """

    kind: PieceKind
    era: bytes
    after: bytes
    limit: int


@dataclass(frozen=True, slots=True)
class Properties(Question[Mapping[str, bytes]]):
    """The named values of the book: its key, its marks, and the id of the copy that made it."""


@dataclass(frozen=True, slots=True)
class EraFrame(Question[Frame | None]):
    """The owner, shelves, jobs and spending of an era; None if the book does not have the era."""

    era: bytes


@dataclass(frozen=True, slots=True)
class BookRows(Question[BookFrame]):
    """The rows that belong to no owner, without tombstones."""


@dataclass(frozen=True, slots=True)
class OwnersOf(Question[list[Owner]]):
    """The owners of a tenant that have a ledger, in order."""

    tenant: str


# ── spending ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SpentWhere:
    """The conditions that select sums of spending."""

    tenant: str
    #: None: of every owner, and of nobody.
    base: OwnerBase | None
    #: None: of every agent, and of none.
    agent: str | None
    #: The first day, and the day after the last one, as they are stored.
    since: str
    until: str

    def named(self) -> dict[str, Any]:
        """Return the conditions as the parameters of a statement."""
        no = None if self.base is None else self.base.no
        return {
            "tenant": self.tenant,
            "owner": no,
            "agent": self.agent,
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class SpentRows(Question[list[tuple[Owner | None, SpentPiece]]]):
    """The sums of spending that meet the conditions, each with its owner; None if that owner was
    erased.
    """

    where: SpentWhere


@dataclass(frozen=True, slots=True)
class SpentSum(Question[Sequence[int]]):
    """The same sums added up: the counts, and the price in its smallest steps."""

    where: SpentWhere


@dataclass(frozen=True, slots=True)
class SpentOf(Question[Sequence[SpentPiece]]):
    """All sums of spending of one owner."""

    base: OwnerBase


# ── jobs ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with its owner."""

    #: Its answer is None except from ``DueJob``.
    piece: JobPiece
    #: Both are None for the book's own upkeep.
    owner: Owner | None
    era: UUID | None


@dataclass(frozen=True, slots=True)
class JobAt(Question[JobRow | None]):
    """The job with this id, of any owner; only in a write, to whose end it stays as it is."""

    id: UUID


@dataclass(frozen=True, slots=True)
class JobOf(Question[JobRow | None]):
    """The job of one owner with this kind and key; at most one there is."""

    owner: Owner
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class JobsIn(Question[list[JobRow]]):
    """Jobs, those due the longest first; None is any state, and any owner."""

    state: str | None
    limit: int
    owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class Now(Question[int]):
    """The time by which leases are counted, in microseconds: the server's, if there is one that
    many workers share.
    """

    #: The caller's time.
    at: datetime


@dataclass(frozen=True, slots=True)
class DueKind(Question[str | None]):
    """The kind of the longest due job of any owner that may be leased."""

    kinds: tuple[str, ...]
    #: In microseconds, as ``Now`` answers it.
    now: int
    #: Only jobs of this tenant's owners, and of the book's own upkeep; None: of any tenant.
    tenant: str | None = None
    #: Only this job; None: any.
    only: UUID | None = None


@dataclass(frozen=True, slots=True)
class DueJob(Question[JobRow | None]):
    """That job, with its answer; in a write. No other worker can lease it, or another job of its
    owner, before the end.
    """

    kinds: tuple[str, ...]
    now: int
    tenant: str | None = None
    only: UUID | None = None


@dataclass(frozen=True, slots=True)
class JobsAbout(Question[list[JobPiece]]):
    """The jobs of every owner that are about one of these records, or whose answer quotes one;
    without the answer's text.
    """

    ids: tuple[UUID, ...]


# ── verification and upkeep ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FindEra(Question[OwnerBase | None]):
    """The same as ``FindOwner``, of an era; without an owner if the era has ended, and None if
    there is no such era.
    """

    era: bytes


@dataclass(frozen=True, slots=True)
class BookCounts:
    """The numbers of a book's records by type, jobs by state, owners with a ledger, and terms that
    an old rule made.
    """

    records: Mapping[str, int]
    jobs: Mapping[str, int]
    owners: int
    stale_terms: int
    #: The vectors of a tenant's passages, by the name of their set; empty for the whole book, whose
    #: sets are counted.
    vectors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts(Question[BookCounts]):
    """The counts of the whole book, or of one tenant's part."""

    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class TableFaults(Question[list[tuple[str, object]]]):
    """The faults in whole tables, each as the name of a check in ``TABLE_FAULTS`` and the name of a
    row.
    """


# ── terms and vectors: these questions are about all owners ───────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StaleTerms(Question[list[Record]]):
    """Passages whose terms were made by an older rule."""

    rule: int
    limit: int


@dataclass(frozen=True, slots=True)
class PassagesAmong(Question[dict[UUID, Any]]):
    """Those of these records that are passages and still exist, each with the engine's own opaque
    key.
    """

    ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class RewordedAmong(Question[dict[UUID, int]]):
    """The messages among these records that are not as they were said any more, each with its
    version.
    """

    ids: Sequence[UUID]


class StoredSet(NamedTuple):
    """A set of vectors in the book."""

    #: The engine's own opaque key.
    key: Any
    set: VectorSet

    @property
    def is_active(self) -> bool:
        """True if recall reads this set."""
        return self.set.state is SetState.ACTIVE


@dataclass(frozen=True, slots=True)
class Sets(Question[list[StoredSet]]):
    """All sets of vectors, the active one first."""


@dataclass(frozen=True, slots=True)
class LockSet(Question[StoredSet | None]):
    """The set with this name; it stays as it is to the end of the write."""

    name: str


@dataclass(frozen=True, slots=True)
class Lacking(Question[list[Record]]):
    """Passages without a vector in the set with this name, oldest first; damaged records are left
    out.
    """

    name: str
    limit: int


# ── erasure ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AllRecords(Question[list[Record]]):
    """All records of the owner."""


@dataclass(frozen=True, slots=True)
class Belongings(Question[Counter[str]]):
    """The numbers of rows that belong to these records of the owner, by name.

    The names are ``versions`` (earlier ones), ``terms``, ``uses``, ``vectors`` (of every set),
    ``links`` (to sources).
    """

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class CountFilled(Question[int]):
    """The number of earlier versions of these records of the owner that still have their
    content.
    """

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class OwnJobs(Question[list[bytes]]):
    """The ids of the owner's jobs."""


@dataclass(frozen=True, slots=True)
class PastErasures(Question[Erasures]):
    """The ids of everything that was ever erased from this book."""


@dataclass(frozen=True, slots=True)
class OwnersOfRecords(Question[dict[UUID, Owner]]):
    """The owners of these records, of any owner; absent records are left out."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class OwnersOfEras(Question[list[Owner]]):
    """The owners of those of the given eras that have not ended."""

    eras: tuple[UUID, ...]
