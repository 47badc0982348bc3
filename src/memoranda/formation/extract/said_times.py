"""The times of a note: words of its cited messages become days, counted from when they were said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.citations import Sourced, contains_words
from memoranda.formation.times.time_context import Role
from memoranda.formation.times.time_reader import LONGEST, days_said, says_days
from memoranda.model.memories import DaySpan, Granularity

#: Granularities whose first and last day were said.
_EXACT: Final = frozenset(
    {Granularity.HOUR, Granularity.PART_OF_DAY, Granularity.DAY, Granularity.WEEKEND, Granularity.SPAN}
)


def times_of(given: Mapping[str, Any], cited: Sourced, report: Report) -> dict[str, Any]:
    """Return the fields of a draft that say when: since when and until when it is true, and when it happened."""
    days = {role: cited_days(given.get(role.value), cited, role) for role in Role}
    for role, found in days.items():
        if given.get(role.value) and found is None:
            report("time", f"the words of {role.value} name no time, or are in no cited message")
    return {"happened": days[Role.HAPPENED]} | validity(days[Role.VALID_FROM], days[Role.VALID_UNTIL], report)


def validity(begin: DaySpan | None, end: DaySpan | None, report: Report | None = None) -> dict[str, Any]:
    """Return the fields of a draft that say since when and until when it is true; none if it would end before it begins."""
    if begin is not None and end is not None and end.after < begin.first:
        begin = end = None
        if report is not None:
            report("time", "it would end before it begins")
    return {
        "valid_from": None if begin is None else begin.begins,
        "valid_from_granularity": None if begin is None or begin.granularity in _EXACT else begin.granularity,
        "valid_to": None if end is None else end.ends,
        "valid_to_granularity": None if end is None or end.granularity in _EXACT else end.granularity,
    }


def cited_days(words: Any, cited: Sourced, role: Role) -> DaySpan | None:
    """Return the days that words of a cited message mean; words of the model's own only if a cited message says these days."""
    if not isinstance(words, str) or len(words) > LONGEST:
        return None
    for message, _ in cited:
        if contains_words(message, words):
            return days_said(words, message.observed_at, role, around=message.content)
    for message, _ in cited:
        days = days_said(words, message.observed_at, role)
        if days is None:
            continue
        today = (
            role is Role.HAPPENED
            and days.granularity is Granularity.DAY
            and days.first == message.observed_at.date()
        )
        if today or says_days(message.content, message.observed_at, role, days):
            return days
    return None
