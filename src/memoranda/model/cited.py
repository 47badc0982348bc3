"""Citations: the source messages of a statement, with quoted words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from pydantic import Field

from memoranda.model.values import Text, Value

#: Characters of a quote that a note carries.
QUOTE_LENGTH = 300
#: Quotes that one statement keeps.
MOST_QUOTES = 100


class Cited(Value):
    """A source message, and the quoted words if there are any."""

    message: UUID
    quote: Text = Field(default="", max_length=QUOTE_LENGTH)


def quotes_of(cited: Iterable[Cited], sources: Collection[UUID]) -> tuple[Cited, ...]:
    """Return the quotes from these sources, each once, up to the number that is kept."""
    quoted = (one for one in cited if one.quote and one.message in sources)
    return tuple({(one.message, one.quote): one for one in quoted}.values())[:MOST_QUOTES]
