"""A worker that is told of due jobs does not wait for its next look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.changes import Job, JobDraft
from memoranda.model.values import utc_now
from memoranda.ports import NotifiesWorkers
from memoranda.worker import Worker

AN_HOUR = 3600.0


class Telling(InMemoryEngine):
    """Tells whoever asked for it when a job was put."""

    def __init__(self) -> None:
        super().__init__()
        self.wakes: list[Callable[[], None]] = []
        self.looked = asyncio.Event()

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        self.wakes.append(wake)
        return lambda: self.wakes.remove(wake)

    async def lease(self, *args: object) -> Job | None:
        found = await super().lease(*args)  # type: ignore[arg-type]
        if found is None:
            self.looked.set()
        return found


async def test_a_worker_that_is_told_works_at_once_and_leaves_when_it_is_stopped():
    engine, stop, done = Telling(), asyncio.Event(), asyncio.Event()
    assert isinstance(engine, NotifiesWorkers)

    async def work(job: Job) -> None:
        done.set()

    async with asyncio.timeout(60):
        working = asyncio.create_task(
            Worker(engine, {"work": work}, utc_now).run(stop, AN_HOUR, at_once=3)
        )
        await engine.looked.wait()
        await engine.put(JobDraft("work", "x"), utc_now())
        for wake in engine.wakes:
            wake()
        await done.wait()
        stop.set()
        await working
    assert engine.wakes == []


async def test_what_comes_due_while_a_worker_looks_is_not_slept_over():
    engine, stop, done = Telling(), asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        done.set()

    async def looked_in_vain(*args: object) -> Job | None:
        engine.lease = Telling.lease.__get__(engine)  # type: ignore[method-assign]
        await engine.put(JobDraft("work", "x"), utc_now())
        for wake in engine.wakes:
            wake()
        return None

    engine.lease = looked_in_vain  # type: ignore[method-assign]
    async with asyncio.timeout(60):
        working = asyncio.create_task(Worker(engine, {"work": work}, utc_now).run(stop, AN_HOUR))
        await done.wait()
        stop.set()
        await working


async def test_a_worker_that_is_told_nothing_looks_after_its_pause():
    engine, stop, done = InMemoryEngine(), asyncio.Event(), asyncio.Event()
    assert not isinstance(engine, NotifiesWorkers)

    async def work(job: Job) -> None:
        done.set()

    async with asyncio.timeout(60):
        working = asyncio.create_task(Worker(engine, {"work": work}, utc_now).run(stop, 0.01))
        await engine.put(JobDraft("work", "x"), utc_now())
        await done.wait()
        stop.set()
        await working
