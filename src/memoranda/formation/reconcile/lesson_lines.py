"""Turns an agent's lessons into new lines of experience, or into evidence for lines that say the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

from memoranda.model.changes import AddEvidence, AddExperience
from memoranda.model.drafts import DroppedPart, Lesson, Reading
from memoranda.model.experience_lines import Evidence, ExperienceLine, serves
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Owner, OwnerKind
from memoranda.text.similarity import coverage, same_statement

#: The most lines of experience that are read for a prompt; it shows as many as fit.
_MOST: Final = 1_000
#: The most lines that do not serve the user yet, shown because the conversation may confirm them.
_LIKELY: Final = 12


def lines_to_show(
    learnt: Iterable[ExperienceLine], owner: Owner, users: int, said: Iterable[Message]
) -> tuple[ExperienceLine, ...]:
    """Return the lines that serve a user; then those, not yet serving, that the messages may
    confirm, the likeliest first.

    A line that does not serve yet has passed the guard for all whom it stems from, and is shown
    without their evidence.
    """
    known = list(learnt)
    serving = [line for line in known if serves(line, owner, users)][:_MOST]
    ids = {line.id for line in serving}
    text = "\n".join(message.content for message in said if message.trust not in STRANGERS)
    shares = {
        line.id: coverage(line.line, text)
        for line in known
        if line.id not in ids and _is_waiting(line)
    }
    likely = [line for line in known if shares.get(line.id)]
    likely.sort(key=lambda line: (-shares[line.id], line.id.int))
    return (*serving, *(line.shown_to(owner) for line in likely[:_LIKELY]))


def _is_waiting(line: ExperienceLine) -> bool:
    """True if a line may be shown to an extractor for other users before it serves them."""
    return line.guarded and line.retired_at is None and not line.withdrawn


class LessonWriter:
    """Writes the lessons of one conversation, whose owner becomes evidence of each."""

    def __init__(
        self,
        reading: Reading,
        known: Iterable[ExperienceLine],
        report: Callable[[DroppedPart], None],
        id_of: Callable[[str, int], UUID],
    ) -> None:
        self._reading = reading
        self._owner = reading.thread.owner
        # Active lines before retired ones, and lines with this owner's evidence before others.
        self._known = sorted(
            known,
            key=lambda line: (
                line.retired_at is not None,
                line.part_of(self._owner) is None,
                line.id.int,
            ),
        )
        self._report = report
        self._id_of = id_of

    def changes(self, lessons: tuple[Lesson, ...]) -> list[AddExperience | AddEvidence]:
        """Return for each lesson a new line, or this owner's evidence for a line that the agent
        already has.
        """
        name = self._reading.thread.agent
        if name is None:
            for place, _ in enumerate(lessons):
                self._left_out(
                    place, "agent", "the conversation has no agent, so nobody can learn it"
                )
            return []
        agent = Owner(tenant=self._owner.tenant, kind=OwnerKind.AGENT, id=name)
        made: dict[UUID, ExperienceLine] = {}
        added: dict[UUID, tuple[UUID, ...]] = {}
        for place, lesson in enumerate(lessons):
            found = self._same_line(lesson, made.values())
            if found is None:
                line = self._line(agent, place, lesson)
                made[line.id] = line
            elif found.retired_at is not None:
                self._left_out(place, "retired", "the agent has the same line, and it was retired")
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
                AddEvidence(id, Evidence(owner=self._owner, sources=each))
                for id, each in evidence.items()
            ),
        ]

    def _same_line(self, lesson: Lesson, made: Iterable[ExperienceLine]) -> ExperienceLine | None:
        """Return the line that says the same: the one that the lesson names, or one in the same
        words.
        """
        lines = [*self._known, *made]
        sayings: tuple[Callable[[ExperienceLine], bool], ...] = (
            lambda line: line.id == lesson.repeats and self._may_join(line),
            lambda line: line.field == lesson.field and same_statement(line.line, lesson.line),
            lambda line: same_statement(line.line, lesson.line),
        )
        return next((line for says in sayings for line in lines if says(line)), None)

    def _may_join(self, line: ExperienceLine) -> bool:
        """True if this owner may read a line with other words than the lesson's: it tells nothing
        of those it is from.
        """
        return line.guarded or line.approved_at is not None or line.part_of(self._owner) is not None

    def _line(self, agent: Owner, place: int, lesson: Lesson) -> ExperienceLine:
        return ExperienceLine(
            id=self._id_of("line", place),
            recorded_at=self._reading.now,
            owner=agent,
            field=lesson.field,
            line=lesson.line,
            evidence=(Evidence(owner=self._owner, sources=lesson.sources),),
            observed_at=max(
                read.observed_at for read in self._reading.new if read.id in lesson.sources
            ),
        )

    def _new_sources(self, line: ExperienceLine, lesson: Lesson) -> tuple[UUID, ...]:
        """Return the sources of a lesson that are not yet evidence of the line."""
        part = line.part_of(self._owner)
        return tuple(id for id in lesson.sources if part is None or id not in part.records)

    def _left_out(self, place: int, code: str, reason: str) -> None:
        self._report(DroppedPart(part=f"experience[{place}]", code=code, reason=reason))
