"""Questions that batches and reads ask; an engine answers them inside one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.ledger import Entry
from memoranda.model.memories import Memory
from memoranda.model.passages import UNUSED, Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, Page, Scan
from memoranda.model.records import Audience, Owner, Record, View
from memoranda.model.unlisted import ALL_SOURCES, SourcePage
from memoranda.storage.use_case import OwnerBase, Question


@dataclass(frozen=True, slots=True)
class Base(Question[OwnerBase]):
    """The present era of an owner; the questions after it are about that owner. In a write it stays
    as it is to the end.
    """

    owner: Owner


@dataclass(frozen=True, slots=True)
class FindOwner(Question[OwnerBase]):
    """The same as ``Base``, for a use case that only reads, or that stores nothing in the owner's
    ledger: without a lock.
    """

    owner: Owner


@dataclass(frozen=True, slots=True)
class Applied:
    """The ledger entry that an operation wrote."""

    entry: Entry
    #: True if the owner's era has ended since.
    ended: bool


@dataclass(frozen=True, slots=True)
class ByOperation(Question[Applied | None]):
    """The entry that has one of these digests of an operation id, in any owner's ledger."""

    digest: bytes
    #: That of an operation that another book applied.
    brought: bytes = b""


@dataclass(frozen=True, slots=True)
class Secret(Question[bytes]):
    """The key of the book's digests."""


@dataclass(frozen=True, slots=True)
class Load(Question[dict[UUID, Record]]):
    """The current versions of these records; absent ones are left out."""

    ids: tuple[UUID, ...]
    #: Answer with a stand-in for a record that cannot be read, so that it can be erased.
    damaged: bool = False


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
    #: When it expires, in microseconds; None if it does not.
    expires: int | None = None


@dataclass(frozen=True, slots=True)
class EndOf(Question[ThreadEnd | None]):
    """The end of a thread; None if there is no such thread, or if its creation was undone."""

    thread: UUID


@dataclass(frozen=True, slots=True)
class LastUserTurn(Question[int]):
    """The place (position in the thread) of a user's newest message in a thread; 0 if there is
    none.
    """

    thread: UUID


@dataclass(frozen=True, slots=True)
class CountActive(Question[int]):
    """The number of the owner's active memories."""


@dataclass(frozen=True, slots=True)
class CountArchived(Question[int]):
    """The number of the owner's archived memories."""


@dataclass(frozen=True, slots=True)
class CountItems(Question[int]):
    """The number of the owner's items; with a moment, without those that had expired then, which
    takes longer.
    """

    at: int | None = None


@dataclass(frozen=True, slots=True)
class WritersOfExpired(Question[list[str | None]]):
    """The agent that wrote each of the owner's active memories that had expired at a moment."""

    at: int


@dataclass(frozen=True, slots=True)
class CountOwn(Question[int]):
    """The number of the owner's active memories that an agent wrote; None for those that no agent
    wrote.
    """

    agent: str | None


class OwnMemory(NamedTuple):
    """The facts about an agent's active memory that tell if it may make room, and how soon."""

    id: UUID
    #: Times in microseconds.
    recorded_at: int
    observed_at: int
    key: str | None
    trust: str
    pinned: bool
    in_thread: bool
    use: Use

    @classmethod
    def of_columns(cls, id: bytes, recorded_at: int, observed_at: int, key: str | None, trust: str, pinned: bool,
        in_thread: bool, strength: float | None, *used: Any,
    ) -> OwnMemory:  # fmt: skip
        """Build the facts from columns of a database; the strength is None if the memory was never
        used.
        """
        use = UNUSED if strength is None else Use.of_columns(strength, *used)
        return cls(
            UUID(bytes=id), recorded_at, observed_at, key, trust, bool(pinned), bool(in_thread), use
        )


@dataclass(frozen=True, slots=True)
class OwnMemories(Question[list[OwnMemory]]):
    """An agent's active memories, in any order."""

    agent: str | None


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
    """Every record, of any owner, that has one of these as a source, in the order of their ids."""

    ids: tuple[UUID, ...]
    #: As in ``Load``.
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Members(Question[list[tuple[UUID, UUID]]]):
    """Unlisted sources of a record in order, each as a pair of its group and itself.

    The record may be any owner's.
    """

    record: UUID
    groups: tuple[UUID, ...]
    page: SourcePage = ALL_SOURCES


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
    """The tenant's service keys and its agents' experience: records of others that may name the
    owner.
    """


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


# ── reads: each names its owner, and its answer is limited to what the view may see ───────────────


@dataclass(frozen=True, slots=True)
class GetRecords(Question[dict[UUID, Record]]):
    """The current versions of these records, in the order of the ids; withdrawn ones are left
    out.
    """

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
    """A version, and the position of the ledger entry that wrote it."""

    version: int
    position: int
    audience: Audience
    #: None if the content was erased.
    record: Record | None


@dataclass(frozen=True, slots=True)
class NewestPassages(Question[list[Record]]):
    """Passages that meet the filter, the one with the latest ``at`` first; among equals the highest
    id.
    """

    owner: Owner
    view: View
    filter: Filter
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class CountKinds(Question[dict[str | None, int]]):
    """The kinds of the passages that meet the filter, each with their number."""

    owner: Owner
    view: View
    filter: Filter


@dataclass(frozen=True, slots=True)
class VersionsInView(Question[list[SeenVersion]]):
    """All versions of one record, oldest first, also those with other readers; empty if the view
    may not see the record.
    """

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
    """The shelves that the view may see, each with its changes since the revision that ``cached``
    returns for its number.
    """

    owner: Owner
    view: View
    cached: Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Look(Question[Sight]):
    """The same, with the records that ``choose`` picks when it has seen the shelves, their uses and
    their sources.

    ``choose`` may be called in any thread, and more than once. ``bare``: without the uses and the
    sources.
    """

    owner: Owner
    view: View
    cached: Callable[[int], int | None]
    choose: Choose
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Uses(Question[dict[UUID, Use]]):
    """The use of memories; those that were never used are left out."""

    owner: Owner
    view: View
    ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class MostUsed(Question[list[UUID]]):
    """The ids of used memories that meet the filter, the most used first, then the one used
    last.
    """

    owner: Owner
    view: View
    filter: Filter
    limit: int


@dataclass(frozen=True, slots=True)
class MemoriesInView(Question[dict[UUID, Any]]):
    """Those of these records that are memories and that the view may see, each with the engine's
    own opaque key.
    """

    owner: Owner
    view: View
    ids: Sequence[UUID]
