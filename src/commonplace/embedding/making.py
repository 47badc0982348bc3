"""Makes the vectors that a book lacks: in the set that recall reads, or in a new one beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import EmbeddingFailed
from commonplace.model.vectors import Embedding, SetState, pack_vectors
from commonplace.ports import Embedder, Vectors

#: Passages that are embedded in one step, after which what was made is kept.
STEP = 64

_log = logging.getLogger("commonplace.embedding")

#: Is told how many vectors were made so far.
Progress = Callable[[int], None]


class Maker:
    """One embedder at work for one book."""

    def __init__(self, vectors: Vectors, embedder: Embedder) -> None:
        self._vectors = vectors
        self.embedder = embedder

    @property
    def embedding(self) -> Embedding:
        """What its vectors can be compared with."""
        return self.embedder.embedding

    async def query(self, question: str) -> NDArray[np.float32] | None:
        """A question's vector; None where it could not be made: then recall goes by words alone."""
        try:
            return await self.embedder.query(question)
        except EmbeddingFailed as exc:
            _log.warning("recall goes by words alone: %s", exc)
            return None

    async def begin(self) -> bool:
        """Give the book its first set; False where recall reads another embedding's."""
        found = await self._vectors.begin_set(self.embedding) if await self._is_free() else None
        if found is not None:
            return found.state is SetState.ACTIVE
        return (await self._vectors.vector_sets())[0].name == self.embedding.name

    async def _is_free(self) -> bool:
        return not await self._vectors.vector_sets()

    async def catch_up(self, progress: Progress | None = None) -> int:
        """Make what is lacking in this embedding's set, if the book has it; returns how many vectors were put."""
        made = 0
        while records := await self._vectors.lacking(self.embedding, STEP):
            texts = [record.passage_text() or "" for record in records]
            packed = pack_vectors(await self.embedder.passages(texts))
            put = await self._vectors.put_vectors(
                self.embedding, {record.id: one for record, one in zip(records, packed, strict=True)}
            )
            made += put
            if progress is not None:
                progress(made)
        return made

    async def renew(self, progress: Progress | None = None) -> int:
        """Make this embedding's set beside the one that recall reads, then let recall read it, in one step.

        What an interrupted call made is there already: it goes on where it stopped.
        """
        await self._vectors.begin_set(self.embedding)
        made = await self.catch_up(progress)
        await self._vectors.switch_set(self.embedding)
        return made
