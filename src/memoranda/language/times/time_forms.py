"""The list of the forms of times over tokens that all languages share, and how a time is compared
with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from memoranda.language.times.day_arithmetic import span
from memoranda.language.times.time_context import Saying
from memoranda.model.memories import DaySpan, Granularity

#: "this", "next", "the last but one" as tokens, and how many units away each is.
WHICH: Final = r"(?:LAST2?|NEXT2?|THIS|COMING|SOON)"
STEP: Final = {
    "": 0,
    "THIS": 0,
    "LAST": -1,
    "NEXT": 1,
    "LAST2": -2,
    "NEXT2": 2,
    "COMING": 1,
    "SOON": 1,
}
#: Which of them lie ahead.
AHEAD: Final = frozenset({"NEXT", "COMING", "SOON"})
#: Granularities of a single day.
DAYS_GIVEN: Final = frozenset({Granularity.DAY, Granularity.HOUR, Granularity.PART_OF_DAY})
_CLOCK: Final = r"(?:CLK|N:\d+ CLOCK)"
TAIL: Final = re.compile(
    rf"(?: (?:(?:AT|TO|IN|FOR|FROM|UNTIL) )?(?:PART|NIGHT|{_CLOCK}|(?:CLK|N:\d+) TO {_CLOCK})| AT N:\d{{1,2}}"
    # "El viernes a las 5" has a time of day, "3 to 5 May" has none.
    r"|(?<![NMD]:\d)(?<![NM]:\d\d)(?<!RD:\d\d) TO N:\d{1,2}|(?<=WD:\d) TO N:\d{1,2})+$"
)
_HEAD: Final = re.compile(rf"^(?:(?:PART|NIGHT|{_CLOCK})(?: (?:AT|IN|FROM|TO))? )+")

Form = Callable[[re.Match[str], Saying], DaySpan | None]
FORMS: list[tuple[str, Form]] = []


def form(pattern: str) -> Callable[[Form], Form]:
    """Add a form to the list: a pattern over tokens, and the function that makes its days."""

    def add(made: Form) -> Form:
        FORMS.append((pattern, made))
        return made

    return add


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], Form], ...]:
    """Return the forms; they are compiled with the first time that is read, because most programs
    that import this read none.
    """
    return tuple((re.compile(pattern), made) for pattern, made in FORMS)


def plain(core: str, saying: Saying) -> DaySpan | None:
    """Return the days of a time without words before it; a time of day narrows only the
    granularity.
    """
    for pattern, made in _compiled():
        if found := pattern.fullmatch(core):
            return made(found, saying)
    short = TAIL.sub("", _HEAD.sub("", core))
    if not short or short == core:
        return None
    days = plain(short, saying)
    if days is None or days.granularity not in DAYS_GIVEN:
        return None
    told = (
        Granularity.HOUR
        if re.search(r"CL(?:K|OCK)| N:", core.replace(short, ""))
        else Granularity.PART_OF_DAY
    )
    return span(days.first, days.after, told)
