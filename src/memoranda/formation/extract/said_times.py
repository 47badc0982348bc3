"""The times of a note: words of its cited messages become days, counted from when they were said."""

from __future__ import annotations

from typing import Any

from memoranda.formation.extract.citations import Sourced, contains_words
from memoranda.formation.times.time_context import Role
from memoranda.formation.times.time_reader import LONGEST, days_said, says_days
from memoranda.model.memories import DaySpan


def cited_days(words: Any, cited: Sourced, role: Role) -> DaySpan | None:
    """Return the days that words of a cited message mean; words of the model's own only if a cited message says these days."""
    if not isinstance(words, str) or len(words) > LONGEST:
        return None
    for message, _ in cited:
        if contains_words(message, words):
            return days_said(words, message.observed_at, role, around=message.content)
    for message, _ in cited:
        days = days_said(words, message.observed_at, role)
        if days is not None and says_days(message.content, message.observed_at, role, days):
            return days
    return None
