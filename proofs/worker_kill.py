"""Killed workers: each job's effect is there exactly once, however often a process was killed."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import get_args

import memoranda
from memoranda import Book
from memoranda.model import changes as c
from memoranda.model.changes import Job, JobDraft, JobState
from memoranda.model.ledger import Actor
from memoranda.model.messages import Message, Thread
from memoranda.model.records import WHOLE, Owner
from memoranda.model.values import new_id, utc_now
from memoranda.worker import Worker
from proofs._book.labour import (
    FORM,
    LEASE_SECONDS,
    LIMITS,
    Fate,
    Manner,
    Moment,
    form,
    hurried,
    work,
)

ABOUT = "killed workers lose no job and do none twice; only jobs that cannot be done are given up"
CI_COUNT = 200
FULL_COUNT = 5_000
COVERS = "model storage door.py engines/sqlite worker.py"

_WORKERS = 3
_OWNERS = 4
#: Jobs that wait at a time, so that no worker is idle when it is killed.
_WAITING = 24
#: Shares of jobs that can never be done, fail once, and are put again while they wait or are worked
#: on.
_POISON, _FAILING, _AGAIN = 0.04, 0.15, 0.15
#: How many kills a control is given.
_CONTROL = 12


class Miscounted(Exception):
    """A job's effect is missing, or there twice, or it was given up without need."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)  # of every failed attempt; here they fail by the hundred
    with tempfile.TemporaryDirectory() as folder:
        careful = _tally(Path(folder, "careful.db"), count, seed, "careful")
        faults = careful.faults()
        if faults:
            raise Miscounted("; ".join(faults[:5]))
        twice = _tally(Path(folder, "twice.db"), _CONTROL, seed, "no operation id").twice
        lost = _tally(Path(folder, "lost.db"), _CONTROL, seed, "finishes first").lost
    if not twice or not lost:
        raise Miscounted(f"the controls were not noticed: {len(twice)} twice, {len(lost)} lost")
    struck = ", ".join(f"{number} {moment}" for moment, number in sorted(careful.struck.items()))
    return (
        f"{sum(careful.struck.values())} kills ({struck}; {careful.in_hand} with a job in hand), {careful.stalls} stalls; "
        f"{careful.jobs} jobs, each done once, {careful.dead} poisoned given up; "
        f"controls: {len(twice)} done twice, {len(lost)} lost"
    )


@dataclass(slots=True)
class _Tally:
    struck: Counter[str] = field(default_factory=Counter)
    in_hand: int = 0
    stalls: int = 0
    jobs: int = 0
    dead: int = 0
    twice: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Return everything that is not as it must be."""
        return [
            *(f"{word} was done twice" for word in self.twice),
            *(f"{word} was lost" for word in self.lost),
            *self.wrong,
        ]


def _tally(path: Path, kills: int, seed: int, manner: Manner) -> _Tally:
    with hurried():
        return asyncio.run(_Yard(path, random.Random(f"{seed} {manner}"), manner).run(kills))


class _Yard:
    """Adds jobs, starts workers, and kills them."""

    def __init__(self, path: Path, rng: random.Random, manner: Manner) -> None:
        self._path = path
        self._rng = rng
        self._manner = manner
        self._tally = _Tally()
        # Neither the proof nor the one that forks for it has threads that a fork would leave
        # behind.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["proofs._book.labour"])
        self._threads: list[tuple[Owner, Thread]] = []
        #: Key of a job → the words that it was put with, the last one to be done.
        self._put: dict[str, list[str]] = {}
        self._poisoned: set[str] = set()

    async def run(self, kills: int) -> _Tally:
        """Kill this many workers, let the remaining jobs be done without kills, and count."""
        async with memoranda.open(self._path, limits=LIMITS, embed=None) as book:
            await self._begin(book)
            workers = [self._start() for _ in range(_WORKERS)]
            try:
                while sum(self._tally.struck.values()) < kills:
                    await self._top_up(book)
                    await self._strike(book, workers)
            finally:
                for process, _ in workers:
                    process.kill()
                    process.join()
            await self._finish(book)
            await self._count(book)
        return self._tally

    # ── work ──────────────────────────────────────────────────────────────────────────────────────

    async def _begin(self, book: Book) -> None:
        for number in range(_OWNERS):
            owner = Owner(id=f"owner {number}")
            thread = Thread(id=new_id(), owner=owner, started_at=utc_now())
            await book.door.write(
                owner, WHOLE, Actor("owner"), [c.OpenThread(thread)], request=None
            )
            self._threads.append((owner, thread))

    async def _top_up(self, book: Book) -> None:
        waiting = len(await _unfinished(book))
        if waiting < _WAITING:
            await asyncio.gather(*(self._put_one(book) for _ in range(_WAITING - waiting)))

    async def _put_one(self, book: Book) -> None:
        """Add a job in the same commit as its record; add some jobs twice."""
        owner, thread = self._rng.choice(self._threads)
        key = f"{owner.id} {len(self._put)}"
        old = [key for key in self._put if key.startswith(owner.id) and key not in self._poisoned]
        if old and self._rng.random() < _AGAIN:
            key = self._rng.choice(old[-4:])
        chance, word = self._rng.random(), f"word{sum(map(len, self._put.values()))}"
        payload = {"word": word, "fails": _POISON <= chance < _POISON + _FAILING}
        if chance < _POISON and key not in self._put:
            payload["poison"] = True
            self._poisoned.add(key)
        self._put.setdefault(key, []).append(word)
        said = Message(
            id=new_id(), owner=owner, thread=thread.id, role="user", content=f"said {word}", observed_at=utc_now()
        )  # fmt: skip
        draft = JobDraft(kind=FORM, key=key, payload=payload, records=(said.id,))
        await book.door.write(
            owner,
            WHOLE,
            Actor("owner"),
            [c.Append(thread.id, (said,))],
            request=None,
            jobs=(draft,),
        )

    # ── death ─────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> tuple[BaseProcess, Fate]:
        moments = get_args(Moment)
        fate = Fate(self._rng.choices(moments, (4, 1, 3, 1))[0], self._rng.randint(1, 4))
        if self._manner != "careful":
            fate = Fate("between write and finish", self._rng.randint(1, 2))
        process = self._context.Process(
            target=work, args=(self._path, fate, self._manner), daemon=True
        )
        process.start()
        return process, fate

    async def _strike(self, book: Book, workers: list[tuple[BaseProcess, Fate]]) -> None:
        """After a while, find out which worker killed itself, and kill or stop one at random."""
        await asyncio.sleep(self._rng.uniform(0.002, 0.09))
        left_to_chance = [
            process for process, fate in workers if fate.moment == "random" and process.is_alive()
        ]
        if left_to_chance and self._rng.random() < 0.5:
            victim = self._rng.choice(left_to_chance)
            assert victim.pid is not None
            if self._rng.random() < 0.1:
                await self._stall(victim.pid)
            else:
                os.kill(victim.pid, signal.SIGKILL)
                victim.join()
        for place, (process, fate) in enumerate(workers):
            if process.is_alive():
                continue
            if process.exitcode != -signal.SIGKILL:
                raise Miscounted(f"a worker left with {process.exitcode}")
            self._tally.struck[fate.moment] += 1
            self._tally.in_hand += await self._had_a_job(book, process.pid)
            workers[place] = self._start()

    async def _stall(self, pid: int) -> None:
        """Stop a process for longer than its lease, and let it continue."""
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(LEASE_SECONDS * 1.5)
        os.kill(pid, signal.SIGCONT)
        self._tally.stalls += 1

    async def _had_a_job(self, book: Book, pid: int | None) -> bool:
        leased = await book.engine.jobs(JobState.LEASED, 1000)
        return any(job.worker is not None and f"-{pid}-" in job.worker for job in leased)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────

    async def _finish(self, book: Book) -> None:
        """Run one worker without kills: the dead workers' jobs come back when their leases have
        expired.
        """
        last = Worker(
            book.engine, {FORM: lambda job: form(book, job)}, utc_now, lease=LEASE_SECONDS
        )
        deadline = time.monotonic() + 60
        while await _unfinished(book):
            if not await last.run_once():
                await asyncio.sleep(0.02)
            if time.monotonic() > deadline:
                raise Miscounted("jobs are left that nobody is given")

    async def _count(self, book: Book) -> None:
        tally = self._tally
        dead = {job.key for job in await book.engine.jobs(JobState.DEAD, 10_000)}
        tally.dead, tally.jobs = len(dead), len(self._put)
        tally.wrong += [f"{key} was given up without need" for key in dead - self._poisoned]
        tally.wrong += [f"{key} is poison and was not given up" for key in self._poisoned - dead]
        formed = await self._formed(book)
        for key, words in self._put.items():
            if key in self._poisoned:
                continue
            tally.lost += [] if formed[words[-1]] else [words[-1]]
            tally.twice += [word for word in words if formed[word] > 1]
        if faults := (await book.engine.verify()).faults:
            tally.wrong.append(faults[0])

    async def _formed(self, book: Book) -> Counter[str]:
        found: Counter[str] = Counter()
        for owner, _ in self._threads:
            cursor = None
            while True:
                page = await book.records.list(
                    owner, types="memory", limit=1000, cursor=cursor, as_owner=True
                )
                found.update(
                    getattr(record, "content", "").removeprefix("formed ")
                    for record in page.records
                )
                if (cursor := page.cursor) is None:
                    break
        return found


async def _unfinished(book: Book) -> list[Job]:
    """Return the jobs that are not dead. A whole run has more dead ones than one page shows."""
    states = (JobState.WAITING, JobState.LEASED)
    return [job for state in states for job in await book.engine.jobs(state, 1000)]
