"""Fusion: the scores of all scorers become one, each divided by its best and weighted by how well it separates."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Scorer(StrEnum):
    """A way to score passages."""

    WORDS = "words"
    WORDS_NEAR = "words_near"
    MEANING = "meaning"
    MEANING_NEAR = "meaning_near"


# These numbers were fitted on talks between friends, long chats and short notes.

#: The share of a weight that goes to the passage together with its neighbours.
_WORDS_NEAR = 0.75
_MEANING_NEAR = 0.6
#: Words weigh more if their best passage contains more of the question.
_WORDS_POWER = 0.5
#: Meaning weighs more if its best passage is further above the average one.
_MEANING = 1.1
_MEANING_POWER = 1.5
#: The least that meaning counts as separating, where all passages are equally near.
_MEANING_LEAST = 0.05
#: Added to the score if the question names the speaker.
NAMED = 0.2


def words_weight(best: float, upper_bound: float) -> float:
    """Return the weight of words, from the share of the question that their best passage contains."""
    share = best / upper_bound if upper_bound > 0 else 0.0
    return float(min(1.0, share) ** _WORDS_POWER)


def meaning_weight(best: float, average: float, least: float) -> float:
    """Return the weight of meaning, from how far its best is above the average; 0 if the best is at most ``least``.

    The weight is small if all passages are alike to the model, as in a language that it does not know.
    """
    if best <= least:
        return 0.0
    ahead = min(1.0, max(_MEANING_LEAST, (best - average) / best))
    return float(_MEANING * ahead**_MEANING_POWER)


def weights(words: float, meaning: float) -> dict[Scorer, float]:
    """Return the weights of the scorers; they add up to 1, or all are 0."""
    together = words + meaning
    if together <= 0:
        return dict.fromkeys(Scorer, 0.0)
    words, meaning = words / together, meaning / together
    return {
        Scorer.WORDS: words * (1 - _WORDS_NEAR),
        Scorer.WORDS_NEAR: words * _WORDS_NEAR,
        Scorer.MEANING: meaning * (1 - _MEANING_NEAR),
        Scorer.MEANING_NEAR: meaning * _MEANING_NEAR,
    }


def fused(
    scores: NDArray[np.float64], tops: Sequence[float], leasts: Sequence[float], weights: Sequence[float]
) -> NDArray[np.float64]:
    """Return one score for each column: the weighted sum of all scorers (rows), each divided by its best.

    A score of at most a scorer's least counts as 0: a vector that points away from the question counts as much as
    no vector, and does not reduce the other scores.
    """
    total = np.zeros(scores.shape[1])
    for own, top, least, weight in zip(scores, tops, leasts, weights, strict=True):
        if top > least and weight > 0:
            total += np.where(own > least, own, 0.0) * (weight / top)
    return total
