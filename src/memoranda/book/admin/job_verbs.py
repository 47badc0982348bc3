"""The background jobs of a book: list them, try one again, drop one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.book.input import as_id, as_limit
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import Job, JobState
from memoranda.model.values import utc_now
from memoranda.operations import Part, Role, W, offer
from memoranda.ports import Engine


class Jobs(Part[W]):
    """Background jobs, including dead ones."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @offer(Role.ADMIN, "GET /v1/jobs", command="jobs list")
    async def list(self, *, state: str | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs, those that are due the longest first; ``state`` is waiting, leased or dead."""
        return await self._engine.jobs(_as_state(state), as_limit(limit))

    @offer(Role.ADMIN, "POST /v1/jobs/{id}/retry", command="jobs retry")
    async def retry(self, id: UUID | str) -> None:
        """Make a dead or waiting job due now, and count its attempts from zero."""
        if not await self._engine.replay(as_id(id), (self._engine.clock or utc_now)()):
            raise NotFound(f"there is no dead or waiting job {id}; see: memoranda jobs list")

    @offer(Role.ADMIN, "DELETE /v1/jobs/{id}", final=True, command="jobs drop")
    async def drop(self, id: UUID | str) -> None:
        """Delete a dead job; its work will not be done."""
        if not await self._engine.drop(as_id(id)):
            raise NotFound(f"there is no dead job {id}; see: memoranda jobs list --state dead")


def _as_state(state: str | None) -> JobState | None:
    if state is None:
        return None
    try:
        return JobState(state)
    except ValueError:
        raise InvalidInput(f"state: {state!r} is none; use waiting, leased or dead", field="state") from None
