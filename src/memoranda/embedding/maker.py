"""Makes a book's missing vectors, and caches vectors by text."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import EmbedderDown, EmbeddingFailed
from memoranda.model.memories import searched_text
from memoranda.model.records import Record
from memoranda.model.vectors import Embedding, pack_vectors
from memoranda.ports import Embedder, VectorSets
from memoranda.tasks import TimeLimit, TookTooLong

Floats = NDArray[np.float32]
T = TypeVar("T")

#: Seconds without questions after an answer that did not come: recall by words does not wait for it
#: each time.
_PAUSE_SECONDS = 5.0
#: Seconds that an answer may take once the book closes.
_LAST_SECONDS = 1.0

#: Bytes of an entry besides its numbers: key, array, and the position in the order.
_ENTRY_BYTES = 320
_PASSAGE, _QUERY = b"p", b"q"


@runtime_checkable
class Checkable(Protocol):
    """An embedder that can check itself."""

    async def check(self) -> None:
        """Raise an error if the embedder is known not to work."""


class CachedEmbedder:
    """An embedder with a cache. Each tenant has its own, so that none can find out what another
    asked.
    """

    def __init__(
        self, embedder: Embedder, limit: int, *, closes: bool = True, seconds: float | None = None
    ) -> None:
        self.embedder = embedder
        #: The time limit for one answer; None where the embedder has its own.
        self._time = None if seconds is None else TimeLimit(seconds)
        self._down_until = float("-inf")
        #: The embedding of its vectors; only vectors of one embedding can be compared.
        self.embedding: Embedding = embedder.embedding
        # The application closes an embedder that it passed itself: others may use it.
        self._closes = closes
        self._limit = limit
        self._entries: OrderedDict[bytes, Floats] = OrderedDict()
        # Random, so that a key reveals nothing about its text.
        self._secret = os.urandom(16)
        self._era = 0

    @property
    def size(self) -> int:
        """The bytes that the cached vectors take."""
        return len(self._entries) * self._entry

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector a row, in the order of the texts. Each distinct text is embedded
        once.
        """
        keys = [self._key(_PASSAGE, text) for text in texts]
        known = {key: kept for key in keys if (kept := self._entries.get(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            era = self._era
            made = self._checked(
                await self._answer(lambda: self.embedder.passages(list(missing.values()))),
                len(missing),
            )
            known |= zip(missing, made, strict=True)
            self._keep({key: known[key] for key in missing}, era)
        found = np.empty((len(texts), self.embedding.dimension), dtype=np.float32)
        for place, key in enumerate(keys):
            found[place] = known[key]
        return found

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector; the array is read-only if it is cached."""
        key = self._key(_QUERY, text)
        if (kept := self._entries.get(key)) is not None:
            self._entries.move_to_end(key)
            return kept
        if asyncio.get_running_loop().time() < self._down_until:
            raise EmbedderDown(
                f"{self.embedding.name} did not answer a moment ago; it will be asked again after a short pause"
            )
        era = self._era
        made = self._checked(await self._answer(lambda: self.embedder.query(text)))
        self._keep({key: made}, era)
        return made

    async def check(self) -> None:
        """Raise an error if the embedder is known not to work; it makes no vectors to find out."""
        if isinstance(self.embedder, Checkable):
            await self._answer(self.embedder.check)

    def stop(self) -> None:
        """Wait for answers no longer than a moment from now on."""
        if self._time is not None:
            self._time.shorten(_LAST_SECONDS)

    def clear(self) -> None:
        """Drop every cached vector, also those being made: after an erasure no vector of an erased
        text may stay.
        """
        self._entries.clear()
        self._era += 1

    async def close(self) -> None:
        """Drop the cached vectors, and close the embedder unless the application passed it."""
        self.clear()
        if self._closes:
            await self.embedder.close()

    @property
    def _entry(self) -> int:
        return self.embedding.dimension * 4 + _ENTRY_BYTES

    async def _answer(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what the embedder answers; raise ``EmbedderDown`` if it takes too long."""
        if self._time is None:
            return await call()
        try:
            return await self._time.wait(call)
        except TookTooLong as exc:
            self._down_until = asyncio.get_running_loop().time() + _PAUSE_SECONDS
            raise EmbedderDown(f"{self.embedding.name} gave {exc}") from exc

    def _checked(self, made: Floats, *rows: int) -> Floats:
        """Return the vectors that an embedder made; raise if their number, dimension or values are
        wrong.
        """
        if made.shape != (*rows, self.embedding.dimension) or not np.isfinite(made).all():
            many = f"{rows[0]} vectors" if rows else "a vector"
            if made.shape == (*rows, self.embedding.dimension):
                wrong = len({*np.nonzero(~np.isfinite(np.atleast_2d(made)))[0].tolist()})
                raise EmbeddingFailed(
                    f"{self.embedding.name} returned NaN or infinite numbers in {wrong} of {many}; check the embedder"
                )
            raise EmbeddingFailed(
                f"{self.embedding.name} returned an array of shape {made.shape} instead of {many} of "
                f"{self.embedding.dimension} finite numbers"
            )
        return made

    def _key(self, purpose: bytes, text: str) -> bytes:
        content = text.encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=16, key=self._secret, person=purpose).digest()

    def _keep(self, made: dict[bytes, Floats], era: int) -> None:
        if era != self._era:
            # The cache was cleared in the meantime, perhaps because of these texts.
            return
        for key, vector in made.items():
            # A row of a larger array would keep the whole array.
            kept = vector if vector.base is None else vector.copy()
            kept.flags.writeable = False
            self._entries[key] = kept
            self._entries.move_to_end(key)
        while self._entries and self.size > self._limit:
            self._entries.popitem(last=False)


#: Passages embedded in one step; their vectors are stored after each step.
STEP = 64

#: Called with the number of vectors made so far.
Progress = Callable[[int], None]


class VectorMaker:
    """Makes the vectors of one book with an embedder, and stores them."""

    def __init__(self, vectors: VectorSets, embedder: Embedder) -> None:
        self._vectors = vectors
        self.embedder = embedder
        self._turn = asyncio.Lock()
        #: True once the book closes.
        self.stopped = False

    @property
    def embedding(self) -> Embedding:
        """The name and dimension of the embedding that the vectors belong to."""
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
        """Make the vectors missing in the book's set for this embedding, if any; return how many
        were stored.
        """
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
        """Make a set of vectors with this embedder while recall reads the old set; then switch
        recall to it.

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

    def stop(self) -> None:
        """Wait for the embedder no longer than a moment from now on, because the book closes."""
        self.stopped = True
        if isinstance(self.embedder, CachedEmbedder):
            self.embedder.stop()

    async def close(self) -> None:
        """Close the embedder, unless the application passed it."""
        await self.embedder.close()

    async def _step(self, records: Sequence[Record]) -> int:
        packed = await self._packed([searched_text(record) or "" for record in records])
        found = {record.id: one for record, one in zip(records, packed, strict=True)}
        versions = {record.id: record.version for record in records}
        return await self._vectors.put_vectors(self.embedding, found, versions)

    async def _packed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the texts' vectors as they are stored; every exception becomes
        ``EmbeddingFailed``.
        """
        try:
            return pack_vectors(await self.embedder.passages(texts))
        except EmbeddingFailed:
            raise
        except Exception as exc:
            raise self._failed(exc) from exc

    def _failed(self, exc: Exception) -> EmbeddingFailed:
        """Turn any exception of an application's own embedder into ``EmbeddingFailed``."""
        return EmbeddingFailed(f"{self.embedding.name} made no vectors: {type(exc).__name__}")
