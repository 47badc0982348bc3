"""Threads and messages: what was said, and the conversation or task that it belongs to."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from memoranda.model.records import Record, RecordType
from memoranda.model.trust import Trust
from memoranda.model.values import Data, Document, FilledText, Moment, Name, Text


class ThreadStatus(StrEnum):
    """The status of a thread."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"


#: In these a thread is finished.
FINISHED = (ThreadStatus.COMPLETED, ThreadStatus.FAILED)

#: Allowed changes of a thread's status; a finished thread may run again.
STATUS_STEPS: dict[ThreadStatus, frozenset[ThreadStatus]] = {
    ThreadStatus.CREATED: frozenset({ThreadStatus.RUNNING, ThreadStatus.COMPLETED, ThreadStatus.FAILED}),
    ThreadStatus.RUNNING: frozenset({ThreadStatus.PAUSED, ThreadStatus.COMPLETED, ThreadStatus.FAILED}),
    ThreadStatus.PAUSED: frozenset({ThreadStatus.RUNNING, ThreadStatus.COMPLETED, ThreadStatus.FAILED}),
    ThreadStatus.COMPLETED: frozenset({ThreadStatus.RUNNING}),
    ThreadStatus.FAILED: frozenset({ThreadStatus.RUNNING}),
}


class Thread(Record):
    """A conversation between an owner and an agent, and the unit of work that it may be."""

    type: ClassVar[RecordType] = RecordType.THREAD

    #: The application's own name for it, unique for its owner.
    name: Name | None = None
    agent: Name | None = None
    title: Text = Field(default="", max_length=1000)
    status: ThreadStatus = ThreadStatus.RUNNING
    #: Intermediate state of the work.
    state: Document = Field(default_factory=dict)
    result: Data = None
    tags: tuple[Name, ...] = Field(default=(), max_length=100)
    started_at: Moment
    ended_at: Moment | None = None
    #: Its watermark: the place of the last message that formation has covered; 0 for none.
    formed_through: int = Field(default=0, ge=0)
    #: The summary of older messages, and the place of the last message it covers; 0 for none.
    summary: Text = ""
    summary_through: int = Field(default=0, ge=0)

    def identity(self) -> tuple[Any, ...] | None:
        if self.name is None:
            return None
        audience = self.audience
        return (self.name, audience.kind.value, audience.agent, list(audience.groups))


Role = Literal["user", "assistant", "system", "tool"]


class Message(Record):
    """One message of a thread. It never changes; it can only be forgotten."""

    type: ClassVar[RecordType] = RecordType.MESSAGE

    thread: UUID
    #: Its place in the thread, counted from 1; places are never used again.
    seq: int = Field(default=0, ge=0)
    role: Role
    content: FilledText
    #: The speaker, if the role is not enough.
    speaker: Name | None = None
    agent: Name | None = None
    observed_at: Moment
    #: True if the time of receipt is used because no time was given.
    observed_assumed: bool = False
    trust: Trust = Trust.USER
    #: The message in its framework's own form, tool calls and all.
    native: Data = None

    def passage_text(self) -> str:
        return f"{self.speaker}: {self.content}" if self.speaker else self.content
