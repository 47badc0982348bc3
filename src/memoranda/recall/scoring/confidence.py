"""Confidence: the chance that a hit answers the question, from how far it stands out and how much of the question it has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress
from operator import mul
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

#: How much each clue counts, with words and vectors, words alone, or vectors alone; the last number is for every hit.
#: ``python -m evals.confidence --fit`` fits them. The clues are in the order of ``clues_of``.
CURVES: Final[dict[tuple[bool, bool], tuple[float, ...]]] = {
    (True, True): (2.13, 0.94, -0.85, 0.88, 1.09, -4.09),
    (True, False): (2.84, 1.31, -0.56, 1.49, 0.0, -5.62),
    (False, True): (1.94, 0.0, -1.01, 0.0, 2.86, -2.72),
}
#: The passages that a hit is compared with: from the fifth to the tenth.
_FIFTH, _TENTH = 4, 10
#: So many first hits tell how much of the question was found.
_FIRST = 5


class Ranking(NamedTuple):
    """The scores from which confidence is computed."""

    #: The score of every passage that was scored.
    together: Scores
    #: The scores of the hits, best first.
    hits: Sequence[float]
    #: What each word of the question adds to the score by words of each hit (row), and the words' weights; None without words.
    words: tuple[Sequence[Sequence[float]], Sequence[float]] | None
    #: How far the best cosine is above the average; None without vectors.
    ahead: float | None


def clues_of(seen: Ranking) -> list[tuple[float, ...]]:
    """Return the clues of each hit.

    The clues: how far its score is above that of others, as a share of the best; its score by words; its rank; the share of the question's words
    that the first hits have; how far the best cosine is above the average.
    """
    others = _others(seen.together)
    by_words, found = [0.0] * len(seen.hits), 0.0
    if seen.words is not None:
        rows, weights = seen.words
        by_words = [math.log1p(sum(row)) for row in rows]
        held = map(any, zip(*rows[:_FIRST], strict=True))
        found = sum(compress(weights, held)) / sum(weights)
    return [
        ((score - others) / seen.hits[0], words, math.log1p(rank), found, seen.ahead or 0.0)
        for rank, (score, words) in enumerate(zip(seen.hits, by_words, strict=True))
    ]


def confidences(seen: Ranking) -> list[float]:
    """Return the confidence of each hit, from 0 to 1."""
    if not seen.hits:
        return []
    *slopes, base = CURVES[seen.words is not None, seen.ahead is not None]
    return [1 / (1 + math.exp(-(sum(map(mul, slopes, clues)) + base))) for clues in clues_of(seen)]


def _others(together: Scores) -> float:
    """Return the mean score of the fifth to the tenth passage; 0 if there are no more than four."""
    if len(together) > _TENTH:
        together = np.partition(together, -_TENTH)[-_TENTH:]
    rest = sorted(together.tolist(), reverse=True)[_FIFTH:]
    return sum(rest) / len(rest) if rest else 0.0
