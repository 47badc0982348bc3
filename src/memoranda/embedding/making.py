"""Makes the vectors that a book lacks: in the set that recall reads, or in a new one beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding.cache import Checkable
from memoranda.errors import EmbeddingFailed
from memoranda.model.records import Record
from memoranda.model.vectors import Embedding, pack_vectors
from memoranda.ports import Embedder, Vectors

#: Passages that are embedded in one step, after which what was made is kept.
STEP = 64

#: Is told how many vectors were made so far.
Progress = Callable[[int], None]


class VectorMaker:
    """One embedder at work for one book."""

    def __init__(self, vectors: Vectors, embedder: Embedder) -> None:
        self._vectors = vectors
        self.embedder = embedder
        self._turn = asyncio.Lock()

    @property
    def embedding(self) -> Embedding:
        """What its vectors can be compared with."""
        return self.embedder.embedding

    async def query(self, question: str) -> NDArray[np.float32]:
        """A question's vector."""
        try:
            return await self.embedder.query(question)
        except EmbeddingFailed:
            raise
        except Exception as exc:
            raise self._failed(exc) from exc

    async def make(self, records: Sequence[Record], progress: Progress | None = None) -> int:
        """Make the vectors of exactly these; returns how many were put."""
        made = 0
        for start in range(0, len(records), STEP):
            made += await self._step(records[start : start + STEP])
            if progress is not None:
                progress(made)
        return made

    async def catch_up(self, progress: Progress | None = None) -> int:
        """Make what is lacking in this embedding's set, if the book has it; returns how many vectors were put."""
        made = 0
        while True:
            # One at a time: what two would find lacking at once would be made twice.
            async with self._turn:
                records = await self._vectors.lacking(self.embedding, STEP)
                if not records:
                    return made
                made += await self._step(records)
            if progress is not None:
                progress(made)

    async def renew(self, progress: Progress | None = None) -> int:
        """Make this embedding's set beside the one that recall reads, then let recall read it, in one step.

        What an interrupted call made is there already: it goes on where it stopped.
        """
        await self._vectors.begin_set(self.embedding)
        made = await self.catch_up(progress)
        await self._vectors.switch_set(self.embedding)
        return made

    async def check(self) -> None:
        """Raise what is known to be wrong with the embedder, as far as it can tell without working."""
        if isinstance(self.embedder, Checkable):
            await self.embedder.check()

    async def close(self) -> None:
        """Let go of the embedder, where it is the book's."""
        await self.embedder.close()

    async def _step(self, records: Sequence[Record]) -> int:
        packed = await self._packed([record.passage_text() or "" for record in records])
        found = {record.id: one for record, one in zip(records, packed, strict=True)}
        return await self._vectors.put_vectors(self.embedding, found)

    async def _packed(self, texts: Sequence[str]) -> list[bytes]:
        """The texts' vectors as they are stored; whatever goes wrong is the embedder's failure."""
        try:
            return pack_vectors(await self.embedder.passages(texts))
        except EmbeddingFailed:
            raise
        except Exception as exc:
            raise self._failed(exc) from exc

    def _failed(self, exc: Exception) -> EmbeddingFailed:
        """Whatever an application's own embedder raises, as the one failure that the book knows."""
        return EmbeddingFailed(f"{self.embedding.name} made no vectors: {type(exc).__name__}")
