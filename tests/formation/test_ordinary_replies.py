"""Tests of requests, thanks and yeses: they end the memories that they speak about, and no
others.
"""

from __future__ import annotations

import pytest

from tests.formation.readings import talk
from tests.formation.test_judged_by_what_is_new import held, note, read, superseded


@pytest.mark.parametrize(
    ("turns", "old", "content", "ends"),
    [
        # A request for a change is no mere question, and so is a yes in other words.
        (
            [
                ("user", "Can we move my dentist to Friday?"),
                ("assistant", "Moved: dentist on Friday."),
            ],
            "Ann's dentist is on Monday.",
            "Ann's dentist is on Friday.",
            True,
        ),
        (
            [
                ("assistant", "Shall I remind you of the pills at 7 instead of 8?"),
                ("user", "Good idea, please."),
            ],
            "Remind Ann of the pills at 8.",
            "Remind Ann of the pills at 7.",
            True,
        ),
        (
            [
                ("assistant", "Pay by card instead of invoice?"),
                ("user", "Yes... no, wait, let me ask first."),
            ],
            "Ann pays by invoice.",
            "Ann pays by card instead of invoice.",
            False,
        ),
        # A whole without one of its parts is the user's, whose words name the part.
        (
            [("user", "The quince did not survive, we cut it down.")],
            "The garden has an apple tree, a plum and a quince.",
            "The garden has an apple tree and a plum.",
            True,
        ),
        (
            [("user", "If I see one more such film I'll stop eating meat.")],
            "Ann eats meat.",
            "Ann will stop eating meat if she sees one more such film.",
            False,
        ),
    ],
)
def test_ordinary_replies_end_what_they_are_about_and_nothing_else(turns, old, content, ends):
    (known,) = held(old)
    reading = talk(*turns, candidates=(known,))
    cited = [f"m{place}" for place in range(1, len(turns) + 1)]
    formed = read(reading, notes=[note(content, *cited, supersedes=[old])])

    assert superseded(reading, formed) == ({old} if ends else set())


def test_somebody_of_the_owners_does_not_take_the_owners_place():
    (old,) = held("Ann lives in Linz.")
    reading = talk(("user", "My brother moved to Innsbruck."), candidates=(old,))
    made = note(
        "Ann's brother lives in Innsbruck.", "m1", subject="Ann's brother", supersedes=[old.content]
    )

    assert superseded(reading, read(reading, notes=[made])) == set()


def test_a_memory_that_is_not_to_be_kept_ends_although_no_note_says_so():
    (old,) = held("The boiler code is four green lions.")
    reading = talk(("user", "Don't keep the boiler code."), candidates=(old,))
    made = note("Do not keep the boiler code.", "m1", kind="instruction", supersedes=[old.content])
    formed = read(reading, notes=[made])

    assert formed.notes == ()
    assert superseded(reading, formed) == {old.content}


def test_a_short_yes_cancels_what_a_tool_has_booked():
    flight = "Flight SK28 to Bergen on 7 May is booked for 2,890 kronor."
    hotel = "Hotel Strand in Bergen is booked from 7 to 10 May."
    reading = talk(
        ("user", "Book Bergen."),
        ("tool", f"ok: {flight} {hotel}"),
        ("user", "Bad news, Bergen has dropped out."),
        ("assistant", "Shall I cancel the flight and the hotel?"),
        ("user", "Please, both."),
        candidates=held(flight, hotel),
    )
    content = "Flight SK28 to Bergen and Hotel Strand (7 to 10 May) are cancelled."
    formed = read(reading, notes=[note(content, "m4", "m5", supersedes=[flight, hotel])])

    assert superseded(reading, formed) == {flight, hotel}


def test_a_habit_that_is_back_ends_its_end_beside_a_mail_that_a_tool_read():
    (old,) = held("Drinks only tea; gave up coffee in January.", kind="preference")
    mail = "The machine is yours from 4 to 15 May. Please always return it without delay."
    said = "I'm back on coffee, I held out four months. When it's about plots give me details."
    reading = talk(("tool", mail), ("user", said), candidates=(old,))
    content = "Drinks coffee again, after four months without."
    formed = read(reading, notes=[note(content, "m2", kind="preference", supersedes=[old.content])])

    assert superseded(reading, formed) == {old.content}


def test_too_before_another_word_is_no_sign_that_both_hold():
    (old,) = held("Birgit loves the radio.", subject="Birgit")
    reading = talk(
        ("user", "Birgit has gone off the radio, too fast for her: audiobooks now."),
        candidates=(old,),
    )
    content = "Birgit has gone off the radio, which is too fast for her, and listens to audiobooks."
    formed = read(reading, notes=[note(content, "m1", subject="Birgit", supersedes=[old.content])])

    assert superseded(reading, formed) == {old.content}
