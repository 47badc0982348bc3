"""Changes to agents' experience and to its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memoranda.model.experience import Evidence, ExperienceLine
from memoranda.model.owner import Owner


@dataclass(frozen=True, slots=True)
class AddExperience:
    """Add a line to an agent's experience."""

    line: ExperienceLine


@dataclass(frozen=True, slots=True)
class AddEvidence:
    """Say that a line of experience was learnt from a user's records, too, and what the guard says of it."""

    line: UUID
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class DoubtEvidence:
    """Let some of a user's records count as evidence no more, or again."""

    line: UUID
    owner: Owner
    records: tuple[UUID, ...]
    faulty: bool = True


@dataclass(frozen=True, slots=True)
class ApproveExperience:
    """Let a line of experience serve every user, or take that back."""

    line: UUID
    approved: bool = True


@dataclass(frozen=True, slots=True)
class RetireExperience:
    """Take a line of experience out of service."""

    line: UUID
    reason: str = ""
