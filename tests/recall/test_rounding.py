"""What rounding leaves of a cosine of 0: no arm takes it for nearness, by itself or as its best."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.recall.plain import EVERYTHING, find, passage, shelf_of, together, unit, words

UNLIKE = pytest.mark.parametrize(
    ("said", "asked"),
    [(unit(1, 1, -1, 0), unit(1, 2, 3, 0)), (unit(-1, -1, 1, 0), unit(1, 1, 2, 3))],
)
Vector = NDArray[np.float32]


@UNLIKE
def test_what_is_not_near_is_not_found_by_meaning(said: Vector, asked: Vector) -> None:
    row = passage(1, "rain", vector=said)
    assert find(shelf_of(row), "", vector=asked) == []
    assert together([row], [], asked, EVERYTHING) == {row.id: 0}


@UNLIKE
def test_it_takes_nothing_from_what_words_find(said: Vector, asked: Vector) -> None:
    index = shelf_of(passage(1, "rain", vector=said), passage(2, "tea"))
    (alone,), (found,) = find(index, "tea"), find(index, "tea", vector=asked)
    assert (found.id, found.score) == (alone.id, alone.score)


@UNLIKE
def test_who_is_named_is_not_heard_for_it(said: Vector, asked: Vector) -> None:
    facets = json.dumps(["Ann", "a", None, None, "user", []])
    rows = [passage(1, "rain", vector=said, facets=facets), passage(2, "tea")]
    assert find(shelf_of(*rows), "ann", vector=asked) == []
    assert set(together(rows, words("ann"), asked, EVERYTHING).values()) == {0}


def test_what_is_a_little_near_is_found() -> None:
    chance = np.random.default_rng(5)
    asked, other = unit(*chance.normal(size=384)), chance.normal(size=384)
    aside = unit(*(other - other @ asked * asked))
    assert find(shelf_of(passage(1, vector=unit(*(aside + 0.02 * asked)))), "", vector=asked)
