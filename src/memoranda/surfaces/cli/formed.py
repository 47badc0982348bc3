"""What became of an owner's threads that were to be formed: each formed, waiting, given up or left alone, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args
from uuid import UUID

from memoranda.book import Book
from memoranda.book.forming import FORMING
from memoranda.book.unformed import is_formed, unformed
from memoranda.errors import NotFound
from memoranda.model.jobs import MOST_JOBS, Job, JobState
from memoranda.model.owner import Owner
from memoranda.surfaces.cli.paper import Paper
from memoranda.surfaces.cli.telling import when

_SHOWN = 20

State: TypeAlias = Literal["formed", "waiting", "given_up", "off"]
STATES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where one thread stands."""

    thread: UUID
    #: ``off``: nobody is to form it, by the settings or by its agent's own.
    state: State
    #: What is still to be done, and what kept it from being done.
    job: UUID | None = None
    error: str = ""
    #: When a thread that waits is tried again.
    due: datetime | None = None


async def to_be_formed(book: Book, owner: Owner) -> list[UUID]:
    """The owner's threads that are not formed to their end, or have work waiting; not those that were given up."""
    jobs = await _jobs(book, owner)
    dead = {thread for thread, job in jobs.items() if job.state is JobState.DEAD}
    found = dict.fromkeys(jobs)
    async for threads in unformed(book.engine, owner):
        found |= dict.fromkeys(thread.id for thread in threads)
    return [thread for thread in found if thread not in dead]


async def outcomes(
    book: Book, owner: Owner, threads: Sequence[UUID], off: Collection[UUID], *, alone: bool
) -> list[Outcome]:
    """Where these threads stand, some of which nobody is to form; with those that were given up, unless ``alone``."""
    jobs = await _jobs(book, owner)
    given_up = () if alone else (thread for thread, job in jobs.items() if job.state is JobState.DEAD)
    found = [
        await _outcome(book, owner, thread, jobs.get(thread), off)
        for thread in dict.fromkeys((*threads, *given_up))
    ]
    return [outcome for outcome in found if outcome is not None]


def tell(paper: Paper, found: Sequence[Outcome]) -> None:
    """Tell people of the threads that were not formed."""
    waiting = [outcome for outcome in found if outcome.state == "waiting"]
    for outcome in waiting[:_SHOWN]:
        until = "" if outcome.due is None else f" until {when(outcome.due)}"
        paper.hung(
            f"  thread {outcome.thread} waits{until}: ", outcome.error or "another worker has it in hand"
        )
    given_up = [outcome for outcome in found if outcome.state == "given_up"]
    for outcome in given_up[:_SHOWN]:
        paper.hung(f"  thread {outcome.thread} was given up: ", outcome.error or "its error was forgotten")
        paper.say(f"    to try it again: memoranda jobs retry {outcome.job}; memoranda jobs run", "faint")
    if max(len(waiting), len(given_up)) > _SHOWN:
        paper.say("  and more, see: memoranda jobs list", "faint")
    off = sum(outcome.state == "off" for outcome in found)
    if off:
        paper.say(
            f"formation is off, by forming.enabled or the agent's own settings, for threads: {off}", "warning"
        )


async def _jobs(book: Book, owner: Owner) -> Mapping[UUID, Job]:
    """The owner's work of forming, by thread; what was given up stands before what waits."""
    found: dict[UUID, Job] = {}
    for job in await book.engine.jobs(None, MOST_JOBS):
        if job.kind in FORMING and job.owner == owner:
            thread = UUID(job.key)
            if thread not in found or job.state is JobState.DEAD:
                found[thread] = job
    return found


async def _outcome(
    book: Book, owner: Owner, thread: UUID, job: Job | None, off: Collection[UUID]
) -> Outcome | None:
    """None where the thread was forgotten meanwhile."""
    if job is not None and job.state is JobState.DEAD:
        return Outcome(thread, "given_up", job.id, job.error)
    if job is not None and thread not in off:
        due = job.run_at if job.state is JobState.WAITING else None
        return Outcome(thread, "waiting", job.id, job.error, due)
    try:
        now = await (await book.thread(owner, id=thread, view="owner")).get()
    except NotFound:
        return None
    return Outcome(thread, "formed" if await is_formed(book.engine, now) else "off")
