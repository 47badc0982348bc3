"""What these tests share: the local model, and a provider that answers as it is told to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.embedding import LocalEmbedder
from memoranda.embedding.local_model import LocalModel, missing_libraries, processors, shared
from memoranda.embedding.model_files import places
from memoranda.embedding.multilingual_weights import weights_place
from memoranda.model.vectors import Embedding


@pytest.fixture(scope="session")
def weights_folder() -> Path:
    """Where the model's files are; CI has them."""
    found = next((place.folder for place in places() if place.folder and not place.problem()), None)
    if found is None or missing_libraries():
        message = "the local model is not installed: memoranda weights install"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def multilingual_folder() -> Path:
    """Where the multilingual model's file is; CI has it."""
    place = weights_place()
    if place.problem() or place.folder is None:
        message = "the multilingual model is not installed: ./dev setup"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return place.folder


@pytest.fixture(scope="session")
def loaded(weights_folder: Path) -> LocalModel:
    """The model, held so that it is loaded once."""
    return shared(weights_folder, processors())


@pytest.fixture
def local(loaded: LocalModel) -> LocalEmbedder:
    return LocalEmbedder(loaded.folder)


class Counting:
    """An embedder that turns a text's letters into a vector, and tells what it was asked."""

    embedding = Embedding("test", "letters", 4)

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.closed = False

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([self.of(text) for text in texts], dtype=np.float32).reshape(len(texts), 4)

    async def query(self, text: str) -> NDArray[np.float32]:
        self.asked.append([text])
        return self.of(text)

    async def close(self) -> None:
        self.closed = True

    @staticmethod
    def of(text: str) -> NDArray[np.float32]:
        raw = np.array(
            [len(text), *(sum(map(ord, text)) % prime for prime in (7, 11, 13))], dtype=np.float32
        )
        raw[0] += 1
        found: NDArray[np.float32] = raw / np.linalg.norm(raw)
        return found


@pytest.fixture
def counting() -> Counting:
    return Counting()
