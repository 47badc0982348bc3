"""Columns: what a segment knows of each of its passages, as codes or numbers, ready for conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kept = Mask | slice
Code = str | bytes | None
Scalar = TypeVar("Scalar", bound=np.generic)

#: What the interpreter takes for a column's value with its place in the dictionary.
_VALUE_BYTES = 150
#: Up to so many values, comparing the column with each costs less than looking every code up.
_FEW = 16


@dataclass(frozen=True, slots=True)
class Column:
    """A property with few distinct values, as codes in the smallest type that holds them."""

    values: Mapping[Code, int]
    codes: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, given: Sequence[Code]) -> Column:
        values = {value: code for code, value in enumerate(dict.fromkeys(given))}
        codes = np.fromiter(map(values.__getitem__, given), np.min_scalar_type(len(values)), len(given))
        return cls(values, codes)

    @classmethod
    def joined(cls, columns: Sequence[Column], kept: Sequence[Kept]) -> Column:
        values: dict[Code, int] = {}
        codes = []
        for column, keep in zip(columns, kept, strict=True):
            held, named = column.codes[keep], list(column.values)
            renumbered = np.zeros(len(named), dtype=np.int64)
            for code in np.flatnonzero(np.bincount(held)).tolist():
                renumbered[code] = values.setdefault(named[code], len(values))
            codes.append(renumbered.take(held))
        return cls(values, np.concatenate(codes).astype(np.min_scalar_type(len(values))))

    def within(self, chosen: Iterable[Code]) -> Mask | None:
        """Where the value is one of these; None: everywhere."""
        return self.where([self.values[value] for value in chosen if value in self.values])

    def where(self, chosen: Sequence[int]) -> Mask | None:
        """Where the code is one of these; None: everywhere."""
        if len(chosen) == len(self.values):
            return None
        if len(self.values) > _FEW:
            admitted = np.zeros(len(self.values), dtype=np.bool_)
            admitted[list(chosen)] = True
            return admitted.take(self.codes)
        refused: list[Mask] = [self.codes != code for code in self.values.values() if code not in chosen]
        together: Mask = reduce(np.logical_and, refused)
        return together

    def nbytes(self) -> int:
        return self.codes.nbytes + len(self.values) * _VALUE_BYTES


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers with their bounds, which often answer for all of them."""

    numbers: Numbers
    least: int
    greatest: int

    @classmethod
    def of(cls, numbers: Numbers) -> Series:
        return cls(numbers, int(numbers.min()), int(numbers.max()))

    @classmethod
    def joined(cls, series: Sequence[Series], kept: Sequence[Kept]) -> Series:
        return cls.of(np.concatenate([one.numbers[keep] for one, keep in zip(series, kept, strict=True)]))

    def below(self, bound: int) -> Mask | None:
        """Where the number is lower; None: everywhere."""
        return None if self.greatest < bound else self.numbers < bound

    def at_least(self, bound: int) -> Mask | None:
        """Where the number is as high or higher; None: everywhere."""
        return None if self.least >= bound else self.numbers >= bound


def summed(at: Numbers, amounts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """For each number below ``size`` what was given for it, added in the order given."""
    return cast(NDArray[np.float64], np.bincount(at, amounts, minlength=size))


def one_of(arrays: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
    """Several arrays as one, without a copy where there is one only."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
