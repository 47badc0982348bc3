"""Episodes: the after-action record of a finished thread or run."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from pydantic import Field

from memoranda.model.records import Record, RecordType
from memoranda.model.trust import Trust
from memoranda.model.values import Data, FilledText, Moment, Name, Text, Value


class Outcome(StrEnum):
    """How it ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


class ToolCall(Value):
    """One call of a tool, with its inputs and output."""

    tool: Name
    inputs: Data = None
    output: Text = ""
    success: bool = True
    called_at: Moment | None = None
    #: Characters of inputs and output that were cut off; inputs that were cut are their JSON text.
    cut: int = Field(default=0, ge=0)


class Episode(Record):
    """The record of a finished run: goal, actions and outcome. It never changes, except by retention and erasure."""

    type: ClassVar[RecordType] = RecordType.EPISODE

    goal: FilledText
    summary: Text = ""
    tool_calls: tuple[ToolCall, ...] = ()
    #: Tool calls that were more than an episode keeps.
    calls_omitted: int = Field(default=0, ge=0)
    outcome: Outcome
    tags: tuple[Name, ...] = Field(default=(), max_length=100)
    started_at: Moment
    ended_at: Moment
    thread: UUID | None = None
    agent: Name | None = None
    sources: tuple[UUID, ...] = Field(default=(), max_length=10_000)
    trust: Trust = Trust.ASSISTANT

    def rests_on(self) -> tuple[UUID, ...]:
        if self.sources:
            return self.sources
        return () if self.thread is None else (self.thread,)

    def passage_text(self) -> str:
        tools = " ".join(call.tool for call in self.tool_calls)
        return "\n".join(part for part in (self.goal, self.summary, " ".join(self.tags), tools) if part)


class WholeCall(Value):
    """A call that an episode keeps cut short, or not at all."""

    #: Its place among the run's calls, from 0.
    place: int = Field(ge=0)
    call: ToolCall


class Overflow(Record):
    """The parts of tool calls that an episode had no room for; it is erased with the episode."""

    type: ClassVar[RecordType] = RecordType.OVERFLOW

    episode: UUID
    calls: tuple[WholeCall, ...]
    #: Calls for which there was no room here either.
    calls_omitted: int = Field(default=0, ge=0)
    agent: Name | None = None

    def identity(self) -> tuple[str]:
        return (str(self.episode),)

    def rests_on(self) -> tuple[UUID, ...]:
        return (self.episode,)
