"""What some engines can do beyond their walls: wake others, and search shelves that are too large to be held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.owner import Owner, View
from memoranda.model.passages import Excerpt, Look, Measured


@runtime_checkable
class WakesOthers(Protocol):
    """An engine whose commits wake the workers of every process. Nothing rests on it: whoever is not woken looks."""

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call ``wake`` in this event loop soon after a commit made a job due; what is returned ends that."""


@runtime_checkable
class SearchesTerms(Protocol):
    """An engine that finds candidates by words on shelves that it says are too large to be held; who asks scores them."""

    #: As many passages make a shelf a large one.
    large_shelf: int

    async def shelves_behind(self) -> bool:
        """Whether there is something for ``follow_shelves`` to do."""

    async def follow_shelves(self) -> int:
        """Make large shelves ready to be searched, or bring what searches them forward; returns how many there were."""

    async def measure(
        self, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
    ) -> Measured:
        """What scoring must know of all of them; ``near`` is what neighbours lend, the next one and the one after."""

    async def holders(
        self, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
    ) -> list[int]:
        """For each word, given as hashes of the terms that it may stand as, how many passages hold it."""

    async def said_within(
        self, owner: Owner, view: View, shelves: Sequence[int], stretches: Sequence[tuple[int, int]]
    ) -> int:
        """How many passages lie in one of these stretches of time, which do not overlap."""

    async def by_terms(self, look: Look, words: Sequence[tuple[Sequence[int], int]]) -> list[UUID]:
        """Likely passages by these words, each with the number of its holders; and what came lately, whatever it says."""

    async def newest(self, look: Look) -> list[UUID]:
        """The newest passages, newest first."""

    async def around(self, owner: Owner, view: View, ids: Sequence[UUID], reach: int) -> Excerpt:
        """Candidates with so many neighbours on each side in their thread, as indexes hold them."""


@runtime_checkable
class SearchesVectors(Protocol):
    """An engine that finds candidates by vectors on such shelves."""

    async def by_vector(self, look: Look, vectors: str, vector: NDArray[np.float32]) -> list[UUID]:
        """Passages near a vector, if recall reads this set."""
