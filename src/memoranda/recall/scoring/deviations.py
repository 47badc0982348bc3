"""The standard deviation of scores by words: exact from all of them, or estimated from how rare
each word is.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Scores are rounded to this part before they are added: sums of whole numbers are the same in any
#: order.
_ROUNDED: Final = 1024
#: The least deviation, as a share of the root mean square: all passages may have the same words.
_LEAST: Final = 0.25
#: Words of a question stand together more often than by chance; their scores deviate so much more.
_DEPENDENT: Final = 1.1


def deviation(scores: NDArray[np.float64], living: int) -> float:
    """Return the standard deviation of the scores of so many passages, the same in any order; never
    less than the least.

    There may be more zeros among the scores than there are passages.
    """
    numbers = np.rint(scores[scores > 0] * _ROUNDED).astype(np.int64)
    mean, squares = int(numbers.sum()) / living, int(numbers @ numbers) / living
    return _at_least(squares - mean**2, squares) / _ROUNDED


def expected_deviation(rarities: NDArray[np.float64], living: int) -> float:
    """Estimate the deviation from the rarity of each word, as if each stood once in texts of usual
    length.
    """
    shares = np.clip(((living + 1) / np.exp(rarities) - 0.5) / living, 0.0, 1.0)
    mean, variance = float(shares @ rarities), float((shares * (1 - shares)) @ rarities**2)
    return _DEPENDENT * _at_least(variance, variance + mean**2)


def _at_least(variance: float, squares: float) -> float:
    return math.sqrt(max(variance, squares * _LEAST**2))
