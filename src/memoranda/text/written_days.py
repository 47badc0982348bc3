"""The time of a memory: in words for labels, as exactly as it was said ("on 7 May 2023", "12–16
October 2026"), and whether it is past.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from memoranda.first_use import expression
from memoranda.language.words import table
from memoranda.model.memories import Cardinality, DaySpan, Granularity, Memory

_DAY: Final = timedelta(days=1)


#: Words of what returns each year.
_EACH_YEAR: Final = expression(
    r"\b(?:birthdays?|anniversar(?:y|ies)|(?:every|each) year|yearly|annual(?:ly)?|\w*geburtstage?|jahrestage?|jedes jahr|jährlich\w*"
    r"|cumpleaños|aniversarios?|cada año|anual(?:mente)?|anniversaires?|chaque année|tous les ans)\b"
)


def is_past(memory: Memory, now: datetime) -> bool:
    """True if a memory's time is over: its end has passed, or it lay ahead when it was said and its
    last day has passed.

    What happened once stays true, and what recurs or returns each year is never over.
    """
    if memory.valid_to is not None:
        return memory.valid_to <= now
    days = memory.happened
    if days is None or days.begins <= memory.observed_at or days.ends > now:
        return False
    recurs = memory.cardinality is Cardinality.RECURRING
    return (
        not recurs and _EACH_YEAR.search(f"{memory.key or ''} {memory.content}".casefold()) is None
    )


def happened_words(days: DaySpan) -> str:
    """Return when something happened: one day, a month, a year, or from a first to a last day,
    month or year.
    """
    words = _written(days)
    if days.after - days.first == _DAY and days.granularity is not Granularity.YEAR:
        return f"on {words}"
    return words if "–" in words else f"in {words}"


def validity_words(memory: Memory) -> list[str]:
    """Return since when and until when a memory is true, as far as both are known."""
    label = since_words(memory)
    if memory.valid_to is not None:
        label.append(f"until {_until(memory.valid_to, memory.valid_to_granularity)}")
    return label


def since_words(memory: Memory) -> list[str]:
    """Return since when a memory is true, if that is known."""
    since = memory.valid_from
    if since is None:
        return []
    return [f"since {_longer(since.date(), memory.valid_from_granularity) or moment_words(since)}"]


def moment_words(moment: datetime) -> str:
    """Return a moment to the minute, or only its day if it is midnight."""
    whole_day = not (moment.hour or moment.minute or moment.second or moment.microsecond)
    day = moment.date().isoformat()
    return day if whole_day else f"{day} {moment.hour:02}:{moment.minute:02}"


def _until(moment: datetime, granularity: Granularity | None) -> str:
    """Return the last day of a validity that ends at a moment: "the end of March 2027"."""
    words = _longer(moment.date() - _DAY, granularity)
    if words is None:
        return moment_words(moment)
    ends_there = moment.day == 1 and (moment.month == 1 or granularity is Granularity.MONTH)
    return f"the end of {words}" if ends_there else words


def _longer(day: date, granularity: Granularity | None) -> str | None:
    """Return the month, year or decade of a day if no more was said."""
    if granularity is Granularity.MONTH:
        return f"{_month(day)} {day.year}"
    if granularity is Granularity.YEAR:
        return str(day.year)
    return f"the {day.year // 10 * 10}s" if granularity is Granularity.DECADE else None


def _month(day: date) -> str:
    return table("en", "months")[day.month - 1][0].title()


def _written(days: DaySpan) -> str:
    first, after, last = days.first, days.after, days.after - _DAY
    whole_months = first.day == 1 and after.day == 1
    if days.granularity is Granularity.DECADE:
        return f"the {first.year}s"
    if days.granularity is Granularity.YEAR or (whole_months and first.month == after.month == 1):
        return str(first.year) if first.year == last.year else f"{first.year}–{last.year}"
    one, other = (
        f"{_month(first)} {first.year}",
        f"{_month(last)} {last.year}",
    )
    if days.granularity is Granularity.MONTH and one == other:
        return one
    if whole_months:
        shared = first.year == last.year
        return one if one == other else f"{_month(first) if shared else one}–{other}"
    if first == last:
        return f"{first.day} {one}"
    if one == other:
        return f"{first.day}–{last.day} {one}"
    begin = f"{first.day} {_month(first) if first.year == last.year else one}"
    return f"{begin}–{last.day} {other}"
