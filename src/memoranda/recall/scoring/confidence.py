"""Confidence: the chance that a hit answers the question, from how far it stands out and how much of the question it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

#: How much each clue counts, with words and vectors, words alone, or vectors alone; the last number is for every hit.
#: ``python -m evals.confidence --fit`` fits them. The clues are in the order of ``clues_of``.
CURVES: Final[dict[tuple[bool, bool], tuple[float, ...]]] = {
    (True, True): (2.03, 0.75, -1.02, 0.72, 0.52, -3.47),
    (True, False): (2.88, 1.04, -0.52, 1.22, 0.0, -5.39),
    (False, True): (2.62, 0.0, -0.61, 0.0, 1.52, -2.76),
}
#: The passages that a hit is compared with: from the fifth to the tenth.
_FIFTH, _TENTH = 4, 10
#: So many first hits tell how much of the question was found.
_FIRST = 5


class Ranking(NamedTuple):
    """The scores of a search. The columns of ``words`` belong to those of ``together``."""

    #: The score of every passage that was scored.
    together: Scores
    #: The positions of the hits in ``together``, best first.
    hits: Sequence[int]
    #: What each word of the question (row) adds to a score by words, and its weight; None without words.
    words: tuple[Scores, Scores] | None
    #: The cosines of all passages, and the average cosine; None without vectors.
    cosines: tuple[Scores, float] | None


def clues_of(seen: Ranking) -> Scores:
    """Return one row a clue and one column a hit.

    The clues: how far its score is above that of others; its score by words; its rank; the share of the question's words
    that the first hits have; how far the best cosine is above the average.
    """
    hits = np.array(seen.hits, dtype=np.int64)
    clues = np.zeros((5, len(hits)))
    clues[0] = seen.together.take(hits) - _others(seen.together)
    clues[2] = np.log1p(np.arange(len(hits)))
    if seen.words is not None:
        shares, weights = seen.words
        clues[1] = np.log1p(shares.take(hits, axis=1).sum(axis=0))
        found = (shares.take(hits[:_FIRST], axis=1) > 0).any(axis=1)
        clues[3] = weights[found].sum() / weights.sum()
    if seen.cosines is not None:
        cosines, average = seen.cosines
        clues[4] = cosines.max() - average
    return clues


def confidences(seen: Ranking) -> list[float]:
    """Return the confidence of each hit, from 0 to 1."""
    if not len(seen.hits):
        return []
    *slopes, base = CURVES[seen.words is not None, seen.cosines is not None]
    found: list[float] = (1 / (1 + np.exp(-(np.array(slopes) @ clues_of(seen) + base)))).tolist()
    return found


def _others(together: Scores) -> float:
    """Return the mean score of the fifth to the tenth passage; 0 if there are no more than four."""
    if len(together) > _TENTH:
        together = np.partition(together, -_TENTH)[-_TENTH:]
    rest = np.sort(together)[::-1][_FIFTH:]
    return float(rest.mean()) if len(rest) else 0.0
