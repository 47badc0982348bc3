"""Embeddings have names of their own, and vectors survive being stored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.errors import InvalidInput
from memoranda.model.vectors import (
    Embedding,
    check_packed,
    pack_vector,
    pack_vectors,
    unpack_vectors,
)


def units(count: int, dimension: int) -> NDArray[np.float32]:
    found = np.random.default_rng(7).normal(size=(count, dimension))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float32)


def test_packed_vectors_come_back_nearly_as_they_were():
    given = units(50, 384)
    stored = pack_vectors(given)
    assert {len(each) for each in stored} == {Embedding("local", "m", 384).packed_bytes}
    assert stored[3] == pack_vector(given[3])
    scales, numbers = unpack_vectors(stored)
    assert (scales.dtype.name, numbers.dtype.name, numbers.shape) == ("float32", "int8", (50, 384))
    assert np.abs(numbers * scales[:, np.newaxis] - given).max() <= scales.max() / 2 + 1e-6


def test_a_packed_vector_is_a_little_endian_scale_and_a_signed_byte_a_dimension():
    packed = pack_vector(np.array([1.0, -0.5, 0.0], dtype=np.float32))
    assert packed[:4] == np.array(1 / 127, dtype="<f4").tobytes()
    assert list(np.frombuffer(packed[4:], dtype=np.int8)) == [127, -64, 0]


def test_no_vectors_and_vectors_of_nothing_are_packed_too():
    assert unpack_vectors([])[1].shape == (0, 0)
    scales, numbers = unpack_vectors([pack_vector(np.zeros(3, dtype=np.float32))])
    assert (scales.tolist(), numbers.tolist()) == ([0.0], [[0, 0, 0]])


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_number_is_not_packed(number: float):
    with pytest.raises(InvalidInput, match="finite"):
        pack_vector(np.array([1.0, number], dtype=np.float32))


def test_vectors_of_another_length_are_refused():
    check_packed(Embedding("local", "m", 3), [bytes(7)])
    with pytest.raises(InvalidInput, match="has 8 bytes, and local/m/3 makes 7"):
        check_packed(Embedding("local", "m", 3), [bytes(7), bytes(8)])


def test_an_embedding_is_named_in_one_line_that_no_other_has():
    assert Embedding("local", "all-MiniLM-L6-v2", 384).name == "local/all-MiniLM-L6-v2/384"
    assert Embedding("openai", "org/m:1", 8, "query: ").name == "openai/org/m:1/8#query: "
    alike = [
        Embedding("a", "b/c", 5),
        Embedding("a/b", "c", 5),
        Embedding("a", "b", 5, "c"),
        Embedding("a", "b/5#c", 5),
        Embedding("a", "b/5", 5),
        Embedding("a", "b", 5, "c\nd"),
        Embedding("a", "b", 5, "c%0Ad"),
    ]
    names = [each.name for each in alike]
    assert len(set(names)) == len(alike)
    assert not [name for name in names if "\n" in name]


@pytest.mark.parametrize("given", [("", "m", 3), ("p", "", 3), ("p", "m", 0), ("p", "m", 10**6)])
def test_an_embedding_without_a_name_or_a_dimension_is_refused(given: tuple[str, str, int]):
    with pytest.raises(InvalidInput):
        Embedding(*given)
