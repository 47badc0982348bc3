"""A recall request as the indexes take it, and the times (days, weeks, months, years) that its
question names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as made
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.model.memories import STANDING
from memoranda.model.query import Filter, Times
from memoranda.model.records import PASSAGE_TYPES, RecordType
from memoranda.model.values import micros
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.hits import enough_to_fold
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring.fields import Field
from memoranda.recall.scoring.matches import Match
from memoranda.recall.scoring.ranking import asks_you
from memoranda.recall.scoring.scorers import near_terms
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from memoranda.storage.rows import TAKEN_BACK
from memoranda.text.terms import query_groups

_Stretch = tuple[datetime, datetime]

_MONTHS: Final = (
    "january jan januar janvier enero gennaio janeiro januari",
    "february feb februar février fevrier febrero febbraio fevereiro februari",
    "march mar märz maerz mars marzo março marco maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei maj",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août aout agosto augustus augusti",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro",
)
_MONTH_OF: Final = {
    name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|er|º)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_OF: Final = r"(?:\s+(?:of|de|del|di))?"
#: Words after which a month's name is a month: "may" and "march" alone may be verbs.
_BEFORE: Final = (
    "in|during|since|until|till|before|after|of|early|late|mid|this|im|seit|bis|vor|nach|anfang|ende|mitte|en|"
    "desde|hasta|de|depuis|fin|début|dal|em|sinds|sedan"
)
#: Words after "may" that make it a verb.
_NO_MONTH: Final = r"(?:not|be|have|also|well|or)\b"
_LAST: Final = (
    r"last|past|previous|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|pasad[ao]|última|último|dernière|dernier|scors[ao]|"
    "passad[ao]|vorige|afgelopen|förra"
)
_UNITS: Final = {
    "day": "day days tag tage tagen día días dia dias jour jours giorno giorni dag dagen dagar",
    "week": "week weeks woche wochen semana semanas semaine semaines settimana settimane weken vecka veckor",
    "month": "month months monat monate monaten mes meses mois mese mesi mês maand maanden månad månader",
    "year": "year years jahr jahre jahren año años an ans anno anni ano anos jaar jaren år",
}
_UNIT_OF: Final = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_UNIT: Final = "|".join(sorted(_UNIT_OF, key=len, reverse=True))
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        (
            "a an one ein eine einem einer un una une uno um uma een en ett",
            "two couple zwei dos deux due dois duas twee två",
            "three drei tres trois tre três drie",
            "four vier cuatro quatre quattro quatro fyra",
            "five fünf cinco cinq cinque vijf fem",
            "six sechs seis sei zes sex",
            "seven sieben siete sept sette sete zeven sju",
            "eight acht ocho huit otto oito åtta",
            "nine neun nueve neuf nove negen nio",
            "ten zehn diez dix dieci dez tien tio",
        ),
        start=1,
    )
    for word in words.split()
}
_NUMBER: Final = rf"(?P<number>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_YESTERDAY: Final = "yesterday|gestern|ayer|hier soir|ieri|ontem|gisteren|igår"
_BEFORE_YESTERDAY: Final = r"day\s+before\s+yesterday|vorgestern|anteayer|avant-hier|altro ieri|anteontem|eergisteren|förrgår"
_TODAY: Final = "today|heute|hoy|aujourd'hui|oggi|hoje|vandaag|idag"

#: A question without a number and without any of these words names no time.
_TIME_WORDS: Final = frozenset(
    [
        *(*_MONTH_OF, *_UNIT_OF, *_YESTERDAY.split("|"), *_TODAY.replace("'", "|").split("|")),
        *("hier", "vorgestern", "anteayer", "anteontem", "eergisteren", "förrgår"),
    ]
)
_WORD: Final = re.compile(r"\w+")


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Return the forms of times; they are compiled with the first question, because most programs
    that import this ask none.
    """
    return tuple(
        re.compile(form, re.IGNORECASE)
        for form in (
            r"\b(?P<year>(?:19|20)\d\d)-(?P<number_of_month>[01]\d)-(?P<day>[0-3]\d)\b",
            rf"\b{_DAY}{_OF}\s+(?P<month>{_MONTH})\b(?!\s+{_NO_MONTH})(?:[.,]?{_OF}\s+{_YEAR}\b)?",
            rf"\b(?P<month>{_MONTH})\b\.?\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
            rf"\b(?P<day>[0-3]?\d)\.\s?(?P<number_of_month>[01]?\d)\.\s?{_YEAR}\b",
            rf"\b(?P<one>[0-3]?\d)/(?P<other>[0-3]?\d)/{_YEAR}\b",
            rf"\b(?P<month>{_MONTH})\b[.,]?{_OF}\s+{_YEAR}\b",
            rf"\b(?P<last>{_LAST})\s+(?P<month>{_MONTH})\b",
            rf"\b(?P<month>{_MONTH})\s+(?P<last>{_LAST})\b",
            rf"\b(?:{_BEFORE})\s+(?P<month>{_MONTH})\b",
            rf"\b{_NUMBER}\s+(?:of\s+)?(?P<unit>{_UNIT})\s+(?P<ago>ago|fa|atrás|geleden|sedan)\b",
            rf"\b(?P<ago>vor|hace|il y a|há|för)\s+{_NUMBER}\s+(?P<unit>{_UNIT})\b",
            rf"\b(?P<last>{_LAST})\s+(?P<unit>{_UNIT})\b",
            rf"\b(?P<unit>{_UNIT})\s+(?P<last>{_LAST})\b",
            rf"\b(?P<before_yesterday>{_BEFORE_YESTERDAY})\b",
            rf"\b(?P<yesterday>{_YESTERDAY})\b",
            rf"\b(?P<today>{_TODAY})\b",
            rf"\b{_YEAR}\b",
        )
    )


#: Letters that a regular expression takes for ASCII letters if it ignores case, one for one.
_LOOKALIKES: Final = str.maketrans("ſİıK", "sIik")
#: A month or day without a year may mean each of so many years back.
_YEARS_BACK: Final = 12


def times_of(question: str, now: datetime) -> Times:
    """Return the times that a question names; a day also counts as its month and its year, each as
    a separate time.

    So passages near a named day are found too, by its month, if there are none of that day.
    """
    question = plain(question)
    words = words_in(question)
    if _TIME_WORDS.isdisjoint(words) and not any(word[0].isdigit() for word in words):
        return ()
    taken: list[tuple[int, int]] = []
    found: dict[str, list[tuple[int, int]]] = {}
    for form in _forms():
        for match in form.finditer(question):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                taken.append(match.span())
                for name, stretches in _named(match, now.astimezone(UTC)):
                    found.setdefault(
                        name, [(micros(since), micros(until)) for since, until in stretches]
                    )
    return tuple((name, stretches) for name, stretches in found.items() if stretches)


def words_in(plain_text: str) -> list[str]:
    """Return the words of a plain text in lower case."""
    return _WORD.findall(plain_text.lower())


def plain(text: str) -> str:
    """Replace letters that a regular expression takes for ASCII if it ignores case; the length
    stays the same.
    """
    return text if text.isascii() else text.translate(_LOOKALIKES)


def _named(match: re.Match[str], now: datetime) -> Iterator[tuple[str, list[_Stretch]]]:
    said = match.groupdict()
    if said.get("month") or said.get("number_of_month"):
        yield from _of_calendar(match, now)
    elif said.get("one"):
        yield from _slashed(match)
    elif said.get("year"):
        yield said["year"], [_year(int(said["year"]))]
    elif said.get("unit"):
        yield match.group(), _counted(said, now)
    else:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        back = 2 if said.get("before_yesterday") else 1 if said.get("yesterday") else 0
        begin = midnight - timedelta(days=back)
        yield match.group(), [(begin, begin + timedelta(days=1))]


def _of_calendar(match: re.Match[str], now: datetime) -> Iterator[tuple[str, list[_Stretch]]]:
    said = match.groupdict()
    name = said.get("month") or ""
    month = _MONTH_OF.get(name.lower(), 0) if name else int(said["number_of_month"])
    if not 1 <= month <= 12:
        return
    if said.get("year"):
        years = [int(said["year"])]
        yield said["year"], [_year(years[0])]
    else:
        # "Last November", asked in November, means that of the year before.
        latest = now.year if month < now.month + (not said.get("last")) else now.year - 1
        years = [latest] if said.get("last") else [latest - back for back in range(_YEARS_BACK)]
    yield (
        f"{name or month} {said.get('year') or ''}".strip(),
        [_month(year, month) for year in years],
    )
    if said.get("day"):
        days = (_day(year, month, int(said["day"])) for year in years)
        yield match.group(), [day for day in days if day is not None]


def _slashed(match: re.Match[str]) -> Iterator[tuple[str, list[_Stretch]]]:
    """Yield a day written in numbers alone: some people write the month first and some the day."""
    one, other, year = int(match["one"]), int(match["other"]), int(match["year"])
    readings = {(one, other), (other, one)}
    days = [
        day for month, date in sorted(readings) if month <= 12 and (day := _day(year, month, date))
    ]
    yield match["year"], [_year(year)]
    yield match.group(), days


def _counted(said: dict[str, str | None], now: datetime) -> list[_Stretch]:
    unit = _UNIT_OF.get(str(said["unit"]).lower(), "")
    number = 1
    if word := said.get("number"):
        number = int(word) if word.isdecimal() else _NUMBERS.get(word.lower(), 0)
    if not unit or not number:
        return []
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    before: Callable[[], _Stretch | None] = {
        "day": lambda: (midnight - timedelta(days=number), midnight - timedelta(days=number - 1)),
        "week": lambda: _week(midnight, number),
        "month": lambda: _months_back(now, number),
        "year": lambda: _year(now.year - number) if number < now.year - 1 else None,
    }[unit]
    stretch = before()
    return [] if stretch is None else [stretch]


def _week(midnight: datetime, number: int) -> _Stretch:
    """Return the calendar week so many weeks ago, widened to seven days before that day."""
    monday = midnight - timedelta(days=midnight.weekday() + 7 * number)
    same = midnight - timedelta(weeks=number)
    return min(monday, same), max(monday + timedelta(weeks=1), same + timedelta(days=1))


def _months_back(now: datetime, number: int) -> _Stretch | None:
    months = now.year * 12 + now.month - 1 - number
    return _month(months // 12, months % 12 + 1) if months >= 12 else None


def _year(year: int) -> _Stretch:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _month(year: int, month: int) -> _Stretch:
    return datetime(year, month, 1, tzinfo=UTC), datetime(
        year + month // 12, month % 12 + 1, 1, tzinfo=UTC
    )


def _day(year: int, month: int, day: int) -> _Stretch | None:
    try:
        begin = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return begin, begin + timedelta(days=1)


#: Questions longer than this, in characters, are parsed in another thread.
_LONG_QUESTION = 1_000

#: Candidates read beyond the limit: strength may lift some of them, and folding needs replacements.
SPARE = 2
#: Candidates examined beyond those, because some repeat others.
_REPEATED = 4
#: Most candidates examined for one request, however many are folded.
MOST_CANDIDATES = 4000

#: The statuses read if the caller names none: those of current memories, and None for records
#: without a status.
_READ: frozenset[str | None] = STANDING | {None}
_WITHDRAWN = frozenset({"withdrawn"})
_MEMORIES = frozenset({RecordType.MEMORY.value})


@dataclass(slots=True)
class SearchRequest:
    """One recall request and its matches."""

    question: SearchQuestion
    #: The name of the set of vectors that the question's vector can be compared with.
    vectors: str
    mode: Mode
    limit: int
    only: PassageFilter
    #: The same conditions as ``only``, in the form that engines take.
    conditions: Filter
    pinned_first: bool = False
    #: The least confidence of a hit.
    at_least: float | None = None
    #: Candidates read beyond the limit.
    spare: int = SPARE
    #: The matches, best first, and whether there are more.
    found: list[tuple[UUID, Match]] = made(default_factory=list)
    more: bool = False
    #: The name of the set of vectors that the book reads; empty if no passage told.
    reads: str = ""

    def search(self, shelves: Sequence[ShelfIndex]) -> None:
        """Search these shelves' indexes and store the matches in ``found``."""
        self.comparable(shelves).search_in(field_of(shelves), self)

    def pick(self, shelves: Sequence[ShelfIndex]) -> list[UUID]:
        """Search these shelves' indexes, store the matches in ``found``, and return their ids."""
        self.search(shelves)
        return [id for id, _ in self.found]

    def search_in(self, field: Field, result: SearchRequest | None = None) -> None:
        """Search a field (a sequence of passages) and store the matches in ``result``, by default
        in this request.
        """
        result = result or self
        best = (
            self.best_in(field, self.limit)
            if self.mode is Mode.RECENT
            else self._enough(field, result)
        )
        if self.pinned_first:
            pinned = replace(self.only, types=_MEMORIES, pinned=True)
            if self.only.types is None or self.only.types & _MEMORIES:
                first = self.best_in(field, self.limit, pinned)
                there = {hit.id for hit in first}
                best = first + [hit for hit in best if hit.id not in there]
        result.found = [(UUID(bytes=hit.id), hit) for hit in best]

    def _enough(self, field: Field, result: SearchRequest) -> list[Match]:
        """Return enough of the best matches to fill the limit after repetitions are folded into one
        hit.
        """
        most = self.limit + self.spare + _REPEATED
        while True:
            found = self.best_in(field, most)
            chosen = enough_to_fold(found, self.limit, self.spare)
            result.more = len(found) == most or chosen is not None
            if chosen is not None or len(found) < most or most >= MOST_CANDIDATES:
                return found if chosen is None else chosen
            most *= 4

    def comparable(self, shelves: Sequence[ShelfIndex]) -> SearchRequest:
        """Return this request; without its vector if the vectors of these shelves cannot be
        compared with it.
        """
        names = {shelf.vectors for shelf in shelves} - {""}
        others = names - {self.vectors}
        self.reads = min(others or names, default="")
        if others:
            # Recall has switched to another embedding's set: search by words until the caller has
            # that embedder.
            return replace(self, question=replace(self.question, vector=None))
        return self

    def best(self, shelves: Sequence[ShelfIndex], limit: int) -> list[Match]:
        """Return the best ``limit`` matches in these shelves' indexes."""
        return self.comparable(shelves).best_in(field_of(shelves), limit)

    def best_in(self, field: Field, limit: int, only: PassageFilter | None = None) -> list[Match]:
        """Return the best ``limit`` matches in a field of passages; ``only`` replaces the request's
        own filter.
        """
        only = self.only if only is None else only
        return search(
            field, self.question, limit=limit, only=only, mode=self.mode, vectors=self.vectors
        )


async def parse_question(
    question: str, vector: NDArray[np.float32] | None, now: datetime
) -> SearchQuestion:
    """Find the words and times that a question names; a long one is parsed in an operating-system
    thread.
    """
    if len(question) > _LONG_QUESTION:
        return await asyncio.to_thread(_parsed, question, vector, now)
    return _parsed(question, vector, now)


def _parsed(question: str, vector: NDArray[np.float32] | None, now: datetime) -> SearchQuestion:
    groups = query_groups(question)
    return SearchQuestion(
        groups, vector, times_of(question, now), near_terms(groups), asks_you(question)
    )


def passage_filter(
    types: frozenset[RecordType], only: Filter, now: datetime | None = None
) -> PassageFilter:
    """Convert the caller's conditions into the filter that the in-memory indexes take."""
    of_now = only.as_of is None and only.known_at is None
    return PassageFilter(
        types=frozenset(type_.value for type_ in types),
        kinds=None if only.kinds is None else frozenset(only.kinds),
        kind_prefix=only.kind_prefix,
        statuses=frozenset(only.statuses)
        if only.statuses is not None
        else _READ
        if of_now
        else None,
        not_statuses=TAKEN_BACK if only.as_of is not None else None if of_now else _WITHDRAWN,
        threads=None if only.thread is None else frozenset({only.thread.bytes}),
        since=None if only.since is None else micros(only.since),
        until=None if only.until is None else micros(only.until),
        valid_at=None if only.valid_at is None else micros(only.valid_at),
        as_of=None if only.as_of is None else micros(only.as_of),
        current_at=None if only.current_at is None else micros(only.current_at),
        read_at=None if now is None else micros(now),
        known_at=None if only.known_at is None else micros(only.known_at),
        agents=None if only.agent is None else frozenset({only.agent}),
        keys=only.keys,
        subjects=None if only.subject is None else frozenset({only.subject}),
        trusts=only.trust,
        tags=only.tags,
        pinned=only.pinned,
        data=only.data,
    )


def listing_filter(only: Filter, now: datetime | None) -> PassageFilter:
    """Convert conditions into the filter of the passages that a list shows: of every status, unless
    one is asked for.
    """
    filter = passage_filter(PASSAGE_TYPES if only.types is None else only.types, only, now)
    refused = _WITHDRAWN if only.as_of is None else TAKEN_BACK
    return replace(filter, statuses=only.statuses, not_statuses=refused)
