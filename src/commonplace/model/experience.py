"""Experience: what an agent has learnt across users, line by line, each line with its evidence."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from commonplace.model.owner import Owner
from commonplace.model.records import Record, RecordType
from commonplace.model.values import FilledText, Moment, Text, Value

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


class Evidence(Value):
    """From whose records a line was learnt, and from which."""

    owner: Owner
    sources: tuple[UUID, ...] = Field(min_length=1)


class ExperienceLine(Record):
    """One line of an agent's experience."""

    type: ClassVar[RecordType] = RecordType.EXPERIENCE

    field: ExperienceField
    line: FilledText
    evidence: tuple[Evidence, ...] = ()
    observed_at: Moment
    #: When it was retired, and why; None while it serves.
    retired_at: Moment | None = None
    reason: Text = ""

    def rests_on(self) -> tuple[UUID, ...]:
        return tuple(source for evidence in self.evidence for source in evidence.sources)
