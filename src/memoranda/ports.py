"""The interfaces between the rooms: what an engine, an index and a model offer, and what only some
engines can do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import dataclass
from memoranda.model.book_rows import (
    Arrival,
    BookFrame,
    Departure,
    Frame,
    OwnerPieces,
    Piece,
    PieceKind,
    ReadPiece,
    RestrictionRow,
    StonePiece,
    Whereabouts,
)
from memoranda.model.changes import Batch, FormingRecord, Job, JobDraft, JobState
from memoranda.model.language_models import (
    ALL_SPENT,
    ModelAnswer,
    ModelRequest,
    Spent,
    SpentFilter,
    Sums,
)
from memoranda.model.ledger import Actor, Entry, ErasureReceipt, Erasures, Receipt, Scrubbed, Target
from memoranda.model.passages import Cached, Choose, PassageRows, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import (
    BookFacts,
    Filter,
    Findings,
    HistoryStep,
    Hits,
    Page,
    Progress,
    Prove,
    Scan,
)
from memoranda.model.records import Owner, Record, RecordType, View
from memoranda.model.service_records import (
    LIBRARY,
    AboutOwner,
    Appends,
    Caller,
    ReadLines,
    ReadNote,
    Restriction,
)
from memoranda.model.unlisted import ALL_SOURCES, Grouped, SourcePage
from memoranda.model.vectors import Embedding, VectorSet, Versions

# ── Records ───────────────────────────────────────────────────────────────────────────────────────


class Lists(Protocol):
    """Lists and counts. An engine answers them for all records; a finder for passages, chosen
    through its indexes.
    """

    async def scan(
        self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int
    ) -> Page:
        """Return a page of the records that the view may see and the filter selects, in the order
        of their ids.
        """

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        """Return how many records a scan would return."""

    async def newest(
        self, owner: Owner, view: View, filter: Filter, limit: int, offset: int = 0
    ) -> list[Record]:
        """Return the passages that meet a filter, the latest first by their time; among equals the
        highest id is first.
        """

    async def kinds(self, owner: Owner, view: View, filter: Filter) -> dict[str | None, int]:
        """Return the kinds of the passages that meet a filter, each with the number of passages."""


class Records(Lists, Protocol):
    """Records: the only way to write them, and reads. Every call concerns one owner and sees what
    one view may see.
    """

    async def apply(self, batch: Batch) -> Receipt:
        """Apply a whole batch or nothing and return the receipt after the commit; the first one if
        it was applied before.

        Raise ``Erased`` if the batch names an era that has ended.
        """

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        """Return the current versions of these records; records the view may not see are left out,
        like missing ones.
        """

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        """Return the pages of several scans, all read at one moment and in one round trip."""

    async def threads(self, owner: Owner, view: View, name: str) -> list[Record]:
        """Return the threads with a name that the view may see; each audience can use a name
        once.
        """

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        """Return a record's changes, oldest first; an empty list if the view may not see the
        record.
        """

    async def versions(
        self, owner: Owner, view: View, ids: Sequence[UUID]
    ) -> dict[UUID, list[Record]]:
        """Return the versions of records that the view may read, oldest first, without those that
        were emptied.
        """

    async def unlisted(
        self, owner: Owner, view: View, id: UUID, page: SourcePage = ALL_SOURCES
    ) -> Grouped:
        """Return the sources that a record does not list, each after its group's id; none if the
        view may not see it.
        """

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        """Return the owner's ledger entries after a position in the ledger, oldest first."""

    async def find_operation(
        self, owner: Owner, operation: str, by: Actor | None = None
    ) -> Receipt | None:
        """Return the first receipt of an operation id, or None if it was never applied, or not
        ``by`` this actor.
        """


class Passages(Protocol):
    """The passages of shelves (a shelf: all passages of one owner with one audience), as recall's
    index reads them.
    """

    async def look(
        self,
        owner: Owner,
        view: View,
        cached: Cached,
        choose: Choose,
        *,
        bare: bool = False,
        brief: bool = False,
    ) -> Sight:
        """Return what ``since`` returns, and the records that ``choose`` picks; with their uses and
        sources, unless ``bare``.

        It is read at one moment, in one round trip, and on the event loop if it is ``brief`` and
        the engine can; ``choose`` may be called in any thread, and more than once.
        """

    async def since(
        self, owner: Owner, view: View, cached: Cached
    ) -> list[tuple[Shelf, ShelfDelta]]:
        """Return the shelves that the view may read, each with its changes since the revision
        ``cached(number)``.
        """


class TermsAndUse(Protocol):
    """Search terms of passages, and how often memories were used: stored in batches, without a
    ledger entry.
    """

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        """Store how often memories were used; return how many of them the view may see. No shelf's
        revision changes.
        """

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        """Return how often memories were placed in prompts, and when; memories that never were are
        left out.
        """

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        """Return memories by their use, the most used first; among equals the one used last comes
        first.
        """

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        """Return passages of all owners whose search terms were made by an older rule; for upkeep
        only.
        """

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes], read: Versions = None) -> int:
        """Store new search terms of the passages that still exist in the versions ``read``; return
        how many do.
        """


class VectorSets(Protocol):
    """Vectors of passages, in one set for each embedding: stored beside the records, without a
    ledger entry.

    Recall reads the active set while another is being filled. Erasing a passage erases its vectors
    in every set.
    """

    async def vector_sets(self) -> list[VectorSet]:
        """Return the book's sets of vectors, the active one first."""

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        """Return the embedding's set; create it empty if it does not exist. The first set of a book
        is active at once.
        """

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        """Return passages of all owners without a vector in this set, oldest first; for upkeep
        only.
        """

    async def put_vectors(
        self, of: Embedding, vectors: Mapping[UUID, bytes], read: Versions = None
    ) -> int:
        """Store packed vectors of passages that exist in the versions ``read``, if the set does
        too; return how many.
        """

    async def switch_set(self, embedding: Embedding) -> bool:
        """Make this set the active one and delete all others, in one commit. False if there is no
        such set.
        """

    async def drop_set(self, embedding: Embedding) -> bool:
        """Delete a set that is not active. False if there is none, or it is the active one."""


class Readable(Records, Passages, TermsAndUse, Protocol):
    """The ports of an engine that recall reads, and the book's clock, by which reads tell what has
    expired.
    """

    clock: Callable[[], datetime] | None


class Jobs(Protocol):
    """Background jobs, which commits make due. One worker at a time holds the lease of a job. Who
    forms is recorded.
    """

    async def put(self, draft: JobDraft, at: datetime) -> None:
        """Add a job of the book's own upkeep; other jobs are added by ``apply``."""

    async def lease(
        self,
        kinds: Sequence[str],
        worker: str,
        at: datetime,
        seconds: float,
        tenant: str | None = None,
        only: UUID | None = None,
    ) -> Job | None:
        """Lease a job to this worker for some seconds and return it, or None. It is the longest due job for which:
        - its kind is one of these, it is due, it is ``only``, and of the ``tenant``'s owners or the book's own (None: any);
        - no other worker has a lease on it that has not expired, and no other job of its owner is leased.
        """

    async def renew(self, job: Job, at: datetime, seconds: float) -> bool:
        """Extend a worker's lease on a job. False if another worker took the job over."""

    async def finish(self, job: Job) -> bool:
        """Remove a finished job, or make it due again if it was added again since it was leased.
        False if the lease was lost.
        """

    async def fail(self, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
        """Return a failed job: it is retried at ``retry_at``, or dead if that is None. False if the
        lease was lost.
        """

    async def postpone(self, job: Job, at: datetime, reason: str = "") -> bool:
        """Return a job that cannot be done before a moment, even if it is added again; no attempt
        is counted. False if the lease was lost.
        """

    async def keep(
        self,
        job: Job,
        payload: Mapping[str, Any],
        records: Sequence[UUID],
        spent: Spent | None = None,
    ) -> bool:
        """Store a payload, such as a model's answer, with a leased job until the job ends; it
        replaces an earlier one.

        Erasing one of the quoted ``records`` deletes it. False, and only ``spent`` stored, if one
        is gone or the lease was lost.
        """

    async def jobs(
        self, state: JobState | None, limit: int, owner: Owner | None = None
    ) -> list[Job]:
        """Return jobs, without their stored payloads, those due the longest first; None is any
        state, and any owner.
        """

    async def job_of(self, owner: Owner, kind: str, key: str) -> Job | None:
        """Return an owner's job of this kind and key, without its stored payload; None if there is
        none.
        """

    async def cancel(self, owner: Owner, kind: str, key: str) -> bool:
        """Delete an owner's job of this kind and key. False if there is none, or a worker has a
        lease on it.
        """

    async def replay(self, id: UUID, at: datetime) -> bool:
        """Make a dead or waiting job due now and reset its attempts. False if there is no such
        job.
        """

    async def drop(self, id: UUID) -> bool:
        """Delete a dead job. False if there is no such job."""

    async def forming_record(self, tenant: str) -> FormingRecord:
        """Return the record. Until there is one, the model that was last paid for forming counts as
        recorded.
        """

    async def claim_forming(self, tenant: str, agent: str | None, who: str) -> str:
        """Return who forms the threads of an agent; record ``who`` if nobody is recorded."""

    async def change_forming(self, tenant: str, agent: str | None, who: str) -> None:
        """Record who forms the tenant's threads, or those of one agent; an empty text removes that
        agent's record.
        """


class Spending(Protocol):
    """Spending on language models. Erasing an owner keeps the tenant's totals, without the owner's
    name and agent.
    """

    async def note_spent(self, spent: Spent) -> None:
        """Add to the totals of the owner's current era, agent, day, task and model. Durable when
        the call returns.
        """

    async def spent(self, tenant: str, only: SpentFilter = ALL_SPENT) -> list[Spent]:
        """Return the tenant's spending, ordered by day, owner, agent, task and model."""

    async def spent_in_all(self, tenant: str, only: SpentFilter = ALL_SPENT) -> Sums:
        """Return the tenant's spending as one sum, computed by the engine."""


class Erasure(Protocol):
    """Erasure of records, for good."""

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        """Erase the target and everything derived only from it, in one commit."""

    async def erasures(self) -> Erasures:
        """Return the ids of everything that was ever erased from this book; they have no
        content.
        """

    async def scrub(self) -> Scrubbed:
        """Clear the engine's own files of erased data; the result names what prevents it."""


# ── Maintenance: whole books ──────────────────────────────────────────────────────────────────────


class Maintenance(Protocol):
    """Operations on a whole book."""

    async def owners(self, tenant: str) -> list[Owner]:
        """Return the tenant's owners that have a ledger, also if all their records were forgotten
        one by one.
        """

    async def verify(self, progress: Progress | None = None, tenant: str | None = None) -> Findings:
        """Compare every record of the book or of one tenant with the ledger, and check all
        tables.
        """

    async def rebuild(self, progress: Progress | None = None) -> Mapping[str, int]:
        """Recompute everything that code derives from stored records, except terms; commits some
        records at a time.
        """

    async def facts(self, tenant: str | None = None) -> BookFacts:
        """Return facts about the book and its content, or about a tenant's part of it."""

    async def adopt_book(
        self, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
    ) -> bool:
        """Take the key, ended eras and tombstones of another book; False if this book is not
        empty.
        """

    async def adopt(self, secret: bytes, whole: OwnerPieces) -> bool:
        """Import an owner with all records and the ledger in one commit; False if the owner is in
        this book already.

        Raises ``Erased`` if any of it was erased here, and ``Conflict`` if any is here, or
        ``secret`` is not this book's key.
        """

    async def close(self) -> None:
        """Finish running calls and close files and connections."""


class Moves(Protocol):
    """Reads and writes a book as pieces: one record with all its versions, or one ledger entry,
    alike on every engine.

    Each call is of one moment. Every other write asks for the marks in its own transaction, and is
    refused if there is one.
    """

    async def whereabouts(self) -> Whereabouts:
        """Return which book this is, and the marks that say it is copied, is a copy or is a
        backup.
        """

    async def mark_backup(self, id: str | None) -> None:
        """Mark the book as the backup with this id, or remove that mark."""

    async def eras(self, after: bytes, limit: int) -> list[bytes]:
        """Return ids of eras (an owner's life between two whole erasures) after this one, in order,
        ended ones included.
        """

    async def book_frame(self) -> BookFrame:
        """Return the rows that belong to no owner, without tombstones."""

    async def frame(self, era: bytes) -> Frame | None:
        """Return an era's owner, shelves, jobs and spending; None if the book does not have the
        era.
        """

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        """Return an era's pieces after a key, in the order of their keys; tombstones belong to no
        era.
        """

    async def owner_pieces(self, owner: Owner) -> OwnerPieces | None:
        """Read all of an owner's pieces in one transaction; None if the owner has no era."""

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        """Become an empty, unfinished copy, emptying an earlier one; False if the book has content
        or is the source.
        """

    async def lay_book(self, copy: str, frame: BookFrame) -> None:
        """Write the rows that belong to no owner, unless the book has them already."""

    async def lay_frame(self, copy: str, frame: Frame) -> None:
        """Write an era's owner, shelves, jobs and spending, unless the book has the era already."""

    async def lay(self, copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        """Write pieces of an era in one commit; pieces that exist are skipped, and so are vectors
        of unknown sets.
        """

    async def end_arrival(self, copy: str) -> None:
        """End the copy: remove the mark, so that the target can be opened like any other book."""

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        """Set or remove the mark that refuses all writes; raise ``Conflict`` if another one is
        stored than expected.
        """


# ── What a service keeps beside the owners' records ───────────────────────────────────────────────


class ServiceRecords(Protocol):
    """Rows outside the owners' records: they name an owner by a keyed digest, and survive the
    owner's erasure.
    """

    async def restrict(
        self,
        owner: Owner,
        appends: Appends,
        at: datetime,
        by: Caller = LIBRARY,
        since: datetime | None = None,
    ) -> Restriction:
        """Restrict the processing of an owner's data, or change what happens to new content;
        returns the restriction.

        A line in the audit names the caller. ``since``: it comes with an import; a restriction that
        is here stays as it is.
        """

    async def unrestrict(self, owner: Owner, at: datetime, by: Caller = LIBRARY) -> bool:
        """Lift the restriction of an owner; False if there is none. A line in the audit names the
        caller.
        """

    async def adopt_restrictions(
        self, rows: Sequence[RestrictionRow], lines: Sequence[ReadPiece]
    ) -> None:
        """Add the restrictions of another book with the same key, and the lines about them; those
        that are here stay.
        """

    async def restriction(self, owner: Owner) -> Restriction | None:
        """Return the restriction of an owner; None if there is none."""

    async def restrictions(self, owners: Sequence[Owner]) -> list[Restriction | None]:
        """Return the restriction of each owner, or None; all read at one moment."""

    async def about_owner(self, owner: Owner) -> AboutOwner:
        """Return everything that is stored about an owner: own rows, and what a whole erasure finds
        elsewhere; at one moment.
        """

    async def note_key_uses(self, uses: Mapping[UUID, datetime]) -> None:
        """Store uses of keys by the keys' ids; of each key the latest counts."""

    async def key_uses(self, ids: Sequence[UUID] | None = None) -> dict[UUID, datetime]:
        """Return the last uses of these keys, or of all; keys that were never used are left out."""

    async def note_reads(self, notes: Sequence[ReadNote]) -> None:
        """Append lines about reads, in one commit; owners become keyed digests."""

    async def reads(
        self,
        tenant: str,
        owner: Owner | None = None,
        since: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ReadLines:
        """Return a tenant's lines about reads, oldest first: about one owner or about anybody,
        since a moment.
        """

    async def drop_reads(self, tenant: str, before: datetime) -> int:
        """Delete a tenant's lines about reads from before a moment; returns how many."""


class Engine(
    Readable, VectorSets, Jobs, Spending, Erasure, Maintenance, Moves, ServiceRecords, Protocol
):
    """A database that stores books, with its name in reports."""

    name: str


# ── Small ports ───────────────────────────────────────────────────────────────────────────────────


class Clock(Protocol):
    """A clock in timezone-aware UTC."""

    def __call__(self) -> datetime:
        """Return the current time."""


class Finder(Lists, Protocol):
    """Finds passages for a question, and lists those that meet a filter; recall implements it."""

    async def find(
        self,
        owner: Owner,
        view: View,
        question: str,
        *,
        limit: int,
        types: frozenset[RecordType],
        only: Filter,
        mode: str = "hybrid",
        vector: NDArray[np.float32] | None = None,
        vectors: str = "",
        pinned_first: bool = False,
        at_least: float | None = None,
        why_not: Sequence[UUID] | None = None,
        now: datetime,
    ) -> Hits:
        """Return the best passages, best first; ``vector`` is the question's, ``vectors`` names the
        set to compare.
        """


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of unit length. It may fail at any time; no write waits for it."""

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors; only vectors of the same embedding can be compared."""

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, in the order of the texts."""

    async def query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""

    async def close(self) -> None:
        """Release its resources."""


@runtime_checkable
class Models(Protocol):
    """Language models that answer in JSON. They may fail at any time; no write waits for them."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask a language model once and return its answer; raise ``ModelDown`` or ``ModelRefused``
        if there is none.
        """

    def named(self, task: str) -> str:
        """Return the provider and name of the model that is used for a task."""

    async def close(self) -> None:
        """Release its resources."""


# ── What only some engines and embedders can do ───────────────────────────────────────────────────

T = TypeVar("T")


@runtime_checkable
class NotifiesWorkers(Protocol):
    """An engine that wakes the workers of all processes after a commit; a worker that misses it
    finds the job later.
    """

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call ``wake`` in this event loop soon after a commit made a job due; returns a function
        that ends the calls.
        """


@dataclass(frozen=True, slots=True)
class ShelfStatistics:
    """Numbers about all passages of some large shelves (all passages of one owner with one
    audience), for scoring.
    """

    passages: int
    #: The number of their terms, with repetitions; and the same with what neighbours in a thread
    #: lend each other.
    length: int
    near_length: float
    #: The roles in their messages, and how many different speakers have a name.
    roles: frozenset[str] = frozenset()
    names: int = 0
    #: Name of the active set of vectors; empty if the book has none.
    vectors: str = ""
    #: An evenly spread sample of its vectors; all of them if there are few.
    sample: Sequence[bytes] = ()
    #: How many vectors each vector of the sample represents.
    every: int = 1


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """The shelves and the conditions of a search for candidates."""

    owner: Owner
    view: View
    #: Numbers of shelves; those that the view may not see are skipped.
    shelves: tuple[int, ...]
    filter: Filter
    #: Only passages with one of these statuses, where None means no status; None: all but withdrawn
    #: passages.
    statuses: frozenset[str | None] | None
    limit: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Candidates together with their neighbours in their threads."""

    rows: PassageRows
    #: For each candidate: the row numbers of the passages around it in their order, and its own
    #: place among these.
    windows: Sequence[tuple[Sequence[int], int]]


class LargeShelfIndex(Protocol):
    """An engine's index of large shelves: it finds candidates for a question, and recall scores
    them.
    """

    #: A shelf with at least so many passages is large.
    threshold: int

    async def is_behind(self) -> bool:
        """True if passages have changed since the last ``update``."""

    async def update(self) -> int:
        """Bring the index up to date with all large shelves; returns the number of shelves that had
        changes.
        """

    async def measure(
        self, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
    ) -> ShelfStatistics:
        """Measure these shelves; ``near`` has the shares that a message lends to the next two
        messages in its thread.
        """

    async def count_holders(
        self, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
    ) -> list[int]:
        """Count the passages that contain each word; each word is given as the hashes of the search
        terms it may match.
        """

    async def count_within(
        self, owner: Owner, view: View, shelves: Sequence[int], stretches: Sequence[tuple[int, int]]
    ) -> int:
        """Count the passages in these time ranges, which do not overlap."""

    async def find_by_terms(
        self, query: CandidateQuery, words: Sequence[tuple[Sequence[int], int]]
    ) -> list[UUID]:
        """Find likely passages by words, each given with the number of passages that have it;
        unindexed ones are added.
        """

    async def find_by_vector(
        self, query: CandidateQuery, vectors: str, vector: NDArray[np.float32]
    ) -> list[UUID]:
        """Find passages near a vector; none if ``vectors`` is not the active set."""

    async def find_newest(self, query: CandidateQuery) -> list[UUID]:
        """Find the newest passages, newest first."""

    async def surroundings(
        self, owner: Owner, view: View, ids: Sequence[UUID], reach: int
    ) -> Surroundings:
        """Return candidates, each with up to ``reach`` messages before and after it in its
        thread.
        """


@runtime_checkable
class SearchesLargeShelves(Protocol):
    """An engine that can search shelves that are too large for a process's memory."""

    @property
    def large_shelves(self) -> LargeShelfIndex:
        """The engine's index of its large shelves."""


@runtime_checkable
class ReadsOneMoment(Protocol):
    """An engine that can read the whole book as it was at one moment, while others write."""

    #: True if it reads each owner as of a moment of their own: no server of its kind keeps one for
    #: as long as a book may take.
    takes_moments: bool

    async def at_one_moment(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Call ``work`` with an engine that reads one snapshot and writes nothing; again from its
        beginning if the server was lost.
        """


@runtime_checkable
class CopiesItself(Protocol):
    """Capability of an engine: write a copy of its whole book while the book is in use."""

    async def backup(
        self, target: Path, progress: Progress | None, prove: Prove | None = None
    ) -> None:
        """Write a verified copy. The target must not exist; ``prove`` may refuse the copy before it
        gets that name.
        """

    async def known_backups(self) -> tuple[str, ...]:
        """Return the paths of the book's own copies."""

    async def reapply(self, erasures: Erasures, at: datetime) -> int:
        """Erase from a copy what its original has erased since; return how many records were
        erased.
        """


class MakesVectors(Protocol):
    """Computes the missing vectors of a book's passages."""

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors; only vectors of the same embedding can be compared."""

    async def query(self, question: str) -> NDArray[np.float32]:
        """Return the vector of a question."""

    async def make(
        self, records: Sequence[Record], progress: Callable[[int], None] | None = None
    ) -> int:
        """Compute and store the vectors of these passages; return how many were stored."""

    async def catch_up(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute and store all missing vectors; return how many were stored."""

    async def renew(self, progress: Callable[[int], None] | None = None) -> int:
        """Fill a new set while recall reads the active one, then make the new set the active
        one.
        """

    async def check(self) -> None:
        """Raise the embedder's error if it is known to fail; no vector is computed to find out."""

    def stop(self) -> None:
        """Wait for the embedder no longer than a moment from now on, because the book closes."""

    async def close(self) -> None:
        """Release its resources."""
