"""Adds the day to relative words in a note's content: "went yesterday" becomes "went yesterday (7
May 2023)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.citations import Sourced, contains_words
from memoranda.language.times.lexicon import Lexicon
from memoranda.language.times.time_context import Role, Saying
from memoranda.language.times.time_reader import Expression, best_lexicons, expressions, tense_of
from memoranda.model.memories import DaySpan, Granularity

#: Tokens of times that mean something else on another day, and of times that name a day, a month or
#: a year.
_RELATIVE: Final = re.compile(r"DAY:|AGO|HENCE|LAST|NEXT|THIS|COMING|SOON")
_NAMED: Final = re.compile(r"(?:M|DATE|SLASHED|Y|HOL|KW|DECADE):")
#: Signs that part a time from its day: "yesterday, 7 May", but not "May 7, 2023".
_APART: Final = re.compile(r"[()\[\];]|,(?!\s*\d{4}(?!-))")
#: The most signs between relative words and their day: "7 May 2023 (yesterday)".
_BESIDE: Final = re.compile(r"^[\s,;:(\[–—-]{0,3}$")
_DAY: Final = timedelta(days=1)
#: A day so many days from the one that was said is a slip of counting, not another day.
_SLIP: Final = timedelta(days=31)


def dated(
    content: str, cited: Sourced, happened: DaySpan | None, report: Report, *, longest: int
) -> str:
    """Return the content with a day in brackets behind relative words that have none; report a day
    that contradicts them.

    Words that cannot be read, or whose message is not known, stay as they are.
    """
    lowered = content.lower()
    if len(lowered) != len(content):
        return content
    lexicon = best_lexicons(lowered)[0]
    # Any moment will do to find the words; each is read again from its own message.
    saying = Saying(datetime(2000, 1, 1, tzinfo=UTC), Role.HAPPENED)
    found = expressions(_APART.sub("|", lowered), lexicon, saying)
    named = [one for one in found if one.days is not None and _is_named(one)]
    added: list[tuple[int, str]] = []
    told = False
    for one in found:
        if not _is_relative(one, lowered):
            continue
        days = _days(lowered[one.start : one.end], one, cited, lexicon, happened)
        if days is None:
            continue
        beside = [other for other in named if _is_beside(lowered, one, other)]
        if any(
            _has_year(other) and other.days is not None and not other.days.meets(days)
            for other in beside
        ):
            report("time", "the day in the content is not the one that its words mean")
            told = True
        elif not beside and not lowered[one.end :].lstrip().startswith(("(", "[")):
            added.append((one.end, f" ({written(days, lexicon)})"))
    if not (added or told) and happened is not None and _contradicts(named, happened):
        report("time", "the day in the content is not the one on which it happened")
    text = content
    for place, words in reversed(added):
        text = text[:place] + words + text[place:]
    return text if len(text) <= longest else content


def _is_named(one: Expression) -> bool:
    return any(map(_NAMED.match, one.tokens)) and not any(map(_RELATIVE.match, one.tokens))


def _has_year(one: Expression) -> bool:
    return any(re.match(r"Y:|(?:DATE|SLASHED):[1-9]", token) for token in one.tokens)


def _is_relative(one: Expression, text: str) -> bool:
    """True if a time needs the day on which it was said; a bare weekday may be said of every
    week.
    """
    words = text[one.start : one.end]
    if words.endswith(("'s", "’s")) or text[one.end :].startswith(("'s", "’s")):
        return False
    lengths = one.tokens[0] == "IN" and any(token.startswith("U:") for token in one.tokens)
    weekday = any(token.startswith("WD:") for token in one.tokens)
    relative = lengths or weekday or any(map(_RELATIVE.match, one.tokens))
    return relative and not any(map(_NAMED.match, one.tokens))


def _days(
    words: str, one: Expression, cited: Sourced, lexicon: Lexicon, happened: DaySpan | None
) -> DaySpan | None:
    """Return the days of relative words: as of the message that has them, else as of the only day
    of all messages.
    """
    holding = [message for message, _ in cited if contains_words(message, words)]
    said = [
        message.observed_at.astimezone(UTC)
        for message in holding or (message for message, _ in cited)
    ]
    if not said or (len(holding) != 1 and len({moment.date() for moment in said}) > 1):
        return None
    around = holding[0].content.casefold() if holding else ""
    saying = Saying(said[0], Role.HAPPENED, tense_of(around, Role.HAPPENED))
    read = next(iter(expressions(words, lexicon, saying)), None)
    days = None if read is None else read.days
    if any(map(_RELATIVE.match, one.tokens)) or one.tokens[0] == "IN":
        return days
    # "On Friday" may be said of every Friday: it is a day only if the message says that it happened
    # on one.
    is_weekday = happened is not None and happened.after - happened.first == _DAY
    named = next((int(token[3:]) for token in one.tokens if token.startswith("WD:")), None)
    return (
        happened
        if is_weekday and happened is not None and happened.first.weekday() == named
        else None
    )


def _is_beside(text: str, one: Expression, other: Expression) -> bool:
    first, second = sorted((one, other), key=lambda found: found.start)
    return _BESIDE.match(text[first.end : second.start]) is not None


def _contradicts(named: list[Expression], happened: DaySpan) -> bool:
    """True if the only day in a content lies near the one on which it happened, and is another."""
    exact = [one for one in named if one.days is not None and _has_year(one)]
    days = [
        one.days
        for one in exact
        if one.days is not None and one.days.granularity is Granularity.DAY
    ]
    if len(days) != 1 or len(named) != 1 or happened.after - happened.first != _DAY:
        return False
    return not days[0].meets(happened) and abs(days[0].first - happened.first) <= _SLIP


def written(days: DaySpan, lexicon: Lexicon) -> str:
    """Write days in the words of a language: "7 May 2023", "Mai 2023", "2023"."""
    last = days.after - _DAY
    if days.granularity is Granularity.YEAR:
        return str(days.first.year)
    parts = list(_parts(days, lexicon))
    if days.first == last or parts[0] == parts[-1]:
        return parts[0]
    same_month = (days.first.year, days.first.month) == (last.year, last.month)
    begin = (
        str(days.first.day) + ("." if lexicon.date.startswith("{day}.") else "")
        if same_month
        else parts[0]
    )
    return f"{begin}–{parts[-1]}" if same_month else f"{parts[0]} – {parts[-1]}"


def _parts(days: DaySpan, lexicon: Lexicon) -> Iterator[str]:
    """Yield the first and the last day, or their months where the days are whole months."""
    whole = days.first.day == 1 and days.after.day == 1
    for day in (days.first, days.after - _DAY):
        form = lexicon.month if whole else lexicon.date
        month = lexicon.months[day.month - 1]
        yield form.format(day=day.day, month=month, Month=month.title(), year=day.year)
