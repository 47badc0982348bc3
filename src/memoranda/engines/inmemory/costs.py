"""Usage and cost of language models, in a book in memory."""

from __future__ import annotations

from datetime import date

from memoranda.engines.inmemory.tables import Era, SpentRow, Tables
from memoranda.model.changes import Job
from memoranda.model.language_models import Spent, SpentFilter, Sums, total


def note(tables: Tables, spent: Spent, job: Job | None = None) -> None:
    """Add usage to the sums, without the owner's name if the owner is unknown or was erased since the job was added."""
    era = None if spent.owner is None else tables.living.get(spent.owner)
    if job is not None and job.era is not None and job.owner == spent.owner:
        era = era if era is not None and era.id == job.era else None
    number, agent = (0, None) if era is None else (era.number, spent.agent)
    _add(tables, SpentRow(spent.tenant, number, agent, spent.day, spent.task, spent.model), spent)


def listed(tables: Tables, tenant: str, only: SpentFilter) -> list[Spent]:
    """Return the sums of spending that meet the conditions, ordered by day, owner and their other columns."""
    owners = {era.number: era.owner for era in tables.living.values()}
    found = [
        Spent(
            tenant=tenant, owner=owners.get(row.era), agent=row.agent, day=row.day, task=row.task, model=row.model
        ).holding(sums)
        for row, sums in tables.spent.items()
        if row.tenant == tenant
    ]  # fmt: skip
    return sorted((spent for spent in found if _meets(spent, only)), key=lambda spent: spent.place)


def in_all(tables: Tables, tenant: str, only: SpentFilter) -> Sums:
    """Return the total of all spending that meets the conditions."""
    return total(listed(tables, tenant, only))


def unname(tables: Tables, era: Era) -> int:
    """Remove an owner's name from the sums of spending, which stay; returns how many were changed."""
    own = [row for row in tables.spent if row.era == era.number]
    for row in own:
        _add(tables, row._replace(era=0, agent=None), tables.spent.pop(row))
    return len(own)


def _add(tables: Tables, row: SpentRow, sums: Sums) -> None:
    tables.spent[row] = tables.spent.get(row, Sums()) + sums


def _meets(spent: Spent, only: SpentFilter) -> bool:
    return (
        only.owner in (None, spent.owner)
        and only.agent in (None, spent.agent)
        and (only.since or date.min) <= spent.day
        and (only.until is None or spent.day < only.until)
    )
