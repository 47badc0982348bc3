"""Names and types of the fields that verbs take as keyword arguments; a field that is left out or
None gets its default.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypedDict, TypeVar
from uuid import UUID

from memoranda.model.memories import DaySpan
from memoranda.model.messages import ToolCall
from memoranda.model.records import Owner


class MessageFields(TypedDict, total=False):
    """The fields of one message beside role and content."""

    #: The speaker's name, if the role is not enough.
    speaker: str | None
    #: The agent that was spoken to.
    agent: str | None
    #: When it was said; without it, the time of receipt is used.
    observed_at: datetime | None
    #: operator, user, assistant, tool or web; without it, the role decides.
    trust: str | None
    #: The message in its framework's own form, as JSON values.
    native: Any
    #: Its tokens, as your model counts them; windows use it instead of an estimate.
    token_count: int | None
    #: ``rating`` from 1 to 5 and ``about``, as ``thread.feedback`` stores them.
    feedback: Mapping[str, int] | None
    #: As in OpenAI's chat API: the speaker, a message's tool calls, and the call that a tool
    #: answers.
    name: str | None
    tool_calls: Sequence[Mapping[str, Any]] | None
    tool_call_id: str | None


class MemoryFields(TypedDict, total=False):
    """The fields of one statement beside its content."""

    #: preference, fact, instruction, context, experience, note, commitment, or what
    #: ``limits.kinds`` allows; without it, fact.
    kind: str | None
    #: A name under which only one statement is active at a time.
    key: str | None
    #: Whom or what it is about; without it, the owner.
    subject: str | None
    #: one, many or recurring: how many statements of its sort can be true at a time.
    cardinality: str | None
    #: When it applies, and what to beware of.
    applies_when: str | None
    #: Anything else, as JSON values.
    data: Any
    tags: Sequence[str] | None
    #: The thread in which it was said.
    thread: UUID | str | None
    valid_from: datetime | None
    valid_to: datetime | None
    #: day, week, month, quarter, season, year or decade: how exactly each of the two was said.
    valid_from_granularity: str | None
    valid_to_granularity: str | None
    #: When it happened: "2023-05-07", "2023-05", "2023", "2026-10-12/2026-10-16", a date, or
    #: ``first``, ``after`` and ``granularity``.
    happened: str | date | DaySpan | Mapping[str, Any] | None
    #: From this moment on it is out of every read, and upkeep erases it; without it, what
    #: ``limits.kind_days`` says.
    expires_at: datetime | None
    #: When it was learnt; without it, now.
    observed_at: datetime | None
    #: The records from which it was made.
    sources: Sequence[UUID | str] | None
    #: operator, user, assistant, tool or web; without it, assistant where an agent writes, and else
    #: user.
    trust: str | None
    #: A pinned memory is never archived.
    pinned: bool | None
    #: The memories that it replaces.
    supersedes: Sequence[UUID | str] | None
    #: Your own id for it, which the book then takes wherever it takes an id; not in the form of a
    #: UUID.
    external_id: str | None


class ToolCallFields(TypedDict, total=False):
    """The fields of one tool call of an episode; ``tool`` is needed."""

    tool: str
    #: Any JSON value.
    inputs: Any
    #: Text, or any JSON value.
    output: Any
    #: Without it, True.
    success: bool
    called_at: datetime | None


class EpisodeFields(TypedDict, total=False):
    """The fields of an episode: ``goal`` or ``summary`` is needed, and ``outcome``, except where a
    thread is closed.
    """

    #: What was to be done.
    goal: str | None
    #: What was done, and what came of it.
    summary: str | None
    tool_calls: Sequence[ToolCallFields | ToolCall | Mapping[str, Any]] | None
    #: succeeded, failed or abandoned.
    outcome: str | None
    tags: Sequence[str] | None
    #: Without it, ``ended_at``.
    started_at: datetime | None
    #: Without it, now.
    ended_at: datetime | None
    thread: UUID | str | None
    sources: Sequence[UUID | str] | None
    trust: str | None
    #: Your own id for it, which the book then takes wherever it takes an id; not in the form of a
    #: UUID.
    external_id: str | None
    #: From this moment on it is out of every read, and upkeep erases it.
    expires_at: datetime | None


class ThreadFields(TypedDict, total=False):
    """The fields of a thread that may be set."""

    title: str
    #: created, running, paused, completed or failed.
    status: str
    #: Intermediate state of the work, as JSON values.
    state: Mapping[str, Any]
    result: Any
    tags: Sequence[str]


class AgentFields(TypedDict, total=False):
    """The fields of an agent beside its name."""

    model: str
    description: str
    system_prompt: str
    #: ``{"forming": {…}}`` says when the agent's threads are formed; ``{"sharing": {"default":
    #: …}}`` who reads them.
    settings: Mapping[str, Any]


class SchemaFields(TypedDict, total=False):
    """The fields of a schema beside its name."""

    description: str
    #: A JSON Schema, or a Pydantic class.
    parameters: Any
    #: patch (one document) or insert (ever new notes).
    update_mode: str
    instructions: str
    #: silence, close or request.
    trigger: str
    #: The agents whose conversations are formed into it; without it, all.
    agents: Sequence[str]


class KeyFields(TypedDict, total=False):
    """The fields of a key beside its name."""

    #: The secret's SHA-256, in 64 hexadecimal digits: the book never sees the secret.
    digest: str
    revoked_at: datetime | None

    roles: Sequence[str]
    #: The one owner that it opens; without it, every owner of the tenant.
    opens: Owner | None
    #: viewer, editor or admin.
    role: str | None
    #: The users, agents and groups that it may name; without them, all.
    owners: Sequence[str] | None
    agents: Sequence[str] | None
    groups: Sequence[str] | None
    #: The user whose own key it is.
    person: str | None
    #: True if it reads the service's metrics and health.
    metrics: bool
    expires_at: datetime | None


C = TypeVar("C")


def spelled_out(of: type[C]) -> type[C]:
    """Let ``help`` and completion show each field of a class's verbs by name, instead of one
    ``**fields``.
    """
    for verb in vars(of).values():
        if inspect.isfunction(verb) and (
            not verb.__name__.startswith("_") or verb.__name__ == "__call__"
        ):
            verb.__signature__ = _spelled(verb)  # type: ignore[attr-defined]
    return of


def _spelled(verb: Any) -> inspect.Signature:
    signature = inspect.signature(verb)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        named = str(parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD and named.startswith("Unpack["):
            fields = verb.__globals__[
                named.removeprefix("Unpack[").removesuffix("]")
            ].__annotations__
            parameters += [
                inspect.Parameter(
                    name, parameter.KEYWORD_ONLY, default=None, annotation=_written(of)
                )
                for name, of in fields.items()
                if name not in signature.parameters
            ]
        else:
            parameters.append(parameter)
    return signature.replace(parameters=parameters)


def _written(annotation: Any) -> str:
    return getattr(annotation, "__forward_arg__", str(annotation))
