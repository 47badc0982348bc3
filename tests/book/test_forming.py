"""What is said makes its thread due for formation, in the same commit, where formation is on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import commonplace
from commonplace.book.rooms import Forming
from commonplace.book.threads import ThreadHandle
from commonplace.errors import Stale
from commonplace.model.jobs import Job
from tests.conftest import HandClock


def formed(thread: ThreadHandle, forming: Forming) -> ThreadHandle:
    return replace(thread, _rooms=replace(thread._rooms, forming=forming))


async def forming_jobs(book: commonplace.Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]


async def test_nothing_is_due_where_formation_is_off(book: commonplace.Book):
    thread = await book.thread("ann", agent="guide")
    await thread.append("user", "I like tea")
    await formed(thread, Forming(agents=frozenset({"waiter"}))).append("user", "I like cake")
    assert await forming_jobs(book) == []


@pytest.mark.parametrize("agents", [None, frozenset({"guide"})])
async def test_a_thread_is_due_after_a_silence(
    book: commonplace.Book, clock: HandClock, agents: frozenset[str]
):
    thread = formed(await book.thread("ann", agent="guide"), Forming(silence=30, max_wait=600, agents=agents))
    for text in ("I like tea", "and cake", "and rum"):
        said = await thread.append("user", text)
        clock.advance(seconds=2)
    (job,) = await forming_jobs(book)
    assert (job.key, job.records, job.payload) == (str(thread.id), (thread.id,), {})
    assert job.owner == thread.owner
    assert job.run_at == said.at + timedelta(seconds=30)


async def test_a_conversation_without_an_end_is_due_all_the_same(book: commonplace.Book, clock: HandClock):
    thread = formed(await book.thread("ann", agent="guide"), Forming(silence=30, max_wait=100))
    first = await thread.append("user", "I like tea")
    for _ in range(10):
        clock.advance(seconds=20)
        await thread.append("user", "and more tea")
    (job,) = await forming_jobs(book)
    assert job.run_at == first.at + timedelta(seconds=100)


async def test_what_was_not_said_makes_nothing_due(book: commonplace.Book):
    thread = formed(await book.thread("ann", agent="guide"), Forming())
    with pytest.raises(Stale):
        await thread.append("user", "I like tea", expect_last=7)
    await thread.set(title="lunch")
    assert await forming_jobs(book) == []


async def test_an_append_sent_twice_makes_its_thread_due_once(book: commonplace.Book, clock: HandClock):
    thread = formed(await book.thread("ann", agent="guide"), Forming())
    for _ in range(2):
        await thread.append("user", "I like tea", operation="one")
        clock.advance(seconds=5)
    (job,) = await forming_jobs(book)
    assert job.generation == 1
