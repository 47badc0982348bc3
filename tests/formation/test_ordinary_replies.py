"""Requests, thanks and yeses as people write them end what they are about, and nothing else."""

from __future__ import annotations

import pytest

from tests.formation.readings import talk
from tests.formation.test_judged_by_what_is_new import held, note, read, superseded


@pytest.mark.parametrize(
    ("turns", "old", "content", "ends"),
    [
        # A request for a change is no mere question, and so is a yes in other words.
        (
            [("user", "Can we move my dentist to Friday?"), ("assistant", "Moved: dentist on Friday.")],
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
    made = note("Ann's brother lives in Innsbruck.", "m1", subject="Ann's brother", supersedes=[old.content])

    assert superseded(reading, read(reading, notes=[made])) == set()


def test_a_memory_that_is_not_to_be_kept_ends_although_no_note_says_so():
    (old,) = held("The boiler code is four green lions.")
    reading = talk(("user", "Don't keep the boiler code."), candidates=(old,))
    made = note("Do not keep the boiler code.", "m1", kind="instruction", supersedes=[old.content])
    formed = read(reading, notes=[made])

    assert formed.notes == ()
    assert superseded(reading, formed) == {old.content}
