"""Anchors: times that a question counts from a day of someone's own, such as two weeks before a birthday."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final, NamedTuple

from memoranda.model.values import micros
from memoranda.recall.dates import NUMBER, NUMBERS, UNIT, UNIT_OF, Day, days_in, plain, words_in

_BEFORE: Final = "before|prior to|ahead of|vor|avant|antes de|antes del|prima di|prima del"
_AFTER: Final = "after|following|nach|après|después de|después del|dopo"
_MY: Final = r"my|our|the|meine[mnrs]?|mein|unsere[mnrs]?|unser|dem|der|mi|nuestr[oa]|el|la|mon|ma|notre|le|mio|mia|nostr[oa]|\w+['’]s"
_FORM: Final = re.compile(
    rf"\b(?:{NUMBER}\s+|(?:the|die|der|den|in der|la|el)\s+)(?P<unit>{UNIT})\s+(?:(?P<before>{_BEFORE})|(?:{_AFTER}))\s+"
    rf"(?:(?P<whose>{_MY})\s+)?(?P<anchor>\w+(?:['’]s)?(?:\s+\w+){{0,2}})",
    re.IGNORECASE,
)
_OWN: Final = "birthday|anniversary|geburtstag|cumpleaños|aniversario|anniversaire"
_ITSELF: Final = re.compile(
    rf"\b(?:on|around|an|zu|um|en|à|a)\s+(?P<whose>{_MY})\s+(?P<anchor>{_OWN})\b", re.IGNORECASE
)
#: One of these stands in every time that counts from a day, beside a unit.
_TURNS: Final = frozenset(turn.split()[0] for turn in f"{_BEFORE}|{_AFTER}".split("|"))
#: Feasts of the same day each year.
_FEASTS: Final = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "weihnachten": (12, 25),
    "heiligabend": (12, 24),
    "silvester": (12, 31),
    "navidad": (12, 25),
    "noël": (12, 25),
}
#: Days that come again every year, whatever year is told with them.
_YEARLY: Final = frozenset([*_OWN.split("|"), "born"])
#: Other words under which a day is told.
_ALSO: Final = {
    "birthday": "born birth",
    "geburtstag": "geboren",
    "wedding": "married",
    "hochzeit": "geheiratet",
}
_YEARS_BACK: Final = 12
#: As many of a question's times are looked up.
_MOST: Final = 3
_MINE: Final = r"my|our|mein\w*|unser\w*|mi|nuestr[oa]|mon|ma|notre|mio|mia|nostr[oa]"
#: A day that is told as somebody else's.
_OTHERS: Final = re.compile(
    r"(?:\w['’]s|\b(?:his|her|their|your|sein\w*|ihr\w*|su|sus|son|sa|leur|suo|sua|tu|tus|ton|ta|dein\w*|eue?r\w*))\s+"
    r"(?:\w+\s+)?(?:birth\w*|anniversary|wedding|geburtstag|hochzeit\w*|cumpleaños|aniversario|anniversaire)\b"
    r"|\b(?!mein)\w+s\s+(?:geburtstag|hochzeit\w*)\b|\b(?:cumpleaños|anniversaire|compleanno)\s+d[ei]\s+(?!mi\b)\w"
    r"|\b(?!I\b)\w+\s+(?:was|were|is|are|wurde|ist|nació|est)\s+(?:\w+\s+)?(?:born|geboren|née?)\b",
    re.IGNORECASE,
)


class Anchored(NamedTuple):
    """A time counted from a day that has to be looked up."""

    #: As it was asked.
    phrase: str
    #: So many of these before the day, or, where negative, after it.
    number: int
    unit: str
    #: The words to look for, whose it is among them.
    sought: str
    #: The day, where the question itself tells it.
    day: Day | None
    #: It is the asker's own.
    mine: bool

    @property
    def yearly(self) -> bool:
        """Whether the day comes every year."""
        return not _YEARLY.isdisjoint(self.sought.lower().split())


def anchored(question: str) -> list[Anchored]:
    """The times of a question that count from a day."""
    found: list[Anchored] = []
    spelled = plain(question)
    if not may_count(spelled):
        return found
    for match in islice(_FORM.finditer(spelled), _MOST):
        number = match["number"]
        count = 1 if number is None else int(number) if number.isdecimal() else NUMBERS.get(number.lower(), 0)
        unit = UNIT_OF.get(match["unit"].lower())
        if unit is None or not count:
            continue
        rest = question[match.start("anchor") :]
        day, end = _told_at_once(rest)
        if day is None and match["whose"] is None:
            continue
        begin = match.start("anchor")
        phrase = question[match.start() : begin + end] if day else match.group()
        signed = count if match["before"] else -count
        found.append(Anchored(phrase, signed, unit, _sought(match), day, _is_mine(match)))
    for match in islice(_ITSELF.finditer(spelled), _MOST):
        if not any(match.group() in one.phrase for one in found):
            found.append(Anchored(match.group(), 0, "day", _sought(match), None, _is_mine(match)))
    return found


def may_count(spelled: str) -> bool:
    """Whether a plain question holds the words that such times are made of: most hold none, and are done with."""
    words = frozenset(words_in(spelled))
    counts = not words.isdisjoint(_TURNS) and not words.isdisjoint(UNIT_OF)
    return counts or not words.isdisjoint(_YEARLY)


def _told_at_once(rest: str) -> tuple[Day | None, int]:
    """The day with which a text begins, and where it ends."""
    for name, (month, day) in _FEASTS.items():
        if rest.lower().replace("’", "'").startswith(name):
            return Day(None, month, day), len(name)
    for (begin, end), day_ in days_in(rest):
        if begin <= len("the "):
            return day_, end
    return None, 0


def _sought(match: re.Match[str]) -> str:
    whose = match["whose"] or ""
    name = whose[:-2] if whose.endswith(("'s", "’s")) else ""
    anchor = match["anchor"]
    return " ".join([name, anchor, *(_ALSO.get(word, "") for word in anchor.lower().split())]).strip()


def _is_mine(match: re.Match[str]) -> bool:
    return re.fullmatch(_MINE, match["whose"] or "", re.IGNORECASE) is not None


def day_told(text: str, one: Anchored) -> Day | None:
    """The day that a text tells, if it is about one of the words that are sought, and not somebody else's."""
    words = set(re.findall(r"\w+", text.lower()))
    if words.isdisjoint(one.sought.lower().split()):
        return None
    if one.mine and _OTHERS.search(text):
        return None
    return next((day for _, day in days_in(text)), None)


def stretches_from(one: Anchored, day: Day, now: datetime) -> list[tuple[int, int]]:
    """The stretches of time that are meant, where the day is known; those that have begun."""
    if day.year is not None and not one.yearly:
        years: Sequence[int] = [day.year]
    else:
        years = [now.year + 1 - back for back in range(_YEARS_BACK)]
    found = []
    for year in years:
        since, until = _around(_counted(_in_year(day, year), one), one.unit)
        if since <= now:
            found.append((micros(since), micros(until)))
    return found


def _in_year(day: Day, year: int) -> date:
    """A leap day is the last of February in other years."""
    return date(year, day.month, min(day.day, monthrange(year, day.month)[1]))


def _counted(day: date, one: Anchored) -> date:
    if one.unit in ("day", "week"):
        return day - timedelta(days=one.number * (7 if one.unit == "week" else 1))
    months = day.year * 12 + day.month - 1 - one.number * (12 if one.unit == "year" else 1)
    year, month = max(months // 12, 1), months % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


_WIDTH: Final = {"day": (0, 1), "week": (3, 4), "month": (15, 16), "year": (182, 183)}


def _around(day: date, unit: str) -> tuple[datetime, datetime]:
    before, after = _WIDTH[unit]
    midnight = datetime.combine(day, time(), tzinfo=UTC)
    return midnight - timedelta(days=before), midnight + timedelta(days=after)
