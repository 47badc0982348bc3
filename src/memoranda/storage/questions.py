"""The questions that use cases ask of an engine, which answers them inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from memoranda.model.book_rows import BookFrame, Frame, JobPiece, Piece, PieceKind, SpentPiece
from memoranda.model.ledger import Entry, Erasures
from memoranda.model.memories import Memory
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, Page
from memoranda.model.records import Audience, Owner, Record, View
from memoranda.model.vectors import SetState, VectorSet
from memoranda.ports import Scan

A = TypeVar("A")


class Question(Generic[A]):
    """A question whose answer is an ``A``; it is about the owner of the last ``Base`` unless its class says otherwise."""

    __slots__ = ()


class Write:
    """A change of stored rows. It is carried out when the use case has ended: no question sees it."""

    __slots__ = ()


#: A use case in progress: it yields questions and writes, is sent the questions' answers, and returns ``A``.
#: It may be run again from its beginning, with other answers; only the writes of its last run are carried out.
Deciding = Generator[Question[Any] | Write, Any, A]


def ask(question: Question[A]) -> Generator[Question[Any] | Write, A, A]:
    """Ask the engine one question, and return its answer."""
    return (yield question)


def run(deciding: Deciding[A], answer: Callable[[Question[Any]], Any]) -> tuple[A, list[Write]]:
    """Run a use case to its end, answering each question at once; returns its result and its writes in order."""
    writes: list[Write] = []
    try:
        step = next(deciding)
        while True:
            if isinstance(step, Write):
                writes.append(step)
                step = next(deciding)
            else:
                step = deciding.send(answer(step))
    except StopIteration as done:
        return done.value, writes


@dataclass(slots=True)
class OwnerBase:
    """An owner's present era (time since the last whole erasure) as a use case finds it, and what the book counts of it."""

    owner: Owner | None
    #: The key of the book's digests.
    secret: bytes
    #: None if the owner has no era; a use case that stores records of the owner sets a new one.
    era: UUID | None
    #: The position of the last ledger entry.
    position: int = 0
    #: The number of active memories.
    held: int = 0
    #: The engine's own number of the owner; None until the row of a new era is stored.
    no: int | None = None


@dataclass(frozen=True, slots=True)
class Base(Question[OwnerBase]):
    """The present era of an owner; the questions after it are about that owner. In a write it stays as it is to the end."""

    owner: Owner


@dataclass(frozen=True, slots=True)
class FindOwner(Question[OwnerBase]):
    """The same as ``Base``, for a use case that only reads, or that stores nothing in the owner's ledger: without a lock."""

    owner: Owner


@dataclass(frozen=True, slots=True)
class Applied:
    """The ledger entry that an operation wrote."""

    entry: Entry
    #: True if the owner's era has ended since.
    ended: bool


@dataclass(frozen=True, slots=True)
class ByOperation(Question[Applied | None]):
    """The entry that has this digest of an operation id, in any owner's ledger."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class Secret(Question[bytes]):
    """The key of the book's digests."""


@dataclass(frozen=True, slots=True)
class Load(Question[dict[UUID, Record]]):
    """The current versions of these records; absent ones are left out."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Holders(Question[dict[bytes, Record]]):
    """The records that now have these unique keys or names, given as slots (their digests)."""

    slots: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ThreadEnd:
    """The facts about a thread that adding messages needs."""

    audience: Audience
    agent: str | None
    #: The last place that was ever given out in it.
    tail: int


@dataclass(frozen=True, slots=True)
class EndOf(Question[ThreadEnd | None]):
    """The end of a thread; None if there is no such thread, or if its creation was undone."""

    thread: UUID


@dataclass(frozen=True, slots=True)
class LastUserTurn(Question[int]):
    """The place (position in the thread) of a user's newest message in a thread; 0 if there is none."""

    thread: UUID


@dataclass(frozen=True, slots=True)
class CountActive(Question[int]):
    """The number of the owner's active memories."""


@dataclass(frozen=True, slots=True)
class OldestOwn(Question[list[Memory]]):
    """An agent's oldest active memories that are not pinned, oldest first."""

    agent: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class CountRun(Question[int]):
    """The number of statements that one run has written."""

    run: bytes


@dataclass(frozen=True, slots=True)
class RestingOn(Question[list[Record]]):
    """Every record, of any owner, that has one of these as a source."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class EntriesAt(Question[list[Entry]]):
    """The entries at these positions of the owner's ledger, in order."""

    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PositionsTouching(Question[list[int]]):
    """The positions of the ledger entries that changed one of these records, in order."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class VersionOf(Question[Record | None]):
    """One version of a record: the current one or an earlier one."""

    id: UUID
    version: int


@dataclass(frozen=True, slots=True)
class OtherHolders(Question[list[Record]]):
    """The tenant's service keys and its agents' experience: records of others that may name the owner."""


@dataclass(frozen=True, slots=True)
class ErasedAmong(Question[frozenset[UUID]]):
    """Those of the given ids whose records were erased from this book."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Aged(Question[dict[UUID, UUID]]):
    """The messages that were removed because of their age, each with its thread."""


@dataclass(frozen=True, slots=True)
class PlaceTaken(Question[bool]):
    """True if a message has this place in a thread."""

    thread: UUID
    seq: int


@dataclass(frozen=True, slots=True)
class ErasedEras(Question[frozenset[UUID]]):
    """Those of the given eras (lifetimes of owners) that an erasure of the whole owner ended."""

    eras: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class InThread(Question[list[UUID]]):
    """The ids of a thread's messages, episodes and memories."""

    thread: UUID


# ── pieces ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ErasAfter(Question[list[bytes]]):
    """The ids of the book's next eras after this one, ended ones included, in order."""

    after: bytes
    limit: int


@dataclass(frozen=True, slots=True)
class PiecesAfter(Question[list[Piece]]):
    """The next pieces of an era (or the book's tombstones) after a key, in the order of their keys; texts are unchecked.

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
class KnownRecords(Question[frozenset[UUID]]):
    """Those of the given ids that records of this book have, whoever their owner is."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class OwnersOf(Question[list[Owner]]):
    """The owners of a tenant that have a ledger, in order."""

    tenant: str


# ── spending ─────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """The sums of spending that meet the conditions, each with its owner; None if that owner was erased."""

    where: SpentWhere


@dataclass(frozen=True, slots=True)
class SpentSum(Question[Sequence[int]]):
    """The same sums added up: the counts, and the price in its smallest steps."""

    where: SpentWhere


@dataclass(frozen=True, slots=True)
class SpentOf(Question[Sequence[SpentPiece]]):
    """All sums of spending of one owner."""

    base: OwnerBase


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


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
class JobsIn(Question[list[JobRow]]):
    """The jobs of every owner that are in a state, or all if it is None, those due the longest first."""

    state: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class Now(Question[int]):
    """The time by which leases are counted, in microseconds: the server's, if there is one that many workers share."""

    #: The caller's time.
    at: datetime


@dataclass(frozen=True, slots=True)
class DueKind(Question[str | None]):
    """The kind of the longest due job of any owner that may be leased."""

    kinds: tuple[str, ...]
    #: In microseconds, as ``Now`` answers it.
    now: int


@dataclass(frozen=True, slots=True)
class DueJob(Question[JobRow | None]):
    """That job, with its answer; in a write. No other worker can lease it, or another job of its owner, before the end."""

    kinds: tuple[str, ...]
    now: int


@dataclass(frozen=True, slots=True)
class JobsAbout(Question[list[JobPiece]]):
    """The jobs of every owner that are about one of these records, or whose answer quotes one; without the answer's text."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ArePresent(Question[bool]):
    """True if the book has all of these records, of any owner."""

    ids: tuple[UUID, ...]


# ── verification and upkeep ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FindEra(Question[OwnerBase | None]):
    """The same as ``FindOwner``, of an era; without an owner if the era has ended, and None if there is no such era."""

    era: bytes


@dataclass(frozen=True, slots=True)
class BookCounts:
    """The numbers of a book's records by type, jobs by state, owners with a ledger, and terms that an old rule made."""

    records: Mapping[str, int]
    jobs: Mapping[str, int]
    owners: int
    stale_terms: int


@dataclass(frozen=True, slots=True)
class Counts(Question[BookCounts]):
    """The counts of the whole book."""


@dataclass(frozen=True, slots=True)
class TableFaults(Question[list[tuple[str, object]]]):
    """What the engine's checks of whole tables found: the name of a check in ``TABLE_FAULTS``, and the row's name."""


# ── reads: each names its owner, and its answer is limited to what the view may see ──────────────────────────────────


@dataclass(frozen=True, slots=True)
class GetRecords(Question[dict[UUID, Record]]):
    """The current versions of these records, in the order of the ids; withdrawn ones are left out."""

    owner: Owner
    view: View
    ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class ScanRecords(Question[list[Page]]):
    """The pages of several scans, which may be of several owners."""

    asked: Sequence[Scan]


@dataclass(frozen=True, slots=True)
class CountRecords(Question[int]):
    """The number of records that a scan would return."""

    owner: Owner
    view: View
    filter: Filter


class SeenVersion(NamedTuple):
    """One version of a record, and the position of the ledger entry that wrote it."""

    version: int
    position: int
    audience: Audience
    #: None if the content was erased.
    record: Record | None


@dataclass(frozen=True, slots=True)
class VersionsInView(Question[list[SeenVersion]]):
    """Every version of a record, oldest first, also those with other readers; none if the view may not see the record."""

    owner: Owner
    view: View
    id: UUID


@dataclass(frozen=True, slots=True)
class EntriesAfter(Question[list[Entry]]):
    """The entries of the owner's ledger after a position, in order; they name no owner."""

    after: int
    limit: int


@dataclass(frozen=True, slots=True)
class ShelvesSince(Question[list[tuple[Shelf, ShelfDelta]]]):
    """The shelves that the view may see, each with its changes since the revision that ``cached`` returns for its number."""

    owner: Owner
    view: View
    cached: Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Look(Question[Sight]):
    """The same, with the records that ``choose`` picks when it has seen the shelves, their uses and their sources.

    ``choose`` may be called in any thread, and more than once.
    """

    owner: Owner
    view: View
    cached: Callable[[int], int | None]
    choose: Choose


@dataclass(frozen=True, slots=True)
class Uses(Question[dict[UUID, Use]]):
    """The use of memories; those that were never used are left out."""

    owner: Owner
    view: View
    ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class MostUsed(Question[list[UUID]]):
    """The ids of used memories that meet the filter, the most used first, then the one used last."""

    owner: Owner
    view: View
    filter: Filter
    limit: int


@dataclass(frozen=True, slots=True)
class MemoriesInView(Question[dict[UUID, Any]]):
    """Those of these records that are memories and that the view may see, each with the engine's own opaque key."""

    owner: Owner
    view: View
    ids: Sequence[UUID]


# ── terms and vectors: these questions are about all owners ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StaleTerms(Question[list[Record]]):
    """Passages whose terms were made by an older rule."""

    rule: int
    limit: int


@dataclass(frozen=True, slots=True)
class PassagesAmong(Question[dict[UUID, Any]]):
    """Those of these records that are passages and still exist, each with the engine's own opaque key."""

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
    """Passages without a vector in the set with this name, oldest first; damaged records are left out."""

    name: str
    limit: int


# ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AllRecords(Question[list[Record]]):
    """All records of the owner."""


@dataclass(frozen=True, slots=True)
class Belongings(Question[Counter[str]]):
    """The numbers of rows that belong to these records of the owner, by name.

    The names are ``versions`` (earlier ones), ``terms``, ``uses``, ``vectors`` (of every set), ``links`` (to sources).
    """

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class CountFilled(Question[int]):
    """The number of earlier versions of these records of the owner that still have their content."""

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
