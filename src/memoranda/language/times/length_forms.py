"""Lengths of time: "two years ago", "in three weeks", "for five days"."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from memoranda.language.times.day_arithmetic import DAY, later, one_day, period, span
from memoranda.language.times.time_context import Role, Saying
from memoranda.language.times.time_forms import AHEAD
from memoranda.model.memories import DaySpan, Granularity

_LENGTH: Final = re.compile(
    r"^(?P<ago>AGO )?(?P<which>LAST |NEXT |COMING |SOON )?(?:ABOUT )?(?P<more>MORE )?N:(?P<count>[\d.]+) (?P<more2>MORE )?"
    r"U:(?P<unit>\w+)(?P<more3> MORE)?(?P<after> AGO| HENCE)?(?P<today> DAY:0)?$"
)
_TODAY_AGO: Final = re.compile(r"^DAY:0 AGO (.+)$")


def length(core: str, led: frozenset[str], saying: Saying) -> DaySpan | None:
    """Return the day so long ago, or so long from now; "for three years" is ago for what began, and
    from now for what ends.
    """
    heading = core.removeprefix("HENCE ")
    moved = _TODAY_AGO.sub(r"AGO \1 DAY:0", heading)
    found = _LENGTH.match(moved)
    if found is None:
        return None
    counted = _counted(float(found["count"]), found["unit"])
    if counted is None:
        return None
    count, unit = counted
    which = (found["which"] or "").strip()
    more = "MORE" in led or any(found[name] for name in ("more", "more2", "more3"))
    ago = bool(found["ago"]) or (found["after"] or "") == " AGO"
    hence = heading != core or (found["after"] or "") == " HENCE" or ("IN" in led and not which)
    if "AT" in led and not which:
        # "Over ten years" says more than ten.
        return None
    if saying.role is Role.VALID_FROM and not (ago or hence or more or which in AHEAD):
        ago = True
    elif saying.role is Role.VALID_UNTIL and not ago:
        hence = True
    elif which and saying.role is Role.HAPPENED:
        return _around(count, unit, which, saying)
    if ago is hence or (more and ago):
        return None
    exact = saying.role is not Role.HAPPENED or (ago and found["today"] is not None)
    return _moved(-count if ago else count, unit, saying, exact=exact)


def _counted(count: float, unit: str) -> tuple[int, str] | None:
    """Return a whole number of units; half a year is six months."""
    if unit == "half":
        count, unit = count * 6, "month"
    if count != int(count):
        smaller = {"year": (12, "month"), "hour": (60, "minute"), "quarter": None}.get(unit)
        if smaller is None:
            return None
        count, unit = count * smaller[0], smaller[1]
    return (int(count), unit) if 0 < count < 1000 else None


def _moved(count: int, unit: str, saying: Saying, *, exact: bool) -> DaySpan:
    if unit in ("minute", "hour"):
        moment = saying.said + timedelta(**{f"{unit}s": count})
        return span(moment.date(), moment.date() + DAY, Granularity.HOUR)
    day = later(saying.today, unit, count)
    if unit == "day" or (exact and saying.role is Role.HAPPENED):
        return one_day(day)
    return span(day, day + DAY, Granularity(unit)) if exact else period(day, unit)


def _around(count: int, unit: str, which: str, saying: Saying) -> DaySpan | None:
    """Return the days of "the last two weeks": up to today, or from tomorrow on."""
    if unit in ("minute", "hour"):
        return None
    today = saying.today
    if which == "LAST":
        return span(later(today, unit, -count), today + DAY, Granularity.SPAN)
    return span(today + DAY, later(today, unit, count) + DAY, Granularity.SPAN)
