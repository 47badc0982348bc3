"""Tests of the parts of a message that contain a fact: those that are cut, those that are only
listed, and the rest.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from evals.forgetting_set import messages, read
from memoranda.book.forgetting import cuts
from memoranda.book.forgetting.facts import Fact, fact_of
from memoranda.book.forgetting.tellings import tellings
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import Message
from memoranda.model.records import EVERYONE, Owner
from memoranda.model.redactions import ONE_WORD, QUOTE, SENTENCE, SOMEBODY_ELSE, Telling, cut
from memoranda.model.values import new_id, utc_now

ANA = Owner(id="ana")
NAMES = {"ana"}


def a_memory(content: str, **fields: Any) -> Memory:
    return Memory(
        id=new_id(), owner=ANA, audience=EVERYONE, content=content, observed_at=utc_now(), **fields
    )


def a_message(content: str, role: str = "user", **fields: Any) -> Message:
    made = {
        "id": new_id(),
        "owner": ANA,
        "audience": EVERYONE,
        "thread": new_id(),
        "observed_at": utc_now(),
    }
    return Message.model_validate({**made, "role": role, "content": content, **fields})


HOME = a_memory("Lives in Lisbon", key="home")


def found_in(content: str, *memories: Memory, **fields: Any) -> list[Telling]:
    return tellings(fact_of(memories or (HOME,), NAMES), a_message(content, **fields))


def left_of(content: str, *memories: Memory) -> str:
    """Return a text without the parts that are taken."""
    return cut(content, [one.span for one in found_in(content, *memories) if one.to_the_letter])


def why(content: str, *memories: Memory, **fields: Any) -> list[str]:
    return [one.why for one in found_in(content, *memories, **fields)]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("I live in Lisbon.", ""),
        ("Hi! I live in Lisbon. Nice to meet you.", "Hi! Nice to meet you."),
        ("Hi!\n\nI live in Lisbon. Nice to meet you.", "Hi!\n\nNice to meet you."),
        ("Hi! I live in Lisbon.\n\nBye.", "Hi!\n\nBye."),
        ("Dr. Costa says you live in Lisbon. Ok?", "Ok?"),
        ("- Lives in Lisbon\n- Is allergic to nuts", "- Is allergic to nuts"),
        ("1. Is allergic to nuts\n2. Lives in Lisbon", "1. Is allergic to nuts"),
        ("I live in\nLisbon now. I like it.", "I like it."),
        ("Do you live in Lisbon?", ""),
        ("I don't live in Lisbon anymore.", ""),
        ("Ana lives in Lisbon. The user lives in Lisbon!", ""),
        ("Home: Lisbon\nTea: green", "Tea: green"),
        ("Lisbon is where I live", ""),
        ("We were living in Lisbon, believe it or not!", ""),
    ],
)
def test_a_sentence_with_all_words_of_a_statement_goes_and_its_neighbours_stay(
    said: str, left: str
) -> None:
    assert left_of(said) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("I live in Lisbon and I am allergic to nuts.", "I am allergic to nuts."),
        ("I am allergic to nuts and I live in Lisbon.", "I am allergic to nuts."),
        ("I'm Ana, I live in Lisbon and I have a dog.", "I'm Ana, I have a dog."),
        ("You live in Lisbon, and your flight is at 9.", "your flight is at 9."),
        ("I live in Lisbon and love it.", ""),
        ("I think that I live in Lisbon, and I love Lisbon.", ""),
        ("My sister and I live in Lisbon.", ""),
    ],
)
def test_only_the_clause_goes_if_the_rest_of_the_sentence_can_stand_alone(
    said: str, left: str
) -> None:
    assert left_of(said) == left


@pytest.mark.parametrize(
    ("content", "said", "left"),
    [
        (
            "Wohnt in Bonn",
            "Ich wohne in Bonn und ich bin allergisch gegen Nüsse. Meine Schwester wohnt in Bonn.",
            "ich bin allergisch gegen Nüsse. Meine Schwester wohnt in Bonn.",
        ),
        ("Vive en Lisboa", "Vivo en Lisboa y soy alérgica. Mi hermana vive en Lisboa.", "soy alérgica. Mi hermana vive en Lisboa."),
        ("Habite à Lyon", "J'habite à Lyon, et j'ai un chien. Ma sœur habite à Lyon.", "j'ai un chien. Ma sœur habite à Lyon."),
        (
            "El usuario paga 950 euros de hipoteca al mes.",
            "Si pagas 950 euros de hipoteca al mes, te quedan 1.100. Bien.",
            "te quedan 1.100. Bien.",
        ),
        ("住在北京", "我叫小明。我住在北京。我喜欢茶。", "我叫小明。我喜欢茶。"),
    ],
)  # fmt: skip
def test_it_goes_in_other_languages_too(content: str, said: str, left: str) -> None:
    assert left_of(said, a_memory(content)) == left


@pytest.mark.parametrize(
    "said",
    [
        "My sister lives in Lisbon.",
        "Tom lives in Lisbon.",
        "He still lives in Lisbon.",
        "Lisbon is where my sister lives",
        "I think my brother lives in Lisbon",
    ],
)
def test_a_sentence_about_somebody_else_is_listed_and_not_taken(said: str) -> None:
    assert why(said) == [SOMEBODY_ELSE]
    assert left_of(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "I live with my sister in Lisbon",
        "My sister knows that I live in Lisbon",
        "She told me you live in Lisbon",
        "Like my brother, I live in Lisbon",
        "Do Ana and I live in Lisbon?",
    ],
)
def test_a_sentence_that_names_somebody_beside_the_owner_is_still_about_the_owner(
    said: str,
) -> None:
    assert why(said) == [SENTENCE]


def test_what_another_speaker_says_of_themselves_is_listed() -> None:
    assert why("I live in Lisbon.", speaker="Tom") == [SOMEBODY_ELSE]
    assert why("I live in Lisbon.", speaker="Ana") == [SENTENCE]


def test_a_statement_about_somebody_is_told_by_sentences_about_them() -> None:
    sister = a_memory("Sister Mia lives in Boston", subject="Mia")
    assert why("My sister Mia lives in Boston.", sister) == [SENTENCE]


def test_a_statement_of_one_word_is_listed_where_that_word_is() -> None:
    assert why("I met a vegetarian. Ok", a_memory("Is vegetarian")) == [ONE_WORD]
    assert left_of("I am vegetarian. Ok", a_memory("Is vegetarian")) == "Ok"


def test_a_quote_goes_even_if_it_has_other_words_than_the_statement() -> None:
    said = a_message("Moved to the Tagus last May. It rains.")
    memory = HOME.changed(
        sources=(said.id,), quotes=(Cited(message=said.id, quote="Moved to the  Tagus last May."),)
    )
    (one,) = tellings(fact_of([memory], NAMES), said)
    assert (one.why, cut(said.content, [one.span])) == (QUOTE, "It rains.")


def test_of_a_quote_what_only_another_statement_says_stays() -> None:
    said = a_message("I live in Lisbon. I am allergic to nuts.")
    memory = HOME.changed(sources=(said.id,), quotes=(Cited(message=said.id, quote=said.content),))
    others = [a_memory("Is allergic to nuts", sources=(said.id,))]
    (one,) = tellings(fact_of([memory], NAMES, others), said)
    assert cut(said.content, [one.span]) == "I am allergic to nuts."


def native_parts(said: Any, **fields: Any) -> dict[str, str]:
    found = found_in("(…)", native=said, **fields)
    return {one.span.path or "": one.text for one in found if one.to_the_letter}


def test_arguments_and_results_of_tools_that_tell_it_are_found() -> None:
    call = {"part_kind": "tool-call", "tool_name": "remember", "tool_call_id": "Lives in Lisbon"}
    args = {"content": "Lives in Lisbon", "key": "home"}
    assert native_parts({"parts": [{**call, "args": args}]}) == {
        "/parts/0/args/content": "Lives in Lisbon"
    }
    result = {"part_kind": "tool-return", "content": "- Lives in Lisbon\n- Is allergic to nuts"}
    assert native_parts([result]) == {"/0/content": "- Lives in Lisbon\n"}
    assert native_parts([{"args": {"key": "home", "value": "Lisbon"}}]) == {
        "/0/args/value": "Lisbon"
    }
    assert native_parts([{"home": "Lisbon", "pet": "dog"}]) == {"/0/home": "Lisbon"}
    assert native_parts([{"op": "replace", "path": "/home", "value": "Lisbon"}]) == {
        "/0/value": "Lisbon"
    }


def test_a_text_that_is_json_stays_json() -> None:
    said = '[{"key": "home", "value": "Lisbon"}, {"content": "Lives in Lis\\u0062on, really"}, {"tea": "green"}]'
    left = left_of(said)
    assert left == '[{"key": "home", "value": ""}, {"content": ""}, {"tea": "green"}]'


def test_a_call_written_in_a_text_loses_the_string_alone() -> None:
    said = '(move { "city": "Lisbon", "order": "5518" })'
    found = [one.text for one in found_in(said, role="assistant") if one.to_the_letter]
    assert found == ["Lisbon"]


def test_nothing_is_found_in_texts_that_have_only_some_of_the_words() -> None:
    assert found_in("Lisbon is lovely. Where do you live?") == []


def test_every_place_lies_in_the_text_that_it_names() -> None:
    said = "  I live in Lisbon.  Yes — in Lisbon I live!  \n"
    for one in found_in(said):
        assert said[one.span.start : one.span.end] == one.text
    assert isinstance(found_in(said)[0].message, UUID)


def test_the_quick_look_at_a_sentence_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = read("dev", "parts")
    texts = [[message["content"] for _, _, message in messages(case)] for case in cases]
    looks: list[tuple[Fact, str, dict[str, Any]]] = [
        (fact_of([a_memory(**case["fact"])], NAMES), text, how)
        for number, case in enumerate(cases)
        for text in (*texts[number], *texts[number - 1])
        for how in ({}, {"repeats": True}, {"made": True})
    ]
    # Half of the value stands in the text, and half in the name of the field.
    milk = fact_of([a_memory("Prefers oat milk")], NAMES)
    looks.append((milk, "oat", {"about": "milk", "repeats": True}))
    quick = [cuts.cuts(fact, text, **how) for fact, text, how in looks]
    monkeypatch.setattr(cuts, "_may_tell", lambda *_, **__: True)
    assert quick == [cuts.cuts(fact, text, **how) for fact, text, how in looks]
    assert quick[-1] and sum(map(bool, quick)) > 200
