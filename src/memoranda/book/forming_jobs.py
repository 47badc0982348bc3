"""The jobs that form threads (turn their messages into memories): when they are due, and with which
schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from memoranda.book.agent_settings import AgentSettings, SharingSettings
from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.errors import Conflict, InvalidInput
from memoranda.formation.formation_settings import QUIET, FormingSettings
from memoranda.model.changes import FORM, FORM_LATE, Job, JobDraft
from memoranda.model.drafts import SCHEMAS, Scheduled
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import Schema
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Limits, Owner, OwnerKind, RecordType, View, those_of
from memoranda.ports import Records
from memoranda.recall.context.turns import is_users_turn

#: Work on what is new in a thread, and on all of it again.
REFORM: Final = "reform"
FORMING: Final = (FORM, REFORM)
#: All kinds of jobs that formation does.
FORMATION_JOBS: Final = (*FORMING, QUIET, FORM_LATE)
OFF: Final = "formation is off, by the settings or by the thread's agent's own: turn on forming.enabled, then form it again"
#: The longest pause before a thread is formed, in seconds: a week.
_LONGEST: Final = 604_800.0
_MOST_SCHEMAS: Final = 1_000
_MOST_WAITING: Final = 1_000
_UNFORMED: Final = Filter(types=frozenset({RecordType.THREAD}), unformed=True)

#: Schemas of a request: names of the tenant's or built-in ones, or definitions.
Requested = Iterable[str | Mapping[str, Any]]


class Forming:
    """Decides when a thread is formed (its messages are turned into memories), by the settings and
    the agent's own.
    """

    def __init__(
        self,
        records: Records,
        tenant: str,
        settings: FormingSettings,
        sharing: SharingSettings,
        limits: Limits,
        dream: DreamSettings | None = None,
    ) -> None:
        self.settings = settings
        self._records = records
        self._party = Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant)
        self.of_agents = AgentSettings(
            records, self._party, settings, sharing, limits, dream or DreamSettings()
        )

    @property
    def window_ttl(self) -> timedelta | None:
        """The silence after which a window of a thread's newest messages ends; None if it never
        does.
        """
        hours = self.settings.window_hours
        return None if hours is None else timedelta(hours=hours)

    async def jobs(self, agent: str | None, thread: UUID) -> tuple[JobDraft, ...]:
        """Return the job that forms a thread after a silence, which a new message makes due; none
        if formation is off.

        What was scheduled for the thread is put off, and keeps its schemas.
        """
        own = await self.of_agents.forming(agent)
        if not own.enabled:
            return ()
        key, longest = str(thread), own.max_wait_seconds
        return (
            JobDraft(
                FORM,
                key,
                records=(thread,),
                delay=own.idle_seconds,
                max_wait=longest,
                keeps_payload=True,
            ),
        )

    async def later(
        self,
        agent: str | None,
        thread: UUID,
        after: float | timedelta | None,
        schemas: Requested | None,
    ) -> tuple[JobDraft, ...]:
        """Return the job that forms a thread with these schemas after a pause of its own; none if
        formation is off.
        """
        own, pause = (
            await self.of_agents.forming(agent),
            None if after is None else _as_pause(after),
        )
        payload = await self._payload(schemas)
        if not own.enabled:
            return ()
        delay = own.idle_seconds if pause is None else pause
        longest = max(own.max_wait_seconds, delay)
        return (JobDraft(FORM, str(thread), payload, (thread,), delay=delay, max_wait=longest),)

    async def now(
        self,
        agent: str | None,
        thread: UUID,
        *,
        insists: bool = False,
        schemas: Requested | None = None,
    ) -> tuple[JobDraft, ...]:
        """Return the job that forms a thread at once; with ``insists`` it waits for no provider or
        budget, either.

        Without ``schemas``, those that were scheduled for the thread stay.
        """
        payload = await self._payload(schemas)
        draft = JobDraft(
            FORM, str(thread), payload, (thread,), insists=insists, keeps_payload=schemas is None
        )
        return (draft,) if (await self.of_agents.forming(agent)).enabled else ()

    async def again(
        self, agent: str | None, thread: UUID, schemas: Requested | None = None
    ) -> tuple[JobDraft, ...]:
        """Return the job that forms a thread again from its beginning; raise Conflict if formation
        is off.
        """
        payload = await self._payload(schemas)
        if not (await self.of_agents.forming(agent)).enabled:
            raise Conflict(OFF)
        return (JobDraft(REFORM, str(thread), payload, (thread,), insists=True),)

    async def waiting(self, owner: Owner, view: View) -> int:
        """Return how many of an owner's threads that a view sees wait to be formed; at most a
        thousand are counted.
        """
        page = await self._records.scan(owner, view, _UNFORMED, None, _MOST_WAITING)
        threads = those_of(Thread, page.records)
        return sum([(await self.of_agents.forming(thread.agent)).enabled for thread in threads])

    async def still_formed(
        self, owner: Owner, view: View, said: Sequence[Message]
    ) -> list[Message]:
        """Return the user's turns among these messages of several threads, without those whose
        forming was turned off.
        """
        if not said:
            return []
        found = await self._records.get(owner, view, [*{message.thread for message in said}])
        threads = those_of(Thread, found.values())
        on = {one.id for one in threads if (await self.of_agents.forming(one.agent)).enabled}
        return [message for message in said if message.thread in on and is_users_turn(message)]

    async def _payload(self, schemas: Requested | None) -> dict[str, Any]:
        if schemas is None:
            return {}
        # The rules of schemas are imported by the calls that need them.
        from memoranda.formation.schemas.request_schemas import request_payload  # noqa: PLC0415

        only = Filter(types=frozenset({RecordType.SCHEMA}))
        page = await self._records.scan(self._party, WHOLE, only, None, _MOST_SCHEMAS)
        return request_payload(schemas, (one.name for one in those_of(Schema, page.records)))


def scheduled(job: Job | None) -> Scheduled | None:
    """Return a forming job as its thread's readers see it."""
    if job is None:
        return None
    listed = job.payload.get(SCHEMAS, ())
    names = tuple(one if isinstance(one, str) else one["name"] for one in listed)
    return Scheduled(job.state, job.run_at, job.first_at, names, job.tries, job.error)


def _as_pause(after: Any) -> float:
    seconds = after.total_seconds() if isinstance(after, timedelta) else after
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, (int, float))
        or not 0 <= seconds <= _LONGEST
    ):
        raise InvalidInput(
            f"after: {after!r} is not a pause; give seconds or a timedelta, at most a week",
            field="after",
        )
    return float(seconds)
