"""The end of a thread's formation: records the episode (the record of a finished run), and
summarises long threads.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from memoranda.door import Door
from memoranda.errors import NotFound, Stale
from memoranda.formation.extract.model_calls import ModelCalls, RunUsage
from memoranda.formation.extract.prompt import summary_shown
from memoranda.formation.extract.summary import oldest_within, summary_by_rules
from memoranda.formation.formation_settings import FormingSettings
from memoranda.formation.gather import ACTOR, Excerpt, ThreadReader, writing_view
from memoranda.formation.privacy.withheld import NOT_KEPT, without_unwanted
from memoranda.formation.reconcile.episode_trust import episode_trust
from memoranda.formation.schemas.definitions import EPISODE
from memoranda.model.changes import Change, Job, RecordEpisode, SetThread
from memoranda.model.messages import (
    Episode,
    Message,
    NativePart,
    Outcome,
    SummariseThread,
    Thread,
    ThreadStatus,
    ToolCall,
    native_parts,
    sort_of,
)
from memoranda.model.values import NAME_LENGTH, canonical, derived_id
from memoranda.secrets.masks import formed_data
from memoranda.text.fence import one_line
from memoranda.text.token_count import estimate

#: Keys under which frameworks store a tool's name, its inputs and its output.
_NAMES: Final = ("tool_name", "toolName", "name")
_INPUTS: Final = ("args", "arguments", "input")
_OUTPUTS: Final = ("content", "output", "result", "response")
_FAILED: Final = "retry-prompt"
_KNOWN: Final = tuple(ToolCall.model_fields)


@dataclass(frozen=True, slots=True)
class _Part:
    """A tool call or a tool result, as found in one part of a message."""

    id: str
    tool: str
    inputs: Any = None
    output: str | None = None
    success: bool = True


def tool_calls_of(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Return all tool calls in these messages with their results, in order."""
    made: dict[str, ToolCall] = {}
    for message in messages:
        parts = [_read_part(part, message) for part in native_parts(message.native)]
        if message.role == "tool" and not any(part.output is not None for part in parts):
            parts.append(_Part("", message.speaker or "tool", output=message.content))
        for part in parts:
            key = part.id or str(len(made))
            call = made.get(key)
            fields: dict[str, Any] = {"called_at": message.observed_at} if call is None else {}
            if part.output is not None:
                fields |= {"output": part.output, "success": part.success}
            if part.inputs is not None:
                fields["inputs"] = part.inputs
            made[key] = _call(part, call, fields)
    return tuple(made.values())


def _call(part: _Part, call: ToolCall | None, fields: dict[str, Any]) -> ToolCall:
    """Return the tool call with more fields; inputs that cannot be stored become text without
    unstorable characters.
    """
    given = (
        {"tool": part.tool[:NAME_LENGTH]} if call is None else {n: getattr(call, n) for n in _KNOWN}
    )
    for lenient in (
        fields,
        {**fields, "inputs": _json_text(fields.get("inputs"))},
        {"tool": "tool"},
    ):
        try:
            return ToolCall.model_validate({**given, **lenient})
        except ValidationError:
            continue
    return ToolCall(tool="tool")


def _json_text(inputs: Any) -> str | None:
    if inputs is None:
        return None
    try:
        text = json.dumps(inputs, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return None
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "\ufffd")
    )


def _read_part(given: NativePart, message: Message) -> _Part:
    form = given.form
    if given.is_result:
        content = _first(form, _OUTPUTS, message.content if message.role == "tool" else "")
        text = (
            content
            if isinstance(content, str)
            else json.dumps(content, ensure_ascii=False, default=str)
        )
        failed = bool(form.get("is_error")) or form.get("outcome") in ("failed", "denied")
        success = not failed and _FAILED not in sort_of(form)
        return _Part(given.id, _tool_name(form), output=text, success=success)
    inner = form.get("function")
    named = inner if isinstance(inner, dict) else form
    return _Part(given.id, _tool_name(named), inputs=_parsed_inputs(_first(named, _INPUTS, None)))


def _tool_name(form: Mapping[str, Any]) -> str:
    return next((str(form[name]) for name in _NAMES if form.get(name)), "tool")


def _first(form: Mapping[str, Any], names: Iterable[str], otherwise: Any) -> Any:
    return next((form[name] for name in names if name in form), otherwise)


def _parsed_inputs(given: Any) -> Any:
    """Return the inputs of a tool call; frameworks store them as an object or as JSON text."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


_GOAL: Final = 300
#: The most sources that an episode names.
_MOST_SOURCES: Final = 10_000
#: A summary leaves one part in so many of the window unsummarised, so the next one is not due soon.
_KEPT_PART: Final = 4

#: Returns the index where a window of so many tokens begins: never between a tool call and its
#: result.
WindowStart = Callable[[Sequence[Message], int], int]


async def wants_episode(reader: ThreadReader, thread: Thread) -> bool:
    """True if a thread gets an episode when it ends."""
    due = await reader.schemas(thread.agent, {"close"})
    return any(schema.due and schema.name == EPISODE.name for schema in due)


class Closer:
    """Records episodes of closed threads and summaries of long ones."""

    def __init__(
        self,
        door: Door,
        reader: ThreadReader,
        model_calls: ModelCalls | None,
        window_start: WindowStart,
    ) -> None:
        self._door = door
        self._reader = reader
        self._model_calls = model_calls
        self._window_start = window_start

    async def finish(
        self, job: Job, thread: Thread, settings: FormingSettings, usage: RunUsage
    ) -> None:
        """Record the episode and write the summary, if due, after all messages of a thread are
        formed.
        """
        if not await self.is_closed(thread):
            await self._close(thread, job.era)
        if settings.window_tokens:
            unsummarised = await self._reader.excerpt(thread, thread.summary_through)
            await self._summarise(
                job, unsummarised, settings.window_tokens, settings.prompt_tokens, usage
            )

    async def is_closed(self, thread: Thread) -> bool:
        """True if nothing is to be done for the thread's end: it is still open, or its end was
        already processed.
        """
        if not Excerpt(thread).closed:
            return True
        return await self._reader.was_applied(thread.owner, _close_operation(thread))

    async def _close(self, thread: Thread, era: UUID | None) -> None:
        """Record the episode of a finished thread if it has none, and mark the thread's end as
        processed.
        """
        episode = None
        if await wants_episode(self._reader, thread) and await self.needs_episode(thread):
            episode = _episode_at_end(await self._reader.excerpt(thread, 0))
        operation = _close_operation(thread)
        await self._door.write(
            thread.owner,
            writing_view(thread),
            ACTOR,
            [SetThread(thread.id, {})]
            if episode is None
            else [RecordEpisode(episode, judged=True)],
            request=[operation],
            operation=operation,
            era=era,
        )

    async def needs_episode(self, thread: Thread) -> bool:
        """True if no episode has been recorded since the thread ended."""
        ended = thread.ended_at
        episodes = await self._reader.episodes(thread)
        return not any(ended is None or episode.recorded_at >= ended for episode in episodes)

    async def completed(self, thread: Thread, change: Change, after: int = 0) -> Change:
        """Complete an episode that a change records with the messages after a place as its sources,
        and with tool calls.
        """
        if not isinstance(change, RecordEpisode):
            return change
        draft = change.episode
        excerpt = await self._reader.excerpt(thread, after)
        said = [message for message in excerpt.new if message.observed_at <= draft.ended_at]
        if not said:
            return change
        episode = draft.changed(
            trust=episode_trust(draft.goal, draft.summary, said),
            sources=tuple(message.id for message in said[:_MOST_SOURCES]),
            started_at=min(message.observed_at for message in said),
            tool_calls=draft.tool_calls or tool_calls_of(said),
        )
        return replace(change, episode=episode)

    async def summary_due(
        self, thread: Thread, shown: Sequence[Message], settings: FormingSettings
    ) -> int:
        """Return the number of the last message of a summary that these messages are enough for; 0
        if none is due.
        """
        if not settings.window_tokens:
            return 0
        excerpt = await self._reader.excerpt(thread, thread.summary_through)
        left, seen = self._left(excerpt, settings.window_tokens), {message.id for message in shown}
        whole = summary_shown(thread.summary, settings.prompt_tokens) == thread.summary
        if not left or not whole or not seen.issuperset(message.id for message in left):
            return 0
        # A summary of its own is made from messages without what the user asked not to keep.
        return 0 if without_unwanted(shown) != [*shown] else left[-1].seq

    def _left(self, excerpt: Excerpt, window: int) -> Sequence[Message]:
        """Return the older messages that are to be summarised; none if all without a summary fit
        into the window.
        """
        if sum(estimate(message.content) for message in excerpt.new) <= window:
            return ()
        return excerpt.new[: self._window_start(excerpt.new, max(window // _KEPT_PART, 1))]

    async def _summarise(
        self, job: Job, excerpt: Excerpt, window: int, budget: int, usage: RunUsage
    ) -> None:
        """Summarise older messages once those without a summary exceed ``window`` tokens; on
        failure the old summary stays.
        """
        thread = excerpt.thread
        left = self._left(excerpt, window)
        if not left:
            return
        left = tuple(oldest_within(left, budget))
        through, said = left[-1].seq, without_unwanted(left)
        if self._model_calls is not None:
            text, through = await self._model_calls.summary(
                job, thread, said, len(excerpt.new), usage
            )
        else:
            text = await asyncio.to_thread(summary_by_rules, thread.summary, said)
        text = formed_data(text, self._reader.secrets)
        if not text:
            return
        try:
            await self._door.write(
                thread.owner,
                writing_view(thread),
                ACTOR,
                [SummariseThread(thread.id, text, through, thread.summary_through)],
                request=["summary", str(thread.id)],
                era=job.era,
            )
        except (Stale, NotFound):
            # Another worker wrote a summary, or the thread is gone.
            return


def _close_operation(thread: Thread) -> str:
    """Return the id of the operation that closes a thread, one for each time it ends."""
    ended = "" if thread.ended_at is None else thread.ended_at.isoformat()
    return f"closed:{thread.id}:{ended}"


def _episode_at_end(excerpt: Excerpt) -> Episode | None:
    """Return the episode of a finished thread, made without a model: the first request, and how the
    thread ended.
    """
    thread, said = excerpt.thread, without_unwanted(excerpt.new)
    if not said or thread.ended_at is None:
        return None
    asked = next((m for m in said if m.role == "user" and m.content != NOT_KEPT), said[0])
    failed = thread.status is ThreadStatus.FAILED
    id = derived_id(thread.ended_at, canonical(["episode", str(thread.id)]))
    # A title that formation made is no request.
    goal = asked.content if thread.title_through else thread.title or asked.content
    outcome = Outcome.FAILED if failed else Outcome.SUCCEEDED
    return episode_by_rules(thread, said, id, goal, outcome, thread.summary)


def episode_by_rules(
    thread: Thread,
    said: Sequence[Message],
    id: UUID,
    goal: str,
    outcome: Outcome,
    summary: str = "",
) -> Episode | None:
    """Return an episode of these messages, made without a model; None if the goal has no text."""
    short = one_line(goal)[:_GOAL].strip()
    if not short:
        return None
    summary = summary or summary_by_rules("", said)
    return Episode(
        id=id,
        owner=thread.owner,
        audience=thread.audience,
        goal=short,
        summary=summary,
        tool_calls=tool_calls_of(said),
        outcome=outcome,
        tags=thread.tags,
        started_at=said[0].observed_at,
        ended_at=max(message.observed_at for message in said),
        thread=thread.id,
        agent=thread.agent,
        sources=tuple(message.id for message in said[:_MOST_SOURCES]),
        trust=episode_trust(goal, summary, said),
    )
