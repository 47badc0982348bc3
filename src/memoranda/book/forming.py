"""When what is said is formed: the work that an append or a close makes due, as an agent wishes it."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.errors import Conflict
from memoranda.formation.wishes import FormingSettings, agent_named
from memoranda.model.jobs import JobDraft
from memoranda.model.owner import Owner, OwnerKind
from memoranda.ports import Records

#: Work on what is new in a thread, and on all of it again.
FORM: Final = "form"
REFORM: Final = "reform"
FORMING: Final = (FORM, REFORM)
#: Other processes may change an agent's wishes: they are read again after so long.
_KNOWN_SECONDS: Final = 30.0
_MOST_KNOWN: Final = 1_000
_OFF: Final = "formation is off, by the settings or by the thread's agent's own: turn on forming.enabled, then form it again"


class Forming:
    """Knows how long a thread is to be silent before it is formed."""

    def __init__(self, records: Records, tenant: str, settings: FormingSettings) -> None:
        self._records = records
        self._tenant = Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant)
        self.settings = settings
        #: Agent → its wishes, and when they were read.
        self._known: dict[str, tuple[FormingSettings, float]] = {}

    @property
    def window_ttl(self) -> timedelta | None:
        """After so long a silence a thread's window is ended."""
        hours = self.settings.window_hours
        return None if hours is None else timedelta(hours=hours)

    async def jobs(self, agent: str | None, thread: UUID) -> tuple[JobDraft, ...]:
        """The work that something said in a thread makes due after a silence."""
        wishes = await self._of(agent)
        if not wishes.enabled:
            return ()
        draft = JobDraft(
            FORM, str(thread), records=(thread,), delay=wishes.idle_seconds, max_wait=wishes.max_wait_seconds
        )
        return (draft,)

    async def now(self, agent: str | None, thread: UUID, *, insists: bool = False) -> tuple[JobDraft, ...]:
        """The work on a thread that waits for no silence, and for nothing else where somebody insists."""
        draft = JobDraft(FORM, str(thread), records=(thread,), insists=insists)
        return (draft,) if (await self._of(agent)).enabled else ()

    async def again(self, agent: str | None, thread: UUID) -> tuple[JobDraft, ...]:
        """The work on a thread from its beginning; refused where nothing is formed."""
        if not (await self._of(agent)).enabled:
            raise Conflict(_OFF)
        return (JobDraft(REFORM, str(thread), records=(thread,), insists=True),)

    def changed(self, agent: str | None = None) -> None:
        """An agent's wishes may have changed, or those of all."""
        if agent is None:
            self._known.clear()
        else:
            self._known.pop(agent, None)

    async def _of(self, agent: str | None) -> FormingSettings:
        if agent is None:
            return self.settings
        at = time.monotonic()
        known = self._known.get(agent)
        if known is not None and at - known[1] < _KNOWN_SECONDS:
            return known[0]
        wishes = self.settings.for_agent(await agent_named(self._records, self._tenant, agent))
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[agent] = wishes, at
        return wishes
