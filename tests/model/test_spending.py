"""Sums of what was spent are exact, and claims that no call can make are not believed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, localcontext
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda.model.language_models import (
    MOST_TOKENS,
    Spent,
    Sums,
    Usage,
    price_of,
    steps_of,
    total,
    totals,
)
from memoranda.model.records import Owner

ANN, BEN = Owner(id="ann"), Owner(id="ben")


def spent(**fields: Any) -> Spent:
    given = {
        "tenant": "default",
        "owner": ANN,
        "day": date(2025, 3, 1),
        "task": "form",
        "model": "p:m",
    }
    return Spent.model_validate({**given, **fields})


def answer(**fields: Any) -> Spent:
    return spent(calls=1).answered(Usage.model_validate({"calls": 1, "tokens_in": 10, **fields}))


def test_sums_are_exact_whatever_an_application_does_to_its_decimals():
    with localcontext() as context:
        context.prec = 3
        one = spent(price=Decimal("1234.000000000001"))
        assert (one + one).price == Decimal("2468.000000000002")
        assert price_of(steps_of(one.price)) == one.price
        assert answer(price=Decimal("1.23456789")).price == Decimal("1.23456789")


def test_a_price_with_more_decimals_than_are_kept_is_rounded_once():
    assert answer(price=Decimal("0.0000000000016")).price == Decimal("0.000000000002")
    with pytest.raises(ValidationError):
        spent(price=Decimal("0.0000000000016"))


@pytest.mark.parametrize(
    "claim", [{"price": None}, {"price": -1}, {"price": 10**30}, {"price": 1, "currency": "EUR"}]
)
def test_what_is_no_price_in_dollars_is_unknown_and_never_nought(claim: dict[str, Any]):
    found = answer(**claim)
    assert (found.answers, found.unpriced, found.price) == (1, 1, Decimal(0))


def test_what_is_free_is_known_to_be():
    assert (answer(price=0).unpriced, answer(price=0).price) == (0, Decimal(0))


def test_tokens_that_no_call_can_use_do_not_burst_the_sums():
    found = answer(tokens_in=10**30, tokens_out=10**30, tokens_cached=10**30)
    assert found.tokens == 2 * MOST_TOKENS


def test_an_answer_of_which_nobody_counted_anything_is_an_answer():
    found = spent(calls=1).answered(Usage())
    assert (found.calls, found.answers, found.unpriced) == (0, 1, 1)


def test_totals_are_told_by_what_is_asked_for():
    rows = [spent(calls=1), spent(owner=BEN, calls=2), spent(owner=BEN, task="other", calls=4)]
    assert total(rows) == Sums(calls=7)
    assert totals(rows, "owner") == {ANN: Sums(calls=1), BEN: Sums(calls=6)}
    assert totals(rows, "task") == {"form": Sums(calls=3), "other": Sums(calls=4)}
    assert totals([], "day") == {}


def test_an_owner_of_another_tenant_is_refused():
    with pytest.raises(ValidationError):
        spent(tenant="other")
