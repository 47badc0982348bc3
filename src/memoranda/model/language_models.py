"""Requests to language models, their answers, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Context, Decimal
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from memoranda.first_use import dataclass
from memoranda.model.records import Owner
from memoranda.model.values import FilledText, Name, Text, Value

#: How often the same question may have been handed back with its faults.
MOST_EARLIER = 4

#: The task of making memories from a part of a thread.
FORMATION: Final = "formation"

#: Between the names of several providers or models whose usage was added up.
_AND = ", "


class Usage(Value):
    """The tokens and cost of calls to a model, as far as the provider reported them; usages can be
    added.
    """

    provider: str = ""
    model: str = ""
    calls: int = Field(default=0, ge=0)
    #: All tokens that were sent, the cached ones among them.
    tokens_in: int = Field(default=0, ge=0)
    #: Those of them that the provider took from its cache.
    tokens_cached: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    #: None where the price of any of the calls is unknown.
    price: Decimal | None = None
    currency: str = "USD"

    def __add__(self, other: Usage) -> Usage:
        if not other.calls:
            return self
        if not self.calls:
            return other
        return Usage(
            provider=_both(self.provider, other.provider),
            model=_both(self.model, other.model),
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_out=self.tokens_out + other.tokens_out,
            price=self._price_with(other),
            currency=self.currency,
        )

    def _price_with(self, other: Usage) -> Decimal | None:
        if self.price is None or other.price is None or self.currency != other.currency:
            return None
        return self.price + other.price


class _Private(Value):
    """A value whose content is never shown, neither in print nor in validation errors."""

    model_config = ConfigDict(hide_input_in_errors=True)


class Earlier(_Private):
    """A model's earlier answer that was rejected, and the reason; both are sent back with the
    question.
    """

    answer: Annotated[Text, Field(repr=False)]
    faults: tuple[FilledText, ...] = Field(min_length=1)


class ModelRequest(_Private):
    """One question to a language model."""

    #: What the answer is for: another model may be named for another task.
    task: Name
    #: Long, and the same each time: providers keep in mind how a prompt begins.
    instructions: Annotated[FilledText, Field(repr=False)]
    #: The data of the question; the caller fences it.
    content: Annotated[FilledText, Field(repr=False)]
    #: The JSON Schema of the object that is asked for.
    answer_schema: Annotated[dict[str, Any], Field(repr=False)]
    #: The most tokens that the answer may have, thoughts included.
    largest: int = Field(ge=1)
    #: Oldest first.
    earlier: tuple[Earlier, ...] = Field(default=(), max_length=MOST_EARLIER)


class ModelAnswer(_Private):
    """A model's answer. It was paid for, even if it cannot be used."""

    #: As it came; empty where it was longer than anything that is read.
    text: Annotated[str, Field(repr=False)]
    #: The JSON object in it: not yet held against the schema.
    value: Annotated[dict[str, Any] | None, Field(repr=False)] = None
    #: Why there is no value, in words that can be handed back; empty where there is one.
    fault: str = ""
    #: The model, or its provider, will not answer this; to ask again brings nothing.
    refused: bool = False
    usage: Usage = Usage()


def _both(first: str, second: str) -> str:
    return _AND.join(sorted({*first.split(_AND), *second.split(_AND)}))


#: Prices are exact to so many decimals of a dollar.
PRICE_DECIMALS = 12
#: No call uses more tokens, or costs more; what is said beyond it is no count of tokens, and no
#: price.
MOST_TOKENS = 10**12
MOST_PRICE = Decimal(10_000)

#: Whatever an application does to its own decimals.
_EXACT = Context(prec=60)
_STEP = Decimal(1).scaleb(-PRICE_DECIMALS)
#: The largest numbers of one row that an engine can store.
_ROW_PRICE = Decimal(9_000_000)

By: TypeAlias = Literal["agent", "day", "model", "owner", "task", "tenant"]


class Sums(Value):
    """The totals of several calls to models; totals can be added."""

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
        """Calls that were begun and whose answers were never recorded in the book; their cost is
        unknown.
        """
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
        """Return the totals of the answers to these calls; the calls themselves are not counted
        again.
        """
        # A usage that counts no call is still one answer.
        return self.holding(
            Sums.of(usage if usage.calls else usage.model_copy(update={"calls": 1}))
        )

    def holding(self, sums: Sums) -> Spent:
        """Return a copy with other sums."""
        return self.model_copy(update={name: getattr(sums, name) for name in (*COUNTS, "price")})

    @property
    def place(self) -> tuple[Any, ...]:
        """The sort key: day, owner, agent, task, model."""
        parts = ("", "", "") if self.owner is None else self.owner.parts
        return (self.day, self.owner is None, parts, self.agent or "", self.task, self.model)


class SpentFilter(Value):
    """Conditions that select spending: owner, agent, and a range of days without the last one."""

    owner: Owner | None = None
    agent: Name | None = None
    since: date | None = None
    until: date | None = None


ALL_SPENT = SpentFilter()


def total(spent: Iterable[Sums]) -> Sums:
    """Return the total of all."""
    return sum(spent, Sums())


def totals(spent: Iterable[Spent], by: By) -> dict[Any, Sums]:
    """Return the sums for each agent, day, model, owner, task or tenant, in the order of their
    first row.
    """
    found: dict[Any, Sums] = {}
    for one in spent:
        name = getattr(one, by)
        found[name] = found.get(name, Sums()) + one
    return found


def steps_of(price: Decimal) -> int:
    """Return a price as a whole number of its smallest steps."""
    return int(_EXACT.scaleb(price, PRICE_DECIMALS))


def price_of(steps: int) -> Decimal:
    """Return the price for a number of smallest steps."""
    return _EXACT.scaleb(Decimal(steps), -PRICE_DECIMALS)


def _known(usage: Usage) -> Decimal | None:
    """Return the price in US dollars; None if the provider reported none that can be counted."""
    price = usage.price
    if price is None or usage.currency != "USD" or not 0 <= price <= MOST_PRICE:
        return None
    return price.quantize(_STEP, context=_EXACT)


#: The word in records of who forms, where no language model does.
RULES: Final = "rules"


@dataclass(frozen=True, slots=True)
class FormingRecord:
    """The record of who forms a tenant's threads (turns them into memories): ``rules`` or
    ``provider:model``.
    """

    #: Agent → who forms its threads; the empty name stands for all agents without a record of their
    #: own.
    by_agent: Mapping[str, str]
    #: True if no other tenant of the book has a record.
    alone: bool = True

    def of(self, agent: str | None = None) -> str:
        """Return who forms the threads of an agent; an empty text if nobody is recorded."""
        return self.by_agent.get(agent or "") or self.by_agent.get("", "")

    def leaves_any_to(self, who: str) -> bool:
        """True if ``who`` may form any thread: it is recorded, or nobody is."""
        return "" not in self.by_agent or who in self.by_agent.values()
