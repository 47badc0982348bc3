"""Reading of one time from its tokens, with the words before it, or with the two sides of a
range.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memoranda.language.times import day_forms, period_forms
from memoranda.language.times.day_arithmetic import span
from memoranda.language.times.length_forms import length
from memoranda.language.times.time_context import Role, Saying, Tense
from memoranda.language.times.time_forms import DAYS_GIVEN, TAIL, WHICH, plain
from memoranda.model.memories import DaySpan, Granularity

#: These modules add their forms to the list when they are imported.
FORM_MODULES: Final = (day_forms, period_forms)
_LEAD: Final = re.compile(
    r"(?:(?:AT|IN|SINCE|FROM|ASOF|FOR|UNTIL|TO|AND|BETWEEN|MORE|ABOUT|INCLUDED) )*"
)
#: Words after what they tell of come before it: "year before last", "semana pasada".
_AFTERWARDS: Final = re.compile(
    r"\b((?:U|WD|M|S|HOL):[\w-]+|WEEKEND) (LAST2?|NEXT2?|THIS|COMING|SOON)\b(?! (?:U|N|M|WD|S):)"
)
_HALVES: Final = (
    # "The coming weeks" are no week: several of a unit are read with their number only.
    (re.compile(r"(N:[\d.]+ (?:MORE |AND-A-HALF )*)UU:"), r"\1U:"),
    (re.compile(r"UU:(year N:)"), r"U:\1"),
    (re.compile(r"(DECADE:\d+) UU:year"), r"\1"),
    (re.compile(r"^HENCE$"), "FROM NOW"),
    (re.compile(r"N:(\d+) AND-A-HALF (U:\w+)"), r"N:\1.5 \2"),
    (re.compile(r"N:(\d+) (U:\w+) AND-A-HALF"), r"N:\1.5 \2"),
    (re.compile(r"(?:N:1 )?HALF (?:N:1 )?(U:\w+)"), r"N:0.5 \1"),
    (re.compile(r"N:(?:1|2) (N:(?:2|10) U)"), r"\1"),
    (re.compile(r"(MID|EARLY|LATE|START|END) HYPHEN"), r"\1"),
    (re.compile(r"\bHYPHEN\b"), "TO"),
    # "Around noon" is not sure of the hour, but of the day.
    (re.compile(r"ABOUT (PART|NIGHT|CLK|N:\d+ CLOCK)"), r"\1"),
    (re.compile(r"((?:DAY:-?\d|WD:\d)(?: PART)?) ABOUT (N:\d+)$"), r"\1 AT \2"),
    (re.compile(r"(^|[A-Z] )MORE (U:\w+)"), r"\1MORE N:1 \2"),
    (re.compile(r"THIS (COMING|LAST|SOON)"), r"\1"),
    (re.compile(r"FOR LAST (U:\w+)"), r"FOR LAST N:1 \1"),
)
_NEXT_ONE: Final = re.compile(r"^(?:NEXT|COMING|SOON) U:")


def days_of(tokens: list[str], saying: Saying) -> DaySpan | None:
    """Return the days that the tokens of one expression say; None if they are no time, or not
    surely one.
    """
    text = " ".join(tokens)
    if saying.role is Role.VALID_UNTIL and "NOW" in tokens:
        return None
    for pattern, instead in _HALVES:
        text = pattern.sub(instead, text)
    text = text.replace("NOW", "DAY:0")
    text = _AFTERWARDS.sub(r"\2 \1", text)
    lead = _LEAD.match(text + " ")
    led_by = 0 if lead is None else lead.end()
    core, led = (
        text[led_by:].removesuffix(" INCLUDED").removesuffix(" UNTIL"),
        frozenset(text[:led_by].split()),
    )
    if not core or (core.startswith("NTH:") and " " not in core):
        # "On second thought" is no day.
        return None
    core = core.replace("NTH:", "ORD:")
    try:
        found = _range(core, led, saying) or _led(core, led, saying)
    except (ValueError, OverflowError):
        return None
    if found is None or ("ABOUT" in led and found.granularity in DAYS_GIVEN):
        return None
    return found


def _led(core: str, led: frozenset[str], saying: Saying) -> DaySpan | None:
    """Return the days of a time behind words such as "since", "from" and "until"."""
    onwards = core.endswith((" ONWARDS", " AT"))
    if onwards and (core.endswith(" ONWARDS") or "FROM" in led):
        core, led = core.rpartition(" ")[0], led | {"FROM"}
    begins = not led.isdisjoint({"SINCE", "FROM", "ASOF"})
    if (saying.role is Role.VALID_FROM and "UNTIL" in led and "FROM" not in led) or (
        saying.role is Role.VALID_UNTIL and begins
    ):
        return None
    if "FOR" in led and _NEXT_ONE.match(core):
        # The next calendar year, or twelve months from now.
        return None
    found = length(core, led, saying)
    if found is not None:
        return found
    if "SINCE" in led:
        saying = replace(saying, tense=Tense.PAST)
    elif "FROM" in led and saying.tense is None:
        saying = replace(saying, tense=Tense.FUTURE)
    elif "ASOF" in led and saying.tense is None:
        past, future = (plain(core, replace(saying, tense=tense)) for tense in Tense)
        return past if past == future else None
    return plain(core, saying)


_BARE: Final = re.compile(r"^(?:WD:\d )?(?:AT )?(?:ORD|N):\d+$")
_BARE_YEAR: Final = re.compile(r"^((?:WD:\d )?(?:ORD|N):\d+) (Y:\d+)$")
_MONTH_OF_RANGE: Final = re.compile(rf"(?:IN )?M:\d+(?:(?: IN)? (?:Y:\d+|{WHICH} U:year))?$")
_MONTH_FIRST: Final = re.compile(r"^(?:WD:\d )?(M:\d+) (?:ORD|N):\d+$")
_OF_MONTH: Final = re.compile(rf"(?:IN )?{WHICH} U:month$")
_YEAR_AT_END: Final = re.compile(r" (Y:\d+)$")


def _range(core: str, led: frozenset[str], saying: Saying) -> DaySpan | None:
    """Return the days from one time to another; what one side leaves out, the other one says."""
    between = "AND" if "BETWEEN" in led else "TO|UNTIL"
    sides = re.split(rf" (?:{between})(?: (?:AT|IN|INCLUDED))* ", core)
    if len(sides) != 2 or plain(core, saying) is not None:
        return None
    left, right = (TAIL.sub("", one) for one in _filled(*sides))
    if saying.is_future:
        start = plain(left, saying)
        end = None if start is None else plain(right, saying.at(start.first, Tense.FUTURE))
    else:
        end = plain(right, saying)
        start = None if end is None else plain(left, saying.at(end.first, Tense.PAST))
    if start is None or end is None or end.first < start.first:
        return None
    return span(start.first, end.after, Granularity.SPAN)


def _filled(left: str, right: str) -> tuple[str, str]:
    """Return both sides of a range with the month and the year that only one of them names."""
    if _BARE.match(left):
        found = _MONTH_OF_RANGE.search(right) or _OF_MONTH.search(right)
        left = f"{left} {found[0]}" if found else left
        if not found and _BARE.match(right) and "ORD:" in left + right:
            left, right = left.replace("N:", "ORD:"), right.replace("N:", "ORD:")
    first = _MONTH_FIRST.match(left)
    if first and _BARE.match(right):
        right = f"{first[1]} {right}"
    elif first and (both := _BARE_YEAR.match(right)):
        right = f"{first[1]} {both[1]} {both[2]}"
    year = _YEAR_AT_END.search(right)
    if year and "M:" in left and "Y:" not in left:
        months = [int(one) for one in re.findall(r"M:(\d+)", f"{left} {right}")]
        over = len(months) == 2 and months[0] > months[1]
        left = f"{left} Y:{int(year[1][2:]) - over}"
    return left, right
