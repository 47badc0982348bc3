"""Tests of reading answers: the only complete JSON object of a text is found, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.models.json_answer import LONGEST_ANSWER, Unreadable, read_json

VALUE = {"notes": [{"content": 'likes {blue} and "red"', "messages": ["m1"]}], "profile": {}}
WHOLE = json.dumps(VALUE)

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1_000, 1_000) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=10,
)
_OBJECTS = st.dictionaries(_TEXT, _JSON, min_size=1, max_size=4)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"\ufeff\n {WHOLE}\n",
        f"```json\n{json.dumps(VALUE, indent=2)}\n```",
        f"```\n{WHOLE}\n```",
        f"Here is {{the}} answer you [m1] asked for:\n{WHOLE}\nAnything else?",
        f'<think>maybe {{"notes": 1}} or {{"no</think>\n{WHOLE}',
        f"{WHOLE}\nAgain: {WHOLE}",
    ],
    ids=["alone", "spaces", "fence", "bare fence", "prose", "thought", "twice the same"],
)
def test_an_object_is_found_alone_in_a_fence_and_in_prose(text: str) -> None:
    assert read_json(text) == VALUE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I would rather not say.", "no JSON object"),
        ("null", "no JSON object"),
        ('"{}"', "no JSON object"),
        ("I filled {} for you.", "no JSON object"),
        (json.dumps(WHOLE), "not valid JSON"),
        ('{"a": 1} or [{"a": 1}]', "2 different"),
        ('{"a": 1} or {"a": 2}', "2 different"),
        ('{"a": [{"b": 1}, oops]}', "not valid JSON"),
        ("{'a': 1} {\"b\": 1, c: 2}", "not valid JSON"),
        ('{"a": 1,, "b": 2}', "not valid JSON"),
        ('{"a": [1,', "cut off"),
        ("{'a': [{\"b\": 1}]}", "list"),
        ('[{"a": 1}]', "list"),
        ('Here: [{"a": 1}, {"a": 2}]', "list"),
        ('{"a": [1, 2,]}', "not valid JSON"),
        ('{"a": None}', "not valid JSON"),
        ('{ // what was said\n"a": 1}', "no JSON object"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 1}}', "twice"),
        ('{"a": 1', "cut off"),
        ('{"a": "b', "cut off"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "NaN or Infinity"),
        ('{"a": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"a": ' + "[" * 100_000, "nested|cut off"),
        ('{"a": ' + "[" * 40 + "]" * 40 + "}", "nested"),
        (r'{"a": "\ud83d"}', "surrogate"),
        (r'{"a": "\u0000"}', "NUL"),
        ('{"a": "' + "x" * LONGEST_ANSWER + '"}', "longer"),
    ],
)
def test_what_is_no_whole_object_is_told_in_words_for_the_model(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_json(text)


def test_line_breaks_within_a_text_are_read_as_they_are_meant() -> None:
    assert read_json('{"a": "two\nlines\tand a tab"}') == {"a": "two\nlines\tand a tab"}


@pytest.mark.parametrize("text", ["{}", " { }\n", "```json\n{}\n```"])
def test_an_empty_object_is_an_answer_where_nothing_stands_beside_it(text: str) -> None:
    assert read_json(text) == {}


def test_half_of_an_answer_is_never_taken_for_one() -> None:
    for end in range(1, len(WHOLE)):
        with pytest.raises(Unreadable):
            read_json("Here it is: " + WHOLE[:end])


@given(_OBJECTS, st.integers(0), st.sampled_from(["", "Well: ", "```json\n"]), st.booleans())
def test_any_object_is_found_whole_and_never_in_part(
    value: dict[str, Any], cut: int, before: str, spaced: bool
) -> None:
    whole = json.dumps(value, indent=1 if spaced else None, ensure_ascii=spaced)
    assert read_json(f"{before}{whole}\n```") == value
    with pytest.raises(Unreadable):
        read_json(before + whole[: cut % len(whole)])


@given(st.text(max_size=60))
def test_whatever_is_written_ends_in_an_object_or_a_short_fault(text: str) -> None:
    try:
        found: object = read_json(text)
    except Unreadable as exc:
        found = {"fault": exc}
    assert isinstance(found, dict) and len(str(found)) < 200


def test_a_fault_holds_nothing_of_the_answer() -> None:
    for text in (
        '{"secret": secret}',
        '{"secret": 1, "secret": 2}',
        '{"secret": "\\u0000 secret"}',
        '{"secret',
    ):
        with pytest.raises(Unreadable) as caught:
            read_json(text)
        assert "secret" not in str(caught.value)
