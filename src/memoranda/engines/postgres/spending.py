"""What language models used and cost, in the PostgreSQL tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.applying import find_owner
from memoranda.engines.postgres.session import Row, Session
from memoranda.model.jobs import Job
from memoranda.model.spending import COUNTS, Spent, SpentFilter, Sums, price_of, steps_of
from memoranda.settle.rows import owner_of

_DAY_BEFORE_ALL, _DAY_AFTER_ALL = "", "~"


async def note(session: Session, spent: Spent, job: Job | None = None) -> None:
    """Add to what stands; whoever is not here, or was erased since the job was put, is not named."""
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
    """Keep what was learnt, if there is any, and count what it cost in any case."""
    if spent is not None:
        await note(session, spent, job)
    return text is not None and await jobs.keep(session, job, text, records)


async def listed(session: Session, tenant: str, only: SpentFilter) -> list[Spent]:
    """What calls came to that meet conditions, in the order of their places."""
    asked = await _asked(session, tenant, only)
    rows = [] if asked is None else await session.all("spent", **asked)
    return sorted((_spent_of(tenant, row) for row in rows), key=lambda spent: spent.place)


async def in_all(session: Session, tenant: str, only: SpentFilter) -> Sums:
    """The sums of all that meets conditions."""
    asked = await _asked(session, tenant, only)
    row = None if asked is None else await session.one("spent_in_all", **asked)
    if row is None:
        return Sums()
    *counts, price = (int(part or 0) for part in row)
    return Sums.model_validate({**dict(zip(COUNTS, counts, strict=True)), "price": price_of(price)})


async def unname(session: Session, owner: int) -> int:
    """Let an owner's sums stand without their name; returns how many did."""
    for row in await session.all("spent_of_owner", owner):
        await session.run("add_spent", *row)
    return await session.run("delete_spent_of_owner", owner)


async def _asked(session: Session, tenant: str, only: SpentFilter) -> Mapping[str, Any] | None:
    """The conditions; None where the owner that they name is not here."""
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
