"""Forms threads on request: makes their jobs due, does them or waits for the workers that have
them, and reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memoranda.book.admin.pending_threads import (
    formed_parts,
    is_formed,
    last_place,
    parts_aside,
    pending_threads,
    put_all,
)
from memoranda.book.forming_jobs import FORMING, OFF, Requested
from memoranda.book.services import Services
from memoranda.model.changes import MOST_JOBS, Job, JobState, thread_of
from memoranda.model.forming_results import (
    FormedPart,
    FormedThread,
    FormingReport,
    FormingState,
    part_waits,
)
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.query import Filter
from memoranda.model.records import WITH_EXPIRED, Owner, RecordType, View, those_of
from memoranda.secrets.masks import shown

#: Seconds between looks at a job that another worker has: at first, and at most.
_FIRST_LOOK: Final = 0.02
_LAST_LOOK: Final = 0.5
_MOST: Final = 1000
_NOTHING_NEW: Final = "nothing was said since it was formed"
_WAITS: Final = "its messages wait for a pause in the conversation; form() forms them now"
_RESTRICTED: Final = "the processing of this owner's data is restricted"


async def form_owner(services: Services, owner: Owner, view: View, *, wait: bool) -> FormingReport:
    """Form an owner's threads that a view sees and that wait; name those that were given up before,
    without trying them.
    """
    jobs = [
        job for job in await services.engine.jobs(None, MOST_JOBS, owner) if job.kind in FORMING
    ]
    dead = {UUID(job.key): job for job in jobs if job.state is JobState.DEAD}
    found = {
        one.id: one async for page in pending_threads(services.engine, owner, view) for one in page
    }
    others = [UUID(job.key) for job in jobs if UUID(job.key) not in found]
    found |= {
        one.id: one
        for one in those_of(Thread, (await services.engine.get(owner, view, others)).values())
    }
    made = await form(
        services, view, [one for one in found.values() if one.id not in dead], wait=wait
    )
    left = (_left(found[id], job, "") for id, job in dead.items() if id in found)
    told = {one.thread for one in made.threads} | dead.keys()
    late = await _aside(services, owner, view)
    others = [id for id in dict.fromkeys(map(thread_of, late)) if id not in told]
    there = those_of(Thread, (await services.engine.get(owner, view, others)).values())
    aside = [_with_aside(FormedThread(one.id, "formed"), late) for one in there]
    return FormingReport((*made.threads, *left, *aside), made.memories)


async def form(
    services: Services,
    view: View,
    threads: Sequence[Thread],
    *,
    schemas: Requested | None = None,
    wait: bool = True,
) -> FormingReport:
    """Form threads of one owner now, and wait until each is formed or cannot be; without ``wait``,
    only make them due.
    """
    outcomes: list[FormedThread] = []
    begun: list[tuple[Thread, int, set[UUID]]] = []
    for thread in threads:
        last = await last_place(services.engine, thread)
        before = {memory.id for memory in await _memories(services, view, thread)}
        if last <= thread.formed_through and await _job(services, thread) is None:
            asked = wait and await _ask_aside(services, view, thread)
            formed = FormedThread(thread.id, "formed", "" if asked else _NOTHING_NEW)
            outcomes.append(_with_aside(formed, await _aside(services, thread.owner, view)))
        elif await _made_due(services, thread, schemas):
            begun.append((thread, last, before))
        else:
            outcomes.append(FormedThread(thread.id, "off", OFF))
    made: list[Memory] = []
    for thread, last, before in begun:
        job, why = (
            await _done(services, thread, last) if wait else (await _job(services, thread), "")
        )
        outcomes += await _outcome(services, view, thread, last, job, why)
        made += [
            memory for memory in await _memories(services, view, thread) if memory.id not in before
        ]
    made.sort(key=lambda memory: memory.id)
    return FormingReport(tuple(outcomes), tuple(shown(made, services.door.secrets)))


async def how_far(services: Services, view: View, thread: Thread, limit: int) -> FormedThread:
    """Return a thread's newest formed parts, and what of it waits and why."""
    parts = tuple(await formed_parts(services.engine, thread, view, limit))
    if await is_formed(services.engine, thread):
        formed = FormedThread(thread.id, "formed", parts=parts)
        return _with_aside(formed, await _aside(services, thread.owner, view))
    if not (await services.forming.of_agents.forming(thread.agent)).enabled:
        return FormedThread(thread.id, "off", OFF, parts)
    return _left(thread, await _job(services, thread), _WAITS, parts)


async def _aside(services: Services, owner: Owner, view: View) -> list[Job]:
    return await parts_aside(services.engine, services.engine, owner, view)


def _with_aside(formed: FormedThread, late: Sequence[Job]) -> FormedThread:
    """Return the state of a formed thread; parts of it that were set aside wait, or were given
    up.
    """
    aside = [job for job in late if thread_of(job) == formed.thread]
    if not aside:
        return formed
    given_up = aside[0].state is JobState.DEAD
    because = "; ".join(map(part_waits, aside))
    due = None if given_up else aside[0].run_at
    state: FormingState = "given_up" if given_up else "waiting"
    return FormedThread(formed.thread, state, because, formed.parts, due, aside[0].id)


async def _ask_aside(services: Services, view: View, thread: Thread) -> bool:
    """Ask the model now about the parts of a thread that were set aside; False if there are
    none.
    """
    asked = False
    for job in await _aside(services, thread.owner, view):
        if thread_of(job) == thread.id and await services.engine.replay(
            job.id, services.door.clock()
        ):
            asked = await services.worker.do_one(job.id) or asked
    return asked


def _left(
    thread: Thread, job: Job | None, why: str, parts: tuple[FormedPart, ...] = ()
) -> FormedThread:
    """Return the state of a thread that is not formed, by the job that is left of it."""
    if job is None:
        return FormedThread(thread.id, "waiting", why, parts)
    because = job.error or why
    if job.state is JobState.DEAD:
        return FormedThread(thread.id, "given_up", because, parts, job=job.id)
    due = job.run_at if job.state is JobState.WAITING else None
    return FormedThread(thread.id, "waiting", because, parts, due, job.id)


async def _outcome(
    services: Services, view: View, thread: Thread, last: int, job: Job | None, why: str
) -> list[FormedThread]:
    """Return the outcome of forming a thread; none if it was erased."""
    now = (await services.engine.get(thread.owner, WITH_EXPIRED, [thread.id])).get(thread.id)
    if not isinstance(now, Thread):
        return []
    parts = tuple(
        await formed_parts(services.engine, now, view, _MOST, after=thread.formed_through)
    )
    if job is not None:
        return [_left(now, job, why, parts)]
    if now.formed_through < last:
        return [FormedThread(now.id, "off", OFF, parts)]
    formed = FormedThread(now.id, "formed", "", parts)
    return [_with_aside(formed, await _aside(services, now.owner, view))]


async def _done(services: Services, thread: Thread, last: int) -> tuple[Job | None, str]:
    """Do a thread's forming jobs, or wait for workers that have them; return the job that stays,
    and why if the job does not say.
    """
    pause, worker = _FIRST_LOOK, services.worker
    while (job := await _job(services, thread)) is not None and job.state is not JobState.DEAD:
        if job.state is JobState.WAITING and job.run_at > services.door.clock():
            if job.error:
                return job, ""
            # A later message put it off.
            now = (await services.engine.get(thread.owner, WITH_EXPIRED, [thread.id])).get(
                thread.id
            )
            if (
                not isinstance(now, Thread)
                or now.formed_through >= last
                or not await _made_due(services, now)
            ):
                return None, ""
        elif await worker.do_one(job.id):
            pause = _FIRST_LOOK
        elif job.state is JobState.WAITING and await worker.leaves(job.kind):
            return job, services.who_forms.cannot_form_because
        elif (
            job.state is JobState.WAITING
            and await services.engine.restriction(thread.owner) is not None
        ):
            return job, _RESTRICTED
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)
    return job, ""


async def _made_due(services: Services, thread: Thread, schemas: Requested | None = None) -> bool:
    """Make a thread due to be formed now, whatever it waits for; False where formation is off."""
    jobs = await services.forming.now(thread.agent, thread.id, insists=True, schemas=schemas)
    return await put_all(services.door, [(thread, jobs)]) > 0


async def _job(services: Services, thread: Thread) -> Job | None:
    """Return the job that forms a thread, or forms it again."""
    for kind in FORMING:
        if (job := await services.engine.job_of(thread.owner, kind, str(thread.id))) is not None:
            return job
    return None


async def _memories(services: Services, view: View, thread: Thread) -> list[Memory]:
    """Return the newest memories that were made in a thread."""
    only = Filter(types=frozenset({RecordType.MEMORY}), thread=thread.id, newest_first=True)
    page = await services.engine.scan(thread.owner, view, only, None, _MOST)
    return those_of(Memory, page.records)
