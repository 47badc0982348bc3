"""The verbs of a book over its background work: forming threads, who forms them, and the worker of this process."""

from __future__ import annotations

import asyncio
import logging
import weakref
from typing import Unpack

from memoranda.book.forming_jobs import FORMING
from memoranda.book.forming_runs import form_owner
from memoranda.book.input import Who, as_flag, as_text, as_view, owner_named
from memoranda.book.services import Embeddings, Services
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import StorageError
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import MOST_JOBS, JobState
from memoranda.model.forming_results import FormingReport
from memoranda.model.records import Owner
from memoranda.operations import Part, Role, W, no_offer, offer
from memoranda.tasks import quiet_task
from memoranda.worker import Worker

_SETTING = "it tells a setting of the book, and holds nothing of a user"

#: Jobs that are done at once where they wait for language models most of the time.
_AT_ONCE = 4

_log = logging.getLogger("memoranda.worker")


@spelled_out
class BackgroundWork(Part[W]):
    """The verbs of a book over its background work."""

    _services: Services
    _who_forms: WhoForms
    embeddings: Embeddings
    #: Does due jobs of every tenant, as ``memoranda worker`` does.
    worker: Worker[W]

    def _prepare(self: BackgroundWork, worker: Worker, who_forms: WhoForms) -> None:
        """Set what this part of a book needs."""
        self.worker = worker
        self._who_forms = who_forms
        #: The worker that runs beside the program, and its task.
        self._running: Worker | None = None
        self._working: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @no_offer("memoranda serve and memoranda worker do jobs")
    def start_worker(self: BackgroundWork) -> None:
        """Start a worker in this process; it does background jobs until the book is closed."""
        start_working(self, self.worker)

    @offer(Role.ADMIN, "POST /v1/jobs/drain", command="jobs run")
    async def drain(self: BackgroundWork, limit: int | None = None) -> int:
        """Do the background jobs that are due, until none is left or ``limit`` are done; return how many were done.

        Jobs that this book's own worker has begun are waited for, and counted.
        """
        running, own = self._running, 0
        if running is None:
            return await self.worker.drain(limit)
        before = running.done
        while True:
            done = own + running.done - before
            if limit is not None and done >= limit:
                return done
            own += await self.worker.drain(None if limit is None else limit - done)
            if not await running.settled():
                return own + running.done - before

    @offer(Role.EDITOR, "POST /form", command="form")
    async def form(self, owner: str | Owner, *, wait: bool = True, **who: Unpack[Who]) -> FormingReport:
        """Form now (turn into memories) what waits of an owner and this view sees; return what was made and left out.

        Each thread is formed here, or waited for where another worker has it. A thread that cannot be formed says why: it
        waits, was given up, or forming is off. ``wait=False`` only makes the threads due, for a worker or an open book.
        """
        party, waits = owner_named(owner, self._services.tenant), as_flag(wait, "wait")
        return await form_owner(self._services, party, as_view(who), wait=waits)

    @property
    def forms_by_model(self) -> bool:
        """True if a language model forms memories from conversations; False if rules do."""
        return self._who_forms.by_model

    @property
    def cannot_form_because(self) -> str:
        """The reason why this process leaves threads to another one to form; empty if it forms them itself."""
        return self._who_forms.cannot_form_because

    @offer(Role.VIEWER, "GET /v1/forming", command="doctor", safe=_SETTING, title="tell_who_forms")
    async def who_forms(self, *, agent: str | None = None) -> str:
        """Return who forms the tenant's threads, or one agent's: ``rules`` or ``provider:model``; empty before the first time."""
        return (await self._who_forms.record()).of(None if agent is None else as_text(agent, "agent"))

    @offer(Role.ADMIN, "PUT /v1/forming", command="form")
    async def form_with(self, who: str | None = None, *, agent: str | None = None) -> str:
        """Record who forms the tenant's threads from now on: ``rules`` or ``provider:model``; None is this process's own.

        With ``agent`` it is recorded for that agent alone, and ``default`` removes that record. Return who forms now.
        """
        chosen = None if who is None else as_text(who, "who")
        return await self._who_forms.change(chosen, None if agent is None else as_text(agent, "agent"))

    async def _tell_what_waits(self) -> None:
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
            job.kind in FORMING and job.owner is not None and job.owner.tenant == tenant for job in jobs
        )
        if count:
            _log.info(
                "%s to be formed; the next open book or memoranda worker forms %s",
                "1 thread waits" if count == 1 else f"{count} threads wait",
                "it" if count == 1 else "them",
            )


def start_working(book: BackgroundWork, worker: Worker, *, delay: float = 0.0) -> None:
    """Let a worker do jobs until the book is closed, or is gone without having been closed; it begins after a delay."""
    if book._working is not None:
        return
    loop, stop = asyncio.get_running_loop(), book._stop
    at_once = _AT_ONCE if book.forms_by_model else 1
    # The book's workers are one to others, and to ``drain``, which names the jobs that other workers have.
    worker.name = book.worker.name
    book._running = worker
    book._working = quiet_task(lambda: worker.run(stop, at_once=at_once, delay=delay))
    weakref.finalize(book, _stop_in, loop, stop, book.embeddings.stopping).atexit = False


def _stop_in(loop: asyncio.AbstractEventLoop, *stops: asyncio.Event) -> None:
    """Stop the workers of a book that was not closed."""
    for stop in stops:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
