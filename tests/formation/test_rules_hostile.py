"""Hostile text: whatever is sent, reading ends soon and gives only what can be kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.formation.rules import extract
from memoranda.formation.rules.matcher import MOST_STATEMENTS
from memoranda.formation.rules.sentences import (
    LONGEST_SENTENCE,
    MOST_CHARACTERS,
    mask_quoted,
    readable_text,
    sentences,
)
from memoranda.model.values import text_fault

_WORDS = "I |I'm |I like |a |and |, |\"|'|“|`|```\n|\n|. |?|: |my dog |A |call me |always |remember that |if |live in |Ich |bin |🙂|{|’|3. "
_PIECES = st.sampled_from([*_WORDS.split("|"), "\x00", "\ud800", "\ue000", "\u202e"])
_TEXTS = st.one_of(
    st.text(st.characters(), max_size=400), st.lists(_PIECES, max_size=120).map("".join)
)


@settings(max_examples=80, deadline=None)
@given(_TEXTS)
def test_whatever_is_found_can_be_kept_and_points_into_the_text(text: str) -> None:
    for one in extract(text):
        assert text_fault(one.content) is None and one.content.strip()
        assert text_fault(one.value) is None and one.value.strip() and len(one.value) <= 255
        start, end = one.span
        assert 0 <= start < end <= len(text)


@settings(max_examples=60, deadline=None)
@given(_TEXTS)
def test_covering_keeps_every_character_in_its_place(text: str) -> None:
    plain = readable_text(text)
    assert len(mask_quoted(plain)) == len(plain) == min(len(text), MOST_CHARACTERS)


@settings(max_examples=60, deadline=None)
@given(_TEXTS)
def test_no_sentence_is_longer_than_what_is_read(text: str) -> None:
    assert all(
        len(one.text) <= LONGEST_SENTENCE
        for one in sentences(mask_quoted(readable_text(text)), frozenset())
    )


@pytest.mark.parametrize("piece", ["I like x and ", "As A ", "“", "\ud800", "I moved to "])
def test_a_hundred_thousand_characters_of_the_same_end(piece: str) -> None:
    whole = (piece * 100_000)[:100_000]
    assert len(extract(whole)) <= MOST_STATEMENTS
    assert len(extract(". ".join([whole[:590]] * 160))) <= MOST_STATEMENTS


def test_what_stands_beyond_the_part_that_is_read_is_not_found() -> None:
    assert extract("x. " * MOST_CHARACTERS + "I live in Oslo.") == []


def test_a_run_without_a_full_stop_is_not_read() -> None:
    assert extract("I live in Oslo and " + "so on " * LONGEST_SENTENCE) == []


def test_a_control_character_or_half_a_surrogate_pair_does_not_reach_the_value() -> None:
    assert [one.value for one in extract("I live in Oslo\x00.")] == ["Oslo"]
    assert [one.value for one in extract("I like jazz\ud800.")] == ["jazz"]


def test_no_more_is_taken_from_one_message_than_people_say() -> None:
    text = " ".join(f"I like thing{number}." for number in range(100))
    assert len(extract(text)) == MOST_STATEMENTS


def test_the_same_text_gives_the_same_at_any_time() -> None:
    text = f"I'm 34 and live in Oslo. {datetime.now(UTC).year} was fine."
    assert extract(text) == extract(text)
