"""Retention: what is old or has expired is removed for good: messages, threads, episodes, and by
kind the memories.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import Field, field_validator

from memoranda.book.admin.memory_retention import retain_memories
from memoranda.door import Door
from memoranda.model.changes import Job, JobDraft
from memoranda.model.ledger import Actor, ErasureReceipt, Target
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import WITH_EXPIRED, Owner, RecordType, checked_days, days_by_kind
from memoranda.model.values import Value
from memoranda.paging import every_record
from memoranda.ports import Clock, Engine
from memoranda.worker import Handler

_log = logging.getLogger("memoranda.retention")

#: The kind of the job, and its only key.
RETAIN = "retain"
_KEY = "messages"
_DAY = 86_400.0
#: Messages that are read at a time, and removed in one commit.
_PAGE = 500
_THREADS = Filter(types=frozenset({RecordType.THREAD}))


class Retention(Value):
    """Settings for how long messages, threads and episodes are kept."""

    messages_days: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="Days after which a message that was formed is removed; unset keeps all.",
    )
    threads_days: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="Days after which a thread without a new message is removed with its messages, once they are formed; unset keeps all.",
    )
    episodes_days: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="Days after which an episode is removed, counted from when its run began; unset keeps all.",
    )
    archive_days: dict[str, float] = Field(
        default_factory=dict,
        description="Days after which an active memory that nobody said or used is archived, by its kind, * for all others, such as {context = 30}.",
    )
    erase_days: dict[str, float] = Field(
        default_factory=dict,
        description="Days after which an archived memory is erased, by its kind, counted from when it was archived or last used.",
    )

    @field_validator("archive_days", "erase_days", mode="before")
    @classmethod
    def _kinds_with_days(cls, given: object) -> object:
        return days_by_kind(given)

    @field_validator("archive_days", "erase_days")
    @classmethod
    def _some_days(cls, given: dict[str, float]) -> dict[str, float]:
        return checked_days(given)

    @property
    def removes(self) -> bool:
        """True if anything is removed or archived by its age."""
        return any(getattr(self, name) for name in type(self).model_fields)


def first_retention() -> JobDraft:
    """Return the first job of retention, which opening a book adds if a limit is set; each run adds
    the next day's.
    """
    return JobDraft(kind=RETAIN, key=_KEY)


def retaining(engine: Engine, door: Door, tenant: str, retention: Retention) -> Handler:
    """Return the handler that removes what is old once a day and adds the next day's job."""
    clock = door.clock

    async def retain(job: Job) -> None:
        if not retention.removes:
            # It was added while there was a limit; without one, no next job is added.
            return
        now = clock()
        if (days := retention.messages_days) is not None:
            await let_leave(engine, clock, tenant, timedelta(days=days))
        for owner in await engine.owners(tenant):
            if (days := retention.threads_days) is not None:
                await _remove_threads(engine, clock, owner, now - timedelta(days=days))
            if (days := retention.episodes_days) is not None:
                await _remove_episodes(engine, clock, owner, now - timedelta(days=days))
            if retention.archive_days or retention.erase_days:
                done = await retain_memories(
                    engine, door, owner, retention.archive_days, retention.erase_days
                )
                if done.erased is not None:
                    _say("erased after it was archived", done.erased)
        await engine.put(JobDraft(kind=RETAIN, key=_KEY, delay=_DAY), clock())

    return retain


def expiring(engine: Engine, clock: Clock) -> Handler:
    """Return the handler that erases what of a job's owner has expired."""

    async def erase_expired(job: Job) -> None:
        if job.owner is not None:
            await clear_expired(engine, clock, job.owner)

    return erase_expired


async def clear_expired(engine: Engine, clock: Clock, owner: Owner) -> int:
    """Erase an owner's records that have expired, a page in each commit; returns how many, with
    what was derived from them.
    """
    erased = 0
    for type_ in (RecordType.MEMORY, RecordType.EPISODE, RecordType.ITEM):
        only = Filter(types=frozenset({type_}), expired_at=clock())
        while True:
            page = await engine.scan(owner, WITH_EXPIRED, only, None, _PAGE)
            if not page.records:
                break
            ids = tuple(record.id for record in page.records)
            receipt = await engine.erase(Target(owner, WITH_EXPIRED, Actor("system"), ids), clock())
            erased += len(receipt.ids)
            _say("erased what had expired", receipt)
            if not receipt.removed:
                break
    return erased


async def let_leave(engine: Engine, clock: Clock, tenant: str, age: timedelta) -> int:
    """Remove messages that are older than ``age`` and were turned into memories; returns how
    many.
    """
    before, left = clock() - age, 0
    for owner in await engine.owners(tenant):
        async for ids in _leaving(engine, owner, before):
            receipt = await _remove(engine, clock, owner, ids)
            left += receipt.removed.get(RecordType.MESSAGE.value, 0)
    return left


async def _remove_threads(engine: Engine, clock: Clock, owner: Owner, before: datetime) -> None:
    """Remove threads without a newer message: first their messages, then themselves; what was
    derived stays.
    """
    async for thread in every_record(engine, owner, WITH_EXPIRED, _THREADS):
        if not isinstance(thread, Thread) or thread.started_at >= before:
            continue
        said = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id)
        messages = [
            one
            async for one in every_record(engine, owner, WITH_EXPIRED, said)
            if isinstance(one, Message)
        ]
        late = messages and messages[-1].recorded_at >= before
        if late or any(one.seq > thread.formed_through for one in messages):
            continue
        for start in range(0, len(messages), _PAGE):
            await _remove(engine, clock, owner, [one.id for one in messages[start : start + _PAGE]])
        await _remove(engine, clock, owner, [thread.id])


async def _remove_episodes(engine: Engine, clock: Clock, owner: Owner, before: datetime) -> None:
    only = Filter(types=frozenset({RecordType.EPISODE}), until=before)
    ids = [one.id async for one in every_record(engine, owner, WITH_EXPIRED, only)]
    for start in range(0, len(ids), _PAGE):
        await _remove(engine, clock, owner, ids[start : start + _PAGE])


async def _remove(
    engine: Engine, clock: Clock, owner: Owner, ids: Sequence[UUID]
) -> ErasureReceipt:
    """Remove records by their age in one commit; the ledger's entry and the log say what went."""
    target = Target(owner, WITH_EXPIRED, Actor("system"), tuple(ids), ageing=True)
    receipt = await engine.erase(target, clock())
    _say("removed by age", receipt)
    return receipt


def _say(what: str, receipt: ErasureReceipt) -> None:
    """Log what was removed: counts, never names or content."""
    if receipt.removed:
        counts = ", ".join(f"{name}: {count}" for name, count in sorted(receipt.removed.items()))
        _log.info("%s, of one owner: %s (%s)", what, counts, receipt.state)


async def _leaving(
    engine: Engine, owner: Owner, before: datetime
) -> AsyncIterator[tuple[UUID, ...]]:
    """Yield the ids of an owner's messages that may be removed, in parts."""
    waiting: list[UUID] = []
    async for thread in every_record(engine, owner, WITH_EXPIRED, _THREADS):
        if not isinstance(thread, Thread) or not thread.formed_through:
            continue
        said = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id)
        async for message in every_record(engine, owner, WITH_EXPIRED, said):
            # Oldest first: all messages after the first that stays are younger.
            if (
                not isinstance(message, Message)
                or message.seq > thread.formed_through
                or message.recorded_at >= before
            ):
                break
            waiting.append(message.id)
            if len(waiting) == _PAGE:
                yield tuple(waiting)
                waiting.clear()
    if waiting:
        yield tuple(waiting)
