"""Cues: what a wording tells besides its words."""

from __future__ import annotations

import re

import pytest

from memoranda.text import cues as forms
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
        ("\u0130MMER auf Deutsch, bitte", [WISHES]),
        ("\u017fiempre en español", [WISHES]),
        ("Bitte künftig auf Deutsch", [WISHES]),
        ("Our company is convenient.", []),
        ("每次都用中文回答", [WISHES]),
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


@pytest.mark.parametrize("form", [*forms._WISH_FORMS, *forms._WISH_SIGNS])
def test_every_form_of_a_wish_begins_with_plain_text_that_finds_it(form: str) -> None:
    plain = re.sub(r"\(\?:([^|)]*)[^)]*\)\??", r"\1", form).replace(".{1,20}", "bitte ")
    for text in (plain, plain.upper(), f"“{plain}”"):
        assert marks_of(text) == [WISHES], text


def test_no_letter_that_a_wish_may_be_written_with_is_missed() -> None:
    letters = "".join(sorted({*"".join(forms._WISH_FORMS)} & set(map(chr, range(97, 1000)))))
    alike = re.compile(f"[{letters}]", re.IGNORECASE)
    found = [each for each in map(chr, range(0x110000)) if alike.fullmatch(each)]
    missed = [each for each in found if not set(each.lower()) & {*letters, *forms._OTHER_CASES}]
    assert len(found) > 2 * len(letters)
    assert missed == []


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


@pytest.mark.parametrize(
    ("cue", "words"), [(Cue.YOU, forms._YOU), (Cue.NOW, forms._NOW), (Cue.ASKED, forms._ASKED)]
)
def test_every_word_of_a_cue_is_found(cue: Cue, words: str) -> None:
    for word in words.split("|"):
        for text in (
            word.replace("*", ""),
            word.replace("*", "xy"),
            f"(“{word.upper().replace('*', 'E')}”)!",
        ):
            assert cue in cues_of(text), text
            assert cue in cues_of(f"what, {text}?"), text
            assert cue not in cues_of(f"q{text.strip('(“')}"), text
