"""The forms of single days: "yesterday", "next Friday", "the 24th", "3 May"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memoranda.language.times.day_arithmetic import (
    DAY,
    WEEK,
    later,
    month_length,
    one_day,
    period,
    span,
)
from memoranda.language.times.period_forms import month_in
from memoranda.language.times.time_context import Saying, Tense
from memoranda.language.times.time_forms import STEP, WHICH, form
from memoranda.model.memories import DaySpan, Granularity


@form(r"DAY:(-?\d)")
def _named_day(found: re.Match[str], saying: Saying) -> DaySpan:
    return one_day(saying.today + int(found[1]) * DAY)


@form(r"(?:EARLIER|LATER) DAY:0|DAY:0 (?:EARLIER|LATER)")
def _of_today(_: re.Match[str], saying: Saying) -> DaySpan:
    return one_day(saying.today)


@form(r"(?:(?:EARLY|LATE|EARLIER|LATER) )?(LAST|THIS) (?:PART|NIGHT)")
def _part(found: re.Match[str], saying: Saying) -> DaySpan:
    day = saying.today - (found[1] == "LAST") * DAY
    return span(day, day + DAY, Granularity.PART_OF_DAY)


@form(rf"(?:({WHICH}) )?WD:(\d)")
def _weekday(found: re.Match[str], saying: Saying) -> DaySpan | None:
    which, day, today = found[1], int(found[2]), saying.today
    if which == "LAST2":
        return one_day(today - ((today.weekday() - day - 1) % 7 + 8) * DAY)
    following = today - today.weekday() * DAY + WEEK + day * DAY
    if which == "NEXT2":
        return one_day(following + WEEK)
    if which == "NEXT" or (which == "SOON" and _coming(day, today) == following):
        return one_day(following)
    if which == "SOON":
        # Some speakers mean the coming one, others that of next week.
        return None
    if which == "LAST" or (which is None and not saying.is_future):
        return one_day(today - ((today.weekday() - day - 1) % 7 + 1) * DAY)
    if which == "THIS":
        same = today - today.weekday() * DAY + day * DAY
        return one_day(same if same >= today or saying.tense is Tense.PAST else same + WEEK)
    return one_day(_coming(day, today))


def _coming(weekday: int, today: date) -> date:
    """Return the next day with this weekday, after today."""
    return today + ((weekday - today.weekday() - 1) % 7 + 1) * DAY


@form(rf"WD:(\d)(?: (?:AT|IN))? ({WHICH}) U:week|({WHICH}) U:week(?: AT)? WD:(\d)")
def _day_of_week(found: re.Match[str], saying: Saying) -> DaySpan:
    monday = saying.today - saying.today.weekday() * DAY + STEP[found[2] or found[3]] * WEEK
    return one_day(monday + int(found[1] or found[4]) * DAY)


@form(r"N:(\d+) U:(day|week) FROM DAY:(\d)|DAY:(\d) IN N:(\d) U:week")
def _counted_from(found: re.Match[str], saying: Saying) -> DaySpan:
    days = int(found[1] or found[5]) * (1 if found[2] == "day" else 7)
    return one_day(saying.today + (days + int(found[3] or found[4])) * DAY)


@form(r"N:(\d) U:week (?:AT|FROM) WD:(\d)|WD:(\d) IN N:(\d) U:week")
def _weeks_after(found: re.Match[str], saying: Saying) -> DaySpan:
    return one_day(
        _coming(int(found[2] or found[3]), saying.today) + int(found[1] or found[4]) * WEEK
    )


@form(
    rf"(?:WD:(?P<weekday>\d) )?(?:AT )?(?:ORD|(?:U:day )?N):(?P<day>\d+)(?:(?: IN)? (?P<which>{WHICH}) U:month)?"
)
def _day_of_month(found: re.Match[str], saying: Saying) -> DaySpan | None:
    """Return "the 24th": of the month that the tense chooses."""
    if found[0].startswith("N:") or re.match(r"WD:\d (?:AT )?N:", found[0]):
        # "24" alone may be anything; "Friday 5" may be a clock time.
        return None
    day, today = int(found["day"]), saying.today
    if found["which"]:
        first = later(today.replace(day=1), "month", STEP[found["which"]])
        return _checked(first.replace(day=day), found["weekday"])
    months = [later(today.replace(day=1), "month", step) for step in range(-12, 13)]
    days = [
        month.replace(day=day) for month in months if day <= month_length(month.year, month.month)
    ]
    if found["weekday"] is not None:
        days = [one for one in days if one.weekday() == int(found["weekday"])]
    return _nearest(days, saying)


def _nearest(days: list[date], saying: Saying) -> DaySpan | None:
    """Return the last of these days up to today, or the first from today on."""
    today = saying.today
    chosen = (
        [day for day in days if day >= today]
        if saying.is_future
        else [day for day in days[::-1] if day <= today]
    )
    return one_day(chosen[0]) if chosen else None


def _checked(day: date, weekday: str | None) -> DaySpan | None:
    """Return a day, unless another weekday was said with it."""
    return one_day(day) if weekday is None or day.weekday() == int(weekday) else None


@form(
    r"(?:WD:(?P<weekday>\d) )?(?:AT )?(?:U:day )?(?:(?:ORD|N):(?P<day>\d+)(?: IN)? M:(?P<month>\d+)|M:(?P<month2>\d+) (?:ORD|N):(?P<day2>\d+)|"
    r"HOL:(?P<month3>\d+)-(?P<day3>\d+))"
    rf"(?:(?: IN)? Y:(?P<year>\d+)|(?: IN)? (?P<which>{WHICH}) U:year)?"
)
def _day_and_month(found: re.Match[str], saying: Saying) -> DaySpan | None:
    month = int(found["month"] or found["month2"] or found["month3"])
    day = int(found["day"] or found["day2"] or found["day3"])
    year = found["year"] or (saying.today.year + STEP[found["which"]] if found["which"] else 0)
    return _dated(int(year), month, day, saying, found["weekday"])


@form(rf"({WHICH}) HOL:(\d+)-(\d+)")
def _holiday(found: re.Match[str], saying: Saying) -> DaySpan | None:
    if found[1] == "THIS":
        return _dated(saying.today.year, int(found[2]), int(found[3]), saying)
    tense = Tense.PAST if found[1] == "LAST" else Tense.FUTURE
    return _dated(0, int(found[2]), int(found[3]), replace(saying, tense=tense))


@form(r"(?:WD:(?P<weekday>\d) )?(?:AT )?DATE:(\d+)-(\d+)-(\d+)")
def _date(found: re.Match[str], saying: Saying) -> DaySpan | None:
    year, month, day = int(found[2]), int(found[3]), int(found[4])
    if day:
        return _dated(year, month, day, saying, found["weekday"])
    return period(date(year, month, 1), "month") if found["weekday"] is None else None


def _dated(
    year: int, month: int, day: int, saying: Saying, weekday: str | None = None
) -> DaySpan | None:
    """Return a day of a year; without a year (0), of the one that tense and weekday choose."""
    if year:
        return _checked(date(year, month, day), weekday)
    date(2000, month, day)
    days = [
        date(one, month, day)
        for one in range(saying.today.year - 4, saying.today.year + 5)
        if day <= month_length(one, month)
    ]
    chosen = _nearest(days, saying)
    return None if chosen is None else _checked(chosen.first, weekday)


@form(r"(?:WD:\d )?(?:AT )?SLASHED:(\d+)-(\d+)-(\d+)(?P<us>US)?")
def _slashed(found: re.Match[str], _: Saying) -> DaySpan | None:
    """Return a date with slashes; in English, only one that cannot be read in two ways."""
    day, month, year = int(found[1]), int(found[2]), int(found[3])
    if found["us"]:
        if day <= 12 and month <= 12 and day != month:
            return None
        day, month = (month, day) if month > 12 else (day, month)
    return one_day(date(year, month, day))


@form(
    r"(?:ORD:(?P<nth>\d)|(?P<last>LAST)) WD:(?P<day>\d)(?: (?:IN|AT))? M:(?P<month>\d+)(?:(?: IN)? Y:(?P<year>\d+))?"
)
def _nth_weekday(found: re.Match[str], saying: Saying) -> DaySpan | None:
    month = month_in(int(found["month"]), int(found["year"] or 0), saying)
    days = [month.first + step * DAY for step in range((month.after - month.first).days)]
    named = [day for day in days if day.weekday() == int(found["day"])]
    return (
        one_day(named[-1 if found["last"] else int(found["nth"]) - 1])
        if found["last"] or 0 < int(found["nth"]) <= 4
        else None
    )
