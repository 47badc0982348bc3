"""Finish a formed thread: record the episode of a closed one, and summarise a long one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from memoranda.door import Door
from memoranda.errors import NotFound, Stale
from memoranda.formation.calls import tool_calls_of
from memoranda.formation.gathering import Excerpt, ThreadReader
from memoranda.formation.oracle import ModelCalls, RunUsage
from memoranda.formation.schemas import EPISODE
from memoranda.formation.summary import oldest_within, summary_by_rules
from memoranda.formation.viewing import ACTOR, writing_view
from memoranda.formation.wishes import FormingSettings
from memoranda.model.changes import Change, RecordEpisode, SetThread, SummariseThread
from memoranda.model.episodes import Episode, Outcome
from memoranda.model.ids import derived_id
from memoranda.model.jobs import Job
from memoranda.model.messages import Message, Thread, ThreadStatus
from memoranda.model.trust import Trust, lowest
from memoranda.model.values import canonical
from memoranda.text.fence import one_line
from memoranda.text.tokens import estimate

_GOAL: Final = 300
#: The most sources that an episode names.
_MOST_SOURCES: Final = 10_000
#: A summary leaves one part in so many of the window unsummarised, so the next one is not due soon.
_KEPT_PART: Final = 4

#: Returns the index where a window of so many tokens begins: never between a tool call and its result.
WindowStart = Callable[[Sequence[Message], int], int]


class Closer:
    """Records episodes of closed threads and summaries of long ones."""

    def __init__(
        self, door: Door, reader: ThreadReader, model_calls: ModelCalls | None, window_start: WindowStart
    ) -> None:
        self._door = door
        self._reader = reader
        self._model_calls = model_calls
        self._window_start = window_start

    async def finish(self, job: Job, thread: Thread, settings: FormingSettings, usage: RunUsage) -> None:
        """Do what is due once all messages of a thread are formed."""
        if not await self.is_closed(thread):
            await self._close(thread, job.era)
        if settings.window_tokens:
            unsummarised = await self._reader.excerpt(thread, thread.summary_through)
            await self._summarise(job, unsummarised, settings.window_tokens, settings.prompt_tokens, usage)

    async def is_closed(self, thread: Thread) -> bool:
        """True if the thread is open, or was closed before; an episode forgotten since then is not made again."""
        if not Excerpt(thread).closed:
            return True
        return await self._reader.was_applied(thread.owner, _close_operation(thread))

    async def _close(self, thread: Thread, era: UUID | None) -> None:
        """Record the episode of a finished thread that has none, and store that this was done."""
        due = await self._reader.schemas(thread.agent, {"close"})
        wanted = any(schema.due and schema.name == EPISODE.name for schema in due)
        episode = None
        if wanted and await self.needs_episode(thread):
            episode = _episode_without_model(await self._reader.excerpt(thread, 0))
        operation = _close_operation(thread)
        await self._door.write(
            thread.owner,
            writing_view(thread),
            ACTOR,
            [SetThread(thread.id, {})] if episode is None else [RecordEpisode(episode)],
            request=[operation],
            operation=operation,
            era=era,
        )

    async def needs_episode(self, thread: Thread) -> bool:
        """True if no episode has been recorded since the thread ended."""
        ended = thread.ended_at
        episodes = await self._reader.episodes(thread)
        return not any(ended is None or episode.recorded_at >= ended for episode in episodes)

    async def with_tool_calls(self, thread: Thread, change: Change) -> Change:
        """Return a change that records an episode with the thread's tool calls added; other changes unchanged."""
        if not isinstance(change, RecordEpisode) or change.episode.tool_calls:
            return change
        excerpt = await self._reader.excerpt(thread, 0)
        calls = tool_calls_of(
            message for message in excerpt.new if message.observed_at <= change.episode.ended_at
        )
        return RecordEpisode(change.episode.changed(tool_calls=calls)) if calls else change

    async def _summarise(self, job: Job, excerpt: Excerpt, window: int, budget: int, usage: RunUsage) -> None:
        """Summarise the messages that have left the window; if that fails, the old summary stays."""
        thread = excerpt.thread
        if sum(estimate(message.content) for message in excerpt.new) <= window:
            return
        left = excerpt.new[: self._window_start(excerpt.new, max(window // _KEPT_PART, 1))]
        if not left:
            return
        left = tuple(oldest_within(left, budget))
        through = left[-1].seq
        if self._model_calls is not None:
            text, through = await self._model_calls.summary(job, thread, left, len(excerpt.new), usage)
        else:
            text = await asyncio.to_thread(summary_by_rules, thread.summary, left)
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


def _episode_without_model(excerpt: Excerpt) -> Episode | None:
    """Return an episode made without a model: the first request, and how the thread ended."""
    thread, said = excerpt.thread, excerpt.new
    if not said or thread.ended_at is None:
        return None
    asked = next((m for m in said if m.role == "user"), said[0])
    goal = one_line(thread.title or asked.content)[:_GOAL].strip()
    if not goal:
        return None
    failed = thread.status is ThreadStatus.FAILED
    return Episode(
        id=derived_id(thread.ended_at, canonical(["episode", str(thread.id)])),
        owner=thread.owner,
        audience=thread.audience,
        goal=goal,
        summary=thread.summary or summary_by_rules("", said),
        tool_calls=tool_calls_of(said),
        outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
        tags=thread.tags,
        started_at=said[0].observed_at,
        ended_at=max(message.observed_at for message in said),
        thread=thread.id,
        agent=thread.agent,
        sources=tuple(message.id for message in said[:_MOST_SOURCES]),
        trust=lowest([Trust.ASSISTANT, *(message.trust for message in said)]),
    )
