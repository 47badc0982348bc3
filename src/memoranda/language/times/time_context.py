"""The context in which a time is read: the moment of saying, its role and the tense."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum


class Role(StrEnum):
    """The role of a time: when something happened, from when a statement is true, or until when."""

    HAPPENED = "happened"
    VALID_FROM = "valid_from"
    VALID_UNTIL = "valid_until"


class Tense(StrEnum):
    """The side of the moment of saying on which a time without a year lies."""

    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Saying:
    """The moment of saying and what is known of a time before its words are read."""

    said: datetime
    role: Role
    tense: Tense | None = None

    @property
    def today(self) -> date:
        """The day of saying, in UTC."""
        return self.said.date()

    @property
    def is_future(self) -> bool:
        """True if a time that could be either lies in the future."""
        return self.tense is Tense.FUTURE or (self.tense is None and self.role is Role.VALID_UNTIL)

    def at(self, day: date, tense: Tense) -> Saying:
        """Return the saying as of another day."""
        return replace(self, said=datetime(day.year, day.month, day.day, tzinfo=UTC), tense=tense)
