"""Words that say how long something holds become moments, counted from when they were said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.formation.extract.validity import since, until

#: A Wednesday.
SAID = datetime(2025, 3, 5, 15, 30, tzinfo=UTC)


def day(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("until Friday", day(2025, 3, 8)),
        ("until Wednesday", day(2025, 3, 13)),
        ("until next Friday", day(2025, 3, 15)),
        ("today", day(2025, 3, 6)),
        ("only for today.", day(2025, 3, 6)),
        ("till the day after tomorrow", day(2025, 3, 8)),
        ("until the end of the month", day(2025, 4, 1)),
        ("until the end of next week", day(2025, 3, 17)),
        ("until end of May", day(2025, 6, 1)),
        ("this week", day(2025, 3, 10)),
        ("for two weeks", day(2025, 3, 20)),
        ("for 3 more days", day(2025, 3, 9)),
        ("for a year", day(2026, 3, 6)),
        ("through June", day(2025, 7, 1)),
        ("until February", day(2026, 3, 1)),
        ("until 3 May", day(2025, 5, 4)),
        ("until May 3rd, 2026", day(2026, 5, 4)),
        ("by 2025-04-30", day(2025, 5, 1)),
        ("until 2027", day(2028, 1, 1)),
        ("bis Freitag", day(2025, 3, 8)),
        ("bis Ende des Monats", day(2025, 4, 1)),
        ("bis zum 3. Mai", day(2025, 5, 4)),
        ("bis 31.12.2025", day(2026, 1, 1)),
        ("bis übermorgen", day(2025, 3, 8)),
    ],
)
def test_a_day_that_is_named_is_the_last_on_which_it_holds(words, end):
    assert until(words, SAID) == end


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("from Monday", day(2025, 3, 10)),
        ("since yesterday", day(2025, 3, 4)),
        ("since last Friday", day(2025, 2, 28)),
        ("starting next month", day(2025, 4, 1)),
        ("since 2019", day(2019, 1, 1)),
        ("ab morgen", day(2025, 3, 6)),
    ],
)
def test_a_start_is_the_first_day_that_is_named(words, start):
    assert since(words, SAID) == start


@pytest.mark.parametrize(
    "words",
    [
        "",
        "until it rains",
        "until 2025-02-30",
        "until 99 May",
        "soon",
        "until yesterday",
        "until 9999-12-31",
        "until " + "Friday " * 50,
        "for 999 years of 3 moons",
        "until 2001",
    ],
)
def test_words_that_tell_no_end_that_could_come_tell_none(words):
    assert until(words, SAID) is None


def test_the_day_is_counted_from_the_moment_that_it_was_said_in_utc():
    late = datetime(2025, 3, 5, 23, 30, tzinfo=timezone(timedelta(hours=-5)))

    assert until("tomorrow", late) == day(2025, 3, 8)


def test_a_month_that_is_shorter_ends_on_its_last_day():
    assert until("for one month", day(2025, 1, 31)) == day(2025, 3, 1)


@given(st.text(max_size=100) | st.from_regex(r"until [0-9]{1,4}[-. ][0-9]{1,4}([-. ][0-9a-z]{1,4})?"))
def test_no_words_break_it(words):
    for moment in (until(words, SAID), since(words, SAID)):
        assert moment is None or moment.tzinfo is UTC
