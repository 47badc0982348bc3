"""The local embedder: all-MiniLM-L6-v2 on this machine's processor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from memoranda.embedding import weights
from memoranda.embedding.minilm import DIMENSION, Floats, MiniLM, batches, shared
from memoranda.model.vectors import Embedding

T = TypeVar("T")
G = TypeVar("G")

#: Texts tokenized at a time.
_WINDOW = 256
#: More threads than this do not speed up a short question.
_MOST_THREADS = 4


def processors() -> int:
    """Return the default number of threads for the model."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, _MOST_THREADS)


_EMBEDDING = Embedding("local", "all-MiniLM-L6-v2", DIMENSION)


class LocalEmbedder:
    """Makes vectors on one thread, in small batches, so that a question does not wait for many passages."""

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self.folder = folder
        self._threads = threads or processors()
        self._model: MiniLM | None = None

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors."""
        return _EMBEDDING

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector a row, in the order of the texts."""
        model = self._loaded()
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encoded = await _run(model, model.encode, texts[start : start + _WINDOW])
            for places in batches(encoded):
                made = await _run(model, model.vectors, [encoded[place] for place in places])
                found[[start + place for place in places]] = made
        return found

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector."""
        model = self._loaded()
        return await _run(model, model.one, text)

    async def check(self) -> None:
        """Raise an error if the files are not the published ones; the model is not loaded."""
        await asyncio.to_thread(weights.check, self.folder)

    async def close(self) -> None:
        """Release the model; a later use loads it again."""
        self._model = None

    def _loaded(self) -> MiniLM:
        if self._model is None or self._model.process != os.getpid():
            self._model = shared(self.folder, self._threads)
        return self._model


async def _run(model: MiniLM, work: Callable[[G], T], given: G) -> T:
    return await asyncio.get_running_loop().run_in_executor(model.thread, work, given)
