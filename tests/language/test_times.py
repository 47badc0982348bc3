"""Tests of times: words become days, counted from the moment of saying, and no more exact than the
words.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.language.times.time_context import Role, Tense
from memoranda.language.times.time_reader import days_said
from memoranda.model.memories import DaySpan, Granularity

#: A Wednesday.
SAID = datetime(2026, 9, 9, 14, 20, tzinfo=UTC)
HAPPENED, FROM, UNTIL = Role.HAPPENED, Role.VALID_FROM, Role.VALID_UNTIL
PAST, FUTURE = Tense.PAST, Tense.FUTURE


def read(words: str, role: Role, tense: Tense | None = None, around: str = "") -> DaySpan | None:
    return days_said(words, SAID, role, tense=tense, around=around)


@pytest.mark.parametrize(
    ("words", "first", "after", "granularity"),
    [
        ("yesterday", "2026-09-08", "2026-09-09", "day"),
        ("gestern", "2026-09-08", "2026-09-09", "day"),
        ("anteayer", "2026-09-07", "2026-09-08", "day"),
        ("two days ago", "2026-09-07", "2026-09-08", "day"),
        ("vor zwei Tagen", "2026-09-07", "2026-09-08", "day"),
        ("hace dos días", "2026-09-07", "2026-09-08", "day"),
        ("thirty days ago", "2026-08-10", "2026-08-11", "day"),
        ("twenty-one days ago", "2026-08-19", "2026-08-20", "day"),
        ("vor einundzwanzig Tagen", "2026-08-19", "2026-08-20", "day"),
        ("hace treinta y un días", "2026-08-09", "2026-08-10", "day"),
        ("three years ago", "2023-01-01", "2024-01-01", "year"),
        ("vor einem Jahr", "2025-01-01", "2026-01-01", "year"),
        ("hace un año y medio", "2025-03-01", "2025-04-01", "month"),
        ("two and a half years ago", "2024-03-01", "2024-04-01", "month"),
        ("a fortnight ago", "2026-08-24", "2026-08-31", "week"),
        ("a week ago today", "2026-09-02", "2026-09-03", "day"),
        ("half an hour ago", "2026-09-09", "2026-09-10", "hour"),
        ("last year", "2025-01-01", "2026-01-01", "year"),
        ("el año pasado", "2025-01-01", "2026-01-01", "year"),
        ("in July", "2026-07-01", "2026-08-01", "month"),
        ("im Dezember", "2025-12-01", "2026-01-01", "month"),
        ("en junio del año pasado", "2025-06-01", "2025-07-01", "month"),
        ("on Friday", "2026-09-04", "2026-09-05", "day"),
        ("am Mittwoch", "2026-09-02", "2026-09-03", "day"),
        ("last Friday", "2026-09-04", "2026-09-05", "day"),
        ("vorletzten Freitag", "2026-08-28", "2026-08-29", "day"),
        ("Freitag letzter Woche", "2026-09-04", "2026-09-05", "day"),
        ("on the 24th", "2026-08-24", "2026-08-25", "day"),
        ("el 24", "2026-08-24", "2026-08-25", "day"),
        ("Friday, 4 September", "2026-09-04", "2026-09-05", "day"),
        ("on 3 September", "2026-09-03", "2026-09-04", "day"),
        ("3.9.2024", "2024-09-03", "2024-09-04", "day"),
        ("last night", "2026-09-08", "2026-09-09", "part_of_day"),
        ("this morning", "2026-09-09", "2026-09-10", "part_of_day"),
        ("el viernes por la noche", "2026-09-04", "2026-09-05", "part_of_day"),
        ("Freitagabend", "2026-09-04", "2026-09-05", "part_of_day"),
        ("yesterday at 5pm", "2026-09-08", "2026-09-09", "hour"),
        ("last weekend", "2026-09-05", "2026-09-07", "weekend"),
        ("am Wochenende", "2026-09-05", "2026-09-07", "weekend"),
        ("the week before last", "2026-08-24", "2026-08-31", "week"),
        ("mid-August", "2026-08-11", "2026-08-21", "span"),
        ("a principios de agosto", "2026-08-01", "2026-08-11", "span"),
        ("Ende August", "2026-08-21", "2026-09-01", "span"),
        ("in summer 2024", "2024-06-01", "2024-09-01", "season"),
        ("im zweiten Quartal", "2026-04-01", "2026-07-01", "quarter"),
        ("from Monday to Wednesday", "2026-08-31", "2026-09-03", "span"),
        ("zwischen dem 3. und 5. August", "2026-08-03", "2026-08-06", "span"),
        ("August 3–5", "2026-08-03", "2026-08-06", "span"),
        ("from 30 December to 2 January", "2025-12-30", "2026-01-03", "span"),
        ("2019–2022", "2019-01-01", "2023-01-01", "span"),
        ("in den 90er Jahren", "1990-01-01", "2000-01-01", "decade"),
        ("2026-08", "2026-08-01", "2026-09-01", "month"),
        ("2026-09-01T10:00:00Z", "2026-09-01", "2026-09-02", "day"),
        ("saw him last Friday", "2026-09-04", "2026-09-05", "day"),
    ],
)
def test_what_happened_is_read_as_exactly_as_it_was_said(words, first, after, granularity):
    days = DaySpan(
        first=date.fromisoformat(first),
        after=date.fromisoformat(after),
        granularity=Granularity(granularity),
    )
    assert read(words, HAPPENED) == days


@pytest.mark.parametrize(
    ("words", "first", "after"),
    [
        ("tomorrow morning", "2026-09-10", "2026-09-11"),
        ("Friday 17:00", "2026-09-11", "2026-09-12"),
        ("el viernes a las 17:00", "2026-09-11", "2026-09-12"),
        ("next Friday", "2026-09-18", "2026-09-19"),
        ("this Friday", "2026-09-11", "2026-09-12"),
        ("kommenden Sonntag", "2026-09-13", "2026-09-14"),
        ("a week on Friday", "2026-09-18", "2026-09-19"),
        ("on the 24th", "2026-09-24", "2026-09-25"),
        ("in July", "2027-07-01", "2027-08-01"),
        ("from the 12th to the 16th of October", "2026-10-12", "2026-10-17"),
        ("vom 12. bis 16. Oktober", "2026-10-12", "2026-10-17"),
        ("del 12 al 16 de octubre", "2026-10-12", "2026-10-17"),
        ("mid-October", "2026-10-11", "2026-10-21"),
        ("next summer", "2027-06-01", "2027-09-01"),
        ("in zwei Wochen", "2026-09-21", "2026-09-28"),
        ("dentro de tres días", "2026-09-12", "2026-09-13"),
        ("March next year", "2027-03-01", "2027-04-01"),
        ("letzter Freitag im November", "2026-11-27", "2026-11-28"),
        ("in KW 42", "2026-10-12", "2026-10-19"),
    ],
)
def test_a_plan_lies_ahead(words, first, after):
    days = read(words, HAPPENED, FUTURE)

    assert days is not None
    assert (days.first.isoformat(), days.after.isoformat()) == (first, after)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("since June", "2026-06-01"),
        ("seit Oktober", "2025-10-01"),
        ("in July", "2026-07-01"),
        ("on 3 September", "2026-09-03"),
        ("for 4 years", "2022-09-09"),
        ("for two weeks now", "2026-08-26"),
        ("seit anderthalb Jahren", "2025-03-09"),
        ("desde hace seis meses", "2026-03-09"),
        ("since last week", "2026-08-31"),
        ("since the start of the year", "2026-01-01"),
        ("from October on", "2026-10-01"),
        ("von Oktober an", "2026-10-01"),
        ("a partir de octubre", "2026-10-01"),
        ("from Monday", "2026-09-14"),
        ("ab dem 15.", "2026-09-15"),
        ("starting next month", "2026-10-01"),
        ("in two weeks", "2026-09-23"),
        ("from now on", "2026-09-09"),
        ("since 2019", "2019-01-01"),
        ("now", "2026-09-09"),
        ("I've been here for three years", "2023-09-09"),
        ("ab nächstem Jahr", "2027-01-01"),
    ],
)
def test_a_beginning_lies_in_the_future_only_where_the_words_say_so(words, first):
    days = read(words, FROM)

    assert days is not None
    assert days.first.isoformat() == first


def test_since_is_past_whatever_stands_around_it():
    days = read(
        "since June",
        FROM,
        around="I will stay here, since June it is home, and I am going to buy it.",
    )

    assert days is not None
    assert days.first == date(2026, 6, 1)


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("until Friday", "2026-09-12"),
        ("until Wednesday", "2026-09-17"),
        ("bis zum 24.", "2026-09-25"),
        ("until the contract ends in March 2027", "2027-04-01"),
        ("bis der Vertrag im März 2027 endet", "2027-04-01"),
        ("hasta que termine el contrato en marzo de 2027", "2027-04-01"),
        ("until the end of next week", "2026-09-21"),
        ("bis Ende des Monats", "2026-10-01"),
        ("hasta finales de abril de 2027", "2027-05-01"),
        ("for two weeks", "2026-09-24"),
        ("noch zwei Jahre", "2028-09-10"),
        ("by 17:00 tomorrow", "2026-09-11"),
        ("until the weekend is over", "2026-09-14"),
        ("this week", "2026-09-14"),
        ("bis 31.12.", "2027-01-01"),
        ("through June", "2027-07-01"),
        ("bis gestern", "2026-09-09"),
        ("until 2001", "2002-01-01"),
    ],
)
def test_a_day_that_is_named_is_the_last_on_which_it_is_true(words, after):
    days = read(words, UNTIL)

    assert days is not None
    assert days.after.isoformat() == after


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("", HAPPENED),
        ("soon", HAPPENED),
        ("a few days ago", HAPPENED),
        ("vor ein paar Tagen", HAPPENED),
        ("un día de estos", HAPPENED),
        ("every Friday", HAPPENED),
        ("todos los jueves", HAPPENED),
        ("not yesterday", HAPPENED),
        ("two days before Christmas", HAPPENED),
        ("yesterday or on Monday", HAPPENED),
        ("two weeks later", HAPPENED),
        ("on 30 February", HAPPENED),
        ("Friday, 5 September", HAPPENED),
        ("3/4/2026", HAPPENED),
        ("on second thought", HAPPENED),
        ("it may rain", HAPPENED),
        ("may", HAPPENED),
        ("maybe next week", HAPPENED),
        ("vielleicht morgen", HAPPENED),
        ("in the coming weeks", HAPPENED),
        ("los fines de semana", HAPPENED),
        ("now and then", HAPPENED),
        ("the following Friday", HAPPENED),
        ("from 9 to 5", HAPPENED),
        ("in der Nacht auf Samstag", HAPPENED),
        ("zum 1. Oktober", FROM),
        ("for now", UNTIL),
        ("last summer", HAPPENED),
        ("for two weeks", HAPPENED),
        ("until Friday", FROM),
        ("as of Monday", FROM),
        ("for more than 5 years", FROM),
        ("for years", FROM),
        ("from Monday", UNTIL),
        ("until further notice", UNTIL),
        ("for the next year", UNTIL),
        ("until 2025-02-30", UNTIL),
        ("until 9999-12-31", UNTIL),
        ("2026-11-22T25:61", HAPPENED),
        ("-5 days ago", HAPPENED),
        ("in -3 weeks", UNTIL),
        ("1/2 years ago", HAPPENED),
        ("1e999 days ago", HAPPENED),
        ("until " + "Friday " * 50, UNTIL),
    ],
)
def test_words_that_are_not_surely_one_time_are_not_read(words, role):
    assert read(words, role) is None


@pytest.mark.parametrize(
    ("message", "words", "first"),
    [
        ("We're flying to Lisbon on the 24th.", "on the 24th", "2026-09-24"),
        ("I went to the dentist on the 24th.", "on the 24th", "2026-08-24"),
        ("Wir fahren am Freitag nach Bonn.", "am Freitag", "2026-09-11"),
        ("Ich habe am Freitag angefangen.", "am Freitag", "2026-09-04"),
        ("El viernes voy a ir al médico.", "El viernes", "2026-09-11"),
        ("El viernes fui al médico.", "El viernes", "2026-09-04"),
        ("I finished it on Friday and need to rest.", "on Friday", "2026-09-04"),
        ("Max was ill. We'll meet on Friday.", "on Friday", "2026-09-11"),
        ("The deadline is Friday.", "Friday", None),
    ],
)
def test_the_words_around_a_time_tell_past_from_future(message, words, first):
    days = read(words, HAPPENED, around=message)

    assert (None if days is None else days.first.isoformat()) == first


@pytest.mark.parametrize(
    ("words", "granularity"), [("yesterday at 17:30", "hour"), ("yesterday at 25:61", "day")]
)
def test_an_hour_that_no_day_has_is_no_hour(words, granularity):
    days = read(words, HAPPENED)

    assert days is not None
    assert days.granularity.value == granularity


def test_the_day_is_counted_from_the_moment_of_saying_in_utc():
    late = datetime(2026, 9, 9, 23, 30, tzinfo=timezone(timedelta(hours=-5)))

    days = days_said("tomorrow", late, UNTIL)
    assert days is not None
    assert days.ends == datetime(2026, 9, 12, tzinfo=UTC)


def test_a_month_that_is_shorter_ends_on_its_last_day():
    days = days_said("for one month", datetime(2026, 1, 31, tzinfo=UTC), UNTIL)

    assert days is not None
    assert days.after == date(2026, 3, 1)


@given(
    st.text(max_size=100)
    | st.from_regex(r"until [0-9]{1,4}[-. ][0-9]{1,4}([-. ][0-9a-z]{1,4})?")
    | st.lists(
        st.sampled_from(
            "last next the 3 24th may friday week of to ago in until since half year 2026 q1 and am".split()
        )
    ).map(" ".join)
)
def test_no_words_break_it(words):
    for role in Role:
        days = read(words, role)
        assert days is None or days.first < days.after


@pytest.mark.parametrize("words", ["KW 53", "KW 54", "KW 99", "week 99", "semana 60", "KW 0"])
@pytest.mark.parametrize("role", list(Role))
def test_a_week_that_a_year_may_not_have_is_read_or_not_and_never_fails(
    words: str, role: Role
) -> None:
    for year in (2020, 2026, 2027):
        found = days_said(words, datetime(year, 11, 22, tzinfo=UTC), role)
        assert found is None or (words == "KW 53" and found.first.isocalendar().week == 53)
