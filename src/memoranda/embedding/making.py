"""Makes a book's missing vectors, in the set that recall reads or in a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding.cache import Checkable
from memoranda.errors import EmbeddingFailed
from memoranda.model.records import Record
from memoranda.model.vectors import Embedding, pack_vectors
from memoranda.ports import Embedder, VectorSets

#: Passages embedded in one step; their vectors are stored after each step.
STEP = 64

#: Called with the number of vectors made so far.
Progress = Callable[[int], None]


class VectorMaker:
    """An embedder together with the storage of vectors of one book."""

    def __init__(self, vectors: VectorSets, embedder: Embedder) -> None:
        self._vectors = vectors
        self.embedder = embedder
        self._turn = asyncio.Lock()

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors."""
        return self.embedder.embedding

    async def query(self, question: str) -> NDArray[np.float32]:
        """Return a question's vector."""
        try:
            return await self.embedder.query(question)
        except EmbeddingFailed:
            raise
        except Exception as exc:
            raise self._failed(exc) from exc

    async def make(self, records: Sequence[Record], progress: Progress | None = None) -> int:
        """Make the vectors of these records, and return how many were stored."""
        made = 0
        for start in range(0, len(records), STEP):
            made += await self._step(records[start : start + STEP])
            if progress is not None:
                progress(made)
        return made

    async def catch_up(self, progress: Progress | None = None) -> int:
        """Make the missing vectors of this embedding's set, if the book has it, and return how many were stored."""
        made = 0
        while True:
            # One task at a time: two would find the same vectors missing and make them twice.
            async with self._turn:
                records = await self._vectors.lacking(self.embedding, STEP)
                if not records:
                    return made
                made += await self._step(records)
            if progress is not None:
                progress(made)

    async def renew(self, progress: Progress | None = None) -> int:
        """Make this embedding's set besides the one that recall reads, then switch recall to it in one step.

        After an interruption a new call continues where the last one stopped.
        """
        await self._vectors.begin_set(self.embedding)
        made = await self.catch_up(progress)
        await self._vectors.switch_set(self.embedding)
        return made

    async def check(self) -> None:
        """Raise an error if the embedder is known not to work; it makes no vectors to find out."""
        if isinstance(self.embedder, Checkable):
            await self.embedder.check()

    async def close(self) -> None:
        """Close the embedder, unless the application passed it."""
        await self.embedder.close()

    async def _step(self, records: Sequence[Record]) -> int:
        packed = await self._packed([record.passage_text() or "" for record in records])
        found = {record.id: one for record, one in zip(records, packed, strict=True)}
        return await self._vectors.put_vectors(self.embedding, found)

    async def _packed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the texts' vectors as they are stored; every exception becomes ``EmbeddingFailed``."""
        try:
            return pack_vectors(await self.embedder.passages(texts))
        except EmbeddingFailed:
            raise
        except Exception as exc:
            raise self._failed(exc) from exc

    def _failed(self, exc: Exception) -> EmbeddingFailed:
        """Turn any exception of an application's own embedder into ``EmbeddingFailed``."""
        return EmbeddingFailed(f"{self.embedding.name} made no vectors: {type(exc).__name__}")
