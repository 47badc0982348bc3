"""Tests of polarity: the words that a text affirms, and those that it denies or ends."""

from __future__ import annotations

import pytest

from memoranda.text.polarity import denies_an_end, ends_something, opposes


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("The trip to Lisbon is cancelled.", "Flight TP669 is booked for the trip to Lisbon"),
        ("Likes jazz", "I no longer like jazz"),
        ("Likes jazz", "I don't like jazz any more"),
        ("Mag Jazz", "Ich mag keinen Jazz"),
        ("Wohnt in Köln", "Ich wohne nicht mehr in Köln"),
        ("Le gusta el jazz", "Ya no me gusta el jazz"),
        ("Aime le jazz", "Je n'aime plus le jazz"),
        ("The flight is cancelled", "Please don't cancel the flight"),
    ],
)
def test_a_text_that_says_the_opposite_is_told_from_one_that_says_the_same(statement, text):
    assert opposes(statement, text) and opposes(text, statement)
    assert not opposes(statement, statement) and not opposes(text, text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Uses Postgres 16.", "Correction: we're on Postgres 16, not 15."),
        (
            "Wants a summary on Fridays, not on Mondays.",
            "Stop the Monday summary, I'd rather have one on Fridays.",
        ),
        ("Deploys on Tuesdays.", "We deploy on Tuesdays instead of Thursdays"),
        (
            "Stays in Rotterdam; the move to Lisbon is off.",
            "Forget moving to Lisbon, that's off. I'm staying in Rotterdam.",
        ),
        ("Cancelled flight TP669.", "No, please cancel TP669."),
    ],
)
def test_what_a_text_denies_beside_it_turns_no_statement(statement, text):
    assert not opposes(statement, text)


@pytest.mark.parametrize(
    "text",
    ["No, cancel it", "Der Termin ist abgesagt", "Ya no voy", "C'est annulé", "The trip is off"],
)
def test_an_end_is_recognised_in_each_language(text):
    assert ends_something(text)


@pytest.mark.parametrize("text", ["I live here", "Book it, please", "Please don't cancel it"])
def test_what_goes_on_is_no_end(text):
    assert not ends_something(text)


@pytest.mark.parametrize(
    "text",
    ["Did not cancel the membership", "Hat das Abo nicht gekündigt", "Don't stop the summary"],
)
def test_what_was_not_ended_is_told_from_what_was(text):
    assert denies_an_end(text)
    assert not denies_an_end("The membership is cancelled")
