"""Scheduled nights: a job for each agent whose nights are enabled puts one job for each owner, and
the next night's job.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from memoranda import telemetry
from memoranda.book.dream.dream_settings import OWNERS_ZONE, DreamSettings, zone_named
from memoranda.book.dream.night import dream
from memoranda.door import Door
from memoranda.errors import Erased, MemorandaError, Restricted
from memoranda.first_use import dataclass
from memoranda.model.changes import GivenUp, Job, JobDraft, JobState
from memoranda.model.ledger import Actor
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, RecordType
from memoranda.paging import every_record
from memoranda.ports import Engine
from memoranda.worker import Handler

_log = logging.getLogger("memoranda.dream")

#: The kinds of the jobs of a night: of all owners, and of one. Their key is the agent's name, or
#: empty.
NIGHT: Final = "dream"
OWNERS_NIGHT: Final = "dream_owner"
#: A night that failed is tried so many times again, then given up.
RETRIES: Final = 5
_SYSTEM = Actor("system", "dream")
_OWNERS = (OwnerKind.USER, OwnerKind.GROUP)
_PROFILES = Filter(types=frozenset({RecordType.PROFILE}))

#: Returns what a night does with an agent's memories, and which agents a night without an agent
#: leaves out.
SettingsOf = Callable[[str | None], Awaitable[tuple[DreamSettings, Collection[str]]]]
#: The states of a schedule, as EDDI names them.
ScheduleState = Literal["PENDING", "EXECUTING", "FAILED", "DEAD_LETTERED"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The next night of an agent, or of all memories that no agent's own nights look at."""

    agent: str | None
    state: ScheduleState
    next_at: datetime
    attempts: int
    #: Why the last attempt failed, or why it was given up.
    error: str = ""


async def schedules(engine: Engine, most: int) -> list[Schedule]:
    """Return the scheduled nights, those that are due first."""
    jobs = [job for job in await engine.jobs(None, most) if job.kind == NIGHT]
    found = [
        Schedule(job.key or None, _state(job), job.run_at, job.tries, job.error) for job in jobs
    ]
    return sorted(found, key=lambda one: one.next_at)


def _state(job: Job) -> ScheduleState:
    if job.state is JobState.DEAD:
        return "DEAD_LETTERED"
    if job.state is JobState.LEASED:
        return "EXECUTING"
    return "FAILED" if job.tries else "PENDING"


def next_night(
    agent: str | None, settings: DreamSettings, now: datetime, after: Sequence[str] = ()
) -> JobDraft:
    """Return the job of an agent's next night, which begins with the owners after this one."""
    delay = (settings.next_night(now) - now).total_seconds()
    return JobDraft(NIGHT, agent or "", {"after": [*after]} if after else {}, delay=delay)


def nights(engine: Engine, door: Door, tenant: str, settings_of: SettingsOf) -> dict[str, Handler]:
    """Return the handlers of the jobs of a night."""

    async def of_all(job: Job) -> None:
        agent = job.key or None
        settings, _ = await settings_of(agent)
        if not settings.enabled:
            # It was turned off meanwhile: no next one is put.
            return
        owners = [owner for owner in await engine.owners(tenant) if owner.kind in _OWNERS]
        after = tuple(job.payload.get("after", ()))
        owners.sort(key=lambda owner: (owner.parts <= after, owner.parts))
        tonight = owners[: settings.max_users_per_run]
        for owner in tonight:
            try:
                waiting = await engine.job_of(owner, OWNERS_NIGHT, job.key)
                if waiting is not None and waiting.state is JobState.WAITING:
                    # The night before is still to be done: it is not put off.
                    continue
                draft = await _owners_night(engine, owner, job.key, settings, door.clock())
                # Of an owner who was erased meanwhile nothing is stored, not even the name.
                if first := await engine.entries(owner, 0, 1):
                    await door.write(
                        owner, WHOLE, _SYSTEM, [], request=None, jobs=(draft,), era=first[0].era
                    )
            except (Restricted, Erased):
                _log.info("a night leaves one owner alone: their data is restricted or erased")
        last = tonight[-1].parts if len(tonight) < len(owners) else ()
        await engine.put(next_night(agent, settings, door.clock(), last), door.clock())

    async def of_one(job: Job) -> None:
        agent = job.key or None
        settings, apart = await settings_of(agent)
        if settings.enabled and job.owner is not None:
            await dream(engine, door, job.owner, agent, settings, apart=apart)

    return {NIGHT: _tried(of_all), OWNERS_NIGHT: _tried(of_one)}


async def _owners_night(
    engine: Engine, owner: Owner, key: str, settings: DreamSettings, now: datetime
) -> JobDraft:
    if settings.time_zone != OWNERS_ZONE:
        return JobDraft(OWNERS_NIGHT, key)
    # Where the schedule's hour has just struck for the owner, too, the night is now and not in a
    # day.
    due = settings.next_night(now - timedelta(hours=1), await _zone_of(engine, owner))
    return JobDraft(OWNERS_NIGHT, key, delay=max((due - now).total_seconds(), 0))


async def _zone_of(engine: Engine, owner: Owner) -> ZoneInfo:
    async for one in every_record(engine, owner, WHOLE, _PROFILES):
        if isinstance(one, ProfileDocument) and (zone := zone_named(one.body.get("time_zone"))):
            return zone
    return ZoneInfo("UTC")


def _tried(handle: Handler) -> Handler:
    async def handling(job: Job) -> None:
        try:
            await handle(job)
        except Restricted:
            _log.info("a night leaves one owner alone: their data is restricted")
        except Erased:
            raise
        except MemorandaError as exc:
            telemetry.count("dream.cycles.failed")
            if job.tries > RETRIES:
                raise GivenUp(str(exc)) from exc
            raise

    return handling
