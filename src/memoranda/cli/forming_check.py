"""The check of the threads that wait to be formed: how many, since when, who forms them, and
when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memoranda.cli.health_checks import Check, span
from memoranda.formation.who_forms import described
from memoranda.model.changes import FORM_LATE, Job, JobState
from memoranda.model.forming_results import part_waits

#: An open book that forms takes a due thread within seconds.
_AT_ONCE = timedelta(minutes=1)
#: If a thread waits longer than this, no process forms it.
_FORGOTTEN = timedelta(days=1)
_OPEN = "open the book in a program (without worker=False), or run: memoranda worker"


@dataclass(frozen=True, slots=True)
class Forming:
    """The facts about a book's formation that the check reads."""

    #: The jobs that form threads, of any state.
    jobs: Sequence[Job]
    #: Who is recorded to form; empty before the first time.
    who: str
    #: Why this configuration cannot form; empty if it can.
    cannot_because: str = ""
    enabled: bool = True


def formation(forming: Forming, now: datetime) -> Check:
    """Check how many threads wait to be formed (turned into memories), for how long, who forms them
    and when.
    """
    waiting = [job for job in forming.jobs if _is_waiting(job, now)]
    dead = sum(job.state is JobState.DEAD for job in forming.jobs)
    given_up = (
        f"; {dead} were given up, and nobody forms them until they are retried" if dead else ""
    )
    retry = "see: memoranda jobs list --state dead; then: memoranda jobs retry ID"
    if not waiting:
        if not forming.enabled:
            return Check("formation", "note", f"off by forming.enabled; no thread waits{given_up}")
        who = f"; formed with {described(forming.who)}" if forming.who else ""
        state = _in_hand(forming.jobs, now) or "no thread waits"
        return Check(
            "formation",
            "warning" if dead else "ok",
            f"{state}{given_up or who}",
            retry if dead else "",
        )
    oldest = now - min(job.first_at for job in waiting)
    late = now - min(job.run_at for job in waiting)
    why = next((job.error for job in waiting if job.error), "")
    threads = "1 thread waits" if len(waiting) == 1 else f"{len(waiting)} threads wait"
    found = f"{threads} to be formed, the oldest for {span(oldest)}; {_when(late)}, {_by(forming)}"
    found += f"; the reason: {why}" if why else ""
    if late > _FORGOTTEN or dead:
        return Check("formation", "warning", found + given_up, retry if dead else _advice(forming))
    if late > _AT_ONCE or why or forming.cannot_because or not forming.enabled:
        return Check("formation", "note", found, _advice(forming))
    return Check("formation", "ok", found)


def set_aside(jobs: Sequence[Job]) -> list[Check]:
    """Name the parts of threads of which no answer of a model could be used."""
    late = [job for job in jobs if job.kind == FORM_LATE]
    return [
        Check("model answers", "warning", part_waits(job), "or try another model") for job in late
    ]


def _is_waiting(job: Job, now: datetime) -> bool:
    """True if a job waits, or if the worker that had leased it is gone."""
    gone = job.state is JobState.LEASED and job.leased_until is not None and job.leased_until <= now
    return job.state is JobState.WAITING or gone


def _in_hand(jobs: Sequence[Job], now: datetime) -> str:
    """Return how many threads workers have in hand, and when they are free if a worker was killed;
    empty if none.
    """
    free = [
        job.leased_until - now
        for job in jobs
        if job.state is JobState.LEASED and job.leased_until is not None
    ]
    if not free:
        return ""
    threads = "1 thread is" if len(free) == 1 else f"{len(free)} threads are"
    return f"{threads} being formed; if a worker was killed, another one goes on within {_precise(max(free))}"


def _when(late: timedelta) -> str:
    if late > timedelta():
        return f"the next has been due for {_precise(late)}"
    return f"the next is due in {_precise(-late)}"


def _precise(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    return f"{seconds} seconds" if seconds < 120 else span(length)


def _by(forming: Forming) -> str:
    if not forming.enabled:
        return "and formation is off here by forming.enabled"
    if forming.who:
        return f"in any open book that forms with {described(forming.who)}"
    return "in the open book that comes first, by its model or by rules, which is then recorded"


def _advice(forming: Forming) -> str:
    if not forming.cannot_because:
        return _OPEN
    return (
        f"these settings cannot form it: open the book with {described(forming.who)}, or change who forms: "
        "memoranda form --with rules, or --with provider:model"
    )
