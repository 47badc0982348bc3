"""Tests of dated notes: code adds the day to words such as "yesterday", and reports a wrong day of
the model.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.prompt import compose
from memoranda.model.drafts import Formed
from memoranda.model.memories import DaySpan
from tests.formation.readings import talk


def formed(said: str, content: str, **fields: Any) -> Formed:
    """Form one note of one message, said on Saturday 1 March 2025."""
    prompt = compose(talk(("user", said)))
    assert prompt is not None
    source = {"message": "m1", "quote": said}
    return read_answer({"notes": [{"content": content, "sources": [source], **fields}]}, prompt)


@pytest.mark.parametrize(
    ("said", "content", "stored"),
    [
        (
            "I went to a support group yesterday.",
            "Went to a support group yesterday.",
            "Went to a support group yesterday (28 February 2025).",
        ),
        (
            "Ich war gestern beim Zahnarzt.",
            "War gestern beim Zahnarzt.",
            "War gestern (28. Februar 2025) beim Zahnarzt.",
        ),
        (
            "Ayer fui al médico.",
            "Fue ayer al médico.",
            "Fue ayer (28 de febrero de 2025) al médico.",
        ),
        (
            "I moved here two years ago.",
            "Moved here two years ago.",
            "Moved here two years ago (2023).",
        ),
        (
            "I fly to Oslo next month.",
            "Flies to Oslo next month.",
            "Flies to Oslo next month (April 2025).",
        ),
        (
            "Ich habe seit letztem Jahr einen Hund.",
            "Hat seit letztem Jahr einen Hund.",
            "Hat seit letztem Jahr (2024) einen Hund.",
        ),
        ("I was ill last week.", "Was ill last week.", "Was ill last week (17–23 February 2025)."),
        (
            "Last weekend we hiked and tomorrow I rest.",
            "Hiked last weekend and rests tomorrow.",
            "Hiked last weekend (22–23 February 2025) and rests tomorrow (2 March 2025).",
        ),
    ],
)
def test_relative_words_get_their_day_in_the_contents_language(said, content, stored):
    found = formed(said, content)

    assert [note.content for note in found.notes] == [stored]
    assert [one.quote for one in found.notes[0].cited] == [said]
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I went there yesterday.", "Went there on 28 February 2025 (yesterday)."),
        ("I went there yesterday.", "Went there yesterday, 28 February 2025."),
        ("I went there yesterday.", "Went there on 28 February 2025."),
        ("I run every Friday.", "Runs every Friday."),
        ("Deploys go out on Tuesday.", "Deploys go out on Tuesday."),
        ("I live in Bonn now.", "Lives in Bonn now."),
        ("Yesterday's standup was long.", "Yesterday's standup was long."),
        ("I saw her a few days ago.", "Saw her a few days ago."),
    ],
)
def test_what_has_a_day_or_means_none_stays_as_it_is(said, content):
    found = formed(said, content)

    assert [note.content for note in found.notes] == [content]
    assert found.left_out == ()


def test_a_weekday_gets_its_day_where_the_note_says_that_it_happened_then():
    found = formed("We'll meet on Friday.", "Meets Ana on Friday.", happened="on Friday")

    assert found.notes[0].content == "Meets Ana on Friday (7 March 2025)."


@pytest.mark.parametrize(
    "content",
    [
        "Went there on 1 March 2025 (yesterday).",
        "Went there on 1 March 2025.",
        "Went yesterday, 2025-03-01.",
    ],
)
def test_the_words_win_over_a_day_that_the_model_worked_out_wrongly(content):
    found = formed("I went there yesterday.", content, happened="yesterday")

    (note,) = found.notes
    assert note.content == content
    assert note.happened == DaySpan(first=date(2025, 2, 28), after=date(2025, 3, 1))
    assert [(one.part, one.code) for one in found.left_out] == [("notes[0]", "time")]


def test_a_day_that_would_make_the_content_too_long_is_left_out():
    content = "Went there yesterday " + "x" * 970

    assert formed("I went there yesterday " + "x" * 970, content).notes[0].content == content
