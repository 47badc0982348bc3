"""Tests that the worker goes on when jobs or the engine fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memoranda
from memoranda import worker as working
from memoranda.assembly import upkeep
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import StorageError, StorageFull
from memoranda.model.changes import GivenUp, Job, JobDraft, JobState, Postponed
from memoranda.model.ledger import Scrubbed
from memoranda.testing.clock import HandClock
from memoranda.worker import (
    ATTEMPTS,
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    LONGEST_POSTPONEMENT_SECONDS,
    Worker,
)


async def one_job(engine: Any) -> Job:
    jobs: list[Job] = await engine.jobs(None, 10)
    assert len(jobs) == 1
    return jobs[0]


def worker_with(
    engine: Any, clock: Any, handler: Callable[[Job], Awaitable[None]], kind: str = "work"
) -> Worker:
    return Worker(engine, {kind: handler}, clock)


class BusyForever(InMemoryEngine):
    async def scrub(self) -> Scrubbed:
        return Scrubbed("somebody reads it")


async def test_a_file_that_others_read_is_cleared_later_and_no_failure_is_counted(clock: HandClock):
    engine = BusyForever()
    await engine.put(JobDraft(kind="scrub", key="file"), clock())
    worker = Worker(engine, upkeep(engine, clock), clock)
    for _ in range(3 * ATTEMPTS):
        assert await worker.run_once()
        job = await one_job(engine)
        assert (job.state, job.attempts, job.error) == (JobState.WAITING, 0, "")
        assert timedelta(seconds=4) < job.run_at - clock.now <= timedelta(seconds=5)
        clock.advance(seconds=5)


async def test_a_job_in_a_program_that_ends_is_left_and_no_failure_is_counted(
    clock: HandClock, caplog: pytest.LogCaptureFixture
):
    async def ended(job: Job) -> None:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    engine = InMemoryEngine()
    await engine.put(JobDraft(kind="work", key="it"), clock())
    assert await worker_with(engine, clock, ended).run_once()
    job = await one_job(engine)
    assert (job.state, job.tries, caplog.text) == (JobState.WAITING, 0, "")


async def test_a_drain_that_finds_a_killed_workers_jobs_says_when_they_are_free(
    clock: HandClock, caplog: pytest.LogCaptureFixture
):
    async with memoranda.open("memory://", clock=clock) as book:
        thread = await book.thread("ana", agent="helper")
        await thread.append("user", "I live in Lisbon.")
        await thread.form(wait=False)
        killed = await book.engine.lease(("form",), "killed", clock(), 60.0)
        assert killed is not None and killed.leased_until is not None
        assert await book.jobs.run() == 0
        until = killed.leased_until.isoformat(timespec="seconds")
        assert f"free from {until} on; drain again then" in caplog.text
        clock.advance(seconds=61)
        caplog.clear()
        assert await book.jobs.run() >= 1 and caplog.text == ""


async def test_pauses_grow_to_their_bound_and_no_further(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    engine = InMemoryEngine()
    monkeypatch.setattr(working, "ATTEMPTS", 10_000)

    async def fail(job: Job) -> None:
        raise ValueError("no")

    await engine.put(JobDraft(kind="work", key="k"), clock())
    worker = worker_with(engine, clock, fail)
    pauses = []
    for _ in range(600):
        assert await worker.run_once()
        job = await one_job(engine)
        pauses.append((job.run_at - clock.now).total_seconds())
        clock.now = job.run_at
    assert pauses[:3] == [2, 8, 32]
    assert set(pauses[10:]) == {LONGEST_PAUSE_SECONDS}


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ValueError("Ann said a secret"), "ValueError"),
        (asyncio.CancelledError("Ann said a secret"), "CancelledError"),
        (StorageFull("the disk is full"), "StorageFull: the disk is full"),
    ],
)
async def test_what_a_handler_raises_belongs_to_its_job_and_of_a_foreign_error_only_the_class_is_kept(
    error: BaseException, kept: str, clock: HandClock
):
    engine = InMemoryEngine()

    async def fail(job: Job) -> None:
        raise error

    await engine.put(JobDraft(kind="work", key="k"), clock())
    worker = worker_with(engine, clock, fail)
    for attempt in range(1, ATTEMPTS + 1):
        assert await worker.run_once()
        job = await one_job(engine)
        assert (job.attempts, job.error) == (attempt, kept)
        clock.now = job.run_at + timedelta(hours=1)
    assert job.state is JobState.DEAD


async def test_a_job_that_cannot_be_done_yet_waits_and_is_never_given_up(clock: HandClock):
    engine = InMemoryEngine()

    async def wait(job: Job) -> None:
        raise Postponed("the provider is down", until=clock.now + timedelta(minutes=5))

    await engine.put(JobDraft(kind="work", key="k"), clock())
    worker = worker_with(engine, clock, wait)
    for turn in range(1, 3 * ATTEMPTS):
        assert await worker.run_once()
        assert not await worker.run_once()
        job = await one_job(engine)
        assert (job.state, job.tries, job.postponed) == (JobState.WAITING, 0, turn)
        assert job.error == "the provider is down"
        assert timedelta(minutes=4) < job.run_at - clock.now <= timedelta(minutes=5)
        clock.now = job.run_at


async def test_attempts_that_failed_count_however_often_the_job_was_postponed(clock: HandClock):
    engine, turns = InMemoryEngine(), 0

    async def work(job: Job) -> None:
        nonlocal turns
        turns += 1
        if turns % 2:
            raise Postponed("down", until=clock.now)
        raise ValueError("no")

    await engine.put(JobDraft(kind="work", key="k"), clock())
    worker = worker_with(engine, clock, work)
    while (job := await one_job(engine)).state is not JobState.DEAD:
        clock.now = job.run_at
        assert await worker.run_once()
    assert (turns, job.tries) == (2 * ATTEMPTS, ATTEMPTS)


@pytest.mark.parametrize(
    ("until", "seconds"),
    [
        (datetime.min.replace(tzinfo=UTC), FIRST_PAUSE_SECONDS),
        (datetime.max.replace(tzinfo=UTC), LONGEST_POSTPONEMENT_SECONDS),
    ],
)
async def test_a_moment_that_is_past_or_never_comes_is_taken_for_a_near_one(
    until: datetime, seconds: float, clock: HandClock
):
    engine = InMemoryEngine()

    async def wait(job: Job) -> None:
        raise Postponed("down", until=until)

    await engine.put(JobDraft(kind="work", key="k"), clock())
    assert await worker_with(engine, clock, wait).drain() == 1
    pause = (await one_job(engine)).run_at - clock.now
    assert seconds - 1 < pause.total_seconds() <= seconds


@pytest.mark.parametrize(
    "trouble", [OverflowError("far"), asyncio.CancelledError(), StorageError("disk")]
)
async def test_trouble_with_the_jobs_does_not_end_the_worker(
    trouble: BaseException, clock: HandClock
):
    class Troubled(InMemoryEngine):
        asked = 0

        async def lease(self, *given: Any) -> Job | None:
            self.asked += 1
            if self.asked < 4:
                raise trouble
            return await super().lease(*given)

    engine, done, stop = Troubled(), asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        done.set()

    await engine.put(JobDraft(kind="work", key="k"), clock())
    task = asyncio.create_task(worker_with(engine, clock, work).run(stop, pause=0.001))
    async with asyncio.timeout(10):
        await done.wait()
        stop.set()
        await task


async def test_a_lease_that_cannot_be_renewed_once_is_renewed_later(clock: HandClock):
    class Shaky(InMemoryEngine):
        renewals = 0

        async def renew(self, *given: Any) -> bool:
            self.renewals += 1
            if self.renewals == 1:
                raise StorageError("disk")
            renewed.set()
            return await super().renew(*given)

    engine, renewed = Shaky(), asyncio.Event()
    await engine.put(JobDraft(kind="work", key="k"), clock())

    async def work(job: Job) -> None:
        await asyncio.wait_for(renewed.wait(), 10)

    assert await Worker(engine, {"work": work}, clock, lease=0.003).run_once()
    assert await engine.jobs(None, 10) == []


async def test_a_cancelled_worker_ends_its_handler_and_gives_the_job_back(clock: HandClock):
    engine, begun, ended = InMemoryEngine(), asyncio.Event(), asyncio.Event()

    async def stay(job: Job) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await engine.put(JobDraft(kind="work", key="k"), clock())
    task = asyncio.create_task(worker_with(engine, clock, stay).run(asyncio.Event()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    job = await one_job(engine)
    assert (job.state, job.tries) == (JobState.WAITING, 0) and job.run_at < clock()


async def test_what_is_given_up_is_a_dead_letter_at_once(clock: HandClock):
    engine = InMemoryEngine()

    async def useless(job: Job) -> None:
        raise GivenUp("it brings nothing")

    await engine.put(JobDraft("form", "one"), clock())
    assert await Worker(engine, {"form": useless}, clock).drain() == 1
    (job,) = await engine.jobs(JobState.DEAD, 10)
    assert job.error == "it brings nothing"


async def test_several_jobs_are_done_at_once_where_that_is_asked_for(clock: HandClock):
    engine = InMemoryEngine()
    together, stop = asyncio.Barrier(3), asyncio.Event()
    done: list[str] = []

    async def meet(job: Job) -> None:
        await together.wait()
        done.append(job.key)
        if len(done) == 3:
            stop.set()

    for key in "abc":
        await engine.put(JobDraft("form", key), clock())
    await asyncio.wait_for(Worker(engine, {"form": meet}, clock).run(stop, 0.01, at_once=3), 30)
    assert sorted(done) == ["a", "b", "c"]


async def test_an_engine_that_is_gone_for_a_while_is_told_of_in_a_line_when_it_goes_and_one_when_it_is_back(
    clock: HandClock, caplog: pytest.LogCaptureFixture
):
    stop = asyncio.Event()

    class Gone(InMemoryEngine):
        asked = 0

        async def lease(self, *given: Any) -> Job | None:
            self.asked += 1
            if self.asked == 6:
                stop.set()
            if self.asked <= 4:
                raise StorageError("the server cannot be reached")
            return await super().lease(*given)

    async def nothing(job: Job) -> None:
        pass

    await worker_with(Gone(), clock, nothing).run(stop, pause=0.001)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "the worker could not reach its jobs, and tries until it can: the server cannot be reached",
        "the worker reaches its jobs again",
    ]
    assert not any(record.exc_info for record in caplog.records)
