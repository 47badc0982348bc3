"""The forms of longer times: weekends, weeks, months, quarters, seasons, years and parts of
them.
"""

from __future__ import annotations

import re
from datetime import date

from memoranda.language.times.day_arithmetic import (
    DAY,
    WEEK,
    later,
    one_day,
    period,
    season,
    span,
    weekend,
)
from memoranda.language.times.time_context import Role, Saying
from memoranda.language.times.time_forms import AHEAD, DAYS_GIVEN, STEP, WHICH, form, plain
from memoranda.model.memories import DaySpan, Granularity


@form(rf"({WHICH}) U:year(?: (?:AT|IN))? M:(\d+)|({WHICH}) U:month(?: (?:AT|IN))? ORD:(\d+)")
def _in_period(found: re.Match[str], saying: Saying) -> DaySpan:
    """Return "next year in March" and "next month on the 5th"."""
    if found[1]:
        return period(date(saying.today.year + STEP[found[1]], int(found[2]), 1), "month")
    return one_day(
        later(saying.today.replace(day=1), "month", STEP[found[3]]).replace(day=int(found[4]))
    )


@form(r"(?:START|END) U:day|END DAY:0")
def _end_of_day(_: re.Match[str], saying: Saying) -> DaySpan:
    return one_day(saying.today)


@form(
    rf"({WHICH}) U:(week|month|quarter|year|half)(?: (?:EARLIER|LATER))?|(?:EARLIER|LATER)(?: IN)? THIS U:(week|month|quarter|year)"
)
def _period(found: re.Match[str], saying: Saying) -> DaySpan:
    unit = found[2] or found[3]
    return period(later(period(saying.today, unit).first, unit, STEP[found[1] or ""]), unit)


@form(rf"(?:({WHICH}) )?WEEKEND|WEEKEND(?: (?:AT|IN))? ({WHICH}) U:week")
def _weekend(found: re.Match[str], saying: Saying) -> DaySpan | None:
    which, today = found[1] or found[2], saying.today
    if which is None:
        if today.weekday() >= 5:
            return weekend(today) if saying.is_future else None
        which = "THIS" if saying.is_future else "LAST"
    if which == "COMING":
        return weekend(today + (today.weekday() >= 5) * WEEK)
    return weekend(today + STEP[which] * WEEK)


@form(
    rf"(?:(?P<which>{WHICH}) )?M:(?P<month>\d+)(?:(?: IN)? Y:(?P<year>\d+)|(?: IN)? (?P<other>{WHICH}) U:year)?"
)
def _month(found: re.Match[str], saying: Saying) -> DaySpan | None:
    month, which, today = int(found["month"]), found["which"], saying.today
    if which in ("LAST2", "NEXT2") or (which and (found["year"] or found["other"])):
        return None
    if which == "LAST":
        return month_in(month, today.year - (month >= today.month), saying)
    if which in AHEAD:
        return month_in(month, today.year + (month <= today.month), saying)
    year = today.year if which or found["other"] else 0
    return month_in(
        month,
        int(found["year"] or 0) or year + (STEP[found["other"]] if found["other"] else 0),
        saying,
    )


def month_in(month: int, year: int, saying: Saying) -> DaySpan:
    """Return a month of a year; without a year (0), the last that has begun, or the first that has
    not ended.
    """
    today = saying.today
    if not year:
        year = (
            today.year + (month < today.month)
            if saying.is_future
            else today.year - (month > today.month)
        )
    return period(date(year, month, 1), "month")


@form(
    rf"(?:(?P<which>{WHICH}) )?S:(?P<season>\d)(?:(?: IN)? Y:(?P<year>\d+)|(?: IN)? (?P<other>{WHICH}) U:year)?"
)
def _season(found: re.Match[str], saying: Saying) -> DaySpan | None:
    which, kind, today = found["which"], int(found["season"]), saying.today
    if found["year"] or found["other"]:
        year = int(found["year"] or today.year + STEP[found["other"] or ""])
        # The winter of a year may be the one in which it begins, or the one in which it ends.
        return None if which or kind == 3 else season(year, kind)
    seasons = [season(year, kind) for year in range(today.year - 2, today.year + 3)]
    begun = [one for one in seasons if one.first <= today]
    coming = [one for one in seasons if one.after > today]
    if which in (None, "THIS"):
        if which == "THIS" and kind != 3:
            return season(today.year, kind)
        return coming[0] if saying.is_future or (which and begun[-1].after <= today) else begun[-1]
    if which == "LAST":
        ended = [one for one in seasons if one.after <= today][-1]
        # In October, "last summer" may be that of this year or of the year before.
        return ended if ended.first.year < today.year else None
    if which in AHEAD:
        first = next(one for one in seasons if one.first > today)
        return first if first.first.year > today.year or (kind == 3 and today.month < 9) else None
    return None


@form(
    rf"(?:Q:(?P<nth>\d)|ORD:(?P<nth2>\d)(?: U:quarter))(?:(?: IN)? Y:(?P<year>\d+)|(?: IN)? (?P<which>{WHICH}) U:year)?"
)
def _quarter(found: re.Match[str], saying: Saying) -> DaySpan | None:
    nth, today = int(found["nth"] or found["nth2"]), saying.today
    if not 1 <= nth <= 4:
        return None
    month = 3 * nth - 2
    year = int(found["year"] or 0) or (today.year + STEP[found["which"]] if found["which"] else 0)
    if not year:
        quarters = [
            period(date(one, month, 1), "quarter") for one in range(today.year - 1, today.year + 2)
        ]
        if saying.is_future:
            return next(one for one in quarters if one.after > today)
        return [one for one in quarters if one.first <= today][-1]
    return period(date(year, month, 1), "quarter")


@form(
    rf"ORD:(?P<nth>[12]) (?:HALF|U:half)(?:(?: IN)? Y:(?P<year>\d+)|(?: IN)? (?P<which>{WHICH}) U:year)"
)
def _half_year(found: re.Match[str], saying: Saying) -> DaySpan:
    year = int(found["year"] or saying.today.year + STEP[found["which"] or ""])
    return period(date(year, 1 if found["nth"] == "1" else 7, 1), "half")


@form(r"(?:KW|U:week N):(?P<week>\d+)(?:(?: IN)? Y:(?P<year>\d+))?")
def _calendar_week(found: re.Match[str], saying: Saying) -> DaySpan | None:
    today, week = saying.today, int(found["week"])
    if found["year"]:
        return period(date.fromisocalendar(int(found["year"]), week, 1), "week")
    weeks = [
        period(date.fromisocalendar(year, week, 1), "week")
        # Not every year has a 53rd week.
        for year in range(today.year - 1, today.year + 2)
        if week <= date(year, 12, 28).isocalendar().week
    ]
    if saying.is_future:
        return next((one for one in weeks if one.after > today), None)
    begun = [one for one in weeks if one.first <= today]
    return begun[-1] if begun else None


@form(r"Y:(\d+)|U:year (?:AT )?Y:(\d+)")
def _year(found: re.Match[str], _: Saying) -> DaySpan:
    return period(date(int(found[1] or found[2]), 1, 1), "year")


@form(r"DECADE:(\d+)(?: U:year)?|U:year N:([2-9]0)")
def _decade(found: re.Match[str], _: Saying) -> DaySpan:
    first = int(found[1] or 1900 + int(found[2]))
    return span(date(first, 1, 1), date(first + 10, 1, 1), Granularity.DECADE)


@form(
    r"(?P<part>START|MID|END|EARLY|LATE|LAST U:day)(?: (?:IN|AT|FROM))? (?P<of>(?!(?:LAST|THIS) (?:PART|NIGHT)$).+)"
)
def _part_of(found: re.Match[str], saying: Saying) -> DaySpan | None:
    """Return a part of a month (its first ten days, the next ten, the rest), or the edge of a
    longer time.
    """
    of = found["of"]
    whole = plain(f"THIS {of}" if re.fullmatch(r"U:\w+", of) else of, saying)
    if whole is None:
        return None
    if whole.granularity in DAYS_GIVEN:
        return whole if found["part"] == "END" and saying.role is Role.VALID_UNTIL else None
    first, after, part = whole.first, whole.after, found["part"]
    begins, ends = part in ("START", "EARLY"), part in ("END", "LATE", "LAST U:day")
    last = span(after - DAY, after, whole.granularity)
    if part == "LAST U:day":
        return one_day(after - DAY)
    if part == "END" and saying.role is Role.VALID_FROM:
        # Its last day, or its last third.
        return None
    if whole.granularity is Granularity.MONTH:
        if ends and saying.role is Role.VALID_UNTIL:
            return last
        edges = (first, first + 10 * DAY, first + 20 * DAY, after)
        place = 0 if begins else 2 if ends else 1
        return span(edges[place], edges[place + 1], Granularity.SPAN)
    if ends and saying.role is Role.VALID_UNTIL:
        return last
    if begins and saying.role is Role.VALID_FROM:
        return span(first, first + DAY, whole.granularity)
    return None
