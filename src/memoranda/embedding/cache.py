"""Vectors that were made before, kept in memory for one tenant by what their texts hold."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import EmbeddingFailed
from memoranda.model.vectors import Embedding
from memoranda.ports import Embedder

Floats = NDArray[np.float32]

#: What an entry takes beside its numbers: key, array, and its place in the order.
_ENTRY_BYTES = 320
_PASSAGE, _QUERY = b"p", b"q"


@runtime_checkable
class Checkable(Protocol):
    """An embedder that can look at itself."""

    async def check(self) -> None:
        """Raise what is wrong."""


class CachedEmbedder:
    """An embedder that remembers. One is made for each tenant, so that none can learn what another asked."""

    def __init__(self, embedder: Embedder, limit: int, *, closes: bool = True) -> None:
        self.embedder = embedder
        # An embedder that the application brought is the application's to close: others may use it.
        self._closes = closes
        self._limit = limit
        self._entries: OrderedDict[bytes, Floats] = OrderedDict()
        # Unknown outside, so that a key tells nothing of its text.
        self._secret = os.urandom(16)
        self._era = 0

    @property
    def embedding(self) -> Embedding:
        """What its vectors can be compared with."""
        return self.embedder.embedding

    @property
    def size(self) -> int:
        """The bytes that the kept vectors take."""
        return len(self._entries) * self._entry

    async def passages(self, texts: Sequence[str]) -> Floats:
        """One unit vector a row, in the order of the texts; a text that comes again is not made again."""
        keys = [self._key(_PASSAGE, text) for text in texts]
        known = {key: kept for key in keys if (kept := self._entries.get(key)) is not None}
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if lacking:
            era = self._era
            made = self._checked(await self.embedder.passages(list(lacking.values())), len(lacking))
            known |= zip(lacking, made, strict=True)
            self._keep({key: known[key] for key in lacking}, era)
        found = np.empty((len(texts), self.embedding.dimension), dtype=np.float32)
        for place, key in enumerate(keys):
            found[place] = known[key]
        return found

    async def query(self, text: str) -> Floats:
        """A question's unit vector; one that is kept cannot be written to."""
        key = self._key(_QUERY, text)
        if (kept := self._entries.get(key)) is not None:
            self._entries.move_to_end(key)
            return kept
        era = self._era
        made = self._checked(await self.embedder.query(text))
        self._keep({key: made}, era)
        return made

    async def check(self) -> None:
        """Raise what is known to be wrong with the embedder, as far as it can tell without working."""
        if isinstance(self.embedder, Checkable):
            await self.embedder.check()

    def clear(self) -> None:
        """Forget every vector, those being made included: after an erasure nothing of it may stay."""
        self._entries.clear()
        self._era += 1

    async def close(self) -> None:
        """Let go of the vectors, and of the embedder where it is ours."""
        self.clear()
        if self._closes:
            await self.embedder.close()

    @property
    def _entry(self) -> int:
        return self.embedding.dimension * 4 + _ENTRY_BYTES

    def _checked(self, made: Floats, *rows: int) -> Floats:
        """What the embedder gave, if these are vectors of its embedding: it may be an application's own."""
        if made.shape != (*rows, self.embedding.dimension) or not np.isfinite(made).all():
            many = f"{rows[0]} vectors" if rows else "a vector"
            raise EmbeddingFailed(
                f"{self.embedding.name} gave an array of shape {made.shape} instead of {many} of "
                f"{self.embedding.dimension} finite numbers"
            )
        return made

    def _key(self, purpose: bytes, text: str) -> bytes:
        content = text.encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=16, key=self._secret, person=purpose).digest()

    def _keep(self, made: dict[bytes, Floats], era: int) -> None:
        if era != self._era:
            # What was let go of meanwhile may be what these texts hold.
            return
        for key, vector in made.items():
            # A row of a larger array would keep the whole array.
            kept = vector if vector.base is None else vector.copy()
            kept.flags.writeable = False
            self._entries[key] = kept
            self._entries.move_to_end(key)
        while self._entries and self.size > self._limit:
            self._entries.popitem(last=False)
