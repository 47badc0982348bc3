"""Usage and cost of language models in the PostgreSQL tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.batches import find_owner
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.model.changes import Job
from memoranda.model.language_models import COUNTS, Spent, SpentFilter, Sums, price_of, steps_of
from memoranda.storage.rows import owner_of

_DAY_BEFORE_ALL, _DAY_AFTER_ALL = "", "~"


async def note(session: Session, spent: Spent, job: Job | None = None) -> None:
    """Add usage to the sums, without the owner's name if the owner is unknown or was erased since the job was added."""
    owner = None if spent.owner is None else await find_owner(session, spent.owner)
    if job is not None and job.era is not None and job.owner == spent.owner:
        owner = owner if owner is not None and owner.era == job.era else None
    number, agent = (0, "") if owner is None else (owner.no, spent.agent or "")
    place = (spent.tenant, spent.day.isoformat(), number, agent, spent.task, spent.model)
    counts = (getattr(spent, name) for name in COUNTS)
    await session.run("add_spent", *place, *counts, steps_of(spent.price))


async def keep(
    session: Session, job: Job, text: str | None, records: Sequence[UUID], spent: Spent | None
) -> bool:
    """Store a model's answer (if there is one) with its job, and add its cost in any case; False if not stored."""
    if spent is not None:
        await note(session, spent, job)
    return text is not None and await jobs.keep(session, job, text, records)


async def listed(session: Session, tenant: str, only: SpentFilter) -> list[Spent]:
    """Return the sums of spending that meet the conditions, ordered by day, owner and their other columns."""
    asked = await _asked(session, tenant, only)
    rows = [] if asked is None else await session.all("spent", **asked)
    return sorted((_spent_of(tenant, row) for row in rows), key=lambda spent: spent.place)


async def in_all(session: Session, tenant: str, only: SpentFilter) -> Sums:
    """Return the total of all spending that meets the conditions."""
    asked = await _asked(session, tenant, only)
    row = None if asked is None else await session.one("spent_in_all", **asked)
    if row is None:
        return Sums()
    *counts, price = (int(part or 0) for part in row)
    return Sums.model_validate({**dict(zip(COUNTS, counts, strict=True)), "price": price_of(price)})


async def unname(session: Session, owner: int) -> int:
    """Remove an owner's name from the sums of spending, which stay; returns how many were changed."""
    for row in await session.all("spent_of_owner", owner):
        await session.run("add_spent", *row)
    return await session.run("delete_spent_of_owner", owner)


async def _asked(session: Session, tenant: str, only: SpentFilter) -> Mapping[str, Any] | None:
    """Return the parameters of the conditions; None if they name an owner that does not exist."""
    owner = None if only.owner is None else await find_owner(session, only.owner)
    if only.owner is not None and owner is None:
        return None
    return {
        "tenant": tenant,
        "owner": None if owner is None else owner.no,
        "agent": only.agent,
        "since": only.since.isoformat() if only.since else _DAY_BEFORE_ALL,
        "until": only.until.isoformat() if only.until else _DAY_AFTER_ALL,
    }


def _spent_of(tenant: str, row: Row) -> Spent:
    day, kind, id, agent, task, model, *counts, price = row
    return Spent(
        tenant=tenant,
        owner=None if id is None else owner_of(tenant, kind, id),
        agent=agent or None,
        day=date.fromisoformat(day),
        task=task,
        model=model,
        **dict(zip(COUNTS, counts, strict=True)),
        price=price_of(price),
    )
