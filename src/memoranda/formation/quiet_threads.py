"""Episodes of threads that nobody closed: a running thread that stays quiet for long gets the
record of what was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.door import Door
from memoranda.formation.close import episode_by_rules, wants_episode
from memoranda.formation.extract.summary import title_by_rules
from memoranda.formation.gather import ACTOR, Excerpt, ThreadReader, with_schema_due, writing_view
from memoranda.formation.privacy.withheld import NOT_KEPT, without_unwanted
from memoranda.formation.schemas.definitions import EPISODE
from memoranda.model.changes import MarkFormed, RecordEpisode
from memoranda.model.drafts import Formed, Reading
from memoranda.model.messages import (
    Episode,
    EpisodeDraft,
    Message,
    Outcome,
    PreparedEpisode,
    Thread,
    ThreadStatus,
    native_parts,
)
from memoranda.model.values import canonical, derived_id
from memoranda.text.similarity import terms_in, words_with_forms

#: A silence of this part of the hours after which a thread gets its episode may end a topic.
_SHORT: Final = 4
#: A turn that has this share of its words from the turns before speaks of the same.
_SAME: Final = 0.25
#: A turn of fewer words begins no topic; characters and earlier turns that are compared.
_LEAST_WORDS, _OPENING, _LOOKED_BACK = 3, 2_000, 24
#: The messages before the end of a thread that are shown although its summary covers them.
_LEAST: Final = 6


def is_unanswered(said: Sequence[Message]) -> bool:
    """True if the conversation breaks off: nobody answered the user's last turn, or a tool call has
    no result.
    """
    last = next((message for message in reversed(said) if message.role != "system"), None)
    if last is None or last.role != "assistant":
        return last is not None
    return any(not part.is_result for part in native_parts(last.native))


def after_summary(excerpt: Excerpt) -> Excerpt:
    """Return an excerpt without the messages that its thread's summary covers; at least its last
    few messages stay.
    """
    left = tuple(message for message in excerpt.new if message.seq > excerpt.thread.summary_through)
    return (
        replace(excerpt, new=left or excerpt.new[-_LEAST:]) if excerpt.thread.summary else excerpt
    )


def _is_new_topic(before: Sequence[Message], message: Message, hours: float) -> bool:
    """True if a user's turn after a silence speaks of something else than the turns before it."""
    silence = message.observed_at - before[-1].observed_at
    if message.role != "user" or silence < timedelta(hours=hours / _SHORT):
        return False
    if not any(one.role == "user" for one in before):
        return False
    if silence >= timedelta(hours=hours):
        return True
    words = words_with_forms(message.content[:_OPENING])
    told = frozenset[int]().union(
        *(terms_in(one.content[:_OPENING]) for one in before[-_LOOKED_BACK:])
    )
    shared = sum(not forms.isdisjoint(told) for _, forms in words)
    return len(words) >= _LEAST_WORDS and shared < len(words) * _SAME


def mark_of(reading: Reading, formed: Formed, after: int) -> MarkFormed:
    """Return the change that marks how far a thread is formed, with a title if it has none, and its
    prepared episode.
    """
    thread, draft, through = reading.thread, formed.episode, reading.new[-1].seq
    prepared = None
    if draft is not None and reading.prepares_episode:
        covered = after if thread.prepared is None else thread.prepared.after
        prepared = PreparedEpisode(**draft.model_dump(), after=covered, through=through)
    title = "" if thread.title else formed.title or title_by_rules(reading.new)
    return MarkFormed(thread.id, through, after, title, prepared)


def prepared_for(excerpt: Excerpt) -> EpisodeDraft | None:
    """Return the thread's prepared episode if it covers these messages and no others."""
    prepared = excerpt.thread.prepared
    if prepared is None or (prepared.after, prepared.through) != (
        excerpt.new[0].seq - 1,
        excerpt.new[-1].seq,
    ):
        return None
    return EpisodeDraft.model_validate(prepared.model_dump(exclude={"after", "through"}))


class QuietThreads:
    """Finds out what no episode covers yet, and records episodes without a model."""

    def __init__(self, door: Door, reader: ThreadReader) -> None:
        self._door = door
        self._reader = reader

    async def unreported(self, thread: Thread) -> Excerpt | None:
        """Return the messages of a running thread that no episode covers; None if no episode is due
        for them.
        """
        if thread.status is not ThreadStatus.RUNNING or not await wants_episode(
            self._reader, thread
        ):
            return None
        excerpt = await self._reader.excerpt(thread, 0)
        covered = _covered(excerpt.new, await self._reader.episodes(thread))
        left = tuple(message for message in excerpt.new if message.seq > covered)
        if not any(message.role == "user" for message in left):
            return None
        return replace(excerpt, context=(), new=left)

    async def topics(self, thread: Thread, hours: float) -> list[Excerpt]:
        """Return the messages of a running thread that no episode covers in parts of one topic
        each, oldest first.

        A new topic begins after a silence of so many hours, or of a quarter of them if the user
        then speaks of something else. Each part has a turn of the user.
        """
        excerpt = await self.unreported(thread)
        parts: list[list[Message]] = []
        for message in () if excerpt is None else excerpt.new:
            if not parts or _is_new_topic(parts[-1], message, hours):
                parts.append([])
            parts[-1].append(message)
        return [Excerpt(thread, new=tuple(part)) for part in parts]

    async def prepared_at_end(self, excerpt: Excerpt) -> EpisodeDraft | None:
        """Return a finished thread's prepared episode if it covers all messages that no other
        episode covers.
        """
        prepared = excerpt.thread.prepared
        if prepared is None or prepared.through != excerpt.new[-1].seq:
            return None
        if (
            prepared.after
            and _covered(excerpt.new, await self._reader.episodes(excerpt.thread)) < prepared.after
        ):
            return None
        draft = EpisodeDraft.model_validate(prepared.model_dump(exclude={"after", "through"}))
        failed = excerpt.thread.status is ThreadStatus.FAILED
        # Nobody had closed the thread yet when it was prepared.
        ended = Outcome.FAILED if failed else Outcome.SUCCEEDED
        return (
            draft.model_copy(update={"outcome": ended})
            if draft.outcome is Outcome.ABANDONED
            else draft
        )

    @staticmethod
    def begins_topic(excerpt: Excerpt, hours: float) -> bool:
        """True if an excerpt's new messages begin another topic than the turns before them."""
        told = hours and excerpt.context and excerpt.new
        return bool(told) and _is_new_topic(excerpt.context, excerpt.new[0], hours)

    async def preparing(self, reading: Reading) -> Reading:
        """Return what was read of a running thread, with its episode asked for if one is due when
        it stays quiet.
        """
        running = reading.thread.status is ThreadStatus.RUNNING
        if not running or not any(message.role == "user" for message in reading.new):
            return reading
        if not await wants_episode(self._reader, reading.thread):
            return reading
        return with_schema_due(reading, EPISODE.name).model_copy(update={"prepares_episode": True})

    async def report(self, excerpt: Excerpt, era: UUID | None) -> None:
        """Record an episode of these messages without a model: the first request, and if it was
        answered.
        """
        thread, said = excerpt.thread, without_unwanted(excerpt.new)
        place = [str(thread.id), said[-1].seq]
        episode = episode_by_rules(
            thread,
            said,
            derived_id(said[-1].recorded_at, canonical(["quiet", *place])),
            next((m.content for m in said if m.role == "user" and m.content != NOT_KEPT), NOT_KEPT),
            Outcome.ABANDONED if is_unanswered(said) else Outcome.SUCCEEDED,
        )
        if episode is None:
            return
        operation = f"quiet:{place[0]}:{place[1]}"
        await self._door.write(
            thread.owner,
            writing_view(thread),
            ACTOR,
            [RecordEpisode(episode, judged=True)],
            request=[operation],
            operation=operation,
            era=era,
        )


def _covered(said: Sequence[Message], episodes: Sequence[Episode]) -> int:
    """Return the place of the last message that an episode covers: one of its sources, or said
    before it was recorded.
    """
    sources = {source for episode in episodes for source in episode.sources}
    # An episode that an application recorded names no messages.
    made = max((episode.recorded_at for episode in episodes if not episode.sources), default=None)
    return max(
        (
            message.seq
            for message in said
            if message.id in sources or (made is not None and message.recorded_at <= made)
        ),
        default=0,
    )
