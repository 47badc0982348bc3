"""Tests of reconciling: a repeated statement confirms, a changed one replaces, and a second run
changes nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoranda.formation.reconcile.reconciler import CurrentRecords, Reconciled, reconcile
from memoranda.model.changes import Confirm, Remember
from memoranda.model.drafts import Confirmation, Draft, Formed
from memoranda.model.memories import Cardinality, Cited, Memory
from memoranda.model.records import EVERYONE, Audience, Trust
from memoranda.model.values import DATA_DEPTH, new_id
from memoranda_conformance.builders import ANN, START, a_memory
from tests.formation.readings import THREAD, at_once, talk

READING = talk(*(("user", f"Turn {place}") for place in range(1, 7)))
BEFORE = START - timedelta(days=3)


def note(content: str, *places: int, **fields: Any) -> Draft:
    cited = [READING.new[place - 1] for place in places or (1,)]
    given = {"content": content, "cited": tuple(Cited(message=one.id) for one in cited)}
    return Draft.model_validate(
        {**given, "observed_at": max(one.observed_at for one in cited), **fields}
    )


def holding(content: str, **fields: Any) -> Memory:
    given = {"audience": THREAD.audience, "agent": "guide", "sources": (new_id(),), "at": BEFORE}
    return a_memory(ANN, content, **{**given, **fields})


def settled(*notes: Draft, held: tuple[Memory, ...] = (), **formed: Any) -> Reconciled:
    return reconcile(Formed(notes=notes, **formed), READING, CurrentRecords(memories=held))


def codes(found: Reconciled) -> set[str]:
    return {one.code for one in found.left_out}


def remembered(found: Reconciled) -> list[Memory]:
    return [change.memory for change in found.changes if isinstance(change, Remember)]


def test_nothing_formed_changes_nothing():
    assert at_once(Formed(), READING).changes == ()


def test_the_same_words_of_another_day_are_another_event():
    held = holding("Ran a 10k race", happened="2026-05-07")
    again, other = (
        note("Ran a 10k race", happened="2026-05-07"),
        note("Ran a 10k race", happened="2026-06-07"),
    )

    (confirmed,) = settled(again, held=(held,)).changes
    assert isinstance(confirmed, Confirm)
    (made,) = remembered(settled(other, held=(held,)))
    assert made.happened == other.happened
    # A day of the month that was named before may be the same event.
    (confirmed,) = settled(again, held=(holding("Ran a 10k race", happened="2026-05"),)).changes
    assert isinstance(confirmed, Confirm)


def test_a_new_note_is_remembered_with_all_that_it_rests_on():
    found = settled(note("Likes tea", 1, 2, kind="preference", applies_when="at work"))

    (made,) = remembered(found)
    assert (made.content, made.kind, made.applies_when) == ("Likes tea", "preference", "at work")
    assert made.sources == (READING.new[0].id, READING.new[1].id)
    assert (made.agent, made.thread, made.owner) == ("guide", THREAD.id, ANN)


def test_the_same_input_gives_the_same_changes_and_ids_say_nothing_of_the_content():
    first, second = settled(note("Likes tea")), settled(note("Likes tea"))

    assert first == second
    assert remembered(first)[0].id == remembered(settled(note("Hates tea")))[0].id


@pytest.mark.parametrize("content", ["Likes tea", "LIKES  tea.", "User really likes tea"])
def test_what_is_said_again_confirms(content):
    tea = holding("Likes tea")
    found = settled(note(content, 2), held=(tea,))

    assert found.changes == (Confirm(tea.id, (READING.new[1].id,)),)
    assert found.versions == {tea.id: 1}


def test_what_rests_on_the_same_messages_already_changes_nothing():
    tea = holding("Likes tea", sources=(READING.new[0].id,))

    assert settled(note("Likes tea", 1), held=(tea,)).changes == ()


@pytest.mark.parametrize(
    ("held", "again"),
    [
        ({}, {"subject": "Sister"}),
        ({}, {"applies_when": "at work"}),
        ({}, {"valid_to": START + timedelta(days=9)}),
        ({"valid_to": START - timedelta(days=9)}, {}),
        ({}, {"schema_name": "Drink", "data": {"name": "tea"}}),
    ],
)
def test_the_same_words_about_another_or_another_time_are_another_statement(held, again):
    found = settled(note("Likes tea", **again), held=(holding("Likes tea", **held),))

    assert len(remembered(found)) == 1
    assert remembered(found)[0].supersedes == ()


def test_a_newer_value_of_the_same_key_takes_its_place():
    home = holding("Lives in New York", key="home", cardinality="one")
    found = settled(note("Lives in Boston", key="home", cardinality="one"), held=(home,))

    assert remembered(found)[0].supersedes == (home.id,)


def test_the_same_key_of_another_subject_is_another_key():
    home = holding("Lives in New York", key="home", cardinality="one")
    found = settled(
        note("Sister lives in Boston", key="home", cardinality="one", subject="Sister"),
        held=(home,),
    )

    assert remembered(found)[0].key == "Sister: home"
    assert remembered(found)[0].supersedes == ()


@pytest.mark.parametrize("cardinality", [Cardinality.MANY, Cardinality.RECURRING])
def test_what_may_be_many_holds_no_key_and_takes_no_place(cardinality):
    pet = holding("Has a cat", key="pet", cardinality="one")
    found = settled(note("Has a dog", key="pet", cardinality=cardinality), held=(pet,))

    assert remembered(found)[0].key is None
    assert remembered(found)[0].supersedes == ()


def test_what_happens_again_stays_apart_but_one_event_is_told_once():
    took = holding("Took the medicine", cardinality="recurring", sources=(READING.new[0].id,))
    again = note("Took the medicine", 2, cardinality="recurring", supersedes=(took.id,))
    same = note("Took the medicine", 1, cardinality="recurring")
    found = settled(same, again, held=(took,))

    assert [made.sources for made in remembered(found)] == [(READING.new[1].id,)]
    assert remembered(found)[0].supersedes == ()
    assert codes(found) == {"recurring"}


def test_a_memory_that_is_named_is_superseded_whatever_its_key():
    joanne = holding("Has a friend Joanne")
    found = settled(note("Has a friend Joanne, called Jo", supersedes=(joanne.id,)), held=(joanne,))

    assert remembered(found)[0].supersedes == (joanne.id,)
    assert found.versions == {joanne.id: 1}


@pytest.mark.parametrize(
    ("fields", "held", "code"),
    [
        ({"trust": "tool"}, {}, "trust"),
        ({"valid_to": START + timedelta(days=3)}, {}, "bounded"),
        ({"applies_when": "at work"}, {}, "partial"),
        ({}, {"at": START + timedelta(days=30)}, "older"),
    ],
)
@pytest.mark.parametrize("by_key", [True, False])
def test_nothing_is_retired_by_what_is_weaker_bounded_partial_or_older(by_key, fields, held, code):
    key = {"key": "home", "cardinality": "one"} if by_key else {}
    old = holding("Lives in New York", **key, **held)
    found = settled(
        note("Lives in Boston", **key, **fields, supersedes=() if by_key else (old.id,)),
        held=(old,),
    )

    assert codes(found) == {code}
    assert all(made.supersedes == () and made.key is None for made in remembered(found))


def test_a_user_who_says_what_a_tool_said_makes_it_their_own():
    tool = holding("Lives in Boston", trust=Trust.TOOL)
    found = settled(note("Lives in Boston"), held=(tool,))

    assert remembered(found)[0].supersedes == (tool.id,)


def test_memories_that_are_not_held_or_not_this_owners_are_left_alone():
    gone = holding("Likes tea", status="retracted")
    found = settled(note("Likes milk", supersedes=(gone.id, new_id())), held=(gone,))

    assert remembered(found)[0].supersedes == ()


def test_of_two_values_in_one_conversation_the_later_holds():
    old = holding("Lives in Rome", key="home", cardinality="one")
    key: dict[str, Any] = {"key": "home", "cardinality": "one"}
    found = settled(
        note("Lives in Boston", 3, **key), note("Lives in New York", 1, **key), held=(old,)
    )

    earlier, later = remembered(found)
    assert (earlier.content, earlier.supersedes) == ("Lives in New York", (old.id,))
    assert (later.content, later.supersedes) == ("Lives in Boston", (earlier.id,))
    assert codes(found) == set()


def test_one_thing_said_twice_in_one_conversation_is_one_memory():
    found = settled(note("Likes tea", 1), note("Really likes tea.", 2))

    (made,) = remembered(found)
    assert made.sources == (READING.new[0].id, READING.new[1].id)


def test_of_two_who_say_the_same_the_one_that_is_believed_more_bears_it():
    tool, user = note("Likes tea", 1, trust="tool"), note("Likes tea", 2)
    held = holding("Likes tea")

    (made,) = remembered(settled(tool, user))
    assert (made.trust, made.sources) == (Trust.USER, (READING.new[1].id,))
    assert settled(tool, held=(held,)).changes == ()


def test_a_memory_that_is_read_more_widely_is_not_rested_on_a_narrower_message():
    wide = holding("Likes tea", audience=EVERYONE)

    assert settled(note("Likes tea", 2), held=(wide,)).changes == ()


def test_what_another_agent_alone_knows_is_told_again():
    other = holding("Likes tea", audience=Audience.of_agent("other"))

    assert len(remembered(settled(note("Likes tea"), held=(other,)))) == 1


def test_what_the_model_names_as_repeated_confirms_once():
    tea = holding("Likes tea")
    again = Confirmation(memory=tea.id, cited=(Cited(message=READING.new[1].id),))
    found = settled(note("Likes tea", 1), held=(tea,), confirmations=(again,))

    assert found.changes == (Confirm(tea.id, (READING.new[0].id, READING.new[1].id)),)


def test_a_note_keeps_the_words_and_the_language_of_what_it_rests_on():
    one, two = (message.id for message in READING.new[:2])
    first = note("Likes tea", cited=(Cited(message=one, quote="I like tea"),), language="en")
    again = note("likes tea.", cited=(Cited(message=two, quote="tea"), Cited(message=one)))
    (memory,) = remembered(settled(first, again))

    assert [(quoted.message, quoted.quote) for quoted in memory.quotes] == [
        (one, "I like tea"),
        (two, "tea"),
    ]
    assert memory.language == "en"


def test_what_is_said_again_brings_its_words_along():
    tea = holding("Likes tea")
    quoted = (Cited(message=READING.new[0].id, quote="I like tea"),)
    (by_note,) = settled(note("Likes tea", cited=quoted), held=(tea,)).changes
    (by_name,) = settled(
        held=(tea,), confirmations=(Confirmation(memory=tea.id, cited=quoted),)
    ).changes

    for change in (by_note, by_name):
        assert isinstance(change, Confirm)
        assert (change.sources, change.quotes) == ((READING.new[0].id,), quoted)


def test_a_document_too_deep_for_a_memory_is_left_out_and_the_other_notes_stay():
    deep: Any = "tea"
    for _ in range(DATA_DEPTH):
        deep = {"a": deep}
    found = settled(note("Likes tea", schema_name="Deep", data=deep), note("Likes coffee"))

    assert [one.content for one in remembered(found)] == ["Likes coffee"]
    assert [(one.part, one.code) for one in found.left_out] == [("notes[0]", "invalid")]
