"""Fusion: arms' scores become one, each divided by its best, each as heavy as it is sure of itself."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Scorer(StrEnum):
    """A way of finding."""

    WORDS = "words"
    WORDS_NEAR = "words_near"
    MEANING = "meaning"
    MEANING_NEAR = "meaning_near"


# How much each arm counts was fitted on talks between friends, long chats and short notes.

#: The share of each arm's weight that goes to a passage together with its neighbours.
_WORDS_NEAR = 0.75
_MEANING_NEAR = 0.6
#: Words are the surer, the more of the question their best passage holds.
_WORDS_POWER = 0.5
#: Meaning is the surer, the further its best passage stands above the average one.
_MEANING = 1.1
_MEANING_POWER = 1.5
#: It never counts as less sure than this: where all passages are equally near, it says so much at least.
_MEANING_LEAST = 0.05
#: What is added where someone speaks whom the question names.
NAMED = 0.2


def words_weight(best: float, best_there_could_be: float) -> float:
    """What words count, by how much of the question their best passage holds."""
    held = best / best_there_could_be if best_there_could_be > 0 else 0.0
    return float(min(1.0, held) ** _WORDS_POWER)


def meaning_weight(best: float, average: float, least: float) -> float:
    """What meaning counts, by how far its best stands out; nothing where that is at most so near.

    Where all are alike to the model, as in a language that it does not know, that is little.
    """
    if best <= least:
        return 0.0
    ahead = min(1.0, max(_MEANING_LEAST, (best - average) / best))
    return float(_MEANING * ahead**_MEANING_POWER)


def weights(words: float, meaning: float) -> dict[Scorer, float]:
    """The weights of the arms, one together; both nothing: none."""
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
    """One score for each column: every arm's, one a row, as a part of its best, arm by arm.

    What is at most an arm's least is nothing to it: what points away from the question is as far from it as what
    has no vector, and takes nothing from other arms.
    """
    total = np.zeros(scores.shape[1])
    for arm, top, least, weight in zip(scores, tops, leasts, weights, strict=True):
        if top > least and weight > 0:
            total += np.where(arm > least, arm, 0.0) * (weight / top)
    return total
