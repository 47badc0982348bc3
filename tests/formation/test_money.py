"""Tests of budgets: a call over one waits and names it, and each call is recorded before it is
made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import ValidationError

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import InvalidInput
from memoranda.formation.budget import BudgetCheck, Budgets
from memoranda.model.changes import Postponed
from memoranda.model.language_models import SpentFilter, Usage, total
from memoranda.model.records import Owner
from memoranda.ports import Engine
from memoranda.settings import settings
from memoranda_conformance.builders import ANN, BEN, Pen

NOON = datetime(2025, 2, 27, 12, tzinfo=UTC)
NOTHING = Usage()
OTHER_TENANT = Owner(tenant="other", id="ann")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def used(tokens: int = 1000, price: str | None = "0.01") -> Usage:
    return Usage(
        provider="p",
        model="m",
        calls=1,
        tokens_in=tokens - 100,
        tokens_out=100,
        price=None if price is None else Decimal(price),
    )


@pytest_asyncio.fixture(params=["inmemory", "sqlite"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    made: Engine = InMemoryEngine()
    if request.param == "sqlite":
        made = await SqliteEngine.open(tmp_path / "book.db")
    for owner in (ANN, BEN, OTHER_TENANT):
        await Pen(made, owner).remember("something")
    yield made
    await made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def pay(engine: Engine, clock: Clock, usage: Usage, owner: Owner = ANN) -> None:
    """Make a call, and record its answer."""
    budget = BudgetCheck(engine, Budgets(), clock)
    begun = await budget.record_call(owner, "a", "form", "p:m")
    await engine.note_spent(begun.answered(usage))


async def refused(
    engine: Engine,
    clock: Clock,
    run: Usage = NOTHING,
    owner: Owner = ANN,
    expected: int = 500,
    **limits: Any,
) -> Postponed:
    with pytest.raises(Postponed) as told:
        await BudgetCheck(engine, Budgets.model_validate(limits), clock).check(owner, expected, run)
    return told.value


async def allowed(
    engine: Engine, clock: Clock, run: Usage = NOTHING, owner: Owner = ANN, **limits: Any
) -> None:
    await BudgetCheck(engine, Budgets.model_validate(limits), clock).check(owner, 500, run)  # fmt: skip


async def test_without_budgets_everything_is_allowed(engine: Engine, clock: Clock):
    await pay(engine, clock, used(10**9, None))
    await BudgetCheck(engine, Budgets(), clock).check(ANN, 10**9, used(10**9, None))


async def test_a_day_over_its_tokens_waits_until_the_next_day_begins(engine: Engine, clock: Clock):
    limits: dict[str, Any] = {"user_day_tokens": 1499}
    await allowed(engine, clock, **limits)
    await pay(engine, clock, used(1000))
    told = await refused(engine, clock, **limits)
    assert told.until == datetime(2025, 2, 28, tzinfo=UTC)
    assert str(told) == (
        "budgets.user_day_tokens: 1,499 tokens may be used for one user on one day; 1,000 are used, "
        "and the next call needs about 500; it continues at 2025-02-28 00:00 UTC"
    )
    await allowed(engine, clock, owner=BEN, **limits)
    await allowed(engine, clock, user_day_tokens=1500)
    clock.now = told.until - timedelta(microseconds=1)
    await refused(engine, clock, **limits)
    clock.now = told.until
    await allowed(engine, clock, **limits)


async def test_a_month_over_its_price_waits_until_the_next_month_begins(
    engine: Engine, clock: Clock
):
    limits: dict[str, Any] = {"tenant_month_price": "0.02"}
    await pay(engine, clock, used(price="0.01"), ANN)
    await allowed(engine, clock, **limits)
    clock.now = NOON + timedelta(days=1)
    await pay(engine, clock, used(price="0.010000000001"), BEN)
    told = await refused(engine, clock, **limits)
    assert told.until == datetime(2025, 3, 1, tzinfo=UTC)
    assert str(told).startswith(
        "budgets.tenant_month_price: 0.02 USD may be spent in one month; 0.020000000001 USD are spent; "
    )
    await allowed(engine, clock, owner=OTHER_TENANT, **limits)
    clock.now = told.until
    await allowed(engine, clock, **limits)


@pytest.mark.parametrize(("month", "days"), [(1, 31), (2, 28), (4, 30), (12, 31)])
async def test_every_month_ends_when_the_next_one_begins(
    engine: Engine, clock: Clock, month: int, days: int
):
    for day in (1, days):
        clock.now = datetime(2025, month, day, 23, 59, 59, tzinfo=UTC)
        told = await refused(engine, clock, tenant_month_tokens=0)
        assert told.until == datetime(2025, month, days, tzinfo=UTC) + timedelta(days=1)


async def test_a_clock_of_another_zone_counts_days_in_utc(engine: Engine, clock: Clock):
    clock.now = datetime.fromisoformat("2025-03-01T01:30:00+02:00")
    await pay(engine, clock, used())
    told = await refused(engine, clock, user_day_tokens=1000, tenant_month_tokens=9000)
    assert told.until == datetime(2025, 3, 1, tzinfo=UTC)


async def test_of_several_budgets_the_one_that_opens_last_is_told(engine: Engine, clock: Clock):
    await pay(engine, clock, used())
    told = await refused(
        engine, clock, used(), run_tokens=1, user_day_tokens=1, tenant_month_price="0.01"
    )
    assert "tenant_month_price" in str(told)
    assert told.until == datetime(2025, 3, 1, tzinfo=UTC)


async def test_a_run_over_its_budget_goes_on_as_another_run_soon(engine: Engine, clock: Clock):
    told = await refused(engine, clock, used(1000), run_tokens=1400)
    assert told.until == NOON + timedelta(minutes=1)
    told = await refused(engine, clock, used(price="0.03"), run_price="0.03")
    assert str(told).startswith(
        "budgets.run_price: 0.03 USD may be spent in one run; 0.03 USD are spent"
    )
    await allowed(engine, clock, used(price="0.029"), run_price="0.03", run_tokens=1500)


async def test_a_call_that_no_run_has_room_for_does_not_come_back_every_minute(
    engine: Engine, clock: Clock
):
    told = await refused(engine, clock, expected=1401, run_tokens=1400)
    assert told.until == NOON + timedelta(hours=1)


@pytest.mark.parametrize("period", ["run", "user_day", "tenant_month"])
async def test_an_unknown_price_is_not_nought(engine: Engine, clock: Clock, period: str):
    run = used(price=None)
    await pay(engine, clock, run)
    only: dict[str, Any] = {f"{period}_price": 5}
    told = await refused(engine, clock, run, **only)
    assert "the price of 1 of 1 answers is unknown" in str(told)
    assert f"set budgets.{period}_tokens" in str(told)
    both: dict[str, Any] = {f"{period}_price": 5, f"{period}_tokens": 1500}
    await allowed(engine, clock, run, **both)
    told = await refused(engine, clock, run, expected=501, **both)
    assert f"budgets.{period}_tokens: 1,500 tokens" in str(told)


async def test_a_call_is_in_the_book_before_it_is_made_and_stays_where_its_answer_never_comes(
    engine: Engine, clock: Clock
):
    budget = BudgetCheck(engine, Budgets(), clock)
    await budget.record_call(ANN, "a", "form", "p:m")
    begun = await budget.record_call(ANN, "a", "form", "p:m")
    (found,) = await engine.spent("default")
    assert (found.calls, found.answers, found.unanswered) == (2, 0, 2)
    await engine.note_spent(begun.answered(used()))
    (found,) = await engine.spent("default")
    assert (found.calls, found.answers, found.unanswered, found.price) == (2, 1, 1, Decimal("0.01"))


async def test_an_answer_after_midnight_counts_on_the_day_of_its_call(engine: Engine, clock: Clock):
    budget = BudgetCheck(engine, Budgets(), clock)
    clock.now = datetime(2025, 2, 28, 23, 59, 59, tzinfo=UTC)
    begun = await budget.record_call(ANN, None, "form", "p:m")
    clock.now += timedelta(seconds=2)
    await engine.note_spent(begun.answered(used()))
    (found,) = await engine.spent("default")
    assert (found.day.isoformat(), found.unanswered) == ("2025-02-28", 0)


async def test_two_workers_at_once_go_over_by_no_more_than_the_call_that_each_has_begun(
    engine: Engine, clock: Clock
):
    budget, made = BudgetCheck(engine, Budgets(user_day_tokens=10_000), clock), []

    async def work() -> None:
        while True:
            try:
                await budget.check(ANN, 1000, NOTHING)
            except Postponed:
                return
            begun = await budget.record_call(ANN, "a", "form", "p:m")
            await asyncio.sleep(0)
            await engine.note_spent(begun.answered(used(1000)))
            made.append(1000)

    await asyncio.gather(work(), work())
    spent = await engine.spent_in_all("default", SpentFilter(owner=ANN))
    assert spent.tokens == sum(made)
    assert spent.calls == spent.answers == len(made)
    assert 10_000 <= sum(made) <= 11_000


async def test_two_processes_count_together(tmp_path: Path, clock: Clock):
    one = await SqliteEngine.open(tmp_path / "book.db")
    two = await SqliteEngine.open(tmp_path / "book.db")
    await Pen(one).remember("something")
    await asyncio.gather(*(pay(each, clock, used()) for each in (one, two) for _ in range(20)))
    await refused(two, clock, user_day_tokens=40_499)
    await allowed(one, clock, user_day_tokens=40_500)
    assert total(await one.spent("default")).price == Decimal("0.4")
    await one.close()
    await two.close()


def test_budgets_are_settings(monkeypatch: pytest.MonkeyPatch):
    found = settings("budgets", Budgets, {"budgets": {"user_day_price": 0.1, "run_tokens": 5}}, {})
    assert (found.user_day_price, found.run_tokens, found.tenant_month_price) == (
        Decimal("0.1"),
        5,
        None,
    )
    found = settings("budgets", Budgets, {}, {"MEMORANDA_BUDGETS_TENANT_MONTH_PRICE": "12.50"})
    assert found.tenant_month_price == Decimal("12.5")
    for wrong in ("-1", "nan", "inf", "much"):
        with pytest.raises(InvalidInput, match=r"budgets\.run_price"):
            settings("budgets", Budgets, {}, {"MEMORANDA_BUDGETS_RUN_PRICE": wrong})
    with pytest.raises(ValidationError):
        Budgets(run_tokens=-1)
