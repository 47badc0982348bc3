"""The work that an open book does beside its program: a worker that does jobs until the book is
closed.
"""

from __future__ import annotations

import asyncio
import logging
import weakref

from memoranda.book.forming_jobs import FORMING
from memoranda.book.services import Services
from memoranda.errors import StorageError
from memoranda.model.changes import MOST_JOBS, JobState
from memoranda.tasks import quiet_task
from memoranda.worker import Worker

#: Jobs that are done at once where they wait for language models most of the time.
_AT_ONCE = 4

_log = logging.getLogger("memoranda.worker")


class OwnWork:
    """The worker of an open book, and its task."""

    def __init__(self, services: Services, worker: Worker) -> None:
        self._services = services
        #: Does due jobs of every tenant, as ``memoranda worker`` does.
        self.worker = worker
        #: The worker that runs beside the program, and its task.
        self.running: Worker | None = None
        self.task: asyncio.Task[None] | None = None
        self.stopping = asyncio.Event()

    def start(self, worker: Worker, *, delay: float = 0.0) -> None:
        """Let a worker do jobs until ``stop``, or until the book is gone without having been
        closed; it begins after a delay.
        """
        if self.task is not None:
            return
        loop, stop = asyncio.get_running_loop(), self.stopping
        at_once = _AT_ONCE if self._services.who_forms.by_model else 1
        # The book's workers are one to others, and to ``run``, which names the jobs that other
        # workers have.
        worker.name = self.worker.name
        self.running = worker
        self.task = quiet_task(lambda: worker.run(stop, at_once=at_once, delay=delay))
        weakref.finalize(
            self, _stop_in, loop, stop, self._services.embeddings.stopping
        ).atexit = False

    def stop(self) -> asyncio.Task[None] | None:
        """Let the worker end after its job; return its task, if it runs."""
        self.stopping.set()
        working, self.task = self.task, None
        return working

    async def tell_what_waits(self) -> None:
        """Log how many threads this process leaves to the next open book."""
        if not _log.isEnabledFor(logging.INFO):
            return
        try:
            jobs = await self._services.engine.jobs(JobState.WAITING, MOST_JOBS)
        except StorageError as exc:
            _log.info("the threads that wait to be formed could not be counted: %s", exc)
            return
        tenant = self._services.tenant
        count = sum(
            job.kind in FORMING and job.owner is not None and job.owner.tenant == tenant
            for job in jobs
        )
        if count:
            _log.info(
                "%s to be formed; the next open book or memoranda worker forms %s",
                "1 thread waits" if count == 1 else f"{count} threads wait",
                "it" if count == 1 else "them",
            )


def _stop_in(loop: asyncio.AbstractEventLoop, *stops: asyncio.Event) -> None:
    """Stop the workers of a book that was not closed."""
    for stop in stops:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
