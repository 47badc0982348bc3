"""Capabilities that only some have: engines that notify workers, search large shelves or copy themselves; makers of vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import dataclass
from memoranda.model.ledger import Erasures
from memoranda.model.passages import PassageRows
from memoranda.model.query import Filter, Progress, Prove
from memoranda.model.records import Owner, Record, View
from memoranda.model.vectors import Embedding

T = TypeVar("T")


@runtime_checkable
class NotifiesWorkers(Protocol):
    """An engine that wakes the workers of all processes after a commit; a worker that misses it finds the job later."""

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call ``wake`` in this event loop soon after a commit made a job due; returns a function that ends the calls."""


@dataclass(frozen=True, slots=True)
class ShelfStatistics:
    """Numbers about all passages of some large shelves (all passages of one owner with one audience), for scoring."""

    passages: int
    #: The number of their terms, with repetitions; and the same with what neighbours in a thread lend each other.
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
    #: Only passages with one of these statuses, where None means no status; None: all but withdrawn passages.
    statuses: frozenset[str | None] | None
    limit: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Candidates together with their neighbours in their threads."""

    rows: PassageRows
    #: For each candidate: the row numbers of the passages around it in their order, and its own place among these.
    windows: Sequence[tuple[Sequence[int], int]]


class LargeShelfIndex(Protocol):
    """An engine's index of large shelves: it finds candidates for a question, and recall scores them."""

    #: A shelf with at least so many passages is large.
    threshold: int

    async def is_behind(self) -> bool:
        """True if passages have changed since the last ``update``."""

    async def update(self) -> int:
        """Bring the index up to date with all large shelves; returns the number of shelves that had changes."""

    async def measure(
        self, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
    ) -> ShelfStatistics:
        """Measure these shelves; ``near`` has the shares that a message lends to the next two messages in its thread."""

    async def count_holders(
        self, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
    ) -> list[int]:
        """Count the passages that contain each word; each word is given as the hashes of the search terms it may match."""

    async def count_within(
        self, owner: Owner, view: View, shelves: Sequence[int], stretches: Sequence[tuple[int, int]]
    ) -> int:
        """Count the passages in these time ranges, which do not overlap."""

    async def find_by_terms(
        self, query: CandidateQuery, words: Sequence[tuple[Sequence[int], int]]
    ) -> list[UUID]:
        """Find likely passages by words, each given with the number of passages that have it; unindexed ones are added."""

    async def find_by_vector(
        self, query: CandidateQuery, vectors: str, vector: NDArray[np.float32]
    ) -> list[UUID]:
        """Find passages near a vector; none if ``vectors`` is not the active set."""

    async def find_newest(self, query: CandidateQuery) -> list[UUID]:
        """Find the newest passages, newest first."""

    async def surroundings(self, owner: Owner, view: View, ids: Sequence[UUID], reach: int) -> Surroundings:
        """Return candidates, each with up to ``reach`` messages before and after it in its thread."""


@runtime_checkable
class SearchesLargeShelves(Protocol):
    """An engine that can search shelves that are too large for a process's memory."""

    @property
    def large_shelves(self) -> LargeShelfIndex:
        """The engine's index of its large shelves."""


@runtime_checkable
class ReadsOneMoment(Protocol):
    """An engine that can read the whole book as it was at one moment, while others write."""

    async def at_one_moment(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Call ``work`` with an engine that reads one snapshot and writes nothing; again from its beginning if the server was lost."""


@runtime_checkable
class CopiesItself(Protocol):
    """Capability of an engine: write a copy of its whole book while the book is in use."""

    async def backup(self, target: Path, progress: Progress | None, prove: Prove | None = None) -> None:
        """Write a verified copy. The target must not exist; ``prove`` may refuse the copy before it gets that name."""

    async def known_backups(self) -> tuple[str, ...]:
        """Return the paths of the book's own copies."""

    async def reapply(self, erasures: Erasures, at: datetime) -> int:
        """Erase from a copy what its original has erased since; return how many records were erased."""


class MakesVectors(Protocol):
    """Computes the missing vectors of a book's passages."""

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors; only vectors of the same embedding can be compared."""

    async def query(self, question: str) -> NDArray[np.float32]:
        """Return the vector of a question."""

    async def make(self, records: Sequence[Record], progress: Callable[[int], None] | None = None) -> int:
        """Compute and store the vectors of these passages; return how many were stored."""

    async def catch_up(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute and store all missing vectors; return how many were stored."""

    async def renew(self, progress: Callable[[int], None] | None = None) -> int:
        """Fill a new set while recall reads the active one, then make the new set the active one."""

    async def check(self) -> None:
        """Raise the embedder's error if it is known to fail; no vector is computed to find out."""

    def stop(self) -> None:
        """Wait for the embedder no longer than a moment from now on, because the book closes."""

    async def close(self) -> None:
        """Release its resources."""
