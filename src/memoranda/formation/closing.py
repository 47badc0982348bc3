"""Closing: what is done once a thread's messages are formed: its episode where it is finished, its summary where it is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from memoranda.door import Door
from memoranda.errors import NotFound, Stale
from memoranda.formation.calls import calls_of
from memoranda.formation.gathering import Gatherer, Talk
from memoranda.formation.oracle import Oracle, Spending
from memoranda.formation.schemas import EPISODE
from memoranda.formation.summary import extracted, fitting
from memoranda.formation.viewing import ACTOR, view_of
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
#: As many messages as a record may rest on.
_GROUNDS: Final = 10_000
#: Once a whole window is not summed up, all of it is but for this part: so it need not be done again soon.
_STAYS: Final = 4

#: The first message of a window of so many tokens, given a whole thread: never between a tool's call and its result.
Windowed = Callable[[Sequence[Message], int], int]


class Closer:
    """Finishes threads."""

    def __init__(self, door: Door, gatherer: Gatherer, oracle: Oracle | None, windowed: Windowed) -> None:
        self._door = door
        self._gatherer = gatherer
        self._oracle = oracle
        self._windowed = windowed

    async def finish(self, job: Job, thread: Thread, settings: FormingSettings, spending: Spending) -> None:
        """What is due once everything that was said is formed."""
        if not await self.is_closed_off(thread):
            await self._close_off(thread, job.era)
        if settings.window_tokens:
            untold = await self._gatherer.talk(thread, thread.summary_through)
            await self._sum_up(job, untold, settings.window_tokens, settings.prompt_tokens, spending)

    async def is_closed_off(self, thread: Thread) -> bool:
        """Whether there is nothing to be closed, or it was closed off: what was forgotten since is not made again."""
        if not Talk(thread).closed:
            return True
        return await self._gatherer.was_done(thread.owner, _closing_of(thread))

    async def _close_off(self, thread: Thread, era: UUID | None) -> None:
        """Record a finished thread where nobody has, and note that this is done."""
        due = await self._gatherer.schemas(thread.agent, {"close"})
        wanted = any(schema.due and schema.name == EPISODE.name for schema in due)
        episode = None
        if wanted and await self.lacks_episode(thread):
            episode = _recorded(await self._gatherer.talk(thread, 0))
        operation = _closing_of(thread)
        await self._door.write(
            thread.owner,
            view_of(thread),
            ACTOR,
            [SetThread(thread.id, {})] if episode is None else [RecordEpisode(episode)],
            request=[operation],
            operation=operation,
            era=era,
        )

    async def lacks_episode(self, thread: Thread) -> bool:
        """Whether no episode records how a finished thread ended."""
        ended = thread.ended_at
        episodes = await self._gatherer.episodes(thread)
        return not any(ended is None or episode.recorded_at >= ended for episode in episodes)

    async def with_calls(self, thread: Thread, change: Change) -> Change:
        """An episode with the tool calls of its thread, which no model needs to tell; any other change as it is."""
        if not isinstance(change, RecordEpisode) or change.episode.tool_calls:
            return change
        talk = await self._gatherer.talk(thread, 0)
        calls = calls_of(message for message in talk.new if message.observed_at <= change.episode.ended_at)
        return RecordEpisode(change.episode.changed(tool_calls=calls)) if calls else change

    async def _sum_up(self, job: Job, talk: Talk, window: int, budget: int, spending: Spending) -> None:
        """Tell what has left the window; what was told before stays where that fails."""
        thread = talk.thread
        if sum(estimate(message.content) for message in talk.new) <= window:
            return
        left = talk.new[: self._windowed(talk.new, max(window // _STAYS, 1))]
        if not left:
            return
        left = tuple(fitting(left, budget))
        through = left[-1].seq
        if self._oracle is not None:
            text, through = await self._oracle.summary(job, thread, left, len(talk.new), spending)
        else:
            text = await asyncio.to_thread(extracted, thread.summary, left)
        if not text:
            return
        try:
            await self._door.write(
                thread.owner,
                view_of(thread),
                ACTOR,
                [SummariseThread(thread.id, text, through, thread.summary_through)],
                request=["summary", str(thread.id)],
                era=job.era,
            )
        except (Stale, NotFound):
            # Somebody else summed it up, or it is gone.
            return


def _closing_of(thread: Thread) -> str:
    """The operation by which a thread is closed off, once for each of its ends."""
    ended = "" if thread.ended_at is None else thread.ended_at.isoformat()
    return f"closed:{thread.id}:{ended}"


def _recorded(talk: Talk) -> Episode | None:
    """The record of a thread of which no model tells: what was asked first, and how it ended."""
    thread, said = talk.thread, talk.new
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
        summary=thread.summary or extracted("", said),
        tool_calls=calls_of(said),
        outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
        tags=thread.tags,
        started_at=said[0].observed_at,
        ended_at=max(message.observed_at for message in said),
        thread=thread.id,
        agent=thread.agent,
        sources=tuple(message.id for message in said[:_GROUNDS]),
        trust=lowest([Trust.ASSISTANT, *(message.trust for message in said)]),
    )
