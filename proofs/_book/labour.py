"""A process that works on jobs until it is killed at a chosen moment."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import memoranda
from memoranda import Book, worker
from memoranda.model import changes as c
from memoranda.model.changes import Job
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, WHOLE, Limits
from memoranda.model.values import new_id, utc_now
from memoranda.worker import Worker

#: A kind of the proof's own: threads put work of theirs by themselves.
FORM = "derive"
#: Length of a lease: how long a killed worker's job stays locked.
LEASE_SECONDS = 0.6
#: Between the attempts of a job that fails; the product's own pauses are for a day's work.
PAUSE_SECONDS = 0.02
#: Of every process that opens the book: a whole run forms more memories of one owner than the
#: product's own limits allow.
LIMITS = Limits(writes_per_run=10**6, memories_per_agent=10**6)

#: ``random``: whenever its starter likes. The others: at that point of its n-th job.
Moment = Literal["random", "before the write", "between write and finish", "after the finish"]
#: ``careless`` workers are controls: they give their writes no operation id, or finish before they
#: write.
Manner = Literal["careful", "no operation id", "finishes first"]


@dataclass(frozen=True, slots=True)
class Fate:
    """The moment at which a worker's process dies."""

    moment: Moment
    #: The job at which it happens, counted from 1.
    job: int = 1


def work(path: Path, fate: Fate, manner: Manner) -> None:
    """Run a process that works on jobs; return only if it is not killed."""
    logging.disable(logging.CRITICAL)
    with hurried():
        asyncio.run(_work(path, fate, manner))


def hurried() -> AbstractContextManager[object]:
    """Retry failed jobs at once."""
    return patch.multiple(
        worker, FIRST_PAUSE_SECONDS=PAUSE_SECONDS, LONGEST_PAUSE_SECONDS=PAUSE_SECONDS
    )


async def _work(path: Path, fate: Fate, manner: Manner) -> None:
    book = await memoranda.open(path, limits=LIMITS, embed=None)
    seen = 0

    async def handler(job: Job) -> None:
        nonlocal seen
        seen += 1
        _strike(fate, "before the write", seen)
        if manner == "finishes first":
            await book.engine.finish(job)
            _strike(fate, "between write and finish", seen)
        await form(book, job, named=manner != "no operation id")
        _strike(fate, "between write and finish", seen)

    labourer = Worker(book.engine, {FORM: handler}, utc_now, lease=LEASE_SECONDS)
    while True:
        if not await labourer.run_once():
            await asyncio.sleep(0.01)
        _strike(fate, "after the finish", seen)


def _strike(fate: Fate, here: Moment, seen: int) -> None:
    if fate.moment == here and seen >= fate.job:
        os.kill(os.getpid(), signal.SIGKILL)


async def form(book: Book, job: Job, *, named: bool = True) -> None:
    """Write the job's effect: one statement, under an operation id that is the same for every
    attempt at this job.
    """
    assert job.owner is not None
    if job.payload.get("poison"):
        raise ValueError("this cannot be done")
    if job.payload.get("fails") and job.attempts == 1:
        raise ConnectionError("try again")
    memory = Memory(
        id=new_id(), owner=job.owner, content=f"formed {job.payload['word']}", sources=job.records, observed_at=utc_now()
    )  # fmt: skip
    await book.door.write(
        job.owner, WHOLE, Actor("system"), [c.Remember(memory, audience=EVERYONE)], request=["form", job.payload],
        operation=f"form {job.id} {job.generation}" if named else None, era=job.era,
    )  # fmt: skip
