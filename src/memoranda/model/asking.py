"""Requests to language models, their answers, and what they used."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memoranda.model.values import FilledText, Name, Text, Value

#: How often the same question may have been handed back with its faults.
MOST_EARLIER = 4

#: Between the names of several providers or models whose usage was added up.
_AND = ", "


class Usage(Value):
    """What calls used, as far as the provider reported it; usages can be added."""

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
    """A value whose content is not shown when it is printed, nor when it is refused."""

    model_config = ConfigDict(hide_input_in_errors=True)


class Earlier(_Private):
    """An answer that was not good enough, and why: it is handed back with the question."""

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
