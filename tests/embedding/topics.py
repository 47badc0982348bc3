"""Embedders that know a few words, each by its topic, and what tests ask of a book that has one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import memoranda
from memoranda import Book, EmbedderDown
from memoranda.model.vectors import Embedding
from tests.embedding.conftest import Counting


class Topics(Counting):
    """An embedder that knows a few words, each by its topic."""

    embedding = Embedding("test", "topics", 3)
    topics: ClassVar = {
        "bees": 0,
        "hive": 0,
        "insects": 0,
        "trains": 1,
        "railway": 1,
        "tea": 2,
        "drinks": 2,
    }

    @classmethod
    def of(cls, text: str) -> NDArray[np.float32]:
        found = np.full(3, 0.01, dtype=np.float32)
        for word in text.lower().replace(".", "").split():
            if word in cls.topics:
                found[cls.topics[word]] += 1
        return np.asarray(found / np.linalg.norm(found), dtype=np.float32)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([self.of(text) for text in texts], dtype=np.float32)


class Larger(Topics):
    """Another model."""

    embedding = Embedding("test", "larger", 4)

    @classmethod
    def of(cls, text: str) -> NDArray[np.float32]:
        return np.append(super().of(text), np.float32(0))


class Down(Topics):
    """An embedder that fails as it is told to, until it is mended."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__()
        self.failure: Exception | None = failure or EmbedderDown("the provider did not answer")

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failure is not None:
            raise self.failure
        return await super().passages(texts)

    async def query(self, text: str) -> NDArray[np.float32]:
        if self.failure is not None:
            raise self.failure
        return await super().query(text)


def opened(path: Path, embed: Any, *, worker: bool | None = False) -> Any:
    """A book that makes vectors only where it is told to."""
    return memoranda.open(path, embed=embed, worker=worker)


async def vectors(book: Book) -> dict[str, Any]:
    found: dict[str, Any] = (await book.admin.facts()).details["vectors"]
    return found


async def by_meaning(book: Book, question: str) -> list[str]:
    return [hit.text for hit in await book.recall("ana", question, mode="meaning", limit=1)]
