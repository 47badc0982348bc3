"""The times (days, weeks, months, years) that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import chain
from typing import Final

from memoranda.language.times.day_arithmetic import DAY, one_day, period, span
from memoranda.language.times.lexicon import Lexicon, Piece, lexed
from memoranda.language.times.time_context import Role, Saying, Tense
from memoranda.language.times.time_grammar import days_of
from memoranda.language.times.time_reader import JOINING, known_letters, stretches
from memoranda.language.words import LANGUAGES, words
from memoranda.model.memories import DaySpan, Granularity
from memoranda.model.query import Times
from memoranda.model.values import micros

#: Most tokens that are read, and most of one time.
_MOST_TOKENS, _MOST_OF_ONE = 128, 8
#: A month or day without a year may mean each of so many years back.
_YEARS_BACK: Final = 12
#: What a time that a question names has; a bare weekday or "the 24th" may be said of any.
_CALENDAR: Final = re.compile(r"\b(?:M|DATE|SLASHED):")
_ANCHOR: Final = re.compile(
    rf"{_CALENDAR.pattern}|\b(?:Y|DECADE):|\bDAY:-|(?<!FROM )\bDAY:0|\b(?:LAST|AGO)"
)
#: What is not read: words that say less than the name of a month does ("the end of May", "that first
#: April"), and dates of other centuries or without a year, such as numbers of versions.
_UNREAD: Final = re.compile(
    r"\b(?:START|MID|END|EARLY|LATE)\b|NTH:|DATE:(?!19|20)|SLASHED:\d+-\d+-(?!19|20)"
)
#: What tells the year of a month.
_YEAR_TOLD: Final = re.compile(r"\b(?:Y|SLASHED|DATE|DECADE):|\b(?:LAST|NEXT|THIS|COMING|AGO)")
_YEAR: Final = re.compile(r"(?:Y|DATE):(\d{4})|SLASHED:\d+-\d+-(\d+)")
_SLASHED: Final = re.compile(r"SLASHED:(\d+)-(\d+)-(\d+)")
_NO_DAY: Final = re.compile(r"(DATE:\d+-\d+)-\d+")
_MONTH: Final = re.compile(r"M:\d+|DATE:\d+-(\d+)-\d+")
#: A number that may be a day of the month, and the most days of a range that ends with one.
_BARE: Final = re.compile(r"(?:ORD|N):")
_MONTH_LENGTH: Final = timedelta(days=31)


def times_in(question: str, text: str, now: datetime) -> Times:
    """Return the times that a question names; ``text`` is the question in small letters."""
    found: dict[str, list[tuple[int, int]]] = {}
    for pieces in _best_readings(text):
        for name, times in _named(question, text, pieces, now.astimezone(UTC)):
            found.setdefault(name, [(micros(one.begins), micros(one.ends)) for one in times])
    return tuple(found.items())


@cache
def _before_months() -> re.Pattern[str]:
    """Return the words right before a month's name that tell that it is one."""
    before = chain(*(words(language)["before-months"].split() for language in LANGUAGES))
    return re.compile(rf"\b(?:{'|'.join(before)})\s+\Z")


@cache
def _lexicons() -> tuple[Lexicon, ...]:
    return tuple(map(Lexicon, LANGUAGES))


def _best_readings(text: str) -> list[list[Piece]]:
    """Return the pieces of a text in the languages that know the most of its words."""
    found = lexed(text)
    readings = [lexicon.pieces(text, found) for lexicon in _lexicons()]
    known = [known_letters(pieces, text) for pieces in readings]
    return [pieces for pieces, one in zip(readings, known, strict=True) if one == max(known)]


def _named(
    question: str, text: str, pieces: list[Piece], now: datetime
) -> Iterator[tuple[str, Sequence[DaySpan]]]:
    """Yield the times in a text, each with its year and its month before it."""
    read = 0
    for run in stretches(text, [piece for piece in pieces if piece.token != ""]):
        said = " ".join(piece.token or "" for piece in run)
        read += len(run) if _ANCHOR.search(said) else 0
        if read > _MOST_TOKENS:
            return
        # "Last Friday, on 23 January": the day in the calendar is the surer one.
        for anchor in (_CALENDAR, _ANCHOR):
            start, found = 0, False
            while start < len(run) and anchor.search(said):
                for end in range(min(start + _MOST_OF_ONE, len(run)), start, -1):
                    part = run[start:end]
                    if days := _days(text, part, anchor, now):
                        yield from _with_longer(question, part, days)
                        start, found = end - 1, True
                        break
                start += 1
            if found:
                break


def _days(text: str, part: list[Piece], anchor: re.Pattern[str], now: datetime) -> list[DaySpan]:
    """Return the days that the words of a time may mean; none if they are no time."""
    said = [piece.token or "" for piece in part]
    joined = " ".join(said)
    if not anchor.search(joined) or said[-1] in JOINING or _UNREAD.search(joined):
        return []
    alone = said[-1].startswith("M:") and JOINING.issuperset(said[:-1])
    if alone and not _before_months().search(text[: part[-1].start]):
        # "May" and "march" alone may be verbs.
        return []
    if found := _SLASHED.search(joined):
        return _slashed(*map(int, found.groups()))
    saying = Saying(now, Role.HAPPENED, Tense.PAST)
    if _YEAR_TOLD.search(joined) or "M:" not in joined:
        days = days_of(said, saying) or days_of(_NO_DAY.sub(r"\1-0", joined).split(), saying)
        return [] if days is None else [days]
    # A day later in this month may be one of this year.
    days = days_of(said, saying.at(period(saying.today, "month").after - DAY, Tense.PAST))
    # "19 de marzo a las 4." is no range.
    if days is None or (days.after - days.first > _MONTH_LENGTH and _BARE.match(said[-1])):
        return []
    return list(_years_back(days))


def _slashed(one: int, other: int, year: int) -> list[DaySpan]:
    """Return the days of a date in numbers: some people write the month first and some the day."""
    found: list[DaySpan] = []
    for month, day in sorted({(one, other), (other, one)}):
        with suppress(ValueError):
            found.append(one_day(date(year, month, day)))
    return found


def _years_back(days: DaySpan) -> Iterator[DaySpan]:
    """Yield the same days in each of the last years; not every year has a 29 February."""
    for back in range(_YEARS_BACK):
        with suppress(ValueError):
            first, after = (day.replace(year=day.year - back) for day in (days.first, days.after))
            yield span(first, after, days.granularity)


def _with_longer(
    question: str, part: list[Piece], days: list[DaySpan]
) -> Iterator[tuple[str, Sequence[DaySpan]]]:
    """Yield the year that a time names, its month, and the time itself, as far as they differ."""
    joined = " ".join(piece.token or "" for piece in part)
    year = next((found[1] or found[2] for found in _YEAR.finditer(joined)), "")
    if year:
        yield year, [period(date(int(year), 1, 1), "year")]
    months = [(piece, found) for piece in part if (found := _MONTH.fullmatch(piece.token or ""))]
    if len({found[0] for _, found in months}) == 1:
        piece, found = months[0]
        name = str(int(found[1])) if found[1] else question[piece.start : piece.end]
        longer = period(days[0].first, "month")
        yield f"{name} {year}".strip(), [*_years_back(longer)] if len(days) > 1 else [longer]
    if days[0].granularity not in (Granularity.MONTH, Granularity.YEAR) or not (year or months):
        while part[0].token in JOINING:
            part = part[1:]
        yield question[part[0].start : part[-1].end], days
