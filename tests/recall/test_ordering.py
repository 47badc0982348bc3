"""Ranks among all scores."""

from __future__ import annotations

import numpy as np

from memoranda.recall.scoring.search import ranks_of


def test_ranks_are_the_same_whether_they_are_counted_or_sorted() -> None:
    dice = np.random.default_rng(5)
    everything = dice.integers(0, 40, (3, 300)).astype(np.float64)
    few, many = everything[:, :10], everything[:, :100]
    counted, ordered = ranks_of(everything, few), ranks_of(everything, many)
    assert (counted == ordered[:, :10]).all()
    assert counted.min() >= 1 and (counted[0] == 1 + (everything[0] > few[0][:, None]).sum(axis=1)).all()
