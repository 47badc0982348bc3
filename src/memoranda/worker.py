"""Does background jobs: leases one at a time, renews the lease, retries with growing pauses, and in
the end gives up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from memoranda import telemetry
from memoranda.errors import Erased, MemorandaError, Moved, StorageError
from memoranda.model.changes import GivenUp, Job, JobState, Postponed
from memoranda.model.service_records import CALLER
from memoranda.operations import Part, Role, W, no_offer, offer
from memoranda.ports import Clock, Jobs, NotifiesWorkers
from memoranda.tasks import quiet_task

#: Does one job; of what it raises, the class is kept with the job, and the text of a
#: ``MemorandaError``. One whose time has not come puts its job again, with a delay; one that others
#: keep from being done raises ``Postponed``.
Handler = Callable[[Job], Awaitable[None]]

#: Returns the kinds of jobs that this process leaves to others at the moment.
Left = Callable[[], Awaitable[Collection[str]]]

#: What Python says if a thread is needed while the program ends without having closed its book.
_PROGRAM_ENDS = "interpreter shutdown"
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


class Worker(Part[W]):
    """A worker for background jobs; each process with an open book may run one."""

    def __init__(
        self,
        jobs: Jobs,
        handlers: Mapping[str, Handler],
        clock: Clock,
        *,
        lease: float = LEASE_SECONDS,
        tenant: str | None = None,
        asked_of: str | None = None,
        left: Left | None = None,
        listens: bool = True,
    ):
        self._jobs = jobs
        self._handlers = dict(handlers)
        self._clock = clock
        self._lease = lease
        #: Only jobs of this tenant's owners and of the book's own upkeep; None: of any tenant.
        self._tenant = tenant
        #: The same for a caller from outside: whose service it is.
        self._asked_of = asked_of
        self._left = left
        #: False: it takes no connection to listen for due jobs, and looks for them from time to
        #: time only.
        self._listens = listens
        self._told_at: datetime | None = None
        #: How many places look for a job at this moment or do one, and an event that is set while
        #: none does.
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        #: The jobs that were done by ``run``.
        self.done = 0
        self.name = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"

    @offer(Role.ADMIN, "POST /v1/jobs/run-once", command="jobs run")
    async def run_once(self) -> bool:
        """Do one due job; False if none is due."""
        job = await self._lease_one()
        if job is None:
            return False
        await self._do(job)
        return True

    @no_offer("form does it for each thread")
    async def do_one(self, id: UUID) -> bool:
        """Do this job and no other; False if it is not due, others have it, or its owner's other
        job, or it is left to others.
        """
        job = await self._lease_one(id)
        if job is None:
            return False
        await self._do(job)
        return True

    @no_offer("a worker uses it")
    async def leaves(self, kind: str) -> bool:
        """True if this process leaves jobs of a kind to others at the moment."""
        return self._left is not None and kind in await self._left()

    async def _lease_one(self, only: UUID | None = None) -> Job | None:
        left = () if self._left is None else await self._left()
        kinds = tuple(kind for kind in self._handlers if kind not in left)
        tenant = self._tenant if CALLER.get().holds_book else self._asked_of
        return await self._jobs.lease(kinds, self.name, self._clock(), self._lease, tenant, only)

    @no_offer("jobs.run does the same")
    async def drain(self: Worker, limit: int | None = None) -> int:
        """Do due jobs until none is left or ``limit`` are done; returns how many."""
        done = 0
        while (limit is None or done < limit) and await self.run_once():
            done += 1
        if limit is None or done < limit:
            await self._tell_of_leases(logging.INFO if done else logging.WARNING)
        return done

    async def _tell_of_leases(self, level: int) -> None:
        """Log which owners' jobs this drain leaves because other workers have them; a killed one's
        are free after its lease.
        """
        if not _log.isEnabledFor(level):
            return
        leased = await self._jobs.jobs(JobState.LEASED, _MOST_COUNTED)
        others = [
            job
            for job in leased
            if job.owner and job.kind in self._handlers and job.worker != self.name
        ]
        until = max(
            (job.leased_until for job in others if job.leased_until is not None), default=None
        )
        if until is not None:
            _log.log(
                level,
                "%d jobs are left, and what waits for the same owners: other workers have them. If one was killed, its jobs "
                "are free from %s on; drain again then",
                len(others),
                until.isoformat(timespec="seconds"),
            )

    @no_offer("memoranda serve and memoranda worker do jobs")
    async def run(
        self, stop: asyncio.Event, pause: float = 1.0, at_once: int = 1, *, delay: float = 0.0
    ) -> None:
        """Do jobs until ``stop`` is set, then finish the current ones; if cancelled, give those
        back.
        """
        if delay:
            await _waited(stop, None, delay)
        looking = asyncio.Lock()
        if at_once == 1:
            await self._run(stop, pause, looking)
            return
        await asyncio.gather(
            *(quiet_task(lambda: self._run(stop, pause, looking)) for _ in range(at_once))
        )

    async def _run(self, stop: asyncio.Event, pause: float, looking: asyncio.Lock) -> None:
        with self._listening() as woken:
            await self._work(stop, woken, pause, looking)

    async def _work(
        self, stop: asyncio.Event, woken: asyncio.Event | None, pause: float, looking: asyncio.Lock
    ) -> None:
        kept_off = False
        while not stop.is_set():
            rest = pause
            try:
                # One at a time looks for the next job; those beside it wait until it has found one.
                async with looking:
                    job = await self._next(stop, woken, pause)
                if job is not None:
                    try:
                        await self._do(job)
                    finally:
                        self.done += 1
                        self._rest()
                if kept_off:
                    _log.warning("the worker reaches its jobs again")
                kept_off = False
                continue
            except asyncio.CancelledError:
                if _is_cancelled():
                    raise
                _log.exception("something that the worker waited for was cancelled; it tries again")
            except Moved as exc:
                _log.warning("the worker rests: %s", exc)
                rest = MOVED_SECONDS
            except StorageError as exc:
                if not kept_off:
                    _log.warning(
                        "the worker could not reach its jobs, and tries until it can: %s", exc
                    )
                kept_off = True
            except Exception:  # noqa: BLE001 - upkeep goes on as soon as whatever is broken works again
                _log.exception("the worker could not reach its jobs; it tries again")
            await _waited(stop, woken, rest)

    async def _next(
        self, stop: asyncio.Event, woken: asyncio.Event | None, pause: float
    ) -> Job | None:
        """Return a leased job; None after a pause in which none was due, or to stop."""
        if stop.is_set():
            return None
        if woken is not None:
            woken.clear()
        # Before the lease: nobody may find neither the job nor its worker.
        self._busy += 1
        self._idle.clear()
        job = None
        try:
            job = await self._lease_one()
        finally:
            if job is None:
                self._rest()
        if job is None:
            await self._tell_depth()
            await _waited(stop, woken, pause)
        return job

    def _rest(self) -> None:
        self._busy -= 1
        if not self._busy:
            self._idle.set()

    @no_offer("a worker uses it")
    async def settled(self) -> bool:
        """Wait until ``run`` neither looks for a job nor does one; False if it did not when this
        was called.
        """
        if not self._busy:
            return False
        await self._idle.wait()
        return True

    @contextlib.contextmanager
    def _listening(self) -> Iterator[asyncio.Event | None]:
        """Yield an event that is set when a job becomes due, if the engine reports it; otherwise
        workers poll.
        """
        if not self._listens or not isinstance(self._jobs, NotifiesWorkers):
            yield None
            return
        woken = asyncio.Event()
        leave = self._jobs.when_due(woken.set)
        try:
            yield woken
        finally:
            leave()

    async def _tell_depth(self) -> None:
        """Report now and then how many jobs wait, for how long, and how many are dead (given up
        until retried).
        """
        now = self._clock()
        if not telemetry.listened() or (
            self._told_at is not None and now - self._told_at < _TELLING
        ):
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
        renewing, gone = quiet_task(lambda: self._renew(job)), False
        try:
            await self._carry_out(job)
        except GeneratorExit:
            # The event loop was closed: nothing can be awaited any more, and the job stays leased
            # until the lease ends.
            gone = True
            raise
        finally:
            if not gone:
                renewing.cancel()
                await asyncio.wait([renewing])

    async def _carry_out(self, job: Job) -> None:
        """Run a leased job and report how it ended."""
        try:
            await self._handle(job)
        except asyncio.CancelledError:
            # The program ends: another worker may begin the job at once.
            with contextlib.suppress(StorageError):
                await self._jobs.postpone(job, self._clock(), "the program that had begun it ended")
            raise
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
            _log.warning(
                "job %s (%s) failed at attempt %d: %s", job.id, job.kind, job.tries, failed.kind
            )
            await self._again(job, str(failed))
        else:
            await self._jobs.finish(job)
            telemetry.count("jobs.done")

    async def _handle(self, job: Job) -> None:
        """Run the job in its own task, so that a cancelled job is not taken for a cancelled
        worker.
        """
        handling = quiet_task(lambda: self._handlers[job.kind](job))
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
            raise _Failed("CancelledError") from None
        except Exception as exc:  # whatever a handler raises belongs to its job, not to the worker
            if isinstance(exc, RuntimeError) and _PROGRAM_ENDS in str(exc):
                raise Postponed(
                    "the program that had begun it ended", until=self._clock()
                ) from None
            # The text of any other exception may quote what somebody said.
            raise _Failed(
                type(exc).__name__, str(exc) if isinstance(exc, MemorandaError) else ""
            ) from exc

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
        """Postpone a job to the handler's time, but by no less than two seconds and no more than a
        day.
        """
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
                _log.warning(
                    "the lease of job %s (%s) could not be renewed: %s", job.id, job.kind, exc
                )
                continue
            except Exception:  # noqa: BLE001 - the lease lasts for another try
                _log.exception("the lease of job %s (%s) could not be renewed", job.id, job.kind)
                continue
            if not held:
                _log.warning("job %s (%s) was taken over by another worker", job.id, job.kind)
                return


class _Failed(Exception):
    """Wraps an exception of a job's handler, so that it is not taken for a failure of the worker
    itself.
    """

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind


async def _waited(stop: asyncio.Event, woken: asyncio.Event | None, seconds: float) -> None:
    """Wait until one of two events is set, or until the time is up."""
    if woken is None:
        # Without another task, so that nothing is left of a loop that is closed meanwhile.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stop.wait()
        return
    waiting = [asyncio.ensure_future(event.wait()) for event in (stop, woken)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waiting:
            wait.cancel()


def _is_cancelled() -> bool:
    """True if this task itself was cancelled; False if only something that it awaits was."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
