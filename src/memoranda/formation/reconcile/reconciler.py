"""Compares what was extracted from a conversation with the current records, and finds the changes
to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from memoranda.errors import InvalidInput, LimitReached
from memoranda.formation.reconcile.episode_trust import episode_trust
from memoranda.formation.reconcile.lesson_lines import LessonWriter
from memoranda.formation.reconcile.merge import Merger
from memoranda.formation.reconcile.profile_edits import ProfileEditor
from memoranda.formation.schemas.bound_fields import UNSTORED
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    Change,
    Confirm,
    MarkFormed,
    PatchProfile,
    RecordEpisode,
    Remember,
    Retract,
    Supersede,
)
from memoranda.model.drafts import DroppedPart, Formed, Reading
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Limits
from memoranda.model.values import canonical, derived_id


@dataclass(frozen=True, slots=True)
class CurrentRecords:
    """The current records; they may have changed since they were read for the model."""

    #: Memories that may be repeated or replaced: candidates, those with the same keys, and their
    #: successors.
    memories: tuple[Memory, ...] = ()
    profiles: tuple[ProfileDocument, ...] = ()
    #: All lines of the agent, from all users, including retired ones.
    experience: tuple[ExperienceLine, ...] = ()
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The changes to write; empty if nothing is new."""

    #: To the records of the thread's owner.
    changes: tuple[Change, ...] = ()
    #: To the records of the agent, who is another owner; so they are another batch.
    experience: tuple[AddExperience | AddEvidence, ...] = ()
    left_out: tuple[DroppedPart, ...] = ()
    #: The records that the changes depend on, with the versions that were read.
    versions: Mapping[UUID, int] = field(default_factory=lambda: MappingProxyType({}))


def reconcile(
    formed: Formed,
    reading: Reading,
    current: CurrentRecords,
    *,
    limits: Limits = Limits(),  # noqa: B008
    run: str | None = None,
) -> Reconciled:
    """Return the changes that add the extracted results to the current records; deterministic.

    Results that are already stored produce no change.
    """
    return _Reconciler(reading, current, limits).reconcile(formed, run)


class _Reconciler:
    def __init__(self, reading: Reading, current: CurrentRecords, limits: Limits) -> None:
        self._reading = reading
        self._thread = reading.thread
        self._current = current
        self._limits = limits
        self._dropped: list[DroppedPart] = []

    def reconcile(self, formed: Formed, run: str | None) -> Reconciled:
        merger = Merger(
            self._reading, self._current.memories, self._limits, self._dropped.append, self._id
        )
        changes = merger.changes(formed.notes, formed.confirmations, formed.taken_back, run)
        editor = ProfileEditor(
            self._reading, self._current.profiles, self._dropped.append, self._id
        )
        for place, one in enumerate(formed.patches):
            changes += editor.changes(f"patches[{place}]", one)
        changes += self._episode(formed)
        lines = LessonWriter(
            self._reading, self._current.experience, self._dropped.append, self._id
        ).changes(formed.experience)
        left_out = (*formed.left_out, *self._dropped)
        return Reconciled(tuple(changes), tuple(lines), left_out, self._versions(changes))

    def _id(self, part: str, place: int) -> UUID:
        """Return an id that does not depend on content: processing a part of a thread again gives
        the same id.
        """
        said = [str(read.message.id) for read in self._reading.messages[-1:]]
        return derived_id(self._reading.now, canonical([str(self._thread.id), said, part, place]))

    def _episode(self, formed: Formed) -> list[Change]:
        draft, said = formed.episode, self._reading.new
        id = self._id("episode", 0)
        if draft is None or not said or id in {episode.id for episode in self._current.episodes}:
            return []
        episode = Episode(
            id=id,
            recorded_at=self._reading.now,
            owner=self._thread.owner,
            audience=self._thread.audience,
            goal=draft.goal,
            summary=draft.summary,
            outcome=draft.outcome,
            tags=draft.tags,
            started_at=min(message.observed_at for message in said),
            ended_at=max(message.observed_at for message in said),
            thread=self._thread.id,
            agent=self._thread.agent,
            sources=tuple(message.id for message in said),
            trust=episode_trust(draft.goal, draft.summary, said),
        )
        return [RecordEpisode(episode, judged=True)]

    def _versions(self, changes: list[Change]) -> Mapping[UUID, int]:
        touched: set[UUID] = set()
        for change in changes:
            match change:
                case Confirm() | Retract():
                    touched.add(change.memory)
                case Supersede():
                    touched.update((change.loser, change.winner))
                case Remember():
                    touched.update(change.memory.supersedes)
                case PatchProfile():
                    touched.add(change.id)
        records = (*self._current.memories, *self._current.profiles)
        return MappingProxyType(
            {
                one.id: one.version
                for one in records
                if one.id in touched and one.version != UNSTORED
            }
        )


def refused_change(changes: list[Change], exc: InvalidInput) -> int | None:
    """Return the index of the change to leave out; the last statement if there are too many in
    all.
    """
    if (
        exc.item is not None
        and exc.item < len(changes)
        and not isinstance(changes[exc.item], MarkFormed)
    ):
        return exc.item
    if not isinstance(exc, LimitReached):
        return None
    return max(
        (place for place, one in enumerate(changes) if isinstance(one, Remember)), default=None
    )
