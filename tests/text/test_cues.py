"""Cues: what a wording tells besides its words."""

from __future__ import annotations

import pytest

from memoranda.text.cues import ASKS, WISHES, Cue, cues_of, marks_of
from memoranda.text.terms import pack, pack_text, terms_of


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Where do you live?", [ASKS]),
        ("你住在哪里？ ", [ASKS]),
        ("I asked where he lives? He did not say.", []),
        ("From now on answer in metric units.", [WISHES]),
        ("When I ask about trains, tell me the platform", [WISHES]),
        ("Antworte mir ab jetzt auf Deutsch", [WISHES]),
        ("Could you always name the source?", [ASKS, WISHES]),
        ("We took the train to Lisbon.", []),
        ("", []),
    ],
)
def test_a_text_is_marked_by_its_wording(text: str, marks: list[str]) -> None:
    assert marks_of(text) == marks
    assert pack_text(text) == pack([*terms_of(text), *marks])


def test_a_wish_far_down_in_a_long_text_is_no_mark() -> None:
    assert marks_of("The contract says nothing new. " * 40 + "Always sign it.") == []


@pytest.mark.parametrize(
    ("question", "cues"),
    [
        ("What did you suggest for the garden?", {Cue.YOU}),
        ("Was hattest du mir empfohlen", {Cue.YOU}),
        ("Which phone does she use these days", {Cue.NOW}),
        ("What is our current plan?", {Cue.YOU, Cue.NOW}),
        ("Where was the wedding?", set()),
    ],
)
def test_a_question_tells_what_it_looks_for(question: str, cues: set[Cue]) -> None:
    assert cues_of(question) == cues
