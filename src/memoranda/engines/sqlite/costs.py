"""Usage and cost of language models, in the SQLite tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.file.connections import sql
from memoranda.engines.sqlite.reads import find_owner
from memoranda.model.changes import Job
from memoranda.model.language_models import (
    COUNTS,
    PRICE_DECIMALS,
    Spent,
    SpentFilter,
    Sums,
    price_of,
    steps_of,
)
from memoranda.storage.rows import owner_of

_DAY_BEFORE_ALL, _DAY_AFTER_ALL = "", "~"


def note(connection: sqlite3.Connection, spent: Spent, job: Job | None = None) -> None:
    """Add usage to the sums, without the owner's name if the owner is unknown or was erased since the job was added."""
    owner = None if spent.owner is None else find_owner(connection, spent.owner)
    if job is not None and job.era is not None and job.owner == spent.owner:
        owner = owner if owner is not None and owner.era == job.era else None
    number, agent = (0, "") if owner is None else (owner.no, spent.agent or "")
    place = (spent.tenant, spent.day.isoformat(), number, agent, spent.task, spent.model)
    counts = (getattr(spent, name) for name in COUNTS)
    connection.execute(sql("add_spent"), (*place, *counts, steps_of(spent.price)))


def keep(
    connection: sqlite3.Connection, job: Job, text: str | None, records: Sequence[UUID], spent: Spent | None
) -> bool:
    """Store a model's answer (if there is one) with its job, and add its cost in any case."""
    if spent is not None:
        note(connection, spent, job)
    return text is not None and jobs.keep(connection, job, text, records)


def listed(connection: sqlite3.Connection, tenant: str, only: SpentFilter) -> list[Spent]:
    """Return the sums of spending that meet the conditions, ordered by day, owner and their other columns."""
    asked = _asked(connection, tenant, only)
    rows = [] if asked is None else connection.execute(sql("spent"), asked).fetchall()
    return sorted((_spent_of(tenant, row) for row in rows), key=lambda spent: spent.place)


def in_all(connection: sqlite3.Connection, tenant: str, only: SpentFilter) -> Sums:
    """Return the total of all spending that meets the conditions."""
    asked = _asked(connection, tenant, only)
    if asked is None:
        return Sums()
    *counts, dollars, rest = (part or 0 for part in connection.execute(sql("spent_in_all"), asked).fetchone())
    price = price_of(dollars * 10**PRICE_DECIMALS + rest)
    return Sums.model_validate({**dict(zip(COUNTS, counts, strict=True)), "price": price})


def unname(connection: sqlite3.Connection, owner: int) -> int:
    """Remove an owner's name from the sums of spending, which stay; returns how many were changed."""
    rows = connection.execute(sql("spent_of_owner"), (owner,)).fetchall()
    connection.executemany(sql("add_spent"), rows)
    return connection.execute(sql("delete_spent_of_owner"), (owner,)).rowcount


def _asked(connection: sqlite3.Connection, tenant: str, only: SpentFilter) -> Mapping[str, Any] | None:
    """Return the conditions as SQL parameters; None if they name an owner that this book does not have."""
    owner = None if only.owner is None else find_owner(connection, only.owner)
    if only.owner is not None and owner is None:
        return None
    return {
        "tenant": tenant,
        "owner": None if owner is None else owner.no,
        "agent": only.agent,
        "since": only.since.isoformat() if only.since else _DAY_BEFORE_ALL,
        "until": only.until.isoformat() if only.until else _DAY_AFTER_ALL,
    }


def _spent_of(tenant: str, row: tuple[Any, ...]) -> Spent:
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
