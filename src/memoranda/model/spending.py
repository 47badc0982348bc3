"""Spending on language models, by owner, agent, day, task and model."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Context, Decimal
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from memoranda.model.asking import Usage
from memoranda.model.owner import Owner
from memoranda.model.values import Name, Value

#: Prices are exact to so many decimals of a dollar.
PRICE_DECIMALS = 12
#: No call uses more tokens, or costs more; what is said beyond it is no count of tokens, and no price.
MOST_TOKENS = 10**12
MOST_PRICE = Decimal(10_000)

#: Whatever an application does to its own decimals.
_EXACT = Context(prec=60)
_STEP = Decimal(1).scaleb(-PRICE_DECIMALS)
#: The largest numbers of one row that an engine can store.
_ROW_PRICE = Decimal(9_000_000)

By: TypeAlias = Literal["agent", "day", "model", "owner", "task", "tenant"]


class Sums(Value):
    """The totals of calls; totals can be added."""

    #: Calls that were begun.
    calls: int = Field(default=0, ge=0)
    #: Calls whose answer came into the book.
    answers: int = Field(default=0, ge=0)
    #: All tokens that were sent, the cached ones among them.
    tokens_in: int = Field(default=0, ge=0)
    tokens_cached: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    #: Of the answers whose price is known.
    price: Decimal = Field(default=Decimal(0), ge=0, decimal_places=PRICE_DECIMALS)
    #: Answers whose price is unknown.
    unpriced: int = Field(default=0, ge=0)
    currency: Literal["USD"] = "USD"

    @classmethod
    def of(cls, usage: Usage) -> Sums:
        """Return the totals of answers, without counting calls."""
        price = _known(usage)
        return Sums(
            answers=usage.calls,
            tokens_in=min(usage.tokens_in, MOST_TOKENS),
            tokens_cached=min(usage.tokens_cached, MOST_TOKENS),
            tokens_out=min(usage.tokens_out, MOST_TOKENS),
            price=price or Decimal(0),
            unpriced=usage.calls if price is None else 0,
        )

    @property
    def unanswered(self) -> int:
        """Calls that were begun and never came back into the book: what they cost is unknown."""
        return self.calls - self.answers

    @property
    def tokens(self) -> int:
        """All tokens, sent and answered."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Sums) -> Sums:
        added = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Sums(**added, price=_EXACT.add(self.price, other.price))


#: The fields that are whole numbers.
COUNTS = ("calls", "answers", "tokens_in", "tokens_cached", "tokens_out", "unpriced")


class Spent(Sums):
    """The totals of the calls of one owner, agent, day, task and model."""

    tenant: Name
    #: Whose conversation it was about; None once they were erased.
    owner: Owner | None = None
    #: None where there was none, and once the owner was erased.
    agent: Name | None = None
    #: In UTC, when the calls were begun.
    day: date
    task: Name
    #: Provider and name, as it was asked for.
    model: Name
    price: Decimal = Field(default=Decimal(0), ge=0, le=_ROW_PRICE, decimal_places=PRICE_DECIMALS)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.owner is not None and self.owner.tenant != self.tenant:
            raise ValueError("the owner belongs to another tenant")
        return self

    def answered(self, usage: Usage) -> Spent:
        """Return the totals of the answers to these calls; the calls themselves are not counted again."""
        # A usage that counts no call is still one answer.
        return self.holding(Sums.of(usage if usage.calls else usage.model_copy(update={"calls": 1})))

    def holding(self, sums: Sums) -> Spent:
        """The same with other sums."""
        return self.model_copy(update={name: getattr(sums, name) for name in (*COUNTS, "price")})

    @property
    def place(self) -> tuple[Any, ...]:
        """The sort key: day, owner, agent, task, model."""
        parts = ("", "", "") if self.owner is None else self.owner.parts
        return (self.day, self.owner is None, parts, self.agent or "", self.task, self.model)


class SpentFilter(Value):
    """Conditions on what was spent: whose, for which agent, from a day to before another."""

    owner: Owner | None = None
    agent: Name | None = None
    since: date | None = None
    until: date | None = None


ALL_SPENT = SpentFilter()


def total(spent: Iterable[Sums]) -> Sums:
    """All together."""
    return sum(spent, Sums())


def totals(spent: Iterable[Spent], by: By) -> dict[Any, Sums]:
    """The sums of each agent, day, model, owner, task or tenant, in the order in which they are first met."""
    found: dict[Any, Sums] = {}
    for one in spent:
        name = getattr(one, by)
        found[name] = found.get(name, Sums()) + one
    return found


def steps_of(price: Decimal) -> int:
    """A price as a whole number of its smallest steps."""
    return int(_EXACT.scaleb(price, PRICE_DECIMALS))


def price_of(steps: int) -> Decimal:
    """The price that so many steps make."""
    return _EXACT.scaleb(Decimal(steps), -PRICE_DECIMALS)


def _known(usage: Usage) -> Decimal | None:
    """The price, where it is one."""
    price = usage.price
    if price is None or usage.currency != "USD" or not 0 <= price <= MOST_PRICE:
        return None
    return price.quantize(_STEP, context=_EXACT)
