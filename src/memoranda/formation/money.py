"""What language models may use and cost: budgets for a run, an owner's day and a tenant's month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple

from pydantic import Field

from memoranda.model.asking import Usage
from memoranda.model.jobs import Postponed
from memoranda.model.owner import Owner
from memoranda.model.spending import Spent, SpentFilter, Sums
from memoranda.model.values import Value
from memoranda.ports import Clock, Spending

#: After a run has used up its budget, the next one goes on.
_NEXT_RUN = timedelta(minutes=1)
#: Before a call that no run's budget has room for is looked at again: somebody has to change the budget.
_NO_RUN = timedelta(hours=1)
#: No budget is larger; whoever wants more sets none.
_MOST_TOKENS = 10**15
_MOST_PRICE = Decimal(10**9)


class Budgets(Value):
    """The most that language models may use and cost; None: as much as it takes."""

    #: Tokens, sent and answered, and dollars in one run of one job.
    run_tokens: int | None = Field(default=None, ge=0, le=_MOST_TOKENS)
    run_price: Decimal | None = Field(default=None, ge=0, le=_MOST_PRICE)
    #: For each owner of conversations and day, in UTC.
    user_day_tokens: int | None = Field(default=None, ge=0, le=_MOST_TOKENS)
    user_day_price: Decimal | None = Field(default=None, ge=0, le=_MOST_PRICE)
    #: For the tenant and calendar month, in UTC.
    tenant_month_tokens: int | None = Field(default=None, ge=0, le=_MOST_TOKENS)
    tenant_month_price: Decimal | None = Field(default=None, ge=0, le=_MOST_PRICE)


class _Span(NamedTuple):
    """A stretch that has a budget."""

    #: How the names of its settings begin.
    name: str
    words: str
    tokens: int | None
    price: Decimal | None
    spent: Sums
    #: When a new one begins.
    until: datetime


class Purse:
    """Asked before each call, told of it before it is made, and again when its answer is kept."""

    def __init__(self, spending: Spending, budgets: Budgets, clock: Clock) -> None:
        self._spending = spending
        self._budgets = budgets
        self._clock = clock

    async def allow(self, owner: Owner, tokens_expected: int, run_so_far: Usage) -> None:
        """Raise ``Postponed`` where a budget has no room for a call of about so many tokens, until it may have."""
        now = self._clock().astimezone(UTC)
        spans = await self._spans(owner, run_so_far, now)
        refused = [(span, reason) for span in spans for reason in _reasons(span, tokens_expected)]
        if refused:
            # What opens first again would only let it run into the next one.
            span, reason = max(refused, key=lambda found: found[0].until)
            raise Postponed(f"{reason}; it goes on at {span.until:%Y-%m-%d %H:%M} UTC", until=span.until)

    async def _spans(self, owner: Owner, run_so_far: Usage, now: datetime) -> list[_Span]:
        """The stretches that this moment is in, with what was spent in those that have a budget."""
        limits, day = self._budgets, now.date()
        run = (limits.run_tokens, limits.run_price)
        user_day = (limits.user_day_tokens, limits.user_day_price)
        tenant_month = (limits.tenant_month_tokens, limits.tenant_month_price)
        spans = [_Span("run", "in one run", *run, Sums.of(run_so_far), _after_run(now, run_so_far))]
        if any(limit is not None for limit in user_day):
            spent = await self._spending.spent_in_all(owner.tenant, SpentFilter(owner=owner, since=day))
            spans.append(_Span("user_day", "for one user on one day", *user_day, spent, _start(day, days=1)))
        if any(limit is not None for limit in tenant_month):
            first = day.replace(day=1)
            spent = await self._spending.spent_in_all(owner.tenant, SpentFilter(since=first))
            until = _start(first + timedelta(days=31)).replace(day=1)
            spans.append(_Span("tenant_month", "in one month", *tenant_month, spent, until))
        return spans

    async def begin(self, owner: Owner, agent: str | None, task: str, model: str) -> Spent:
        """Count a call that is about to be made; durable when it returns."""
        day = self._clock().astimezone(UTC).date()
        begun = Spent(tenant=owner.tenant, owner=owner, agent=agent, day=day, task=task, model=model, calls=1)
        await self._spending.note_spent(begun)
        return begun

    def answered(self, begun: Spent, usage: Usage) -> Spent:
        """What the answer to a call that was begun goes to ``Jobs.keep`` with: it counts where the call does."""
        return begun.answered(usage)


def _reasons(span: _Span, expected: int) -> Iterator[str]:
    """Why a span has no room for a call of about so many tokens; nothing where it has."""
    spent = span.spent
    if span.tokens is not None and spent.tokens + expected > span.tokens:
        yield (
            f"budgets.{span.name}_tokens: {span.tokens:,} tokens may be used {span.words}; {spent.tokens:,} are used, "
            f"and the next call needs about {expected:,}"
        )
    if span.price is None:
        return
    if spent.price >= span.price:
        yield (
            f"budgets.{span.name}_price: {_dollars(span.price)} may be spent {span.words}; "
            f"{_dollars(spent.price)} are spent"
        )
    elif spent.unpriced and span.tokens is None:
        yield (
            f"budgets.{span.name}_price: {_dollars(span.price)} may be spent {span.words}; nobody knows what "
            f"{spent.unpriced:,} of {spent.answers:,} answers cost, {_dollars(spent.price)} are known: "
            f"set budgets.{span.name}_tokens, and such answers are held to that"
        )


def _after_run(now: datetime, run_so_far: Usage) -> datetime:
    return now + (_NEXT_RUN if run_so_far.calls else _NO_RUN)


def _start(day: date, days: int = 0) -> datetime:
    return datetime.combine(day + timedelta(days=days), time(), UTC)


def _dollars(price: Decimal) -> str:
    whole = f"{price:f}"
    return f"{whole.rstrip('0').rstrip('.') if '.' in whole else whole} USD"
