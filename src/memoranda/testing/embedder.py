"""An embedder without a model: a text's vector is the sum of its words' pseudo-random vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from memoranda.model.vectors import Embedding

_WORD = re.compile(r"\w+")


class StubEmbedder:
    """Makes vectors immediately, alike in every process; texts that share words are near each
    other.
    """

    def __init__(self, model: str = "words", dimension: int = 48) -> None:
        self.embedding = Embedding("stub", model, dimension)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, in the order of the texts."""
        return np.array([self.of(text) for text in texts], dtype=np.float32).reshape(
            len(texts), self.embedding.dimension
        )

    async def query(self, text: str) -> NDArray[np.float32]:
        """Return a question's vector, which equals that of a passage with the same words."""
        return self.of(text)

    async def close(self) -> None:
        """Do nothing."""

    def of(self, text: str) -> NDArray[np.float32]:
        """Return a text's unit vector; a text without words counts as one with a single empty
        word.
        """
        words = _WORD.findall(text.casefold()) or [""]
        chance = np.frombuffer(b"".join(map(self._chance, words)), dtype=np.uint8)
        total = chance.reshape(len(words), -1).sum(axis=0, dtype=np.int64) - len(words) * 127.5
        unit: NDArray[np.float32] = (total / np.linalg.norm(total)).astype(np.float32)
        return unit

    def _chance(self, word: str) -> bytes:
        key = f"{self.embedding.name}\n{word}".encode("utf-8", "surrogatepass")
        return shake_256(key).digest(self.embedding.dimension)
