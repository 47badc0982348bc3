"""An embedder of one's own that never answers is down after its time, and keeps neither recall,
writes nor closing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import memoranda
from memoranda import EmbedderDown
from memoranda.model.changes import JobState
from tests.embedding.topics import Topics, by_meaning, opened, vectors


class Hanging(Topics):
    """An embedder whose answers never come while it hangs; a stubborn one ignores that it is
    cancelled.
    """

    def __init__(self, *, stubborn: bool = False) -> None:
        super().__init__()
        self.stubborn, self.calls = stubborn, 0
        self.mended, self.called = asyncio.Event(), asyncio.Event()

    async def _hang(self) -> None:
        self.calls += 1
        self.called.set()
        while not self.mended.is_set():
            try:
                await self.mended.wait()
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await self._hang()
        return await super().passages(texts)

    async def query(self, text: str) -> NDArray[np.float32]:
        await self._hang()
        return await super().query(text)


@pytest.fixture(params=[False, True], ids=["hanging", "stubborn"])
async def hanging(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Hanging]:
    monkeypatch.setenv("MEMORANDA_EMBEDDING_TIMEOUT_SECONDS", "0.1")
    embedder = Hanging(stubborn=request.param)
    yield embedder
    embedder.mended.set()
    await asyncio.sleep(0)


async def test_recall_answers_by_words_says_so_and_does_not_wait_again_at_once(
    tmp_path: Path, hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(10), opened(tmp_path / "book.db", hanging) as book:
        await book.remember("ana", "Keeps bees")
        hits = await book.recall("ana", "bees")
        assert [hit.text for hit in hits] == ["Keeps bees"]
        assert hits.no_vectors_because == "test/topics/3 gave no answer within 0.1 s"
        assert (await vectors(book))["no_vectors_because"] == hits.no_vectors_because
        again = await book.recall("ana", "hive")
        assert "a moment ago" in again.no_vectors_because and hanging.calls == 1
        with pytest.raises(EmbedderDown):
            await book.recall("ana", "hive", mode="meaning")
        hanging.mended.set()
        monkeypatch.setattr(book.embeddings.maker.embedder, "_down_until", 0.0)  # the pause is over
        await book.admin.embed()
        assert await by_meaning(book, "hive") == ["Keeps bees"]


async def test_a_write_that_waits_for_vectors_ends_and_says_that_there_are_none(
    tmp_path: Path, hanging: Hanging
) -> None:
    async with asyncio.timeout(10), opened(tmp_path / "book.db", hanging) as book:
        receipt = await book.remember("ana", "Keeps bees", wait_for="embedded")
        assert (
            receipt.state == "stored"
            and "gave no answer within 0.1 s" in receipt.no_vectors_because
        )
        hanging.mended.set()
        assert await book.admin.embed() == 1


async def test_closing_waits_a_moment_only_and_counts_no_failed_attempt(
    tmp_path: Path, hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDING_TIMEOUT_SECONDS", "60")
    book = await memoranda.open(tmp_path / "book.db", embed=hanging)
    await book.remember("ana", "Keeps bees")
    await asyncio.wait_for(hanging.called.wait(), 10)
    at = time.monotonic()
    await book.close()
    assert time.monotonic() - at < 5
    async with opened(tmp_path / "book.db", None) as book:
        (job,) = [job for job in await book.engine.jobs(None, 10) if job.kind == "embed"]
        assert (job.state, job.tries) == (JobState.WAITING, 0)
