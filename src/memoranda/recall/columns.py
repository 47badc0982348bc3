"""Columns: one property of all passages in a segment, as codes or numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kept = Mask | slice
Code = str | bytes | None

#: Approximate bytes that the interpreter takes for one distinct value and its dictionary entry.
_VALUE_BYTES = 150
#: Up to so many values, comparing the column with each is faster than looking every code up.
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
            codes_kept, named = column.codes[keep], list(column.values)
            renumbered = np.zeros(len(named), dtype=np.int64)
            for code in np.flatnonzero(np.bincount(codes_kept)).tolist():
                renumbered[code] = values.setdefault(named[code], len(values))
            codes.append(renumbered.take(codes_kept))
        return cls(values, np.concatenate(codes).astype(np.min_scalar_type(len(values))))

    def within(self, chosen: Iterable[Code]) -> Mask | None:
        """Return a mask of the rows whose value is one of these; None: all rows."""
        return self.where([self.values[value] for value in chosen if value in self.values])

    def where(self, chosen: Sequence[int]) -> Mask | None:
        """Return a mask of the rows whose code is one of these; None: all rows."""
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
    """Numbers with their bounds, which often decide a condition for all of them."""

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
        """Return a mask of the rows below a bound; None: all rows."""
        return None if self.greatest < bound else self.numbers < bound

    def at_least(self, bound: int) -> Mask | None:
        """Return a mask of the rows at or above a bound; None: all rows."""
        return None if self.least >= bound else self.numbers >= bound
