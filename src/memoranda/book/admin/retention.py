"""Retention: old messages that were turned into memories are removed for good; the memories stay."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import Field

from memoranda.model.changes import Job, JobDraft
from memoranda.model.ledger import Actor, Target
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, WITH_EXPIRED, Owner, Record, RecordType
from memoranda.model.values import Value
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
    """Settings for how long messages are kept."""

    #: Days after which a formed message is removed; None keeps all messages.
    messages_days: float | None = Field(default=None, gt=0, le=100_000, allow_inf_nan=False)


def first_retention() -> JobDraft:
    """Return the first job of retention, which opening a book adds if a limit is set; each run adds the next day's."""
    return JobDraft(kind=RETAIN, key=_KEY)


def retaining(engine: Engine, clock: Clock, tenant: str, retention: Retention) -> Handler:
    """Return the handler that removes old messages once a day and adds the next day's job."""

    async def retain(job: Job) -> None:
        if retention.messages_days is None:
            # It was added while there was a limit; without one, no next job is added.
            return
        await let_leave(engine, clock, tenant, timedelta(days=retention.messages_days))
        await engine.put(JobDraft(kind=RETAIN, key=_KEY, delay=_DAY), clock())

    return retain


def expiring(engine: Engine, clock: Clock) -> Handler:
    """Return the handler that erases what of a job's owner has expired."""

    async def erase_expired(job: Job) -> None:
        if job.owner is not None:
            await clear_expired(engine, clock, job.owner)

    return erase_expired


async def clear_expired(engine: Engine, clock: Clock, owner: Owner) -> int:
    """Erase an owner's records that have expired, a page in each commit; returns how many, with what was derived from them."""
    erased = 0
    for type_ in (RecordType.MEMORY, RecordType.EPISODE):
        only = Filter(types=frozenset({type_}), expired_at=clock())
        while True:
            page = await engine.scan(owner, WITH_EXPIRED, only, None, _PAGE)
            if not page.records:
                break
            ids = tuple(record.id for record in page.records)
            receipt = await engine.erase(Target(owner, WITH_EXPIRED, Actor("system"), ids), clock())
            erased += len(receipt.ids)
            _log.info(
                "erased what had expired, of one owner: %s (%s)",
                ", ".join(f"{name}: {count}" for name, count in sorted(receipt.removed.items())),
                receipt.state,
            )
            if not receipt.removed:
                break
    return erased


async def let_leave(engine: Engine, clock: Clock, tenant: str, age: timedelta) -> int:
    """Remove messages that are older than ``age`` and were turned into memories; returns how many."""
    before, left = clock() - age, 0
    for owner in await engine.owners(tenant):
        async for ids in _leaving(engine, owner, before):
            target = Target(owner, WHOLE, Actor("system"), ids, ageing=True)
            left += (await engine.erase(target, clock())).removed.get(RecordType.MESSAGE.value, 0)
    return left


async def _leaving(engine: Engine, owner: Owner, before: datetime) -> AsyncIterator[tuple[UUID, ...]]:
    """Yield the ids of an owner's messages that may be removed, in parts."""
    waiting: list[UUID] = []
    async for thread in _all(engine, owner, _THREADS):
        if not isinstance(thread, Thread) or not thread.formed_through:
            continue
        said = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id)
        async for message in _all(engine, owner, said):
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


async def _all(engine: Engine, owner: Owner, only: Filter) -> AsyncIterator[Record]:
    cursor: str | None = None
    while True:
        page = await engine.scan(owner, WHOLE, only, cursor, _PAGE)
        for record in page.records:
            yield record
        cursor = page.cursor
        if cursor is None:
            return
