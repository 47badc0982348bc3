"""The stand-in for an embedding model: vectors computed from the words of a text and a seed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.text import COMMON
from memoranda.model.vectors import Embedding

DIMENSION = 384

#: Words share this many vectors, so that a word is near others with which it has no letter in
#: common.
_MEANINGS = 8192
#: There are fewer directions of meaning than numbers in a vector, as in trained models.
_DIRECTIONS = 96
#: Weight of function words relative to the others, and the share of noise.
_JOINING = 0.2
_NOISE = 0.5

Floats = NDArray[np.float32]


class StandIn:
    """An embedder that puts texts near each other if they share words, or words of one meaning."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        meanings = rng.standard_normal((_MEANINGS, _DIRECTIONS)) @ rng.standard_normal(
            (_DIRECTIONS, DIMENSION)
        )
        self._meanings = _units(meanings)
        self._seed = seed
        self._common = frozenset(COMMON)

    @property
    def embedding(self) -> Embedding:
        """Name and dimension of its vectors."""
        return Embedding("stand-in", f"seed {self._seed}", DIMENSION)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector per row, in the order of the texts."""
        return _units(np.array([self._of(text) for text in texts]))

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector."""
        found: Floats = (await self.passages([text]))[0]
        return found

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _of(self, text: str) -> Floats:
        words = [word.strip(".?!").lower() for word in text.split()]
        places = [zlib.crc32(word.encode()) % _MEANINGS for word in words]
        weights = np.array(
            [_JOINING if word in self._common else 1.0 for word in words], dtype=np.float32
        )
        said = weights @ self._meanings.take(places, axis=0)
        rest = np.random.default_rng((self._seed, zlib.crc32(text.encode()))).standard_normal(
            DIMENSION
        )
        return np.asarray(_units(said) + _NOISE * _units(rest), dtype=np.float32)


def _units(vectors: NDArray[np.floating]) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
