"""Workers on a server, each with a process and a clock of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing.synchronize import Barrier
from typing import Any, Protocol
from unittest.mock import patch

import memoranda
from memoranda import Book, Limits
from memoranda.engines.mongo import jobs as of_mongo
from memoranda.engines.postgres import jobs as of_postgres
from memoranda.model import changes as c
from memoranda.model.changes import Job, JobDraft
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, WHOLE, Owner
from memoranda.model.values import new_id, utc_now
from memoranda.worker import Worker
from proofs._processes.together import Wrong, at_once, check_whole

KIND = "derive"
OWNERS = 20
#: Of one worker to the next; a lease lasts as long.
SKEW_SECONDS = 60.0
#: Jobs in each of a worker's hands at once.
_AT_ONCE = 2
#: Length of some jobs, so long that other workers look for work in the meantime.
_LONG_SECONDS, _LONG_EVERY = 0.05, 10
_LIMITS = Limits(writes_per_run=10**6, memories_per_agent=10**6)


class MakesBooks(Protocol):
    """A server that runs for a proof."""

    def new_book(self) -> str:
        """Return the address of a new book."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The difference between a worker's clock and the real time."""

    seconds: float

    def __call__(self) -> datetime:
        return utc_now() + timedelta(seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class Worked:
    """The results of some jobs."""

    #: How many were begun more than once, and how many have their effect more than once.
    begun_twice: int
    done_twice: int


def worked_off(server: MakesBooks, workers: int, count: int) -> Worked:
    """Let this many workers do this many jobs."""
    address = server.new_book()
    asyncio.run(_put(address, count))
    begun = sum(at_once(_work, workers, address, workers), Counter[str]())
    done = asyncio.run(_done(address))
    if len(begun) < count or len(done) < count:
        raise Wrong(f"of {count} jobs {len(begun)} were begun, and {len(done)} done")
    return Worked(*(sum(times > 1 for times in counted.values()) for counted in (begun, done)))


def _opened(address: str, **how: Any) -> Any:
    return memoranda.open(address, limits=_LIMITS, embed=None, worker=False, **how)


async def _put(address: str, count: int) -> None:
    """Add jobs that are due on every clock: their creator's clock is far behind."""
    behind = Shift(-10 * SKEW_SECONDS)
    async with _opened(address, clock=behind) as book:
        for place in range(OWNERS):
            owner = Owner(id=f"owner {place}")
            note = Memory(id=new_id(), owner=owner, content="There is work.", observed_at=behind())
            drafts = tuple(
                JobDraft(kind=KIND, key=str(number)) for number in range(place, count, OWNERS)
            )
            change = c.Remember(note, audience=EVERYONE)
            await book.door.write(owner, WHOLE, Actor("owner"), [change], request=None, jobs=drafts)


def is_taken(server: MakesBooks, *, trusting: bool) -> bool:
    """True if a worker whose clock is ahead takes the job that one behind does; ``trusting`` is a
    control: each uses its own clock.
    """
    return asyncio.run(_is_taken(server.new_book(), trusting))


async def _is_taken(address: str, trusting: bool) -> bool:
    await _put(address, 1)
    behind, ahead = Shift(-2 * SKEW_SECONDS), Shift(SKEW_SECONDS)
    jobs = of_mongo if address.startswith("mongodb") else of_postgres
    judging: AbstractContextManager[object] = (
        patch.object(jobs, "_NEAR", 0) if trusting else nullcontext()
    )
    with judging:
        async with _opened(address, clock=behind) as one, _opened(address, clock=ahead) as two:
            assert await one.engine.lease([KIND], "behind", behind(), SKEW_SECONDS) is not None
            return await two.engine.lease([KIND], "ahead", ahead(), SKEW_SECONDS) is not None


async def _work(barrier: Barrier, number: int, address: str, workers: int) -> Counter[str]:
    """Do jobs until there are none; return how often each was begun here."""
    logging.disable(logging.CRITICAL)
    begun = Counter[str]()
    # From half of the way behind to half of the way ahead, one of them on time.
    shift = Shift((number - workers // 2) * SKEW_SECONDS)
    async with _opened(address, clock=shift) as book:

        async def form(job: Job) -> None:
            begun[job.key] += 1
            if int(job.key) % _LONG_EVERY == 0:
                await asyncio.sleep(_LONG_SECONDS)
            await _formed(book, job, shift())

        worker = Worker(book.engine, {KIND: form}, shift)
        barrier.wait()
        await asyncio.gather(*(_until_none(book, worker) for _ in range(_AT_ONCE)))
    return begun


async def _until_none(book: Book, worker: Worker) -> None:
    while True:
        if await worker.run_once():
            continue
        if not any(job.kind == KIND for job in await book.engine.jobs(None, 10_000)):
            return
        await asyncio.sleep(0.02)


async def _formed(book: Book, job: Job, at: datetime) -> None:
    assert job.owner is not None
    memory = Memory(id=new_id(), owner=job.owner, content=f"formed {job.key}", observed_at=at)
    # Without an operation id, so that a job done twice is visible.
    await book.door.write(
        job.owner,
        WHOLE,
        Actor("system"),
        [c.Remember(memory, audience=EVERYONE)],
        request=None,
        era=job.era,
    )


async def _done(address: str) -> Counter[str]:
    """Return how often each job has its effect; raise if the book is wrong."""
    words = Counter[str]()
    async with _opened(address) as book:
        if left := await book.engine.jobs(None, 10_000):
            raise Wrong(f"{len(left)} jobs are left: {left[0]}")
        await check_whole(book)
        for owner in await book.admin.owners():
            cursor = None
            while True:
                page = await book.records.list(
                    owner, as_owner=True, types="memory", cursor=cursor, limit=1000
                )
                found = (getattr(record, "content", "") for record in page.records)
                words.update(content for content in found if content.startswith("formed "))
                if (cursor := page.cursor) is None:
                    break
    return words
