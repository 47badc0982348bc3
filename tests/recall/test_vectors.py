"""Vectors of a segment: their products are exact, independent of the other rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.model.vectors import pack_vectors
from memoranda.recall.arrays import cosines as vectors_of_segments
from memoranda.recall.arrays.cosines import QuestionVector, Vectors
from tests.recall.plain import change, find, passage, shelf_of, unit


def some_units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    numbers = np.random.default_rng(seed).normal(size=(count, dimension))
    units: NDArray[np.float32] = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype(
        np.float32
    )
    return units


@pytest.mark.parametrize("dimension", [3, 64, 100, 384, 1536, 3072])
def test_a_cosine_is_as_near_as_eight_bits_allow(dimension: int) -> None:
    units = some_units(50, dimension, 1)
    held = Vectors.of(pack_vectors(units))
    assert held is not None
    cosines = held.cosines(QuestionVector(units[0]))
    assert np.abs(cosines - units @ units[0]).max() < 0.01
    assert cosines[0] == pytest.approx(1, abs=0.01)


def test_a_row_has_the_same_bits_wherever_it_stands() -> None:
    units = some_units(700, 384, 2)
    asked = QuestionVector(some_units(1, 384, 3)[0])
    whole = Vectors.of(pack_vectors(units))
    assert whole is not None
    cosines = whole.cosines(asked)
    rows = np.random.default_rng(4).permutation(700)
    assert (whole.cosines_at(rows, asked) == cosines[rows]).all()
    for first, count in ((0, 1), (1, 7), (13, 64), (300, 399)):
        part = Vectors.of(pack_vectors(units[first : first + count]))
        assert part is not None
        assert (part.cosines(asked) == cosines[first : first + count]).all()


def test_the_greatest_sum_that_there_can_be_is_exact() -> None:
    """All numbers as large as they are stored: the sum is the one that pure whole numbers give."""
    units = np.full((5, 384), 384**-0.5, dtype=np.float32)
    held = Vectors.of(pack_vectors(units))
    asked = QuestionVector(units[0])
    assert held is not None
    products = [
        int(number) for number in held.numbers.astype(np.int64) @ asked.numbers.astype(np.int64)
    ]
    assert max(products) <= 2**24
    assert held.cosines(asked).tolist() == [
        product * held.scales[0] / asked.unit for product in products
    ]


def test_sums_are_exact_in_any_order() -> None:
    held = Vectors.of(pack_vectors(some_units(900, 48, 5)))
    assert held is not None
    rows = np.random.default_rng(6).permutation(900)
    apart = held.sum_of(rows[:100]) + held.sum_of(rows[100:101]) + held.sum_of(rows[101:])
    assert (held.sum_of(slice(None)) == apart).all()


def test_signs_guess_what_is_near() -> None:
    units = some_units(400, 384, 7)
    units[100:110] = units[:10] + 0.02 * some_units(10, 384, 8)
    held = Vectors.of(pack_vectors(units))
    assert held is not None
    for row in range(10):
        guesses = held.estimates(QuestionVector(units[row]))
        assert set(guesses.argsort()[-2:].tolist()) == {row, 100 + row}


def test_bits_are_counted_without_numpy_two_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    held, asked = (
        Vectors.of(pack_vectors(some_units(60, 100, 9))),
        QuestionVector(some_units(1, 100, 10)[0]),
    )
    assert held is not None
    counted = held.estimates(asked)
    monkeypatch.setattr(vectors_of_segments, "_count_bits", None)
    assert (held.estimates(asked) == counted).all()


def test_rows_without_a_vector_and_of_another_length_have_none() -> None:
    two, three = pack_vectors(some_units(2, 2, 11)), pack_vectors(some_units(2, 3, 12))
    assert Vectors.of([None, None]) is None
    held = Vectors.of([two[0], None, three[0], three[1]])
    assert held is not None
    assert (held.dimension, held.present.tolist()) == (3, [False, False, True, True])
    assert held.cosines(QuestionVector(some_units(1, 3, 13)[0]))[:2].tolist() == [0, 0]


def test_a_question_of_nothing_is_near_nothing() -> None:
    held = Vectors.of(pack_vectors(some_units(3, 8, 14)))
    assert held is not None
    assert held.cosines(QuestionVector(np.zeros(8, dtype=np.float32))).tolist() == [0, 0, 0]


def test_where_the_last_vector_has_gone_words_alone_find() -> None:
    index = shelf_of(passage(1, "tea"), passage(2, "cake", vector=unit(1, 0)))
    change(index, gone=[2])
    found = find(index, "tea", vector=unit(1, 0))
    assert found[0].cosine is None
    assert found == find(shelf_of(passage(1, "tea")), "tea", vector=unit(1, 0))
