"""Forgetting in two steps: what is hidden is erased when somebody decides, or when its time is
up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import Field

from memoranda.book.input import as_actor
from memoranda.errors import Conflict, NotFound
from memoranda.model.changes import FINISH_FORGETTING, MOST_JOBS, Job, Postponed
from memoranda.model.ledger import HIDDEN, Actor, Entry, Target
from memoranda.model.records import WHOLE, Owner, View
from memoranda.model.redactions import load_redactions
from memoranda.model.values import Value
from memoranda.ports import Clock, Engine
from memoranda.worker import Handler

_DAY: Final = timedelta(days=1)


class ForgetSettings(Value):
    """Settings of what is hidden before it is erased."""

    tool_grace_hours: float = Field(
        default=24.0,
        ge=0,
        le=100_000,
        allow_inf_nan=False,
        description="Hours after which what a model's tool has hidden is erased, if the user asked for it; 0: at once.",
    )


@dataclass(frozen=True, slots=True)
class PendingForgetting:
    """Something that is out of every read, and not erased yet: ``undo`` of its position brings it
    back.
    """

    position: int
    at: datetime
    #: Who hid it.
    actor: Actor
    #: How many records are hidden whole, and how many parts of others.
    records: int
    parts: int
    #: When it will be erased; None: it stays hidden until somebody calls ``forgetting.finish`` or
    #: ``undo``.
    due: datetime | None


async def pending_forgettings(
    engine: Engine, owner: Owner, view: View
) -> tuple[PendingForgetting, ...]:
    """Return what is hidden of an owner and not erased yet, oldest first; an agent sees what it hid
    itself.
    """
    found = []
    for job in await engine.jobs(None, MOST_JOBS, owner):
        if job.kind == FINISH_FORGETTING:
            entry = await _entry(engine, job)
            if entry is not None and (view.whole or entry.actor == as_actor(view)):
                hidden = entry.note[HIDDEN]
                parts = sum(len(one.spans) for one in load_redactions(hidden["parts"]))
                due = job.run_at if is_decided(job) else None
                found.append(
                    PendingForgetting(
                        entry.position, entry.at, entry.actor, len(hidden["records"]), parts, due
                    )
                )
    return tuple(sorted(found, key=lambda one: one.position))


def is_decided(job: Job) -> bool:
    """True if a job may erase what was hidden, once it is due."""
    return job.payload.get("decided") is True


async def _entry(engine: Engine, job: Job) -> Entry | None:
    """Return the ledger entry of the operation that a job is about; None if its owner's era has
    ended.
    """
    assert job.owner is not None
    position = int(job.key)
    entry = next(iter(await engine.entries(job.owner, position - 1, 1)), None)
    if (
        entry is None
        or entry.position != position
        or entry.era != job.era
        or HIDDEN not in entry.note
    ):
        return None
    return entry


def finishing(engine: Engine, clock: Clock, on_erased: Callable[[], None]) -> Handler:
    """Return the handler of the job that erases what was hidden, once its time is up."""

    async def finish(job: Job) -> None:
        if job.owner is None or await _entry(engine, job) is None:
            return
        if not is_decided(job):
            # Somebody retried the job by hand; that decides nothing.
            raise Postponed(
                "nobody has decided: run memoranda forget --finish, or memoranda undo",
                until=clock() + _DAY,
            )
        try:
            target = Target(job.owner, WHOLE, Actor("system"), hidden=int(job.key))
            await engine.erase(target, clock())
        except (NotFound, Conflict):
            # It was undone, or erased, in the meantime.
            return
        on_erased()

    return finish
