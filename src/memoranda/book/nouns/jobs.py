"""Operations over background jobs: list and run them, try one again, drop one, and say who forms
threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.book.input import as_id, as_limit, as_text
from memoranda.book.own_work import OwnWork
from memoranda.book.services import Services
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import MOST_JOBS, Job, JobState
from memoranda.model.service_records import CALLER
from memoranda.model.values import utc_now
from memoranda.operations import Part, Role, W, offer

_SETTING = "it tells a setting of the book, and holds nothing of a user"


class Jobs(Part[W]):
    """Background jobs, including dead ones, and who forms threads."""

    def __init__(self, services: Services, own_work: OwnWork) -> None:
        self._engine = services.engine
        self._tenant = services.tenant
        self._own_work = own_work
        self._who_forms = services.who_forms

    @offer(Role.ADMIN, "GET /v1/jobs", command="jobs list")
    async def list(self, *, state: str | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs, those that are due the longest first; ``state`` is waiting, leased or
        dead.
        """
        chosen, most = _as_state(state), as_limit(limit)
        if CALLER.get().holds_book:
            return await self._engine.jobs(chosen, most)
        return (await self._of_tenant(chosen))[:most]

    async def _of_tenant(self, state: JobState | None) -> Sequence[Job]:
        """Return the tenant's jobs, and those of the book's own upkeep without the records that
        they name, which may be another tenant's.
        """
        return [
            job if job.owner is not None else replace(job, payload={}, records=())
            for job in await self._engine.jobs(state, MOST_JOBS)
            if job.owner is None or job.owner.tenant == self._tenant
        ]

    async def _is_reached(self, id: UUID) -> bool:
        """True unless a caller from outside names another tenant's job."""
        if CALLER.get().holds_book:
            return True
        return any(job.id == id for job in await self._of_tenant(None))

    @offer(Role.ADMIN, "POST /v1/jobs/{id}/retry", command="jobs retry")
    async def retry(self, id: UUID | str) -> None:
        """Make a dead or waiting job due now, and count its attempts from zero."""
        job, now = as_id(id), (self._engine.clock or utc_now)()
        if not (await self._is_reached(job) and await self._engine.replay(job, now)):
            raise NotFound(f"there is no dead or waiting job {id}; see: memoranda jobs list")

    @offer(Role.ADMIN, "DELETE /v1/jobs/{id}", final=True, command="jobs drop")
    async def drop(self, id: UUID | str) -> None:
        """Delete a dead job; its work will not be done."""
        job = as_id(id)
        if not (await self._is_reached(job) and await self._engine.drop(job)):
            raise NotFound(f"there is no dead job {id}; see: memoranda jobs list --state dead")

    @offer(Role.ADMIN, "POST /v1/jobs/run", command="jobs run")
    async def run(self, limit: int | None = None) -> int:
        """Do the background jobs that are due, until none is left or ``limit`` are done; return how
        many were done.

        Jobs that this book's own worker has begun are waited for, and counted.
        """
        running, own = self._own_work.running, 0
        if running is None:
            return await self._own_work.worker.drain(limit)
        before = running.done
        while True:
            done = own + running.done - before
            if limit is not None and done >= limit:
                return done
            own += await self._own_work.worker.drain(None if limit is None else limit - done)
            if not await running.settled():
                return own + running.done - before

    @offer(Role.VIEWER, "GET /v1/forming", command="doctor", safe=_SETTING, title="tell_who_forms")
    async def who_forms(self, *, agent: str | None = None) -> str:
        """Return who forms the tenant's threads, or one agent's: ``rules`` or ``provider:model``;
        empty before the first time.
        """
        return (await self._who_forms.record()).of(
            None if agent is None else as_text(agent, "agent")
        )

    @offer(Role.ADMIN, "PUT /v1/forming", command="form")
    async def form_with(self, who: str | None = None, *, agent: str | None = None) -> str:
        """Record who forms the tenant's threads from now on: ``rules`` or ``provider:model``; None
        is this process's own.

        With ``agent`` it is recorded for that agent alone, and ``default`` removes that record.
        Return who forms now.
        """
        chosen = None if who is None else as_text(who, "who")
        return await self._who_forms.change(
            chosen, None if agent is None else as_text(agent, "agent")
        )


def _as_state(state: str | None) -> JobState | None:
    if state is None:
        return None
    try:
        return JobState(state)
    except ValueError:
        raise InvalidInput(
            f"state: {state!r} is none; use waiting, leased or dead", field="state"
        ) from None
