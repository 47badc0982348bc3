"""Does background jobs: leases one at a time, renews the lease, retries with growing pauses, and in the end gives up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime, timedelta
from uuid import uuid4

from memoranda import telemetry
from memoranda.capabilities import NotifiesWorkers
from memoranda.errors import Erased, Moved, StorageError
from memoranda.model.changes import GivenUp, Job, JobState, Postponed
from memoranda.ports import Clock, Jobs

#: Does one job; what it raises is kept with the job. One whose time has not come puts its job again,
#: with a delay; one that others keep from being done raises ``Postponed``.
Handler = Callable[[Job], Awaitable[None]]

LEASE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 3600.0
#: Whatever a provider asks for, a job that waits for it is tried again within a day.
LONGEST_POSTPONEMENT_SECONDS = 86_400.0
ATTEMPTS = 8
#: Before it is looked whether a book that moves was taken back.
MOVED_SECONDS = 60.0
#: Pauses stop growing here, before their arithmetic overflows.
_LARGEST_EXPONENT = 16
#: How often the length of the queue is reported, and the most jobs that are counted.
_TELLING = timedelta(seconds=30)
_MOST_COUNTED = 10_000

_log = logging.getLogger("memoranda.worker")


class Worker:
    """A worker for background jobs; each process with an open book may run one."""

    def __init__(
        self, jobs: Jobs, handlers: Mapping[str, Handler], clock: Clock, *, lease: float = LEASE_SECONDS
    ):
        self._jobs = jobs
        self._handlers = dict(handlers)
        self._clock = clock
        self._lease = lease
        self._told_at: datetime | None = None
        self.name = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"

    async def run_once(self) -> bool:
        """Do one due job; False if none is due."""
        job = await self._jobs.lease(tuple(self._handlers), self.name, self._clock(), self._lease)
        if job is None:
            return False
        await self._do(job)
        return True

    async def drain(self, limit: int | None = None) -> int:
        """Do due jobs until none is left or ``limit`` are done; returns how many."""
        done = 0
        while (limit is None or done < limit) and await self.run_once():
            done += 1
        if limit is None or done < limit:
            await self._tell_of_leases(logging.INFO if done else logging.WARNING)
        return done

    async def _tell_of_leases(self, level: int) -> None:
        """Log which owners' jobs this drain leaves because other workers have them; a killed one's are free after its lease."""
        if not _log.isEnabledFor(level):
            return
        leased = await self._jobs.jobs(JobState.LEASED, _MOST_COUNTED)
        others = [
            job for job in leased if job.owner and job.kind in self._handlers and job.worker != self.name
        ]
        until = max((job.leased_until for job in others if job.leased_until is not None), default=None)
        if until is not None:
            _log.log(
                level,
                "%d jobs are left, and what waits for the same owners: other workers have them. If one was killed, its jobs "
                "are free from %s on; drain again then",
                len(others),
                until.isoformat(timespec="seconds"),
            )

    async def run(self, stop: asyncio.Event, pause: float = 1.0, at_once: int = 1) -> None:
        """Do jobs until ``stop`` is set, then finish the current ones; if cancelled, those stay leased until the lease ends."""
        await asyncio.gather(*(self._run(stop, pause) for _ in range(at_once)))

    async def _run(self, stop: asyncio.Event, pause: float) -> None:
        with self._listening() as woken:
            await self._work(stop, woken, pause)

    async def _work(self, stop: asyncio.Event, woken: asyncio.Event, pause: float) -> None:
        kept_off = False
        while not stop.is_set():
            woken.clear()
            rest = pause
            try:
                busy = await self.run_once()
                if kept_off:
                    _log.warning("the worker reaches its jobs again")
                kept_off = False
            except asyncio.CancelledError:
                if _is_cancelled():
                    raise
                _log.exception("something that the worker waited for was cancelled; it tries again")
                busy = False
            except Moved as exc:
                _log.warning("the worker rests: %s", exc)
                busy, rest = False, MOVED_SECONDS
            except StorageError as exc:
                if not kept_off:
                    _log.warning("the worker could not reach its jobs, and tries until it can: %s", exc)
                busy, kept_off = False, True
            except Exception:  # noqa: BLE001 - upkeep goes on as soon as whatever is broken works again
                _log.exception("the worker could not reach its jobs; it tries again")
                busy = False
            await self._tell_depth()
            if not busy:
                await _either(stop, woken, rest)

    @contextlib.contextmanager
    def _listening(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set when a job becomes due, if the engine reports it; otherwise workers poll."""
        woken = asyncio.Event()
        if not isinstance(self._jobs, NotifiesWorkers):
            yield woken
            return
        leave = self._jobs.when_due(woken.set)
        try:
            yield woken
        finally:
            leave()

    async def _tell_depth(self) -> None:
        """Report now and then how many jobs wait, for how long, and how many are dead (given up until retried)."""
        now = self._clock()
        if not telemetry.listened() or (self._told_at is not None and now - self._told_at < _TELLING):
            return
        self._told_at = now
        try:
            waiting = await self._jobs.jobs(JobState.WAITING, _MOST_COUNTED)
            dead = await self._jobs.jobs(JobState.DEAD, _MOST_COUNTED)
        except StorageError as exc:
            _log.info("the depth of the queue could not be read: %s", exc)
            return
        oldest = min((job.run_at for job in waiting), default=now)
        telemetry.measure("jobs.waiting", len(waiting))
        telemetry.measure("jobs.oldest_seconds", max((now - oldest).total_seconds(), 0.0))
        telemetry.measure("jobs.dead_letters", len(dead))

    async def _do(self, job: Job) -> None:
        renewing = asyncio.create_task(self._renew(job))
        try:
            await self._handle(job)
        except Erased:
            # Whom it was for is gone: so is the work.
            await self._jobs.finish(job)
        except Postponed as postponed:
            await self._put_off(job, postponed)
        except GivenUp as given_up:
            _log.warning("job %s (%s) is given up: %s", job.id, job.kind, given_up)
            telemetry.count("jobs.dead")
            await self._jobs.fail(job, str(given_up), self._clock(), None)
        except _Failed as failed:
            _log.warning("job %s (%s) failed at attempt %d: %s", job.id, job.kind, job.tries, failed.kind)
            await self._again(job, f"{failed.kind}: {failed}")
        else:
            await self._jobs.finish(job)
            telemetry.count("jobs.done")
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])

    async def _handle(self, job: Job) -> None:
        """Run the job in its own task, so that a cancelled job is not taken for a cancelled worker."""

        async def handled() -> None:
            await self._handlers[job.kind](job)

        handling = asyncio.create_task(handled())
        try:
            await asyncio.wait([handling])
        except asyncio.CancelledError:
            handling.cancel()
            await asyncio.wait([handling])
            raise
        try:
            handling.result()
        except (Erased, Postponed, GivenUp):
            raise
        except asyncio.CancelledError:
            raise _Failed("CancelledError", "it was cancelled") from None
        except Exception as exc:  # whatever a handler raises belongs to its job, not to the worker
            raise _Failed(type(exc).__name__, str(exc)) from exc

    async def _again(self, job: Job, error: str) -> None:
        now = self._clock()
        if job.tries >= ATTEMPTS:
            telemetry.count("jobs.dead")
            await self._jobs.fail(job, error, now, None)
            return
        growth = 4.0 ** min(job.tries - 1, _LARGEST_EXPONENT)
        pause = min(FIRST_PAUSE_SECONDS * growth, LONGEST_PAUSE_SECONDS)
        await self._jobs.fail(job, error, now, now + timedelta(seconds=pause))

    async def _put_off(self, job: Job, postponed: Postponed) -> None:
        """Postpone a job to the handler's time, but by no less than two seconds and no more than a day."""
        now = self._clock()
        soonest, latest = (
            now + timedelta(seconds=seconds)
            for seconds in (FIRST_PAUSE_SECONDS, LONGEST_POSTPONEMENT_SECONDS)
        )
        _log.info("job %s (%s) is postponed: %s", job.id, job.kind, postponed)
        telemetry.count("jobs.postponed")
        await self._jobs.postpone(job, min(max(postponed.until, soonest), latest), str(postponed))

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                held = await self._jobs.renew(job, self._clock(), self._lease)
            except StorageError as exc:
                _log.warning("the lease of job %s (%s) could not be renewed: %s", job.id, job.kind, exc)
                continue
            except Exception:  # noqa: BLE001 - the lease lasts for another try
                _log.exception("the lease of job %s (%s) could not be renewed", job.id, job.kind)
                continue
            if not held:
                _log.warning("job %s (%s) was taken over by another worker", job.id, job.kind)
                return


class _Failed(Exception):
    """Wraps an exception of a job's handler, so that it is not taken for a failure of the worker itself."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


async def _either(one: asyncio.Event, other: asyncio.Event, seconds: float) -> None:
    """Wait until one of two events is set, or until the time is up."""
    waiting = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waiting:
            wait.cancel()


def _is_cancelled() -> bool:
    """True if this task itself was cancelled; False if only something that it awaits was."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
