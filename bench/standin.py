"""The stand-in for an embedder: vectors that follow the words of a text, made from a seed and at once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.text import COMMON
from memoranda.model.vectors import Embedding

DIMENSION = 384

#: Words share this many vectors: a word stands near others that it has no letter in common with.
_MEANINGS = 8192
#: Of what a text is about there are fewer directions than a vector has numbers, as with models that were trained.
_DIRECTIONS = 96
#: What the words that join others weigh beside the others, and what of a text is in no word.
_JOINING = 0.2
_NOISE = 0.5

Floats = NDArray[np.float32]


class StandIn:
    """An embedder whose texts are near each other as far as they share words, or words of one meaning."""

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
        """What its vectors can be compared with."""
        return Embedding("stand-in", f"seed {self._seed}", DIMENSION)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """One unit vector a row, in the order of the texts."""
        return _units(np.array([self._of(text) for text in texts]))

    async def query(self, text: str) -> Floats:
        """A question's unit vector."""
        found: Floats = (await self.passages([text]))[0]
        return found

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _of(self, text: str) -> Floats:
        words = [word.strip(".?!").lower() for word in text.split()]
        places = [zlib.crc32(word.encode()) % _MEANINGS for word in words]
        weights = np.array([_JOINING if word in self._common else 1.0 for word in words], dtype=np.float32)
        said = weights @ self._meanings.take(places, axis=0)
        rest = np.random.default_rng((self._seed, zlib.crc32(text.encode()))).standard_normal(DIMENSION)
        return np.asarray(_units(said) + _NOISE * _units(rest), dtype=np.float32)


def _units(vectors: NDArray[np.floating]) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
