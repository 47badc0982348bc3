"""What is said makes its thread due for formation, in the same commit, when its agent and the
settings say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memoranda
from memoranda.errors import Conflict, NotFound, Stale
from memoranda.model.changes import Job
from memoranda.model.records import View
from memoranda.testing.clock import HandClock


@pytest.fixture
async def hasty(tmp_path: Path, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    config = tmp_path / "settings.toml"
    config.write_text("[forming]\nidle_seconds = 30\nmax_wait_seconds = 100\n", "utf-8")
    async with memoranda.open(tmp_path / "hasty.db", clock=clock, config=config) as opened:
        yield opened


async def forming_jobs(book: memoranda.Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind in ("form", "reform")]


async def test_nothing_is_due_where_formation_is_off(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORANDA_FORMING_ENABLED", "false")
    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like tea")
        await thread.form()
        await thread.close()
        assert await forming_jobs(book) == []


async def test_a_thread_is_not_formed_again_where_formation_is_off(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like tea")
        await thread.form_again()
        await book.agents.put("waiter", settings={"forming": {"enabled": False}})
        with pytest.raises(Conflict, match=r"forming\.enabled"):
            await (await book.thread("ann", agent="waiter")).form_again()
    monkeypatch.setenv("MEMORANDA_FORMING_ENABLED", "false")
    async with memoranda.open(tmp_path / "book.db", clock=clock, worker=False) as book:
        thread = await book.thread("ann", agent="guide", id=thread.id)
        with pytest.raises(Conflict, match=r"forming\.enabled"):
            await thread.form_again()
        clock.advance(seconds=60)
        await book.worker.drain()
        assert await forming_jobs(book) == []
        assert (await thread.get()).formed_through == 0 and await book.records.count(
            "ann", types="memory"
        ) == 0


async def test_a_thread_is_due_after_a_silence(book: memoranda.Book, clock: HandClock):
    thread = await book.thread("ann", agent="guide")
    for text in ("I like tea", "and cake", "and rum"):
        said = await thread.append("user", text)
        clock.advance(seconds=2)
    (job,) = await forming_jobs(book)
    assert (job.key, job.records, job.payload) == (str(thread.id), (thread.id,), {})
    assert job.owner == thread.owner
    assert job.run_at == said.at + timedelta(seconds=30)


async def test_an_agents_own_silence_holds_as_soon_as_it_is_said(book: memoranda.Book):
    for silence in (5, 90):
        await book.agents.put("guide", settings={"forming": {"idle_seconds": silence}})
        thread = await book.thread("ann", agent="guide")
        said = await thread.append("user", "I like tea")
        job = next(job for job in await forming_jobs(book) if job.key == str(thread.id))
        assert job.run_at == said.at + timedelta(seconds=silence)


async def test_a_conversation_without_an_end_is_due_all_the_same(
    hasty: memoranda.Book, clock: HandClock
):
    thread = await hasty.thread("ann", agent="guide")
    first = await thread.append("user", "I like tea")
    for _ in range(10):
        clock.advance(seconds=20)
        await thread.append("user", "and more tea")
    (job,) = await forming_jobs(hasty)
    assert job.run_at == first.at + timedelta(seconds=100)


async def test_what_was_not_said_makes_nothing_due(book: memoranda.Book):
    thread = await book.thread("ann", agent="guide")
    with pytest.raises(Stale):
        await thread.append("user", "I like tea", expect_last=7)
    await thread.set(title="lunch")
    assert await forming_jobs(book) == []


async def test_an_append_sent_twice_makes_its_thread_due_once(
    book: memoranda.Book, clock: HandClock
):
    thread = await book.thread("ann", agent="guide")
    for _ in range(2):
        await thread.append("user", "I like tea", operation="one")
        clock.advance(seconds=5)
    (job,) = await forming_jobs(book)
    assert job.generation == 1


async def test_a_flush_and_a_close_wait_for_no_silence(book: memoranda.Book, clock: HandClock):
    for name, given in (("form", {"wait": False}), ("close", {})):
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like tea")
        await getattr(thread, name)(**given)
        job = next(job for job in await forming_jobs(book) if job.key == str(thread.id))
        assert job.run_at <= clock()


@pytest.mark.parametrize("end", ["append", "close"])
@pytest.mark.parametrize("handed", ["by id", "by name", "at once"])
async def test_the_wishes_are_those_of_the_threads_agent_whoever_writes(
    book: memoranda.Book, handed: str, end: str
):
    await book.agents.put("guide", settings={"forming": {"enabled": False}})
    await book.agents.put("waiter", settings={"forming": {"idle_seconds": 5}})
    for agent, due in (("guide", None), ("waiter", 5)):
        thread = await book.thread("ann", agent=agent, name=agent, audience="global")
        other = "waiter" if agent == "guide" else "guide"
        if handed == "by id":
            thread = await book.thread("ann", id=thread.id, as_owner=True)
        elif handed == "by name":
            thread = await book.thread("ann", agent=other, name=agent, audience="global")
        said = await thread.append("user", "I like tea")
        if end == "close":
            said, due = await thread.close(), due and 0
        found = [job.run_at for job in await forming_jobs(book) if job.key == str(thread.id)]
        assert found == ([] if due is None else [said.at + timedelta(seconds=due)])


async def test_a_flush_lifts_a_postponement_and_an_append_does_not(
    book: memoranda.Book, clock: HandClock
):
    thread = await book.thread("ann", agent="guide")
    await thread.append("user", "I like tea")
    clock.advance(seconds=30)
    job = await book.engine.lease(["form"], "one", clock(), 60)
    assert job is not None
    later = clock() + timedelta(hours=1)
    await book.engine.postpone(job, later, "no money")
    await thread.append("user", "and cake")
    await thread.close()
    assert [job.run_at for job in await forming_jobs(book)] == [later]
    await thread.form(wait=False)
    (job,) = await forming_jobs(book)
    assert (job.run_at < clock(), job.error) == (True, "")


async def test_what_is_said_at_the_end_of_time_is_kept_all_the_same(
    book: memoranda.Book, clock: HandClock
):
    thread = await book.thread("ann", agent="guide")
    clock.now = datetime.max.replace(tzinfo=UTC) - timedelta(seconds=5)
    await thread.append("user", "I like tea")
    assert [job.run_at for job in await forming_jobs(book)] == [datetime.max.replace(tzinfo=UTC)]


async def test_a_view_that_does_not_see_a_thread_cannot_make_it_due(book: memoranda.Book):
    thread = await book.thread("ann", agent="guide")
    with pytest.raises(NotFound):
        await replace(thread, _view=View(agent="waiter")).form()
    assert await forming_jobs(book) == []
