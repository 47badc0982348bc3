"""Times counted from a day: how they are read, and which stretches they mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.model.values import moment
from memoranda.recall import anchors
from memoranda.recall.anchors import anchored, day_told, stretches_from
from memoranda.recall.dates import Day, days_in, times_of

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "number", "unit", "sought"),
    [
        ("What did I do two weeks before my birthday?", 2, "week", "birthday born birth"),
        ("the day after our wedding", -1, "day", "wedding married"),
        ("What happened 3 days after the move to Boston?", -3, "day", "move to Boston"),
        ("Where was Ana a month before Bo's wedding?", 1, "month", "Bo wedding married"),
        ("Was habe ich zwei Wochen vor meinem Geburtstag gemacht?", 2, "week", "Geburtstag gemacht geboren"),
        ("¿Qué hice dos semanas antes de mi cumpleaños?", 2, "week", "cumpleaños"),
        ("Where was I on my birthday?", 0, "day", "birthday born birth"),
    ],
)
def test_a_time_counted_from_a_day_is_read(question: str, number: int, unit: str, sought: str) -> None:
    (one,) = anchored(question)
    assert (one.number, one.unit, one.sought, one.day) == (number, unit, sought, None)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("two weeks before Christmas", Day(None, 12, 25)),
        ("the day after New Year's Eve", Day(None, 12, 31)),
        ("three days before 5 March 2024", Day(2024, 3, 5)),
        ("a week after March 5", Day(None, 3, 5)),
    ],
)
def test_a_day_that_the_question_tells_is_not_looked_up(question: str, day: Day) -> None:
    (one,) = anchored(f"What did we do {question}?")
    assert (one.phrase, one.day) == (question, day)


@pytest.mark.parametrize(
    "question",
    [
        "When is my birthday?",
        "before my birthday",
        "two weeks ago",
        "I walked before the rain",
        "two before three",
    ],
)
def test_other_questions_count_from_no_day(question: str) -> None:
    assert anchored(question) == []


SAID = [
    *(
        "two weeks",
        "the day",
        "3 Monate",
        "dos semanas",
        "la semana",
        "une semaine",
        "due mesi",
        "SIX ANS",
        "ſeven dayſ",
    ),
    *("before", "Prior to", "ahead of", "VOR", "avant", "antes de", "antes del", "prima di", "prima del"),
    *(
        "after",
        "following",
        "nach",
        "après",
        "DESPUÉS DE",
        "después del",
        "dopo",
        "on",
        "zu",
        "en",
        "à",
        "around",
    ),
    *("my", "the", "meinem", "mi", "Ana's", "Bo’s", "notre", "la", "İl", "mio"),
    *(
        "birthday",
        "anniverſary",
        "Geburtstag",
        "CUMPLEAÑOS",
        "aniversario",
        "anniversaire",
        "wedding",
        "born",
        "rain",
    ),
    *("5 March", "Christmas", "last", "ago", "daybreak", "weekend", "before_", "?", ",", "\n"),
]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(SAID), max_size=8), st.sampled_from([" ", " ", "  ", "-"]))
def test_a_look_at_its_words_alters_no_answer(said: list[str], space: str) -> None:
    question = space.join(said)
    found = anchored(question)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anchors, "may_count", lambda _: True)
        assert anchored(question) == found


@pytest.mark.parametrize(
    "question", ["Where did Ana put the keys?", "How was the day?", "Who came before Ana?"]
)
def test_other_questions_are_not_read_closely(question: str) -> None:
    assert not anchors.may_count(question)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("birthday: March 5", Day(None, 3, 5)),
        ("I was born on 5 March 1990", Day(1990, 3, 5)),
        ("birth date: 1990-03-05", Day(1990, 3, 5)),
        ("The rent is due on March 5", None),
        ("My birthday is soon", None),
        ("birthday: March 45", None),
    ],
)
def test_a_text_tells_a_day_of_what_is_sought_alone(text: str, expected: Day | None) -> None:
    assert day_told(text, anchored("on my birthday")[0]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Tom's birthday is on 20 October",
        "Her birthday: 20 October",
        "Toms Geburtstag ist am 20. Oktober",
        "El cumpleaños de Tom es el 20 de octubre",
        "Tom was born on 20 October 1990",
    ],
)
def test_somebody_elses_day_is_not_taken_for_ones_own(text: str) -> None:
    (mine,) = anchored("two weeks before my birthday")
    assert day_told(text, mine) is None
    assert day_told("Was born on 5 May 1990", mine) == Day(1990, 5, 5)
    (his,) = anchored("two weeks before Tom's birthday")
    assert day_told("Tom's birthday is on 20 October", his) == Day(None, 10, 20)


@pytest.mark.parametrize(
    "question", ["ſix weeks before my birthday", "VOR ſECHS WOCHEN", "5 Auguſt", "APRİL 5", "5 Aprıl 2020"]
)
def test_letters_that_pass_for_others_are_read_or_left(question: str) -> None:
    anchored(question)
    times_of(question, NOW)
    assert [day for _, day in days_in("5 Auguſt")] == [Day(None, 8, 5)]


def stretch(question: str, day: Day) -> tuple[str, str]:
    since, until = stretches_from(anchored(question)[0], day, NOW)[0]
    return f"{moment(since):%Y-%m-%d}", f"{moment(until):%Y-%m-%d}"


def test_the_latest_that_has_begun_comes_first() -> None:
    # The birthday itself is still to come; two weeks before it have passed.
    assert stretch("two weeks before my birthday", Day(1990, 4, 1)) == ("2026-03-15", "2026-03-22")
    assert stretch("two days after my birthday", Day(1990, 4, 1)) == ("2025-04-03", "2025-04-04")
    assert stretch("on my birthday", Day(1992, 2, 29)) == ("2026-02-28", "2026-03-01")
    assert stretch("a month before my birthday", Day(None, 3, 31)) == ("2026-02-13", "2026-03-16")


def test_what_happens_once_is_in_its_year_alone() -> None:
    one = anchored("the week after our wedding")[0]
    assert len(stretches_from(one, Day(2020, 6, 6), NOW)) == 1
    assert stretch("the week after our wedding", Day(2020, 6, 6)) == ("2020-06-10", "2020-06-17")
    assert len(stretches_from(one, Day(None, 6, 6), NOW)) > 1
