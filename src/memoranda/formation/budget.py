"""Budgets for language models: for a run, an owner's day and a tenant's month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple

from pydantic import Field

from memoranda.model.changes import Postponed
from memoranda.model.language_models import Spent, SpentFilter, Sums, Usage
from memoranda.model.records import Owner
from memoranda.model.values import Value
from memoranda.ports import Clock, Spending

#: The pause before the next run after a run has used up its budget.
_NEXT_RUN = timedelta(minutes=1)
#: The pause before a call that exceeds a whole run's budget is checked again; somebody must change
#: the budget.
_NO_RUN = timedelta(hours=1)
#: The largest budgets; for more, set none.
_MOST_TOKENS = 10**15
_MOST_PRICE = Decimal(10**9)


class Budgets(Value):
    """The most that language models may use and cost; None means no limit."""

    run_tokens: int | None = Field(
        default=None,
        ge=0,
        le=_MOST_TOKENS,
        description="Most tokens, sent and answered, in one run of one job.",
    )
    run_price: Decimal | None = Field(
        default=None, ge=0, le=_MOST_PRICE, description="Most US dollars in one run of one job."
    )
    user_day_tokens: int | None = Field(
        default=None,
        ge=0,
        le=_MOST_TOKENS,
        description="Most tokens for one owner on one day (UTC).",
    )
    user_day_price: Decimal | None = Field(
        default=None,
        ge=0,
        le=_MOST_PRICE,
        description="Most US dollars for one owner on one day (UTC).",
    )
    tenant_month_tokens: int | None = Field(
        default=None,
        ge=0,
        le=_MOST_TOKENS,
        description="Most tokens for the tenant in one calendar month (UTC).",
    )
    tenant_month_price: Decimal | None = Field(
        default=None,
        ge=0,
        le=_MOST_PRICE,
        description="Most US dollars for the tenant in one calendar month (UTC).",
    )


class _Period(NamedTuple):
    """A period that has a budget: a run, a day or a month."""

    #: The prefix of its settings.
    name: str
    words: str
    tokens: int | None
    price: Decimal | None
    spent: Sums
    #: When the next period begins.
    until: datetime


class BudgetCheck:
    """Checks budgets before each call, and counts each call before it is made."""

    def __init__(self, spending: Spending, budgets: Budgets, clock: Clock) -> None:
        self._spending = spending
        self._budgets = budgets
        self._clock = clock

    async def check(self, owner: Owner, tokens_expected: int, run_so_far: Usage) -> None:
        """Raise ``Postponed``, until the budget's period ends, if a call of about so many tokens
        exceeds a budget.
        """
        now = self._clock().astimezone(UTC)
        periods = await self._periods(owner, run_so_far, now)
        refused = [
            (period, reason) for period in periods for reason in _reasons(period, tokens_expected)
        ]
        if refused:
            # Waiting for the shorter period only would run into the longer one.
            period, reason = max(refused, key=lambda found: found[0].until)
            raise Postponed(
                f"{reason}; it continues at {period.until:%Y-%m-%d %H:%M} UTC", until=period.until
            )

    async def _periods(self, owner: Owner, run_so_far: Usage, now: datetime) -> list[_Period]:
        """Return the current periods with what was spent in those that have a budget."""
        limits, day = self._budgets, now.date()
        run = (limits.run_tokens, limits.run_price)
        user_day = (limits.user_day_tokens, limits.user_day_price)
        tenant_month = (limits.tenant_month_tokens, limits.tenant_month_price)
        periods = [
            _Period("run", "in one run", *run, Sums.of(run_so_far), _after_run(now, run_so_far))
        ]
        if any(limit is not None for limit in user_day):
            spent = await self._spending.spent_in_all(
                owner.tenant, SpentFilter(owner=owner, since=day)
            )
            periods.append(
                _Period(
                    "user_day", "for one user on one day", *user_day, spent, _start(day, days=1)
                )
            )
        if any(limit is not None for limit in tenant_month):
            first = day.replace(day=1)
            spent = await self._spending.spent_in_all(owner.tenant, SpentFilter(since=first))
            until = _start(first + timedelta(days=31)).replace(day=1)
            periods.append(_Period("tenant_month", "in one month", *tenant_month, spent, until))
        return periods

    async def record_call(self, owner: Owner, agent: str | None, task: str, model: str) -> Spent:
        """Count a call before it is made; durable when it returns."""
        day = self._clock().astimezone(UTC).date()
        begun = Spent(
            tenant=owner.tenant, owner=owner, agent=agent, day=day, task=task, model=model, calls=1
        )
        await self._spending.note_spent(begun)
        return begun


def _reasons(period: _Period, expected: int) -> Iterator[str]:
    """Yield the reasons why a call of about so many tokens exceeds the budget of a period."""
    spent = period.spent
    if period.tokens is not None and spent.tokens + expected > period.tokens:
        yield (
            f"budgets.{period.name}_tokens: {period.tokens:,} tokens may be used {period.words}; {spent.tokens:,} are used, "
            f"and the next call needs about {expected:,}"
        )
    if period.price is None:
        return
    if spent.price >= period.price:
        yield (
            f"budgets.{period.name}_price: {_dollars(period.price)} may be spent {period.words}; "
            f"{_dollars(spent.price)} are spent"
        )
    elif spent.unpriced and period.tokens is None:
        yield (
            f"budgets.{period.name}_price: {_dollars(period.price)} may be spent {period.words}; the price of "
            f"{spent.unpriced:,} of {spent.answers:,} answers is unknown, {_dollars(spent.price)} are known: "
            f"set budgets.{period.name}_tokens to limit such answers"
        )


def _after_run(now: datetime, run_so_far: Usage) -> datetime:
    return now + (_NEXT_RUN if run_so_far.calls else _NO_RUN)


def _start(day: date, days: int = 0) -> datetime:
    return datetime.combine(day + timedelta(days=days), time(), UTC)


def _dollars(price: Decimal) -> str:
    whole = f"{price:f}"
    return f"{whole.rstrip('0').rstrip('.') if '.' in whole else whole} USD"
