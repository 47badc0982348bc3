"""Tests of messages that add nothing to a context, and of messages that only look so."""

from __future__ import annotations

import pytest

from memoranda.model.messages import NO_WORDS
from memoranda.recall.context.composer import Material
from memoranda.recall.context.echoes import Echoes
from tests.recall.test_context import composed, memory, message, profile

KNOWN = [
    memory("Lives in Lisbon and works as a nurse"),
    memory("Is allergic to peanuts and walnuts"),
    memory("Has 2 dogs", key="pets"),
    profile({"name": "Ana Sousa", "languages": ["Portuguese", "Dutch"]}),
]
SHOWN = Echoes(KNOWN, "What do you know about me?")


@pytest.mark.parametrize(
    "recital",
    [
        "Here is what I know about you:\n- Lives in Lisbon and works as a nurse\n- Is allergic to peanuts and walnuts",
        '- [2026-03-02, fact, key: "pets"] Has 2 dogs\n- [2026-03-02, name] Ana Sousa',
        "You live in Lisbon, Ana Sousa, where you work as a nurse. Is there anything else I should remember?",
        "I know nothing about you yet.",
        "I'll remember that.",
        "You speak Portuguese and Dutch, and you have 2 dogs.",
        "Das weiß ich über dich: Ana Sousa, Lisbon, nurse.",
        "What do you know about me?",
    ],
)
def test_an_answer_that_recites_what_is_shown_repeats_the_context(recital: str) -> None:
    assert SHOWN.reason(message(recital, role="assistant")) is not None
    # The same words of the user are evidence of what they said.
    if recital != "What do you know about me?":
        assert SHOWN.reason(message(recital, role="user")) is None


@pytest.mark.parametrize(
    "answer",
    [
        "You live in Lisbon and work as a nurse. Your flight leaves at nine.",
        "You live in Porto.",
        "You are not allergic to peanuts and walnuts.",
        "You aren't allergic to walnuts.",
        "You have 3 dogs.",
        "You have 2 dogs, Ana Sousa, and your nurse in Lisbon is called Maria.",
        "Try yoga.",
        "Take the ferry to Almada.",
    ],
)
def test_an_answer_that_says_more_than_is_shown_stays(answer: str) -> None:
    assert SHOWN.reason(message(answer, role="assistant")) is None


def test_messages_without_words_and_the_question_itself_add_nothing() -> None:
    assert SHOWN.reason(message(f"{NO_WORDS}\n{NO_WORDS}", role="assistant")) == "no_words"
    assert SHOWN.reason(message(NO_WORDS, role="tool", trust="tool")) == "no_words"
    assert SHOWN.reason(message("what do you know about me?  ")) == "repeats_question"
    assert SHOWN.reason(message("What do you know about me, and about Ben?")) is None


def test_a_recital_stays_as_the_last_resort_where_the_memory_itself_has_no_room() -> None:
    long = memory("Lives in Lisbon " + "near the river " * 40)
    recital = message("Lives in Lisbon", role="assistant")
    shown = Material(memories=[long], passages=[recital])
    roomy = composed(shown, 1000)
    assert [(one.id, one.reason) for one in roomy.left_out] == [(recital.id, "repeats_context")]
    texts = [composed(shown, budget).text for budget in range(60, 1000, 10)]
    assert any("passages" in text and "memories" not in text for text in texts)
    assert not any("passages" in text and "memories" in text for text in texts)


@pytest.mark.parametrize(
    "said",
    [
        "Noted. Anything else?",
        "Done.",
        "Got it, thanks!",
        "You're welcome! Let me know if there is anything else.",
        "Understood. I will do that.",
        "Erledigt.",
        "Alles klar, mache ich.",
        "Gern geschehen!",
        "Hecho. ¿Algo más?",
        "De acuerdo, entendido.",
        "C'est fait.",
        "D'accord, c'est noté.",
    ],
)
def test_an_acknowledgement_is_never_placed(said: str) -> None:
    acknowledged = message(said, role="assistant")
    context = composed(
        Material(passages=[acknowledged, message("Deploys are on Tuesdays", 2)]), 1000
    )
    assert [(one.id, one.reason) for one in context.left_out] == [(acknowledged.id, "acknowledges")]
    # The same words of a user may answer a question.
    assert composed(Material(passages=[message(said)]), 1000).left_out == ()


@pytest.mark.parametrize(
    "said",
    [
        "Done: the export takes 2 seconds.",
        "Booked: aisle seat.",
        "The deploy failed.",
        "Das Backup fehlt.",
        "El vuelo sale mañana.",
        "Le train part demain.",
        "No, I did not merge it.",
    ],
)
def test_a_short_answer_that_says_something_is_no_acknowledgement(said: str) -> None:
    assert composed(Material(passages=[message(said, role="assistant")]), 1000).left_out == ()


def test_an_assistants_turn_is_judged_by_what_the_context_shows_not_by_what_it_left_out() -> None:
    recital = message("You live in Lisbon, and you work as a nurse.", role="assistant")
    statements = [memory("Lives in Lisbon"), memory("Works as a nurse")]
    assert [
        one.reason for one in composed(Material(memories=statements, passages=[recital])).left_out
    ] == ["repeats_context"]
    assert composed(Material(memories=statements[:1], passages=[recital])).left_out == ()
