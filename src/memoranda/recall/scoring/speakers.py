"""The speakers of the passages of a view."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import dataclass
from memoranda.recall.arrays.columns import Mask

Line = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Speakers:
    """The speakers of the passages of a field."""

    #: The hash of a first name → the numbers of the speakers with that name.
    called: dict[int, list[int]]
    #: The number of the speaker at each place; 0 for a speaker without a name.
    numbers: Line

    def named(self, hashes: frozenset[int]) -> Mask | None:
        """Return a mask of the places whose speaker one of these words names; None if there is no
        such place.
        """
        numbers = [number for hash in self.called.keys() & hashes for number in self.called[hash]]
        return (
            reduce(np.logical_or, [self.numbers == number for number in numbers])
            if numbers
            else None
        )


class Voices(NamedTuple):
    """The speakers in the messages of a view."""

    roles: frozenset[str]
    #: How many speakers have a name.
    names: int

    @property
    def are_user_and_assistant(self) -> bool:
        """True if a user and an assistant talk, and nobody has a name."""
        return not self.names and {"user", "assistant"} <= self.roles
