"""Turns words such as "until Friday" into moments, relative to when they were said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

#: The most characters that are read as a time.
LONGEST: Final = 80
_DAY: Final = timedelta(days=1)

_WEEKDAYS: Final = {
    word: place
    for place, words in enumerate(
        (
            "monday mon montag",
            "tuesday tue tues dienstag",
            "wednesday wed mittwoch",
            "thursday thu thurs donnerstag",
            "friday fri freitag",
            "saturday sat samstag sonnabend",
            "sunday sun sonntag",
        )
    )
    for word in words.split()
}
_MONTHS: Final = {
    word: place
    for place, words in enumerate(
        (
            "january jan januar",
            "february feb februar",
            "march mar märz",
            "april apr",
            "may mai",
            "june jun juni",
            "july jul juli",
            "august aug",
            "september sep sept",
            "october oct oktober okt",
            "november nov",
            "december dec dezember dez",
        ),
        start=1,
    )
    for word in words.split()
}
_UNITS: Final = {
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), "day"),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), "week"),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten", "monats"), "month"),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren", "jahres"), "year"),
}
_COUNTS: Final = {
    word: count
    for count, words in enumerate(
        (
            "a an one ein eine einen einem einer",
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
        ),
        start=1,
    )
    for word in words.split()
}
_NAMED_DAYS: Final = {
    **dict.fromkeys(("today", "tonight", "now", "heute", "jetzt"), 0),
    **dict.fromkeys(("tomorrow", "morgen"), 1),
    **dict.fromkeys(("day after tomorrow", "übermorgen"), 2),
    **dict.fromkeys(("yesterday", "gestern"), -1),
}
_NEXT: Final = frozenset("next coming nächste nächsten nächster nächstes kommende kommenden".split())
_LAST: Final = frozenset("last past letzte letzten letzter letztes vergangene vergangenen".split())
#: Words before a time that do not change it.
_LEADS: Final = re.compile(
    r"^(?:(?:only|just|valid|not|up|at|latest|the|including|nur|noch|spätestens|einschließlich"
    r"|until|till|til|'til|through|thru|by|before|from|since|starting|as of|on|to|for|in|within|over"
    r"|bis|zum|zur|zu|ab|seit|vom|von|am|im|in|den|der|dem|des|die|das|für)\s+)+"
)
_END_OF: Final = re.compile(r"^(?:the )?(?:end|ende) (?:of )?(?:(?:the|this|des|der|dieses|dieser) )?(.+)$")
_ISO: Final = re.compile(r"^(\d{4})-(\d\d)(?:-(\d\d))?$")
_POINTED: Final = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})?$")
_DAY_MONTH: Final = re.compile(r"^(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? ([^\W\d]+)\.?(?: (\d{4}))?$")
_MONTH_DAY: Final = re.compile(r"^([^\W\d]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$")
_MONTH_YEAR: Final = re.compile(r"^([^\W\d]+)(?: (\d{4}))?$")
_YEAR: Final = re.compile(r"^(?:19|20|21)\d\d$")
_LENGTH: Final = re.compile(r"^(\d{1,3}|[^\W\d]+)(?: more| weitere| weiteren)? ([^\W\d]+)$")

#: A span of whole days: the first day, and the day after the last.
_Span = tuple[datetime, datetime]
_Reader = Callable[[str, datetime], _Span | None]


def until(words: str, said: datetime) -> datetime | None:
    """Return the moment at which "until Friday" ends; None if the words name no time.

    A named day is included. A time before the words were said is not an end.
    """
    span = _span(words, said)
    return span[1] if span is not None and span[1] > said else None


def since(words: str, said: datetime) -> datetime | None:
    """Return the moment at which "from Monday" begins; None if the words name no time."""
    span = _span(words, said)
    return None if span is None else span[0]


def _span(words: str, said: datetime) -> _Span | None:
    text = " ".join(words.casefold().replace(",", " ").split()).strip(" !?;")
    if not text or len(text) > LONGEST:
        return None
    today = said.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    plain = _LEADS.sub("", text + " ").strip()
    for candidate in dict.fromkeys((plain, plain.rstrip("."))):
        for read in _READERS:
            try:
                found = read(candidate, today)
            except (ValueError, OverflowError):
                return None
            if found is not None:
                return found
    return None


def _named_day(text: str, today: datetime) -> _Span | None:
    return _days(today + _NAMED_DAYS[text] * _DAY) if text in _NAMED_DAYS else None


def _weekday(text: str, today: datetime) -> _Span | None:
    which, _, name = text.rpartition(" ")
    if name not in _WEEKDAYS or which not in {"", "this", "diesen", *_NEXT, *_LAST}:
        return None
    day = _WEEKDAYS[name]
    if which in _LAST:
        return _days(today - ((today.weekday() - day - 1) % 7 + 1) * _DAY)
    if which in _NEXT:
        return _days(today + (7 - today.weekday() + day) * _DAY)
    return _days(today + ((day - today.weekday() - 1) % 7 + 1) * _DAY)


def _end(text: str, today: datetime) -> _Span | None:
    """Return the last day of a period: "the end of next month"."""
    found = _END_OF.match(text)
    if found is None:
        return None
    span = _period(found[1], today) or _month(found[1], today) or _year(found[1], today)
    return None if span is None else (span[1] - _DAY, span[1])


def _period(text: str, today: datetime) -> _Span | None:
    """Return this, the next or the last week, month or year."""
    which, _, name = text.rpartition(" ")
    unit = _UNITS.get(name)
    if unit is None or which not in {"", "this", "dieser", "diese", "dieses", "diesen", *_NEXT, *_LAST}:
        return None
    first = {
        "day": today,
        "week": today - today.weekday() * _DAY,
        "month": today.replace(day=1),
        "year": today.replace(month=1, day=1),
    }[unit]
    start = _later(first, unit, 1 if which in _NEXT else -1 if which in _LAST else 0)
    return start, _later(start, unit, 1)


def _length(text: str, today: datetime) -> _Span | None:
    """Return the day so many days, weeks, months or years after the words were said."""
    found = _LENGTH.match(text)
    if found is None or found[2] not in _UNITS:
        return None
    count = int(found[1]) if found[1].isdigit() else _COUNTS.get(found[1])
    return None if not count else _days(_later(today, _UNITS[found[2]], count))


def _date(text: str, today: datetime) -> _Span | None:
    if found := _ISO.match(text):
        first = datetime(int(found[1]), int(found[2]), int(found[3] or 1), tzinfo=UTC)
        return _days(first) if found[3] else (first, _later(first, "month", 1))
    if found := _POINTED.match(text):
        return _dated(int(found[1]), int(found[2]), found[3], today)
    if (found := _DAY_MONTH.match(text)) and found[2] in _MONTHS:
        return _dated(int(found[1]), _MONTHS[found[2]], found[3], today)
    if (found := _MONTH_DAY.match(text)) and found[1] in _MONTHS:
        return _dated(int(found[2]), _MONTHS[found[1]], found[3], today)
    return None


def _dated(day: int, month: int, year: str | None, today: datetime) -> _Span:
    if year:
        return _days(datetime(int(year), month, day, tzinfo=UTC))
    first = datetime(today.year, month, day, tzinfo=UTC)
    return _days(first if first >= today else first.replace(year=today.year + 1))


def _month(text: str, today: datetime) -> _Span | None:
    found = _MONTH_YEAR.match(text)
    if found is None or found[1] not in _MONTHS:
        return None
    month = _MONTHS[found[1]]
    year = int(found[2]) if found[2] else today.year + (month < today.month)
    first = datetime(year, month, 1, tzinfo=UTC)
    return first, _later(first, "month", 1)


def _year(text: str, _: datetime) -> _Span | None:
    if not _YEAR.match(text):
        return None
    first = datetime(int(text), 1, 1, tzinfo=UTC)
    return first, _later(first, "year", 1)


_READERS: Final[tuple[_Reader, ...]] = (
    *(_named_day, _weekday, _end, _length, _period, _date, _month, _year),
)


def _days(first: datetime) -> _Span:
    return first, first + _DAY


def _later(start: datetime, unit: str, count: int) -> datetime:
    if unit in ("day", "week"):
        return start + count * (7 if unit == "week" else 1) * _DAY
    months = start.year * 12 + start.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    after = datetime(year + (month == 11), (month + 1) % 12 + 1, 1, tzinfo=UTC)
    return start.replace(year=year, month=month + 1, day=min(start.day, (after - _DAY).day))
