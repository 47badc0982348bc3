"""The times of a note: the days that a model gives, held against the words of its cited messages;
words alone are read by code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.citations import Sourced, contains_words
from memoranda.language.times.time_context import Role
from memoranda.language.times.time_reader import LONGEST, contradicts, days_said, says_days
from memoranda.model.memories import DaySpan, Granularity

#: Days of ISO 8601, and the words of the message that say them: "2026-05-07, yesterday".
_DAYS_AND_WORDS: Final = re.compile(
    r"\s*(\d{4}(?:-\d\d){0,2}(?:/\d{4}(?:-\d\d){0,2})?)\s*[,;:]\s*[\"“]?(.*?)[\"”]?\s*", re.DOTALL
)
#: Granularities whose first and last day were said.
_EXACT: Final = frozenset(
    {
        Granularity.HOUR,
        Granularity.PART_OF_DAY,
        Granularity.DAY,
        Granularity.WEEKEND,
        Granularity.SPAN,
    }
)


def times_of(
    given: Mapping[str, Any], cited: Sourced, report: Report, earlier: str = ""
) -> dict[str, Any]:
    """Return the fields of a draft that say when: since when and until when it is true, and when it
    happened.

    ``earlier`` has the model's earlier answers to the same question.
    """
    days = {
        role: _checked(given.get(role.value, ""), cited, role, report, earlier) for role in Role
    }
    return {"happened": days[Role.HAPPENED]} | validity(
        days[Role.VALID_FROM], days[Role.VALID_UNTIL], report
    )


def _checked(
    given: str, cited: Sourced, role: Role, report: Report, earlier: str
) -> DaySpan | None:
    """Return the days that a model gives for the words of a message, if these words may mean them;
    else report why not.
    """
    found = _DAYS_AND_WORDS.fullmatch(given)
    words = found[2].strip() if found is not None else ""
    if found is None or not any(contains_words(message, words) for message, _ in cited):
        days = cited_days(given if found is None else found[1], cited, role)
        if given and days is None:
            report("time", f"the words of {role.value} name no time, or are in no cited message")
        return days
    try:
        days = DaySpan.model_validate(found[1])
    except ValidationError:
        report("time", f"{role.value} begins with no day that there is", mendable=True, once=True)
        return None
    read = cited_days(words, cited, role)
    if read is not None and (read.first, read.after) == (days.first, days.after):
        return read
    within = read is not None and read.first <= days.first and days.after <= read.after
    # What is given twice is meant; words that the reader does not know may mean any day that they
    # do not rule out.
    if within or ((read is None or found[1] in earlier) and not contradicts(words, days)):
        return days
    reason = f"the words of {role.value} mean another day than the one before them; give both again"
    report("time", reason, mendable=True, once=True)
    return None


def validity(
    begin: DaySpan | None, end: DaySpan | None, report: Report | None = None
) -> dict[str, Any]:
    """Return the fields of a draft that say since when and until when it is true; none if it would
    end before it begins.
    """
    if begin is not None and end is not None and end.after < begin.first:
        begin = end = None
        if report is not None:
            report("time", "it would end before it begins")
    return {
        "valid_from": None if begin is None else begin.begins,
        "valid_from_granularity": None
        if begin is None or begin.granularity in _EXACT
        else begin.granularity,
        "valid_to": None if end is None else end.ends,
        "valid_to_granularity": None
        if end is None or end.granularity in _EXACT
        else end.granularity,
    }


def cited_days(words: Any, cited: Sourced, role: Role) -> DaySpan | None:
    """Return the days that words of a cited message mean; words of the model's own only if a cited
    message says these days.
    """
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
