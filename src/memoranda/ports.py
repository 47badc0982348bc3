"""Every wall of the house, on one page: what an engine, an embedder and a finder are to the rooms that use them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.asking import ModelAnswer, ModelRequest
from memoranda.model.changes import Batch
from memoranda.model.erasure import ErasureReceipt, Erasures, Scrubbed, Target
from memoranda.model.facts import BookFacts, Findings
from memoranda.model.jobs import Job, JobDraft, JobState
from memoranda.model.ledger import Entry, Receipt
from memoranda.model.moving import (
    Arrival,
    BookFrame,
    Departure,
    Frame,
    Piece,
    PieceKind,
    RecordPiece,
    Whereabouts,
)
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Choose, Shelf, ShelfDelta, Sight, Use
from memoranda.model.query import Filter, HistoryStep, Hits, Page
from memoranda.model.records import Record, RecordType
from memoranda.model.spending import ALL_SPENT, Spent, SpentFilter, Sums
from memoranda.model.vectors import Embedding, VectorSet

# ── Records ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Scan(NamedTuple):
    """What a scan asks."""

    owner: Owner
    view: View
    filter: Filter
    cursor: str | None
    limit: int


class Records(Protocol):
    """What was written, and the one way of writing it. Every call is bounded by an owner and a view."""

    async def apply(self, batch: Batch) -> Receipt:
        """Apply all changes or none; the receipt comes after the durable commit."""

    async def get(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
        """The current versions that the view sees; others are left out, whether they exist or not."""

    async def scan(self, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
        """The view's records in the order of their ids."""

    async def scans(self, asked: Sequence[Scan]) -> list[Page]:
        """Several scans of one moment, each bounded by its own owner and view: one way to the engine and back."""

    async def count(self, owner: Owner, view: View, filter: Filter) -> int:
        """How many records a scan would give."""

    async def history(self, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
        """Every change of a record that the view sees, oldest first."""

    async def entries(self, owner: Owner, after: int, limit: int) -> list[Entry]:
        """The owner's ledger after a position, oldest first."""

    async def find_operation(self, owner: Owner, operation: str) -> Receipt | None:
        """The first receipt of an operation id; None where it was never applied."""


# ── Passages ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Passages(Protocol):
    """What recall's index follows."""

    async def look(
        self, owner: Owner, view: View, held: Callable[[int], int | None], choose: Choose
    ) -> Sight:
        """What ``since`` gives, and with it the records that ``choose`` picks, their uses and what they cite.

        All of it is of one moment, and one way to the engine and back.

        ``choose`` may be called in any thread, while the event loop goes on.
        """

    async def since(
        self, owner: Owner, view: View, held: Callable[[int], int | None]
    ) -> list[tuple[Shelf, ShelfDelta]]:
        """The view's shelves, all of one moment, each with what came since the mark that the caller holds of it.

        ``held`` gives the mark held for a shelf's number, None for a shelf that is not held.
        """


# ── TermsAndUse: written in batches, without a ledger entry ─────────────────────────────────────────────────────────────


class TermsAndUse(Protocol):
    """Terms and use: beside the records; terms can be made again, the last batch of use may be lost."""

    async def note_use(self, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
        """Keep how memories have served; returns for how many the view allowed it. No shelf's mark moves."""

    async def uses(self, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
        """How memories have served; those never used are left out."""

    async def most_used(self, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
        """Memories that were used, the most used first; among equals the one used last."""

    async def stale_terms(self, rule: int, limit: int) -> list[Record]:
        """Passages whose terms an earlier rule made, across owners; for upkeep only."""

    async def put_terms(self, rule: int, terms: Mapping[UUID, bytes]) -> int:
        """Put terms made anew for passages that still exist; returns how many did."""


class Vectors(Protocol):
    """Vectors in sets, one set an embedding: beside the records, made again from them, without a ledger entry.

    Recall reads the active set while another is being made; a vector goes with its passage, in every set.
    """

    async def vector_sets(self) -> list[VectorSet]:
        """The book's sets, the active one first."""

    async def begin_set(self, embedding: Embedding) -> VectorSet:
        """The embedding's set, made empty where it is not there; the first set of a book is active at once."""

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        """Passages without a vector in a set that the book has, across owners, oldest first; for upkeep only."""

    async def put_vectors(self, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
        """Put packed vectors of passages that still exist into a set that does; returns how many."""

    async def switch_set(self, embedding: Embedding) -> bool:
        """Let recall read this set from now on, in one step; all others go. False where there is no such set."""

    async def drop_set(self, embedding: Embedding) -> bool:
        """Give up a set that is being made; False where there is none, or recall reads it."""


class Readable(Records, Passages, TermsAndUse, Protocol):
    """What recall reads of an engine."""


# ── Jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Jobs(Protocol):
    """Work that commits made due; each is leased by one worker at a time."""

    async def put(self, draft: JobDraft, at: datetime) -> None:
        """Put a job of the book's own upkeep; others come with ``apply``."""

    async def lease(self, kinds: Sequence[str], worker: str, at: datetime, seconds: float) -> Job | None:
        """The longest due job of these kinds, for this worker alone until the lease ends; of an owner's, one at a time."""

    async def renew(self, job: Job, at: datetime, seconds: float) -> bool:
        """Prolong a lease; False where it was lost."""

    async def finish(self, job: Job) -> bool:
        """Take a done job away, or make it due again if it was put anew meanwhile; False where the lease was lost."""

    async def fail(self, job: Job, error: str, at: datetime, retry_at: datetime | None) -> bool:
        """Give a job back for a later attempt, or to the dead letters where there is none."""

    async def postpone(self, job: Job, at: datetime, reason: str = "") -> bool:
        """Give a job back that cannot be done before a moment, however often it is put; no attempt is counted."""

    async def keep(
        self, job: Job, payload: Mapping[str, Any], records: Sequence[UUID], spent: Spent | None = None
    ) -> bool:
        """Keep what was learnt with a leased job, in place of what was kept before, until it is done.

        ``records`` are all that it tells of: it goes when one of them is erased, and the job stays. False, and
        nothing is kept, where the lease was lost or one of them is gone already: what was learnt is void.
        What was ``spent`` on it is counted in the same commit, and also where nothing is kept.
        """

    async def jobs(self, state: JobState | None, limit: int) -> list[Job]:
        """Jobs by their state, longest due first, without what is kept with them."""

    async def replay(self, id: UUID, at: datetime) -> bool:
        """Make a job due that is dead, or waits for later, for whatever reason; its attempts begin anew."""

    async def drop(self, id: UUID) -> bool:
        """Throw a dead job away."""


class Spending(Protocol):
    """What language models used and cost. Who is erased leaves the tenant's sums, without name or agent."""

    async def note_spent(self, spent: Spent) -> None:
        """Add to what stands for the owner's present era, agent, day, task and model; durable when it returns."""

    async def spent(self, tenant: str, only: SpentFilter = ALL_SPENT) -> list[Spent]:
        """What the tenant's calls came to, in the order of their places."""

    async def spent_in_all(self, tenant: str, only: SpentFilter = ALL_SPENT) -> Sums:
        """All of it together, added up where it stands."""


# ── Erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Erasure(Protocol):
    """Forgetting for good."""

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        """Remove the target and all that rests on it alone, in one commit."""

    async def scrub(self) -> Scrubbed:
        """Clear the engine's own files of what was erased; says what stands in the way of it."""


# ── Maintenance: whole books ─────────────────────────────────────────────────────────────────────────────────────────


class Maintenance(Protocol):
    """What is done to a book as a whole."""

    async def owners(self, tenant: str) -> list[Owner]:
        """The tenant's owners that have records."""

    async def verify(self, progress: Callable[[int, int], None] | None = None) -> Findings:
        """Compare every record with the ledger."""

    async def rebuild(self, progress: Callable[[int, int], None] | None = None) -> Mapping[str, int]:
        """Make what is derived from stored records by code anew, except terms."""

    async def facts(self) -> BookFacts:
        """What the book is and holds."""

    def dump(self, owner: Owner, *, private: bool) -> AsyncIterator[dict[str, Any]]:
        """Everything of one owner, as of one moment; ``private`` adds the digests that only this book understands."""

    def dump_book(self) -> AsyncIterator[dict[str, Any]]:
        """What belongs to no owner: the secret under which digests were made, and what was erased."""

    async def adopt_book(self, line: Mapping[str, Any]) -> bool:
        """Take in what ``dump_book`` gave; only an empty book takes the secret. False where it was not empty."""

    async def adopt(
        self, owner: Owner, lines: Sequence[dict[str, Any]], terms: TermsOf
    ) -> Mapping[str, int] | None:
        """Take in a whole owner as dumped, ledger and all; None where the owner is here already."""

    async def close(self) -> None:
        """Finish what was begun, and let go of files and connections."""


@runtime_checkable
class CopiesItself(Protocol):
    """An engine that can write a copy of its whole book while it is in use."""

    async def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a verified copy; the target must not exist."""

    async def known_backups(self) -> tuple[str, ...]:
        """Where the book's own copies lie."""

    async def erasures(self) -> Erasures:
        """Everything that was ever erased from this book, by ids that tell nothing."""

    async def reapply(self, erasures: Erasures, at: datetime) -> int:
        """Erase what a copy still holds of what its original has erased; returns how many records went."""


class Moves(Protocol):
    """What a book is made of, piece by piece: given as it stands, and laid down as it stood elsewhere.

    Each call is of one moment; what is laid down twice is there once. A book that has one of the marks is not written
    by any other call, in any process: whether it has is asked in the transaction that writes.
    """

    async def whereabouts(self) -> Whereabouts:
        """Which book this is, and its marks."""

    async def eras(self, after: bytes, limit: int) -> list[tuple[bytes, int]]:
        """The eras behind this one, in the order of their ids, those that ended among them, each with its position."""

    async def book_frame(self) -> BookFrame:
        """What belongs to no owner."""

    async def frame(self, era: bytes) -> Frame | None:
        """What an era's records and ledger stand in; None where it is not here."""

    async def pieces(self, kind: PieceKind, era: bytes, after: bytes, limit: int) -> list[Piece]:
        """An era's pieces behind a key, in the order of their keys; tombstones have no era."""

    async def records_at(self, era: bytes, ids: Sequence[bytes]) -> list[RecordPiece]:
        """Those of these records that the era has."""

    async def arrive(self, arrival: Arrival, secret: bytes) -> bool:
        """Become the copy of a book, in its first or another run; False where this one has content, or is that book."""

    async def lay_book(self, run: str, frame: BookFrame) -> None:
        """Let this be what belongs to no owner."""

    async def lay_frame(self, run: str, frame: Frame) -> None:
        """Let this be an era's frame; the era is begun where it is not here."""

    async def lay(
        self, run: str, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes] = ()
    ) -> None:
        """Let these be an era's pieces under their keys, and those that are ``gone`` be none. Vectors of sets that are not
        here are left out."""

    async def end_arrival(self, run: str) -> str:
        """Be a book like any other, made by this run; tells why its files may still hold what was taken away, where no job clears them."""

    async def depart(self, departure: Departure | None, expected: Departure | None) -> None:
        """Be written no more, once this returns; with None, be written again. A ``Conflict`` where another one stands."""


class Engine(Records, Passages, TermsAndUse, Vectors, Jobs, Spending, Erasure, Maintenance, Moves, Protocol):
    """A database behind the one storage wall."""

    #: The engine's name in addresses and reports.
    name: str


# ── Small walls ──────────────────────────────────────────────────────────────────────────────────────────────────

#: The packed terms of a record; None where it is no passage.
TermsOf = Callable[[Record], bytes | None]


class Clock(Protocol):
    """Tells the time, in aware UTC."""

    def __call__(self) -> datetime:
        """The moment that it is."""


class MakesVectors(Protocol):
    """Makes what an embedding's set of a book lacks."""

    @property
    def embedding(self) -> Embedding:
        """What its vectors can be compared with."""

    async def query(self, question: str) -> NDArray[np.float32]:
        """A question's vector."""

    async def make(self, records: Sequence[Record], progress: Callable[[int], None] | None = None) -> int:
        """Make the vectors of exactly these; returns how many were put."""

    async def catch_up(self, progress: Callable[[int], None] | None = None) -> int:
        """Make what is lacking; returns how many vectors were put."""

    async def renew(self, progress: Callable[[int], None] | None = None) -> int:
        """Make the set beside the one that recall reads, then let recall read it, in one step."""

    async def check(self) -> None:
        """Raise what is known to be wrong with the embedder, as far as it can tell without working."""

    async def close(self) -> None:
        """Let go of what it holds."""


class Finder(Protocol):
    """Finds passages for a question; recall is one."""

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
        why_not: Sequence[UUID] | None = None,
        now: datetime,
    ) -> Hits:
        """The best passages, best first; ``vector`` is the question's, ``vectors`` names its set."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of unit length. It may fail at any time: what is stored never waits for it."""

    @property
    def embedding(self) -> Embedding:
        """What its vectors can be compared with."""

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a row, in the order of the texts."""

    async def query(self, text: str) -> NDArray[np.float32]:
        """A question's vector."""

    async def close(self) -> None:
        """Let go of what it holds."""


@runtime_checkable
class Models(Protocol):
    """Answers questions in JSON. It may fail at any time: what is stored never waits for it."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask once; what goes wrong before an answer came is ``ModelDown`` or ``ModelRefused``."""

    def named(self, task: str) -> str:
        """Provider and name of the model that a task is asked of."""

    async def close(self) -> None:
        """Let go of what it holds."""
