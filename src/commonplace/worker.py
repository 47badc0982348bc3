"""Works off jobs: leases one at a time, renews while it works, retries with growing pauses, gives up in the open."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from uuid import uuid4

from commonplace import telemetry
from commonplace.errors import CommonplaceError, Erased
from commonplace.model.jobs import Job
from commonplace.ports import Clock, Jobs

#: Does one job; what it raises is kept with the job.
Handler = Callable[[Job], Awaitable[None]]

LEASE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 3600.0
ATTEMPTS = 8

_log = logging.getLogger("commonplace.worker")


class NotYet(Exception):
    """Raised by a handler whose time has not come: the job waits, and the attempt does not count against it."""


class Worker:
    """One worker; any open book may run one, in as many processes as there are."""

    def __init__(
        self, jobs: Jobs, handlers: Mapping[str, Handler], clock: Clock, *, lease: float = LEASE_SECONDS
    ):
        self._jobs = jobs
        self._handlers = dict(handlers)
        self._clock = clock
        self._lease = lease
        self.name = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"

    async def run_once(self) -> bool:
        """Do one due job; False where none is due."""
        job = await self._jobs.lease(tuple(self._handlers), self.name, self._clock(), self._lease)
        if job is None:
            return False
        await self._do(job)
        return True

    async def drain(self, limit: int | None = None) -> int:
        """Do due jobs until none is left, or as many as ``limit``; returns how many."""
        done = 0
        while (limit is None or done < limit) and await self.run_once():
            done += 1
        return done

    async def run(self, stop: asyncio.Event, pause: float = 1.0) -> None:
        """Work until told to stop; the job in hand is finished first."""
        while not stop.is_set():
            try:
                busy = await self.run_once()
            except CommonplaceError:
                _log.exception("the worker could not reach its jobs; it tries again")
                busy = False
            if not busy:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), pause)

    async def _do(self, job: Job) -> None:
        renewing = asyncio.create_task(self._renew(job))
        try:
            await self._handlers[job.kind](job)
        except NotYet as exc:
            await self._again(job, str(exc), counted=False)
        except Erased:
            # Whom it was for is gone: so is the work.
            await self._jobs.finish(job, self._clock())
        except Exception as exc:  # noqa: BLE001 - whatever a handler raises belongs to its job, not to the worker
            _log.warning(
                "job %s (%s) failed at attempt %d: %s", job.id, job.kind, job.attempts, type(exc).__name__
            )
            await self._again(job, f"{type(exc).__name__}: {exc}", counted=True)
        else:
            await self._jobs.finish(job, self._clock())
            telemetry.count("jobs.done")
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewing

    async def _again(self, job: Job, error: str, *, counted: bool) -> None:
        now = self._clock()
        if counted and job.attempts >= ATTEMPTS:
            telemetry.count("jobs.dead")
            await self._jobs.fail(job, error, now, None)
            return
        pause = min(FIRST_PAUSE_SECONDS * 4 ** (job.attempts - 1), LONGEST_PAUSE_SECONDS)
        await self._jobs.fail(job, error, now, now + timedelta(seconds=pause))

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._lease / 3)
            if not await self._jobs.renew(job, self._clock(), self._lease):
                _log.warning("job %s (%s) was taken over by another worker", job.id, job.kind)
                return
