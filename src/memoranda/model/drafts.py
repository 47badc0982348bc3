"""Formation, which turns conversations into facts: its input (messages and known facts) and its
result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from memoranda.first_use import dataclass
from memoranda.model.changes import JobState
from memoranda.model.experience_lines import ExperienceField, ExperienceLine
from memoranda.model.memories import Cardinality, Cited, DaySpan, Granularity, Memory, quotes_of
from memoranda.model.messages import EpisodeDraft, Message, Thread
from memoranda.model.profiles import ProfileDocument, UpdateMode
from memoranda.model.records import DEFAULT_KINDS, Trust
from memoranda.model.values import Data, Document, FilledText, Moment, Name, Text, Value

#: In the payload of a forming job, the schemas that it was asked for; in the note of its
#: operations, their names.
SCHEMAS = "schemas"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The forming of a thread (turning its messages into memories) that waits, runs now, or was
    given up.
    """

    state: JobState
    #: When it is due; for one that runs, when it was.
    at: datetime
    #: When it was first asked for; however often it is put off, it waits no longer than the longest
    #: wait.
    since: datetime
    #: The schemas that were asked for; empty for those of the thread's agent.
    schemas: tuple[str, ...] = ()
    #: Times that it was tried.
    tries: int = 0
    #: Why it waits or was given up; empty if nothing went wrong.
    because: str = ""


class WantedSchema(Value):
    """A schema as formation uses it. Every prompt describes the agent's schemas and asks for those
    that are due.
    """

    name: Name
    description: Text = ""
    parameters: Document = Field(default_factory=dict)
    update_mode: UpdateMode = "patch"
    instructions: Text = ""
    #: Whether this time it is to be formed.
    due: bool = True


class ReadMessage(Value):
    """A message that formation reads: to learn from it, or only as context."""

    message: Message
    #: True if an earlier run covered it: it is shown, but nothing new may cite it.
    context: bool = False
    #: The name under which the owner speaks here; the message itself then has no speaker.
    called: Name | None = None


class Reading(Value):
    """The whole input of an extractor; it may refer only to records in it."""

    thread: Thread
    #: In their order, those that are context first.
    messages: tuple[ReadMessage, ...] = ()
    #: Memories that what was said may repeat, correct or replace.
    candidates: tuple[Memory, ...] = ()
    #: At most one for each schema.
    profiles: tuple[ProfileDocument, ...] = ()
    experience: tuple[ExperienceLine, ...] = ()
    schemas: tuple[WantedSchema, ...] = ()
    #: The thread's summary so far, as context.
    summary: Text = ""
    now: Moment
    #: The language in which notes are to be written; None for the one that was spoken.
    language: Name | None = None
    #: The kinds of memory that are kept.
    kinds: tuple[Name, ...] = DEFAULT_KINDS
    #: True if the episode that is asked for is only prepared, for the case that the thread stays
    #: quiet.
    prepares_episode: bool = False
    #: The number of the last message that a new summary is to cover; 0 if none is asked for.
    summarises: int = 0
    #: True if secrets stay in what is formed; otherwise everything read here has masks in their
    #: place.
    keeps_secrets: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        owner, places = self.thread.owner, [read.message.seq for read in self.messages]
        if any(
            read.message.thread != self.thread.id or read.message.owner != owner
            for read in self.messages
        ):
            raise ValueError("a message belongs to another thread")
        if places != sorted(set(places)):
            raise ValueError("messages are not in the order of their thread, or one is given twice")
        marks = [read.context for read in self.messages]
        if marks != sorted(marks, reverse=True):
            raise ValueError("messages that are context come before those that are new")
        if any(record.owner != owner for record in (*self.candidates, *self.profiles)):
            raise ValueError("a candidate or a profile belongs to another owner")
        _check_once("candidate", (memory.id for memory in self.candidates))
        _check_once("profile", (document.schema_name for document in self.profiles))
        _check_once("schema", (schema.name for schema in self.schemas))
        return self

    @property
    def new(self) -> tuple[Message, ...]:
        """The messages to learn from, without those that are only context."""
        return tuple(read.message for read in self.messages if not read.context)

    def due(self, name: str) -> WantedSchema | None:
        """Return the schema of that name if it is due this time, else None."""
        return next((schema for schema in self.schemas if schema.name == name and schema.due), None)

    def profile(self, schema: str) -> ProfileDocument | None:
        """Return the profile document of that schema, or None."""
        return next(
            (document for document in self.profiles if document.schema_name == schema), None
        )


class _Resting(Value):
    cited: tuple[Cited, ...] = Field(min_length=1, max_length=100)

    @property
    def sources(self) -> tuple[UUID, ...]:
        """Return the source messages, each once."""
        return tuple(dict.fromkeys(one.message for one in self.cited))

    @property
    def quotes(self) -> tuple[Cited, ...]:
        """The quotes from these messages."""
        return quotes_of(self.cited, self.sources)


class Draft(_Resting):
    """A statement worth keeping, before it is compared with the memories that exist."""

    content: FilledText
    kind: Name = "fact"
    key: Name | None = None
    #: Whom or what it is about; None for the owner.
    subject: Name | None = None
    cardinality: Cardinality = Cardinality.MANY
    applies_when: Text = ""
    tags: tuple[Name, ...] = Field(default=(), max_length=100)
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    valid_from_granularity: Granularity | None = None
    valid_to_granularity: Granularity | None = None
    happened: DaySpan | None = None
    #: Candidates whose place it takes.
    supersedes: tuple[UUID, ...] = Field(default=(), max_length=100)
    #: The candidate whose document ``data`` carries on: fields that nobody named stay as they were
    #: there.
    carries: UUID | None = None
    #: The sources of what changes in this document, one entry for each change.
    changed_by: tuple[tuple[UUID, ...], ...] = ()
    #: The name of the schema it follows; ``data`` is the structured part.
    schema_name: Name | None = None
    data: Document | None = None
    #: The value of the profile field that is bound to its key.
    value: Data = None
    #: The lowest of its sources.
    trust: Trust = Trust.USER
    #: When its newest source was said.
    observed_at: Moment
    #: The language of what was said, as far as it is known.
    language: Name | None = None


class Confirmation(_Resting):
    """A known memory (candidate) that the conversation states again."""

    memory: UUID


class TakenBack(_Resting):
    """A known memory (candidate) that the user withdraws in the conversation."""

    memory: UUID


class ProfilePatch(_Resting):
    """JSON Patch operations on the profile document of one schema."""

    schema_name: Name
    operations: tuple[Document, ...] = Field(min_length=1)
    #: The sources of each operation; all of the patch's where they are not given.
    sources_of: tuple[tuple[UUID, ...], ...] = ()

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.sources_of and len(self.sources_of) != len(self.operations):
            raise ValueError("each operation has its sources, or none has")
        return self

    def value_of(self, path: str) -> str:
        """Return the text that the patch writes to a path last; empty if it writes none."""
        values = [one.get("value") for one in self.operations if one.get("path") == path]
        return values[-1] if values and isinstance(values[-1], str) else ""

    def with_sources(self) -> tuple[tuple[Mapping[str, Any], tuple[UUID, ...]], ...]:
        """Return each operation with its sources."""
        of = self.sources_of or (self.sources,) * len(self.operations)
        return tuple(zip(self.operations, of, strict=True))

    def followed_by(self, other: ProfilePatch) -> ProfilePatch:
        """Return this patch with those operations of another one that it does not have."""
        more = [one for one in other.with_sources() if one[0] not in self.operations]
        cited = tuple(
            {(one.message, one.quote): one for one in (*self.cited, *other.cited)}.values()
        )[:100]
        known = {one.message for one in cited}
        more = [one for one in more if known.issuperset(one[1])]
        of = (*(sources for _, sources in self.with_sources()), *(sources for _, sources in more))
        operations = (*self.operations, *(operation for operation, _ in more))
        return self.model_copy(update={"operations": operations, "cited": cited, "sources_of": of})


class Lesson(_Resting):
    """A proposed line of experience, before the privacy check."""

    field: ExperienceField
    line: FilledText
    #: The known line that says the same.
    repeats: UUID | None = None


class DroppedPart(Value):
    """A part of a model's answer that was dropped, and the reason."""

    #: Where it stood in the answer, such as ``notes[3]``.
    part: Text
    #: A stable word for programs.
    code: Name
    #: In words that a model can be shown; never what somebody else's record says.
    reason: FilledText
    #: Whether asking again with this reason may mend it.
    mendable: bool = False
    #: Whether it is asked again only once.
    once: bool = False


class Formed(Value):
    """The result of reading a conversation. If it is empty, there was nothing to learn."""

    notes: tuple[Draft, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()
    #: At most one for each schema.
    patches: tuple[ProfilePatch, ...] = ()
    experience: tuple[Lesson, ...] = ()
    episode: EpisodeDraft | None = None
    #: A title for the conversation; alone it is no result.
    title: Text = ""
    #: The new summary of the thread, if one was asked for; alone it is no result.
    summary: Text = ""
    left_out: tuple[DroppedPart, ...] = ()

    @model_validator(mode="after")
    def _one_patch_each(self) -> Self:
        _check_once("patch's schema", (patch.schema_name for patch in self.patches))
        return self

    @property
    def empty(self) -> bool:
        """True if there is nothing to write."""
        made = (self.notes, self.confirmations, self.taken_back, self.patches, self.experience)
        return not any(made) and self.episode is None


def _check_once(what: str, names: Iterable[object]) -> None:
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"a {what} is given twice")
        seen.add(name)
