"""Dice that fall the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Numbers that decide, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def number(self, below: int) -> int:
        """A number from 0."""
        return self._random.randrange(below)

    def pick(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[self.number(len(options))]

    def rarely(self, once_in: int = 6) -> bool:
        """True once in a few times."""
        return self.number(once_in) == 1
