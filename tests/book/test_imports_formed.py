"""What an import brings that nobody has formed is formed where it comes to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

import memoranda
from memoranda.book.admin import pending_threads
from memoranda.model.changes import Job
from memoranda.model.messages import Thread
from memoranda.model.records import Owner
from memoranda.ports import Records
from memoranda.testing.clock import HandClock


@pytest.fixture
async def target(tmp_path: Path, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(tmp_path / "target.db", clock=clock, worker=False) as opened:
        yield opened


async def said(book: memoranda.Book, *owners: str, agent: str = "guide") -> None:
    for owner in owners:
        for text in ("I live in Oslo.", "I like tea."):
            thread = await book.thread(owner, agent=agent)
            await thread.append("user", text)


async def exported(book: memoranda.Book) -> list[str]:
    return [line async for line in book.admin.export()]


async def forming_jobs(book: memoranda.Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]


async def test_what_was_not_formed_is_formed_after_a_silence(
    book: memoranda.Book, target: memoranda.Book, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pending_threads, "_PAGE", 1)
    await said(book, "ann", "ben")
    await target.admin.import_(await exported(book))
    waiting = await forming_jobs(target)
    assert sorted(job.owner.id for job in waiting if job.owner) == ["ann", "ann", "ben", "ben"]
    assert {job.run_at - job.first_at for job in waiting} == {timedelta(seconds=30)}
    clock.advance(seconds=31)
    await target.worker.drain()
    for owner in ("ann", "ben"):
        found = await target.records.list(owner, types="memory", as_owner=True)
        assert len(found.records) == 2


async def test_what_was_formed_is_not_formed_again(
    book: memoranda.Book, target: memoranda.Book, clock: HandClock
):
    await said(book, "ann")
    clock.advance(seconds=31)
    await book.worker.drain()
    await target.admin.import_(await exported(book))
    assert await forming_jobs(target) == []


async def test_an_owner_who_is_there_already_is_formed_too(
    book: memoranda.Book, target: memoranda.Book
):
    await target.remember("ann", "Likes tea")
    await said(book, "ann")
    report = await target.admin.import_(await exported(book))
    assert (report.adopted, report.records["thread"]) == (0, 2)
    assert len(await forming_jobs(target)) == 2


async def test_nothing_is_due_where_the_agent_that_comes_along_wishes_none(
    book: memoranda.Book, target: memoranda.Book
):
    await (await target.thread("zoe", agent="guide")).append("user", "I like rum.")
    await book.agents.put("guide", settings={"forming": {"enabled": False}})
    await said(book, "ann")
    await said(book, "ben", agent="waiter")
    await target.admin.import_(await exported(book))
    assert sorted(job.owner.id for job in await forming_jobs(target) if job.owner) == [
        "ben",
        "ben",
        "zoe",
    ]


async def test_what_is_forgotten_meanwhile_keeps_nothing_else(
    book: memoranda.Book, target: memoranda.Book, monkeypatch: pytest.MonkeyPatch
):
    await said(book, "ann")
    found = pending_threads.pending_threads

    async def forgetting(records: Records, owner: Owner) -> AsyncIterator[list[Thread]]:
        async for threads in found(records, owner):
            await target.forget(owner, threads[0].id, as_owner=True)
            yield threads

    monkeypatch.setattr(pending_threads, "pending_threads", forgetting)
    await target.admin.import_(await exported(book))
    assert len(await forming_jobs(target)) == 1
