"""Threads (conversations), their messages, and episodes (records of finished runs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import Field, Strict, model_validator

from memoranda.first_use import dataclass
from memoranda.model.records import Audience, Record, RecordType, Trust, slot_of
from memoranda.model.redactions import as_said, cut, strings_of, united, with_strings
from memoranda.model.values import (
    Data,
    Document,
    ExternalId,
    FilledText,
    Moment,
    Name,
    Span,
    Text,
    TextOrData,
    Value,
)

#: The text of a message that has no words of its own, such as a call of a memory's tools.
NO_WORDS: Final = "(…)"
#: Where frameworks keep the id by which a call and its result know each other.
_IDS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "call_id", "id")
#: What frameworks call a result, and a call; a part of the word is enough.
_RESULTS: Final = (
    "tool_result",
    "tool-result",
    "tool-return",
    "tool_response",
    "call_output",
    "retry-prompt",
)
_CALLS: Final = ("tool_use", "tool-call", "tool_call", "function_call")
#: What a message of a tool's says of itself.
_TOOL: Final = "tool"
#: The names of fields that contain calls or a result without saying so.
_CALLS_UNDER: Final = frozenset({"tool_calls", "functionCall", "function_call"})
_RESULT_UNDER: Final = frozenset({"functionResponse", "function_response"})


@dataclass(frozen=True, slots=True)
class NativePart:
    """A tool call, or the result of one, in the format of the framework that wrote the message."""

    #: Empty where it has none.
    id: str
    is_result: bool
    #: As its framework wrote it.
    form: Mapping[str, Any]


def sort_of(form: Mapping[str, Any]) -> str:
    """Return the type, kind and role of a message part, in lower case."""
    return " ".join(str(form.get(name, "")) for name in ("type", "part_kind", "role")).lower()


def native_parts(native: Any) -> Iterator[NativePart]:
    """Yield every tool call and result in a message's native form (as its framework wrote it), in
    order.
    """
    if isinstance(native, list):
        for inner in native:
            yield from native_parts(inner)
    elif isinstance(native, Mapping):
        sort = sort_of(native)
        own = _named(native, sort)
        # Parts without an id, and messages of a tool, may only contain parts that have one.
        holds = own is None or not own.id or _TOOL in sort.split()
        inside = list(_inside(native)) if holds else []
        yield from inside or ([] if own is None else [own])


def _named(form: Mapping[str, Any], sort: str) -> NativePart | None:
    """Return the part if it is marked as a tool call or result, else None."""
    if any(word in sort for word in _RESULTS) or _TOOL in sort.split():
        return _part(form, is_result=True)
    if any(word in sort for word in _CALLS) or _is_function(form):
        return _part(form, is_result=False)
    return None


def _inside(form: Mapping[str, Any]) -> Iterator[NativePart]:
    for name, inner in form.items():
        if name in _CALLS_UNDER:
            calls = inner if isinstance(inner, list) else [inner]
            yield from (_part(call, is_result=False) for call in calls if isinstance(call, Mapping))
        elif name in _RESULT_UNDER and isinstance(inner, Mapping):
            yield _part(inner, is_result=True)
        else:
            yield from native_parts(inner)


def _is_function(form: Mapping[str, Any]) -> bool:
    return form.get("type") == "function" and isinstance(form.get("function"), Mapping)


def _part(form: Mapping[str, Any], *, is_result: bool) -> NativePart:
    return NativePart(
        next((str(form[name]) for name in _IDS if form.get(name)), ""), is_result, form
    )


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
    ThreadStatus.CREATED: frozenset(
        {ThreadStatus.RUNNING, ThreadStatus.COMPLETED, ThreadStatus.FAILED}
    ),
    ThreadStatus.RUNNING: frozenset(
        {ThreadStatus.PAUSED, ThreadStatus.COMPLETED, ThreadStatus.FAILED}
    ),
    ThreadStatus.PAUSED: frozenset(
        {ThreadStatus.RUNNING, ThreadStatus.COMPLETED, ThreadStatus.FAILED}
    ),
    ThreadStatus.COMPLETED: frozenset({ThreadStatus.RUNNING}),
    ThreadStatus.FAILED: frozenset({ThreadStatus.RUNNING}),
}


#: The most points and takeaways of a task's summary.
MOST_POINTS, MOST_TAKEAWAYS = 20, 10


class EpisodeDraft(Value):
    """The goal and the outcome of a thread."""

    goal: FilledText
    summary: Text = ""
    outcome: Outcome
    tags: tuple[Name, ...] = Field(default=(), max_length=100)


class PreparedEpisode(EpisodeDraft):
    """The episode of a running thread as far as it has come; it is recorded if the thread stays
    quiet.
    """

    #: The place of the message before the first one that it covers, and of the last one.
    after: int = Field(ge=0)
    through: int = Field(ge=1)


class TaskSummary(Value):
    """The summary of a whole thread, made on demand."""

    #: One paragraph.
    summary: FilledText = Field(max_length=20_000)
    main_points: tuple[FilledText, ...] = Field(default=(), max_length=MOST_POINTS)
    #: Results, decisions and things left open.
    takeaways: tuple[FilledText, ...] = Field(default=(), max_length=MOST_TAKEAWAYS)
    #: The place of the last message that it covers.
    through: int = Field(ge=1)


@dataclass(frozen=True, slots=True)
class SummariseThread:
    """Replace a thread's summary of its older messages with a newer one."""

    thread: UUID
    summary: str
    #: The place of the last message that it covers.
    through: int
    #: The last place covered by the summary the caller read; 0 for none.
    after: int = 0


@dataclass(frozen=True, slots=True)
class KeepTaskSummary:
    """Store the summary of a whole thread, if all messages that it was made from are still
    there.
    """

    thread: UUID
    summary: TaskSummary
    messages: tuple[UUID, ...]


def _thread_identity(name: str, audience: Audience) -> tuple[Any, ...]:
    return (name, audience.kind.value, audience.agent, list(audience.groups))


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
    #: From this moment on it is out of recall, lists and contexts, with its messages; set when it
    #: is opened.
    expires_at: Moment | None = None
    #: Its watermark: the place of the last message that formation has covered; 0 for none.
    formed_through: int = Field(default=0, ge=0)
    #: The summary of older messages, and the place of the last message it covers; 0 for none.
    summary: Text = ""
    summary_through: int = Field(default=0, ge=0)
    #: Where formation made the title: the place of the last message that it was made from. 0 where
    #: somebody set it.
    title_through: int = Field(default=0, ge=0)
    #: The last summary that ``summarise`` made.
    task_summary: TaskSummary | None = None
    #: What formation prepared for the case that the thread stays quiet.
    prepared: PreparedEpisode | None = None

    def identity(self) -> tuple[Any, ...] | None:
        """Return the name with the audience, so that each audience can use a name once; None
        without a name.
        """
        return None if self.name is None else _thread_identity(self.name, self.audience)

    @classmethod
    def slot_of_name(cls, name: str, audience: Audience) -> bytes:
        """Return the slot of the thread that an audience calls by this name."""
        return slot_of(cls.type, *_thread_identity(name, audience))


Role = Literal["user", "assistant", "system", "tool"]
TokenCount = Annotated[int, Strict(), Field(ge=0, le=10_000_000)]


class Feedback(Value):
    """A judgement on an agent's work: a rating, and the message that it is about."""

    #: From 1 (useless) to 5 (just right).
    rating: Annotated[int, Strict(), Field(ge=1, le=5)] | None = None
    #: The place in the thread of the message that is judged; None for the work as a whole.
    about: Annotated[int, Strict(), Field(ge=1)] | None = None

    def __str__(self) -> str:
        rated = "feedback" if self.rating is None else f"feedback {self.rating} of 5"
        return rated if self.about is None else f"{rated} on turn {self.about}"


class Message(Record):
    """One message of a thread. It never changes; it, or a part of it, can only be forgotten."""

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
    #: Its tokens, as the application counted them for its model.
    token_count: TokenCount | None = None
    #: Set if the message judges the agent's work.
    feedback: Feedback | None = None
    #: When its thread expires.
    expires_at: Moment | None = None
    #: The parts that were taken out, as places in the message as it was said.
    removed: tuple[Span, ...] = ()

    def without_spans(self, spans: Iterable[Span]) -> Message | None:
        """Return this message without some of its parts; None if that leaves neither words nor a
        tool's call or result.
        """
        spans = united(spans)
        content = cut(self.content, [one for one in spans if one.path is None])
        texts = {
            pointer: cut(text, [one for one in spans if one.path == pointer])
            for pointer, text in strings_of(self.native)
        }
        native = with_strings(self.native, texts)
        if not content.replace(NO_WORDS, "").strip():
            if next(native_parts(native), None) is None:
                return None
            content = NO_WORDS
        removed = united((*self.removed, *as_said(spans, self.removed)))
        left: Message = self.changed(
            content=content, native=native, token_count=None, removed=removed
        )
        return left

    def passage_text(self) -> str:
        """Return the content; the speaker and a colon come before it if a speaker is named."""
        return f"{self.speaker}: {self.content}" if self.speaker else self.content


class Outcome(StrEnum):
    """The outcome of an agent's run."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


class ToolCall(Value):
    """One tool call: its inputs and its output."""

    tool: Name
    inputs: Data = None
    #: Text, or any JSON value.
    output: TextOrData = ""
    success: bool = True
    called_at: Moment | None = None
    #: Characters of inputs and output that were cut off; a JSON value that was cut is its JSON
    #: text.
    cut: int = Field(default=0, ge=0)


class Episode(Record):
    """The record of a finished run: goal, actions and outcome. It never changes, except by
    retention and erasure.
    """

    type: ClassVar[RecordType] = RecordType.EPISODE

    #: An episode has a goal or a summary, or both.
    goal: Text = ""
    summary: Text = ""
    #: The parts that were taken out of its texts, as places in what was recorded.
    removed: tuple[Span, ...] = ()
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
    #: The caller's own id for it, unique among the owner's episodes with the same audience.
    external_id: ExternalId | None = None
    #: From this moment on it is out of every read; upkeep erases it.
    expires_at: Moment | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Episode:
        if not (self.goal.strip() or self.summary.strip()):
            raise ValueError("an episode needs a goal or a summary; give one of them")
        return self

    def rests_on(self) -> tuple[UUID, ...]:
        """Return its sources; without any, the thread of the run, if there is one."""
        if self.sources:
            return self.sources
        return () if self.thread is None else (self.thread,)

    def passage_text(self) -> str:
        """Return goal, summary, tags and tools, each on a line of its own; empty ones are left
        out.
        """
        tools = " ".join(call.tool for call in self.tool_calls)
        return "\n".join(
            part for part in (self.goal, self.summary, " ".join(self.tags), tools) if part
        )


class WholeCall(Value):
    """The full text of a tool call that the episode itself has shortened or left out."""

    #: Its place among the run's calls, from 0.
    place: int = Field(ge=0)
    call: ToolCall


class Overflow(Record):
    """The tool calls that were too long or too many for their episode; erased together with it."""

    type: ClassVar[RecordType] = RecordType.OVERFLOW

    episode: UUID
    calls: tuple[WholeCall, ...]
    #: Calls for which there was no room here either.
    calls_omitted: int = Field(default=0, ge=0)
    agent: Name | None = None

    def identity(self) -> tuple[str]:
        """Return the episode's id: an episode has at most one overflow."""
        return (str(self.episode),)

    def rests_on(self) -> tuple[UUID, ...]:
        return (self.episode,)
