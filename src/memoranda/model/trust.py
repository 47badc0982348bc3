"""Trust of records, by the way they came in and never by their text; and the limits of writes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from pydantic import Field

from memoranda.model.values import Name, Value


class Trust(StrEnum):
    """The ways in, most trusted first."""

    OPERATOR = "operator"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"


#: The ways in by which strangers speak.
STRANGERS = frozenset({Trust.TOOL, Trust.WEB})

_ORDER = {trust: place for place, trust in enumerate(Trust)}

#: What a message's role says about the way it came in.
TRUST_OF_ROLE = {
    "system": Trust.OPERATOR,
    "user": Trust.USER,
    "assistant": Trust.ASSISTANT,
    "tool": Trust.TOOL,
}


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The least trusted of some ways in: what is derived from them deserves no more."""
    return max(trusts, key=_ORDER.__getitem__)


DEFAULT_KINDS = ("preference", "fact", "instruction", "context", "experience", "note")


class Limits(Value):
    """The limits of all writes; a tenant may set its own."""

    #: The kinds of memory that are kept; others are refused.
    kinds: tuple[Name, ...] = Field(default=DEFAULT_KINDS, min_length=1)
    key_length: int = Field(default=100, ge=1, le=255)
    content_length: int = Field(default=1000, ge=1, le=100_000)
    #: Characters of one message.
    message_length: int = Field(default=1_048_576, ge=1, le=16_777_216)
    #: Messages or statements in one call.
    batch: int = Field(default=1000, ge=1, le=100_000)
    #: Statements remembered in one run, or in one call where no run is named.
    writes_per_run: int = Field(default=10, ge=1)
    #: Active memories of one owner.
    memories_per_owner: int = Field(default=500, ge=1)
    #: At that number: ``reject`` the write, or ``evict`` the writing agent's own oldest memory that is not pinned.
    at_capacity: Literal["reject", "evict"] = "evict"
    #: From so many users a line of experience must stem before it serves others.
    experience_min_users: int = Field(default=3, ge=1, le=100)
    #: Characters of a tool call's output that an episode keeps.
    tool_output_length: int = Field(default=2000, ge=0, le=1_000_000)
    #: Tool calls that an episode keeps.
    tool_calls: int = Field(default=100, ge=0, le=10_000)
    #: Characters of tool calls beyond these limits that are stored in a separate record.
    overflow_length: int = Field(default=1_000_000, ge=0, le=16_777_216)
