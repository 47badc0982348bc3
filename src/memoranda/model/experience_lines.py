"""Experience: single lessons (lines) that an agent learnt from several users, with evidence, and
their changes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, ClassVar, Final, Literal, Self
from uuid import UUID

from pydantic import model_validator

from memoranda.first_use import dataclass
from memoranda.model.records import Owner, OwnerKind, Record, RecordType, past_of
from memoranda.model.values import FilledText, Moment, Text, Value

ExperienceField = Literal[
    "procedural_knowledge",
    "common_scenarios",
    "effective_strategies",
    "known_pitfalls",
    "tool_patterns",
    "heuristics",
    "user_feedback",
    "improvement_areas",
]


#: So many users are evidence enough; more would make a line long, and no truer. One more is kept
#: where the line passed the guard for all of them and not for that one: then it serves others no
#: longer.
MOST_USERS: Final = 100
#: So many of one user's records are evidence enough.
MOST_SOURCES: Final = 20


class Evidence(Value):
    """The evidence of one user for a line of experience: the records from which it was learnt."""

    owner: Owner
    sources: tuple[UUID, ...] = ()
    #: When the privacy check passed for this user; None if it did not.
    guarded_at: Moment | None = None
    #: Sources that proved faulty: they count for nothing, unless they are trusted again.
    faulty: tuple[UUID, ...] = ()

    @model_validator(mode="after")
    def _grounded(self) -> Self:
        if not self.sources and not self.faulty:
            raise ValueError("evidence needs at least one record")
        return self

    @property
    def records(self) -> tuple[UUID, ...]:
        """All records of this evidence, faulty or not."""
        return (*self.sources, *self.faulty)

    def without(self, gone: Container[UUID]) -> Self | None:
        """Return the evidence without erased records; None if no record is left."""
        sources = tuple(id for id in self.sources if id not in gone)
        faulty = tuple(id for id in self.faulty if id not in gone)
        return (
            self.model_copy(update={"sources": sources, "faulty": faulty})
            if sources or faulty
            else None
        )


class ExperienceLine(Record):
    """One lesson that an agent learnt from its work for users: a line of its experience."""

    type: ClassVar[RecordType] = RecordType.EXPERIENCE

    field: ExperienceField
    line: FilledText
    evidence: tuple[Evidence, ...] = ()
    #: What only earlier versions rested on.
    past: tuple[UUID, ...] = ()
    observed_at: Moment
    #: When it was retired, and why; None while it serves.
    retired_at: Moment | None = None
    reason: Text = ""
    #: When somebody who may speak for all users read it and let it serve them; None where nobody
    #: did.
    approved_at: Moment | None = None

    def identity(self) -> tuple[Any, ...] | None:
        """Return the field and the line without regard to case and spaces; a retired line keeps
        its own, so that nobody adds it again.
        """
        return (self.field, " ".join(self.line.casefold().split()))

    def rests_on(self) -> tuple[UUID, ...]:
        return (*self.stands_on(), *self.past)

    def stands_on(self) -> tuple[UUID, ...]:
        """Return the source records of all its evidence, in the order of the evidence."""
        return tuple(source for evidence in self.evidence for source in evidence.records)

    def following(self, earlier: Record) -> Any:
        return self.changed(past=past_of(self, earlier))

    def shown_to(self, user: Owner) -> ExperienceLine:
        """Return this line with the evidence of one user only."""
        own = tuple(part for part in self.evidence if part.owner == user)
        shown: ExperienceLine = self.changed(evidence=own, past=())
        return shown

    def without(self, gone: Container[UUID]) -> ExperienceLine | None:
        """Return this line without erased records and earlier versions; None if the line must be
        erased as well.
        """
        evidence = tuple(part for each in self.evidence if (part := each.without(gone)) is not None)
        if evidence != self.evidence and not self.outlives(evidence):
            return None
        left: ExperienceLine = self.changed(evidence=evidence, past=())
        return left

    def part_of(self, owner: Owner) -> Evidence | None:
        """Return the evidence of this owner, or None."""
        return next((part for part in self.evidence if part.owner == owner), None)

    def outlives(self, left: Iterable[Evidence]) -> bool:
        """True if the line may stay with this evidence: it must reveal nothing about users whose
        evidence is gone.
        """
        staying = {part.owner for part in left}
        told = any(part.guarded_at is None for part in self.evidence if part.owner not in staying)
        return bool(staying) and (self.approved_at is not None or not told)

    @property
    def users(self) -> int:
        """The number of users with valid evidence for this line."""
        return sum(
            part.owner.kind is OwnerKind.USER and bool(part.sources) for part in self.evidence
        )

    @property
    def guarded(self) -> bool:
        """True if the line passed the privacy check for every user in its evidence."""
        return bool(self.evidence) and all(part.guarded_at is not None for part in self.evidence)

    @property
    def waits(self) -> bool:
        """True if it serves nobody until an admin approves it: no record of a user is evidence for
        it.
        """
        return not self.evidence and self.approved_at is None and self.retired_at is None


def serves(line: ExperienceLine, owner: Owner, users: int = 3) -> bool:
    """True if a line may be shown to an agent that works for this owner.

    It serves those from whom it stems; others only when it was approved, or passed the guard for
    each of at least so many users. Nothing of this is stored: with a user's evidence goes what it
    gave to others.
    """
    if line.retired_at is not None or line.withdrawn:
        return False
    own = line.part_of(owner)
    if line.approved_at is not None or (own is not None and own.sources):
        return True
    return line.guarded and line.users >= users


@dataclass(frozen=True, slots=True)
class AddExperience:
    """Add a line to an agent's experience."""

    line: ExperienceLine


@dataclass(frozen=True, slots=True)
class AddEvidence:
    """Add a user's records to the evidence of a line of experience, with the result of the privacy
    check.
    """

    line: UUID
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class DoubtEvidence:
    """Mark some of a user's records as faulty evidence of a line of experience, or as valid
    again.
    """

    line: UUID
    owner: Owner
    records: tuple[UUID, ...]
    faulty: bool = True


@dataclass(frozen=True, slots=True)
class ApproveExperience:
    """Approve a line of experience for every user, or withdraw the approval."""

    line: UUID
    approved: bool = True


@dataclass(frozen=True, slots=True)
class RetireExperience:
    """Retire a line of experience, so that it is no longer shown to agents."""

    line: UUID
    reason: str = ""


ExperienceChange = (
    AddExperience | AddEvidence | DoubtEvidence | ApproveExperience | RetireExperience
)
