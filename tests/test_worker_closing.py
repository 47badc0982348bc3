"""A book closes whatever its worker does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import cast

import pytest

import memoranda
from memoranda.book import book as books
from memoranda.errors import StorageError
from memoranda.model.changes import Job, JobDraft
from memoranda.ports import Engine
from memoranda.tasks import quiet_task
from memoranda.worker import Worker


async def test_closing_gives_up_a_job_that_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(books, "_LAST_JOB_SECONDS", 0.05)
    begun, release = asyncio.Event(), asyncio.Event()

    async def stubborn(job: Job) -> None:
        begun.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    book = await memoranda.open(tmp_path / "book.db")
    book.worker = Worker(book.engine, {"work": stubborn}, book.door.clock)
    await book.engine.put(JobDraft(kind="work", key="k"), book.door.clock())
    book.start_worker()
    task = book.own_work.task
    assert task is not None
    await begun.wait()
    async with asyncio.timeout(10):
        await book.close()
    with pytest.raises(StorageError, match="closed"):
        await book.admin.facts()
    release.set()
    await asyncio.wait([task])


async def test_a_cancelled_closing_closes_the_engine_all_the_same(tmp_path: Path):
    begun = asyncio.Event()

    async def stay(job: Job) -> None:
        begun.set()
        await asyncio.Event().wait()

    book = await memoranda.open(tmp_path / "book.db")
    book.worker = Worker(book.engine, {"work": stay}, book.door.clock)
    await book.engine.put(JobDraft(kind="work", key="k"), book.door.clock())
    book.start_worker()
    task = book.own_work.task
    assert task is not None
    await begun.wait()
    closing = asyncio.create_task(book.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    with pytest.raises(StorageError, match="closed"):
        await book.admin.facts()
    task.cancel()
    await asyncio.wait([task])


def test_a_book_whose_loop_is_gone_still_closes(tmp_path: Path):
    book = asyncio.run(_opened(tmp_path / "book.db"))
    asyncio.run(book.close())
    with pytest.raises(StorageError, match="closed"):
        asyncio.run(book.admin.facts())


async def _opened(path: Path) -> memoranda.Book:
    return await memoranda.open(path, worker=True)


def test_a_loop_that_is_closed_while_a_job_is_reported_ends_without_a_word(
    caplog: pytest.LogCaptureFixture,
):
    loop = asyncio.new_event_loop()
    reporting = asyncio.Event()

    class Reporting:
        """Jobs whose last report never ends."""

        def __init__(self, engine: Engine) -> None:
            self._engine = engine

        def __getattr__(self, name: str) -> object:
            return getattr(self._engine, name)

        async def finish(self, job: Job) -> None:
            reporting.set()
            await asyncio.Event().wait()

    async def done(job: Job) -> None:
        pass

    async def begin() -> Coroutine[None, None, None]:
        book = await memoranda.open("memory://", worker=False)
        await book.engine.put(JobDraft(kind="work", key="k"), book.door.clock())
        worker = Worker(cast("Engine", Reporting(book.engine)), {"work": done}, book.door.clock)
        running = worker.run(asyncio.Event())
        quiet_task(lambda: running)
        await reporting.wait()
        return running

    running = loop.run_until_complete(begin())
    loop.close()
    running.close()
    assert caplog.records == []
