"""Times that questions name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoranda.model.values import moment
from memoranda.recall.request import times_of

#: A Friday.
NOW = datetime(2025, 11, 21, 14, 30, tzinfo=UTC)


def named(question: str, now: datetime = NOW) -> dict[str, tuple[str, str]]:
    """The first stretch of each time, from its first day up to the day after its last."""
    return {
        name: (f"{moment(stretches[0][0]):%Y-%m-%d}", f"{moment(stretches[0][1]):%Y-%m-%d}")
        for name, stretches in times_of(question, now)
    }


@pytest.mark.parametrize(
    "question",
    [
        "What did Ana say about the tea?",
        "May I march on?",
        "What may I do with my 3 cats?",
        "who is in room 1204",
        "Was darf ich im Garten?",
        "the second half of the day",
        "Which of the 3 may be late?",
        "What changed in version 3.2.?",
        "",
    ],
)
def test_a_question_without_a_time_names_none(question: str) -> None:
    assert times_of(question, NOW) == ()


@pytest.mark.parametrize(
    "question",
    [
        "What happened on 3 July 2023?",
        "What happened on July 3rd, 2023?",
        "what happened 2023-07-03",
        "Was war am 3. Juli 2023?",
        "¿Qué pasó el 3 de julio de 2023?",
    ],
)
def test_a_day_comes_with_its_month_and_its_year(question: str) -> None:
    assert list(named(question).values()) == [
        ("2023-01-01", "2024-01-01"),
        ("2023-07-01", "2023-08-01"),
        ("2023-07-03", "2023-07-04"),
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("where was I in 2022", ("2022-01-01", "2023-01-01")),
        ("what did I buy last March", ("2025-03-01", "2025-04-01")),
        ("what did I buy last December", ("2024-12-01", "2025-01-01")),
        ("what did I say yesterday?", ("2025-11-20", "2025-11-21")),
        ("was habe ich gestern gesagt", ("2025-11-20", "2025-11-21")),
        ("heute", ("2025-11-21", "2025-11-22")),
        ("three days ago", ("2025-11-18", "2025-11-19")),
        ("two weeks ago", ("2025-11-03", "2025-11-10")),
        ("vor zwei Wochen", ("2025-11-03", "2025-11-10")),
        ("hace 2 semanas", ("2025-11-03", "2025-11-10")),
        ("il y a deux semaines", ("2025-11-03", "2025-11-10")),
        ("last week", ("2025-11-10", "2025-11-17")),
        ("la semana pasada", ("2025-11-10", "2025-11-17")),
        ("letzten Monat", ("2025-10-01", "2025-11-01")),
        ("last year", ("2024-01-01", "2025-01-01")),
        ("what did we do last weekend?", ("2025-11-15", "2025-11-17")),
        ("who called last Tuesday?", ("2025-11-18", "2025-11-19")),
        ("twee weken geleden", ("2025-11-03", "2025-11-10")),
        ("l'anno scorso", ("2024-01-01", "2025-01-01")),
        ("igår", ("2025-11-20", "2025-11-21")),
    ],
)
def test_a_time_is_counted_from_when_it_is_asked(question: str, expected: tuple[str, str]) -> None:
    assert list(named(question).values()) == [expected]


def test_a_month_without_a_year_is_that_of_any_year_lately() -> None:
    ((name, stretches),) = times_of("what did we plan in December?", NOW)
    assert name == "December"
    assert [moment(since).year for since, _ in stretches][:3] == [2024, 2023, 2022]


def test_a_day_that_no_calendar_has_leaves_its_month() -> None:
    assert named("on 2024-02-30") == {
        "2024": ("2024-01-01", "2025-01-01"),
        "2 2024": ("2024-02-01", "2024-03-01"),
    }


def test_days_are_those_of_utc() -> None:
    late = datetime(2025, 11, 21, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert named("yesterday", late) == {"yesterday": ("2025-11-21", "2025-11-22")}


@pytest.mark.parametrize(
    "question", ["999 years ago", "vor 999 Monaten", "999 weeks ago", "999 days ago"]
)
def test_what_is_very_long_ago_is_a_time_too(question: str) -> None:
    (time,) = named(question).values()
    assert time < ("2024", "2025")


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What did I do on Sept. 5, 2024?", "2024-09-05"),
        ("What was on 5 Sept. 2024?", "2024-09-05"),
        ("Was war am 5.9.2024?", "2024-09-05"),
        ("What did we eat the day before yesterday?", "2025-11-19"),
        ("Was war vorgestern?", "2025-11-19"),
        ("Qué comí anteayer", "2025-11-19"),
        ("What was last November?", "2024-11-01"),
        ("Qu'est-ce que j'ai fait le 3 mai 2023 ?", "2023-05-03"),
        ("O que fiz em 3 de maio de 2023?", "2023-05-03"),
        ("What did Joanna finish last Friday on 23 January, 2022?", "2022-01-23"),
        ("What was the week before August 3, 2023?", "2023-08-03"),
    ],
)
def test_a_day_is_read_as_people_write_it(question: str, day: str) -> None:
    assert list(named(question).values())[-1][0] == day


def test_days_from_one_to_another_are_one_time() -> None:
    asked = "Where was John between 11 August and 15 August 2023?"
    assert list(named(asked).values())[-1] == ("2023-08-11", "2023-08-16")
    assert named("from 30 April to 2 May 2023")["30 April to 2 May 2023"] == (
        "2023-04-30",
        "2023-05-03",
    )


def test_a_day_by_numbers_alone_may_mean_two() -> None:
    ((_, year), (_, days)) = times_of("What was on 09/05/2024?", NOW)
    assert len(year) == 1
    assert [f"{moment(since):%m-%d}" for since, _ in days] == ["05-09", "09-05"]
    assert [len(stretches) for _, stretches in times_of("on 25/12/2023", NOW)] == [1, 1]


def test_a_day_in_letters_that_pass_for_others_is_no_error() -> None:
    for question in ("im Auguſt 1920", "APRİL 5", "5 Aprıl 2020", "vor ſechs Wochen", "5 MAYİS"):
        times_of(question, NOW)
    assert "1920-08-01" in str(named("im Auguſt 1920"))


@pytest.mark.parametrize("question", ["5 Auguſt", "APRİL 5", "5 Aprıl 2020"])
def test_letters_that_pass_for_others_name_a_day(question: str) -> None:
    assert any(name.casefold() != question for name, _ in times_of(question, NOW))
