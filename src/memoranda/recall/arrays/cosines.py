"""The vectors of a segment as whole numbers, so that cosines are exact in any order of adding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from memoranda.model.vectors import unpack_vectors
from memoranda.recall.arrays.columns import Kept, Mask, Numbers

#: The largest number in a stored vector; and the largest n for which float32 represents all whole
#: numbers up to n.
_MOST, _EXACT = 127, 2**24
#: Scales are added as whole multiples of this unit's inverse, so that the order of adding cannot
#: change a sum.
_SCALE_UNIT = 2.0**24
#: A question's number counts as large above this multiple of the usual one for its dimension.
_LARGE = 0.98
#: The ratio of cosine to agreement of bits, for vectors with randomly spread numbers.
_STRETCHED = 2.07
#: Rows converted at a time.
_BLOCK = 4096
#: Numbers multiplied at a time. For more, libraries use several threads that wait by spinning,
#: which takes many times as long as the work itself if anything else is running.
_PRODUCTS = 1024 * 384

_count_bits = getattr(np, "bitwise_count", None)  # numpy 2
_BITS_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class QuestionVector:
    """A question's vector in the forms that segments are compared with.

    Its numbers are rounded so coarsely that every sum of products with a stored 8-bit vector is a
    whole number that float32 represents: in whatever order a library adds, the bits are the same.
    The loss is a tenth of the loss by storing 8 bits.
    """

    def __init__(self, vector: NDArray[np.float32]) -> None:
        self.dimension = len(vector)
        length = math.sqrt(float(vector @ vector))
        self.unit = _unit(self.dimension)
        #: Whole numbers; divided by ``unit`` they are the vector of length 1.
        self.numbers = np.rint(vector * np.float32(self.unit / length if length > 0 else 0))
        #: What rounding may make of a cosine of 0: a cosine of at most this counts as 0.
        self.least = 1 / self.unit

    @cached_property
    def bits(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Its numbers as -3, -1, 1 or 3 in bits: the signs, which count twice, and whether a number
        is large.
        """
        large = np.abs(self.numbers) > _LARGE * self.unit / math.sqrt(self.dimension)
        positive = self.numbers > 0
        signs, rest = _signs(np.array([positive, positive == large]))
        return signs, rest


@cache
def _unit(dimension: int) -> int:
    return math.floor(_EXACT / (_MOST * math.sqrt(dimension)) - math.sqrt(dimension) / 2)


class Vectors:
    """A segment's vectors: one row for each passage, zeros if it has none. Immutable except for its
    caches.
    """

    def __init__(self, numbers: NDArray[np.int8], scales: NDArray[np.float64]) -> None:
        self.numbers = numbers
        self.scales = scales

    @classmethod
    def of(cls, packed: Sequence[bytes | None]) -> Vectors | None:
        """Unpack stored rows; None if there is no vector among them.

        Vectors of another length are skipped: they occur while one set replaces another.
        """
        there = [row for row, vector in enumerate(packed) if vector is not None]
        if not there:
            return None
        given = [vector for vector in packed if vector is not None]
        if len(set(map(len, given))) > 1:
            alike = [
                (row, vector)
                for row, vector in zip(there, given, strict=True)
                if len(vector) == len(given[-1])
            ]
            there, given = [row for row, _ in alike], [vector for _, vector in alike]
        scales, numbers = unpack_vectors(given)
        if len(there) == len(packed):
            return cls(numbers, scales.astype(np.float64))
        all_numbers = np.zeros((len(packed), numbers.shape[1]), dtype=np.int8)
        all_scales = np.zeros(len(packed))
        all_numbers[there], all_scales[there] = numbers, scales
        return cls(all_numbers, all_scales)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Vectors | None, Kept, int]]) -> Vectors | None:
        """Join the kept rows of several parts; each part comes with the number of its kept rows."""
        dimensions = [vectors.dimension for vectors, _, _ in parts if vectors is not None]
        if not dimensions:
            return None
        total = sum(rows for _, _, rows in parts)
        numbers, scales = np.zeros((total, dimensions[-1]), dtype=np.int8), np.zeros(total)
        start = 0
        for vectors, keep, rows in parts:
            if vectors is not None and vectors.dimension == dimensions[-1]:
                numbers[start : start + rows] = vectors.numbers[keep]
                scales[start : start + rows] = vectors.scales[keep]
            start += rows
        return cls(numbers, scales)

    @property
    def dimension(self) -> int:
        """The number of components of each vector."""
        return int(self.numbers.shape[1])

    @cached_property
    def present(self) -> Mask:
        """A mask of the rows that have a vector."""
        return self.scales > 0

    @cached_property
    def _wide(self) -> NDArray[np.float32]:
        return self.numbers.astype(np.float32)

    @cached_property
    def _planes(self) -> NDArray[np.uint64]:
        """The signs of the numbers, 64 a word; first the first word of all rows, then the second,
        …
        """
        blocks = range(0, len(self.numbers), _BLOCK)
        parts = [_signs(self.numbers[first : first + _BLOCK] > 0) for first in blocks]
        return np.ascontiguousarray(np.concatenate(parts).T)

    def cosines(self, question: QuestionVector) -> NDArray[np.float64]:
        """Return the cosine of each row with the question."""
        return self._cosines(self._wide, self.scales, question)

    def cosines_at(self, rows: Numbers, question: QuestionVector) -> NDArray[np.float64]:
        """Return the cosines of some rows only; they equal those of ``cosines`` to the last bit."""
        wide = self.numbers.take(rows, axis=0).astype(np.float32)
        return self._cosines(wide, self.scales.take(rows), question)

    @staticmethod
    def _cosines(
        wide: NDArray[np.float32], scales: NDArray[np.float64], question: QuestionVector
    ) -> NDArray[np.float64]:
        products = np.empty(len(wide), dtype=np.float32)
        for part in _parts(wide):
            np.matmul(wide[part], question.numbers, out=products[part])
        cosines: NDArray[np.float64] = products * scales
        cosines /= question.unit
        return cosines

    def estimates(self, question: QuestionVector) -> NDArray[np.float64]:
        """Estimate the cosine of each row from signs alone."""
        small: type[np.unsignedinteger] = np.uint16 if question.dimension < 16_384 else np.uint32
        differing: NDArray[np.unsignedinteger] = np.zeros(len(self.numbers), dtype=small)
        for plane, sign, rest in zip(self._planes, *question.bits, strict=True):
            ones = _ones(plane ^ sign)
            ones += ones
            ones += _ones(plane ^ rest)
            np.add(differing, ones, out=differing)
        estimated = _cosine_by_difference(question.dimension).take(differing)
        estimated[~self.present] = 0
        return estimated

    def sum_of(self, rows: Numbers | slice) -> NDArray[np.float64]:
        """Return the sum of some rows, in units in which it is exact."""
        scales = np.rint(self.scales[rows] * _SCALE_UNIT)
        numbers = self.numbers[rows]
        total = np.zeros(self.dimension)
        for part in _parts(numbers):
            total += scales[part] @ numbers[part].astype(np.float64)
        return total

    def nbytes(self, *, wide: bool) -> int:
        """Return the bytes that the vectors take after a search, by products (``wide``) or by
        signs.
        """
        size = self.numbers.size
        return size + self.scales.nbytes + len(self.scales) + (4 * size if wide else size // 8)


def _parts(rows: NDArray[np.generic]) -> Iterator[slice]:
    """Split rows into parts that are multiplied at a time."""
    size = max(_PRODUCTS // rows.shape[1], 1)
    return (slice(first, first + size) for first in range(0, len(rows), size))


@cache
def _cosine_by_difference(dimension: int) -> NDArray[np.float64]:
    """Return the estimated cosine for each number of differing bits; signs count twice."""
    estimates: NDArray[np.float64] = np.linspace(_STRETCHED, -_STRETCHED, 3 * dimension + 1)
    return estimates


def mean_cosine(total: NDArray[np.float64], count: int, question: QuestionVector) -> float:
    """Return the average cosine with the question, from the sum of the vectors."""
    return float(np.add.reduce(total * question.numbers)) / (count * _SCALE_UNIT * question.unit)


def _signs(rows: Mask) -> NDArray[np.uint64]:
    """Pack a mask into bits, 64 a word."""
    packed = np.packbits(rows, axis=1)
    padded = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the number of bits set in each word."""
    if _count_bits is not None:
        counts: NDArray[np.uint8] = _count_bits(words)
        return counts
    bits: NDArray[np.uint8] = _BITS_OF_BYTE.take(words.view(np.uint8).reshape(-1, 8))
    counts = np.add.reduce(bits, axis=1, dtype=np.uint8)
    return counts
