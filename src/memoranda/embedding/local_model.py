"""The local embedder: a model on this machine's processor, loaded at its first use;
all-MiniLM-L6-v2 by default.
"""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from memoranda.embedding import model_files
from memoranda.embedding.model_files import ModelFile
from memoranda.embedding.model_session import (
    AUTO,
    Feed,
    Precision,
    feed_tokens,
    model_session,
    runtime_faults,
    tokenizer,
)
from memoranda.embedding.model_weights import Floats
from memoranda.errors import EmbeddingFailed
from memoranda.model.vectors import Embedding
from memoranda.text.scripts import wellformed

#: The libraries that MiniLM needs besides its files.
LIBRARIES = ("onnxruntime", "tokenizers")

DIMENSION = 384
#: Characters of a text that are tokenized: enough for all tokens; a huge text would take seconds.
LONGEST_CHARACTERS = 8_192
#: Tokens in one batch, with padding. Larger batches are hardly faster, and questions wait longer.
BATCH_TOKENS = 512


def missing_libraries(needed: Sequence[str] = LIBRARIES) -> list[str]:
    """Return the libraries that are not installed, without importing any."""
    return [name for name in needed if find_spec(name) is None]


class Loaded(NamedTuple):
    """The parts of a loaded model."""

    #: Returns the tokens of a text.
    tokens: Callable[[str], list[int]]
    feed: Feed
    session: Any


class LocalModel(ABC):
    """A local embedding model; it is loaded at its first use, and runs in an operating-system
    thread of its own.
    """

    def __init__(self, folder: Path, threads: int, precision: Precision = AUTO) -> None:
        self.folder = folder
        self.precision = precision
        self.process = os.getpid()
        #: One call at a time: within a call the runtime uses threads of its own.
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memoranda-embedding")
        #: A token for each question that waits for its vector; programs may ask on several event
        #: loops.
        self.questions: set[object] = set()
        self.threads = threads
        self._loaded: Loaded | None = None
        self._failed: str | None = None

    @abstractmethod
    def load(self) -> Loaded:
        """Read the model's files, and raise an error if they are not the published ones."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each passage."""
        read = self.parts().tokens
        return [read(wellformed(text[:LONGEST_CHARACTERS])) for text in texts]

    def vectors(self, encoded: Sequence[list[int]]) -> Floats:
        """Return one unit vector a row, for passages of about the same length."""
        loaded = self.parts()
        lengths = np.array([len(ids) for ids in encoded])
        longest = int(lengths.max())
        mask = (np.arange(longest) < lengths[:, np.newaxis]).astype(np.int32)
        padded = np.array([ids + [0] * (longest - len(ids)) for ids in encoded], dtype=np.int32)
        try:
            found: Floats = loaded.session.run(None, loaded.feed(padded, mask))[0]
        except runtime_faults() as exc:
            raise EmbeddingFailed(f"the local model failed on {len(encoded)} texts: {exc}") from exc
        return found

    def one(self, text: str) -> Floats:
        """Return the unit vector of one question."""
        found: Floats = self.vectors(self.encode([text]))[0]
        return found

    def parts(self) -> Loaded:
        """Return what was loaded; load it if nothing was."""
        if self._failed is not None:
            raise EmbeddingFailed(self._failed)
        if self._loaded is None:
            try:
                self._loaded = self.load()
            except EmbeddingFailed as exc:
                # Damaged files stay damaged: reading them again for every question would be slow.
                self._failed = str(exc)
                raise
        return self._loaded


class MiniLM(LocalModel):
    """all-MiniLM-L6-v2, which knows English best."""

    def load(self) -> Loaded:
        """Read the model's files, and raise an error if they are not the published ones."""
        session = model_session(self.folder, self.threads, self.precision)
        reader = tokenizer(self.folder)
        return Loaded(lambda text: list(reader.encode(text).ids), feed_tokens, session)


_shared: WeakValueDictionary[tuple[type[LocalModel], Path, int, Precision], LocalModel] = (
    WeakValueDictionary()
)
_sharing = threading.Lock()


def shared(
    folder: Path, threads: int, precision: Precision = AUTO, kind: type[LocalModel] = MiniLM
) -> LocalModel:
    """Return the process's one model for this folder, CPU threads and precision; it is released
    when nobody uses it.
    """
    with _sharing:
        found = _shared.get((kind, folder, threads, precision))
        if found is None:
            found = _shared[kind, folder, threads, precision] = kind(folder, threads, precision)
        return found


def _begin_anew() -> None:
    """Start without models after a fork: the child has neither the model's threads nor the holder
    of the lock.
    """
    global _shared, _sharing
    _shared, _sharing = WeakValueDictionary(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def batches(encoded: Sequence[list[int]]) -> list[list[int]]:
    """Divide texts into batches of similar length, so that there is little padding; a batch lists
    indices of texts.
    """
    found: list[list[int]] = []
    for place in sorted(range(len(encoded)), key=lambda place: len(encoded[place])):
        # The last text is the longest of its batch, and the others are padded to its length.
        if found and (len(found[-1]) + 1) * len(encoded[place]) <= BATCH_TOKENS:
            found[-1].append(place)
        else:
            found.append([place])
    return found


T = TypeVar("T")
G = TypeVar("G")

#: Texts tokenized at a time.
_WINDOW = 256
#: Seconds that passages let questions go first, and between two looks.
_PATIENCE, _PAUSE = 1.0, 0.005
#: More threads than this do not speed up a short question.
_MOST_THREADS = 4


def processors() -> int:
    """Return the default number of operating-system threads for the model."""
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(allowed, _MOST_THREADS)


class LocalEmbedder:
    """Makes vectors on one thread, in small batches, so that a question does not wait for many
    passages.
    """

    #: The name and dimension of the embedding that the vectors belong to.
    embedding = Embedding("local", "all-MiniLM-L6-v2", DIMENSION)
    _kind: type[LocalModel] = MiniLM
    _files: tuple[ModelFile, ...] = (model_files.TENSORS, model_files.TOKENIZER)

    def __init__(
        self, folder: Path, *, threads: int | None = None, precision: Precision = AUTO
    ) -> None:
        self.folder = folder
        self._threads = threads or processors()
        self._precision: Precision = precision
        self._model: LocalModel | None = None

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector a row, in the order of the texts."""
        model = self._loaded()
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encoded = await _run(model, model.encode, texts[start : start + _WINDOW])
            for places in batches(encoded):
                await _questions_first(model)
                made = await _run(model, model.vectors, [encoded[place] for place in places])
                found[[start + place for place in places]] = made
        return found

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector."""
        model = self._loaded()
        token = object()
        model.questions.add(token)
        try:
            return await _run(model, model.one, text)
        finally:
            model.questions.discard(token)

    async def check(self) -> None:
        """Raise an error if the files are not the published ones; the model is not loaded."""
        await asyncio.to_thread(model_files.check, self.folder, self._files)

    async def close(self) -> None:
        """Release the model; a later use loads it again."""
        self._model = None

    def _loaded(self) -> LocalModel:
        if self._model is None or self._model.process != os.getpid():
            self._model = shared(self.folder, self._threads, self._precision, self._kind)
        return self._model


async def _questions_first(model: LocalModel) -> None:
    """Wait while questions wait, at most a second: under load recall goes on, and vectors of
    passages come later.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while model.questions and loop.time() < until:  # noqa: ASYNC110 - they may be asked on other event loops
        await asyncio.sleep(_PAUSE)


async def _run(model: LocalModel, work: Callable[[G], T], given: G) -> T:
    return await asyncio.get_running_loop().run_in_executor(model.thread, work, given)
