"""Compares what was extracted from a conversation with the current records, and finds the changes to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from memoranda.errors import InvalidInput, LimitReached
from memoranda.formation.extract.retold import judged_summary
from memoranda.formation.reconcile.merge import Merger
from memoranda.formation.reconcile.profile_edits import ProfileEditor
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
from memoranda.model.drafts import DroppedPart, Formed, Lesson, Reading
from memoranda.model.experience_lines import Evidence, ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Limits, Owner, OwnerKind
from memoranda.model.values import canonical, derived_id
from memoranda.text.similarity import same_statement


@dataclass(frozen=True, slots=True)
class CurrentRecords:
    """The current records; they may have changed since they were read for the model."""

    #: Memories that may be repeated or replaced: candidates, those with the same keys, and their successors.
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
        merger = Merger(self._reading, self._current.memories, self._limits, self._dropped.append, self._id)
        changes = merger.changes(formed.notes, formed.confirmations, formed.taken_back, run)
        editor = ProfileEditor(self._reading, self._current.profiles, self._dropped.append, self._id)
        for place, one in enumerate(formed.patches):
            changes += editor.changes(f"patches[{place}]", one)
        changes += self._episode(formed)
        lines = self._lessons(formed.experience)
        return Reconciled(tuple(changes), tuple(lines), tuple(self._dropped), self._versions(changes))

    def _id(self, part: str, place: int) -> UUID:
        """Return an id that does not depend on content: processing a part of a thread again gives the same id."""
        said = [str(read.message.id) for read in self._reading.messages[-1:]]
        return derived_id(self._reading.now, canonical([str(self._thread.id), said, part, place]))

    def _episode(self, formed: Formed) -> list[Change]:
        draft, said = formed.episode, self._reading.new
        id = self._id("episode", 0)
        if draft is None or not said or id in {episode.id for episode in self._current.episodes}:
            return []
        summary, trust = judged_summary(draft.goal, draft.summary, said)
        episode = Episode(
            id=id,
            recorded_at=self._reading.now,
            owner=self._thread.owner,
            audience=self._thread.audience,
            goal=draft.goal,
            summary=summary,
            outcome=draft.outcome,
            tags=draft.tags,
            started_at=min(message.observed_at for message in said),
            ended_at=max(message.observed_at for message in said),
            thread=self._thread.id,
            agent=self._thread.agent,
            sources=tuple(message.id for message in said),
            trust=trust,
        )
        return [RecordEpisode(episode, judged=True)]

    def _lessons(self, lessons: tuple[Lesson, ...]) -> list[AddExperience | AddEvidence]:
        """Return for each lesson a new line, or this owner's evidence for a line that the agent already has."""
        if self._thread.agent is None:
            for place, _ in enumerate(lessons):
                self._left_out(
                    f"experience[{place}]", "agent", "the conversation has no agent, so nobody can learn it"
                )
            return []
        agent = Owner(tenant=self._thread.owner.tenant, kind=OwnerKind.AGENT, id=self._thread.agent)
        # Active lines before retired ones, and lines with this owner's evidence before others.
        known = sorted(
            self._current.experience,
            key=lambda line: (
                line.retired_at is not None,
                line.part_of(self._thread.owner) is None,
                line.id.int,
            ),
        )
        made: dict[UUID, ExperienceLine] = {}
        added: dict[UUID, tuple[UUID, ...]] = {}
        for place, lesson in enumerate(lessons):
            found = _same_line(lesson, [*known, *made.values()])
            if found is None:
                line = self._line(agent, place, lesson)
                made[line.id] = line
            elif found.retired_at is not None:
                self._left_out(
                    f"experience[{place}]", "retired", "the agent has the same line, and it was retired"
                )
            elif found.id in made:
                (part,) = found.evidence
                both = tuple(dict.fromkeys((*part.sources, *lesson.sources)))
                wider = part.model_copy(update={"sources": both})
                made[found.id] = found.changed(evidence=(wider,))
            else:
                added[found.id] = (*added.get(found.id, ()), *self._new_sources(found, lesson))
        evidence = {id: tuple(dict.fromkeys(sources)) for id, sources in added.items() if sources}
        return [
            *map(AddExperience, made.values()),
            *(
                AddEvidence(id, Evidence(owner=self._thread.owner, sources=sources))
                for id, sources in evidence.items()
            ),
        ]

    def _line(self, agent: Owner, place: int, lesson: Lesson) -> ExperienceLine:
        return ExperienceLine(
            id=self._id("line", place),
            recorded_at=self._reading.now,
            owner=agent,
            field=lesson.field,
            line=lesson.line,
            evidence=(Evidence(owner=self._thread.owner, sources=lesson.sources),),
            observed_at=max(read.observed_at for read in self._reading.new if read.id in lesson.sources),
        )

    def _new_sources(self, line: ExperienceLine, lesson: Lesson) -> tuple[UUID, ...]:
        """Return the sources of a lesson that are not yet evidence of the line."""
        part = line.part_of(self._thread.owner)
        return tuple(id for id in lesson.sources if part is None or id not in part.records)

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
        return MappingProxyType({one.id: one.version for one in records if one.id in touched})

    def _left_out(self, at: str, code: str, reason: str) -> None:
        self._dropped.append(DroppedPart(part=at, code=code, reason=reason))


def _same_line(lesson: Lesson, lines: Iterable[ExperienceLine]) -> ExperienceLine | None:
    return next(
        (line for line in lines if line.field == lesson.field and same_statement(line.line, lesson.line)),
        None,
    )


def refused_change(changes: list[Change], exc: InvalidInput) -> int | None:
    """Return the index of the change to leave out; the last statement if there are too many in all."""
    if exc.item is not None and exc.item < len(changes) and not isinstance(changes[exc.item], MarkFormed):
        return exc.item
    if not isinstance(exc, LimitReached):
        return None
    return max((place for place, one in enumerate(changes) if isinstance(one, Remember)), default=None)
