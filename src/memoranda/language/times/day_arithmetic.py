"""Arithmetic with whole days: weeks, months, seasons and years."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from memoranda.model.memories import DaySpan, Granularity

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(weeks=1)
_MONTHS_OF: Final = {"month": 1, "quarter": 3, "half": 6, "year": 12}
#: The months in which spring, summer, autumn and winter begin, in the northern half of the world.
_SEASON_MONTHS: Final = (3, 6, 9, 12)


def one_day(day: date) -> DaySpan:
    """Return one day as a span."""
    return span(day, day + DAY, Granularity.DAY)


def span(first: date, after: date, granularity: Granularity) -> DaySpan:
    """Return a span of days."""
    return DaySpan(first=first, after=after, granularity=granularity)


def later(day: date, unit: str, count: int) -> date:
    """Return the day so many days, weeks, months, quarters or years later; a shorter month gives
    its last day.
    """
    if unit in ("day", "week"):
        return day + count * (WEEK if unit == "week" else DAY)
    months = day.year * 12 + day.month - 1 + count * _MONTHS_OF[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, month_length(year, month + 1)))


def month_length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return (date(year + month // 12, month % 12 + 1, 1) - DAY).day


def period(day: date, unit: str) -> DaySpan:
    """Return the day, calendar week, month, quarter, half-year or year that holds a day."""
    if unit == "day":
        return one_day(day)
    if unit == "week":
        first = day - day.weekday() * DAY
        return span(first, first + WEEK, Granularity.WEEK)
    length = _MONTHS_OF[unit]
    first = date(day.year, (day.month - 1) // length * length + 1, 1)
    granularity = Granularity.SPAN if unit == "half" else Granularity(unit)
    return span(first, later(first, unit, 1), granularity)


def season(year: int, which: int) -> DaySpan:
    """Return a season; winter begins in December of the year."""
    first = date(year, _SEASON_MONTHS[which], 1)
    return span(first, later(first, "month", 3), Granularity.SEASON)


def weekend(day: date) -> DaySpan:
    """Return Saturday and Sunday of the week that holds a day."""
    first = day + (5 - day.weekday()) * DAY
    return span(first, first + 2 * DAY, Granularity.WEEKEND)
