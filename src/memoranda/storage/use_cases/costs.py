"""Usage and cost of language models: adding to the sums, listing them, and removing an owner's name
from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, cast

from memoranda.model.book_rows import SpentPiece
from memoranda.model.changes import Job
from memoranda.model.language_models import COUNTS, Spent, SpentFilter, Sums, price_of, steps_of
from memoranda.model.records import Owner
from memoranda.storage.questions import FindOwner
from memoranda.storage.upkeep_questions import SpentOf, SpentRows, SpentSum, SpentWhere
from memoranda.storage.use_case import Deciding, OwnerBase, ask
from memoranda.storage.writes import AddSpent, DropSpent

_DAY_BEFORE_ALL, _DAY_AFTER_ALL = "", "~"


def note_spent(spent: Spent, job: Job | None = None) -> Deciding[None]:
    """Add usage to the sums, without the owner's name if the owner is unknown or was erased since
    the job was added.
    """
    base = None if spent.owner is None else (yield from ask(FindOwner(spent.owner)))
    era = None if base is None else base.era
    if job is not None and job.era is not None and job.owner == spent.owner and job.era != era:
        era = None
    agent = spent.agent or "" if era is not None else ""
    place = (spent.tenant, spent.day.isoformat(), agent, spent.task, spent.model)
    counts = (*(getattr(spent, name) for name in COUNTS), steps_of(spent.price))
    yield AddSpent(None if era is None else base, [cast(SpentPiece, place + counts)])


def all_spent(tenant: str) -> SpentWhere:
    """Return the conditions that select all of a tenant's spending."""
    return SpentWhere(tenant, None, None, _DAY_BEFORE_ALL, _DAY_AFTER_ALL)


def list_spent(tenant: str, only: SpentFilter) -> Deciding[list[Spent]]:
    """Return the sums of spending that meet the conditions, ordered by day, owner and their other
    columns.
    """
    where = yield from _conditions(tenant, only)
    rows = [] if where is None else (yield from ask(SpentRows(where)))
    return sorted((_spent_of(owner, piece) for owner, piece in rows), key=lambda spent: spent.place)


def sum_spent(tenant: str, only: SpentFilter) -> Deciding[Sums]:
    """Return the total of all spending that meets the conditions."""
    where = yield from _conditions(tenant, only)
    return Sums() if where is None else _sums((yield from ask(SpentSum(where))))


def unname_spending(base: OwnerBase) -> Deciding[int]:
    """Remove an owner's name from the sums of spending, which stay; returns how many sums had the
    name.
    """
    rows = yield from ask(SpentOf(base))
    sums: dict[tuple[Any, ...], list[int]] = {}
    for tenant, day, _, task, model, *counts in rows:
        place = (tenant, day, "", task, model)
        before = sums.get(place, [0] * len(counts))
        sums[place] = [one + other for one, other in zip(before, counts, strict=True)]
    if rows:
        yield AddSpent(
            None, [cast(SpentPiece, (*place, *counts)) for place, counts in sums.items()]
        )
        yield DropSpent(base)
    return len(rows)


def _conditions(tenant: str, only: SpentFilter) -> Deciding[SpentWhere | None]:
    """Return the conditions as questions have them; None if they name an owner that this book does
    not have.
    """
    base = None if only.owner is None else (yield from ask(FindOwner(only.owner)))
    if base is not None and base.era is None:
        return None
    since = only.since.isoformat() if only.since else _DAY_BEFORE_ALL
    until = only.until.isoformat() if only.until else _DAY_AFTER_ALL
    return SpentWhere(tenant, base, only.agent, since, until)


def _spent_of(owner: Owner | None, piece: SpentPiece) -> Spent:
    tenant, day, agent, task, model, *counts = piece
    found = Spent(
        tenant=tenant,
        owner=owner,
        agent=agent or None,
        day=date.fromisoformat(day),
        task=task,
        model=model,
    )
    return found.holding(_sums(counts))


def _sums(counts: Sequence[int]) -> Sums:
    *whole, price = counts
    return Sums.model_validate({**dict(zip(COUNTS, whole, strict=True)), "price": price_of(price)})
