"""The labelled set for forgetting: each label is where it says, and the halves share nothing and
are alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from evals.forgetting_set import (
    HALVES,
    LABELS,
    counts,
    has_words,
    items,
    messages,
    read,
    readable,
    tellings,
)
from memoranda.integrations.pydantic_messages import messages_of
from memoranda.model.messages import native_parts
from memoranda.model.records import Owner
from memoranda.model.values import new_id, utc_now
from memoranda_conformance.builders import a_message

SETS = {half: read(half) for half in HALVES}
CASES = [case for half in HALVES for case in SETS[half]]
OWNER = Owner(id="ana")
_FIELDS = {
    *("id", "half", "language", "kind", "fact", "words", "question", "threads", "sources"),
    *("other_memories", "profile", "keep", "beside"),
}


def texts(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield the whole text of each record of a case."""
    yield from (readable(one["content"], one.get("native")) for _, _, one in messages(case))
    if "summary" in case:
        yield case["summary"]["text"]
    if "episode" in case:
        yield f"{case['episode']['goal']}\n{case['episode']['summary']}"
    yield from (memory["content"] for memory in case["other_memories"])
    yield from (item["text"] for item in items(case))


def test_a_case_has_its_fields_and_two_to_four_conversations():
    for case in CASES:
        assert set(case) - {"summary", "episode"} == _FIELDS
        assert case["half"] in HALVES and case["language"] in {"en", "de", "es", "fr"}
        assert (
            2 <= len(case["threads"]) <= 4 and case["keep"] and case["question"] and case["sources"]
        )
        assert has_words(case["fact"]["content"], case["words"])
        assert {tell["label"] for _, tell, _ in tellings(case)} == set(LABELS)


def test_a_telling_is_in_its_text_and_nowhere_else():
    for case in CASES:
        for _, tell, text in tellings(case):
            assert tell["text"] in text, tell
            assert sum(tell["text"] in one for one in texts(case)) == 1, tell
            assert not any(tell["text"] in kept or kept in tell["text"] for kept in case["keep"]), (
                tell
            )


def test_a_letter_is_a_quote_or_has_all_the_words_and_a_paraphrase_is_neither():
    for case in CASES:
        quotes = {one["quote"] for one in case["sources"]}
        for _, tell, _ in tellings(case):
            letter = tell["text"] in quotes or has_words(tell["text"], case["words"])
            assert letter is (tell["label"] == "letter"), tell


def test_what_must_stay_is_in_a_message_a_memory_or_a_profile():
    for case in CASES:
        there = [
            *(readable(one["content"], one.get("native")) for _, _, one in messages(case)),
            *(memory["content"] for memory in case["other_memories"]),
            *(item["text"] for item in items(case)),
        ]
        for kept in (*case["keep"], *case["beside"]):
            assert any(kept in text for text in there), kept


def test_sources_name_messages_that_have_the_quotes():
    for case in CASES:
        said = {(thread, place): message for thread, place, message in messages(case)}
        of_others = [
            one
            for memory in case["other_memories"]
            if memory["sources"] != "fact"
            for one in memory["sources"]
        ]
        for one in (
            *case["sources"],
            *of_others,
            *(one for item in items(case) for one in item["sources"]),
        ):
            assert one.get("quote", "") in said[one["thread"], one["message"]]["content"]
        for one in case["sources"]:
            assert one["quote"] in [
                tell["text"] for tell in said[one["thread"], one["message"]]["tells"]
            ]
        if "summary" in case:
            assert (case["summary"]["thread"], case["summary"]["through"]) in said
        if "episode" in case:
            assert (case["episode"]["thread"], 1) in said


def test_native_forms_are_those_of_openai_or_pydantic_ai_with_calls_and_results_in_pairs():
    for case in CASES:
        calls: list[str] = []
        results: list[str] = []
        for _, _, message in messages(case):
            if message.get("native") is None:
                continue
            for part in native_parts(message["native"]):
                (results if part.is_result else calls).append(part.id)
            if "pydantic_ai" in message["native"]:
                form = {"role": message["role"], "native": message["native"]}
                assert (
                    len(
                        messages_of(
                            [a_message(OWNER, new_id(), message["content"], utc_now(), **form)]
                        )
                    )
                    == 1
                )
            else:
                assert all(
                    json.loads(call["function"]["arguments"])
                    for call in message["native"].get("tool_calls", ())
                )
        assert sorted(calls) == sorted(set(results)) == sorted(results)


def test_the_halves_share_no_fact_no_id_and_no_text():
    dev, held = (
        {
            text
            for case in SETS[half]
            for text in (case["id"], case["fact"]["content"], *texts(case))
            if len(text) > 40 or text in (case["id"], case["fact"]["content"])
        }
        for half in HALVES
    )
    assert not dev & held
    assert len({case["id"] for case in CASES}) == len(CASES) >= 60


def test_both_halves_have_as_many_facts_of_each_language_and_the_set_as_many_of_each_kind():
    dev, held = (counts(SETS[half])["languages"] for half in HALVES)
    assert dev == held == {"de": 4, "en": 25, "es": 4, "fr": 3}
    assert set(counts(CASES)["kinds"].values()) == {6}


@pytest.mark.parametrize(("set_", "facts"), [("parts", 40), ("second", 30), ("third", 90)])
def test_a_set_of_parts_has_each_label_in_its_text_and_earlier_values_of_the_same_key(
    set_: str, facts: int
):
    cases = read("dev", set_)
    assert len({case["id"] for case in cases}) == len(cases) == facts
    for case in cases:
        assert set(case) - {"summary", "episode", "earlier"} == _FIELDS
        assert all(tell["text"] in text for _, tell, text in tellings(case))
        assert all(one["key"] == case["fact"]["key"] for one in case.get("earlier", ()))
