"""An embedder without a model: each word has a vector of chance, the same in every process, and a text is their sum."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from memoranda.model.vectors import Embedding

_WORD = re.compile(r"\w+")


class StubEmbedder:
    """Makes vectors at once; texts that share words are near each other, and two models agree about nothing."""

    def __init__(self, model: str = "words", dimension: int = 48) -> None:
        self.embedding = Embedding("stub", model, dimension)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a row, in the order of the texts."""
        return np.array([self.of(text) for text in texts], dtype=np.float32).reshape(
            len(texts), self.embedding.dimension
        )

    async def query(self, text: str) -> NDArray[np.float32]:
        """A question's vector, which is that of a passage with the same words."""
        return self.of(text)

    async def close(self) -> None:
        """It holds nothing."""

    def of(self, text: str) -> NDArray[np.float32]:
        """A text's vector of unit length; a text without words is taken for one of a word of its own."""
        words = _WORD.findall(text.casefold()) or [""]
        chance = np.frombuffer(b"".join(map(self._chance, words)), dtype=np.uint8)
        total = chance.reshape(len(words), -1).sum(axis=0, dtype=np.int64) - len(words) * 127.5
        unit: NDArray[np.float32] = (total / np.linalg.norm(total)).astype(np.float32)
        return unit

    def _chance(self, word: str) -> bytes:
        key = f"{self.embedding.name}\n{word}".encode("utf-8", "surrogatepass")
        return shake_256(key).digest(self.embedding.dimension)
