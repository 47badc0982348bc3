"""Reconciling: what is said again corroborates, what changed takes its place, and a second time changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engines.inmemory import InMemoryEngine
from commonplace.formation.reconcile import Held, Reconciled, reconcile
from commonplace.model.changes import (
    Append,
    Corroborate,
    OpenThread,
    PatchProfile,
    RecordEpisode,
    Remember,
    Supersede,
)
from commonplace.model.episodes import Episode, Outcome
from commonplace.model.forming import (
    Cited,
    Corroboration,
    Draft,
    EpisodeDraft,
    Formed,
    Lesson,
    ProfilePatch,
    Reading,
)
from commonplace.model.ids import new_id
from commonplace.model.memories import Cardinality, Memory
from commonplace.model.owner import EVERYONE, Audience
from commonplace.model.profiles import ProfileDocument
from commonplace.model.trust import Trust
from commonplace.testing.builders import ANN, START, Pen, a_line, a_memory, packed
from tests.formation.readings import THREAD, talk

READING = talk(*(("user", f"Turn {place}") for place in range(1, 7)))
BEFORE = START - timedelta(days=3)


def note(content: str, *places: int, **fields: Any) -> Draft:
    cited = [READING.new[place - 1] for place in places or (1,)]
    given = {"content": content, "cited": tuple(Cited(message=one.id) for one in cited)}
    return Draft.model_validate({**given, "observed_at": max(one.observed_at for one in cited), **fields})


def holding(content: str, **fields: Any) -> Memory:
    given = {"audience": THREAD.audience, "agent": "guide", "sources": (new_id(),), "at": BEFORE}
    return a_memory(ANN, content, **{**given, **fields})


def settled(*notes: Draft, held: tuple[Memory, ...] = (), **formed: Any) -> Reconciled:
    return reconcile(Formed(notes=notes, **formed), READING, Held(memories=held))


def codes(found: Reconciled) -> set[str]:
    return {one.code for one in found.left_out}


def remembered(found: Reconciled) -> list[Memory]:
    return [change.memory for change in found.changes if isinstance(change, Remember)]


def test_nothing_formed_changes_nothing():
    assert reconcile(Formed(), READING).changes == ()


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
def test_what_is_said_again_corroborates(content):
    tea = holding("Likes tea")
    found = settled(note(content, 2), held=(tea,))

    assert found.changes == (Corroborate(tea.id, (READING.new[1].id,)),)
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
        note("Sister lives in Boston", key="home", cardinality="one", subject="Sister"), held=(home,)
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
        note("Lives in Boston", **key, **fields, supersedes=() if by_key else (old.id,)), held=(old,)
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
    found = settled(note("Lives in Boston", 3, **key), note("Lives in New York", 1, **key), held=(old,))

    (made,) = remembered(found)
    assert made.content == "Lives in Boston"
    assert made.supersedes == (old.id,)
    assert codes(found) == {"at_once"}


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


def test_what_the_model_names_as_repeated_corroborates_once():
    tea = holding("Likes tea")
    again = Corroboration(memory=tea.id, cited=(Cited(message=READING.new[1].id),))
    found = settled(note("Likes tea", 1), held=(tea,), corroborations=(again,))

    assert found.changes == (Corroborate(tea.id, (READING.new[0].id, READING.new[1].id)),)


def a_patch(*operations: dict[str, Any]) -> Formed:
    cited = (Cited(message=READING.new[0].id),)
    return Formed(patches=(ProfilePatch(schema_name="Profile", operations=operations, cited=cited),))


def with_profile(body: dict[str, Any], **fields: Any) -> Reading:
    profile = ProfileDocument(id=new_id(), owner=ANN, audience=THREAD.audience, body=body, **fields)
    return READING.model_copy(update={"profiles": (profile,)})


APPEND = {"op": "add", "path": "/interests/-", "value": "Tea"}


def test_a_patch_sets_only_the_fields_that_it_changes():
    reading = with_profile({"age": 20, "interests": ["films"]})
    (change,) = reconcile(a_patch({"op": "replace", "path": "/age", "value": 25}, APPEND), reading).changes

    assert isinstance(change, PatchProfile)
    assert change.set == {"age": 25, "interests": ["films", "Tea"]}
    assert change.schema_hash and not change.pin


@pytest.mark.parametrize(
    "operations",
    [
        ({"op": "replace", "path": "/age", "value": 20},),
        ({"op": "add", "path": "/interests/-", "value": " TEA "},),
        ({"op": "remove", "path": "/nowhere"},),
    ],
)
def test_a_patch_that_changes_nothing_writes_nothing(operations):
    reading = with_profile({"age": 20, "interests": ["tea"]})

    assert reconcile(a_patch(*operations), reading).changes == ()


def test_what_a_person_set_or_changed_meanwhile_wins():
    reading = with_profile({"age": 20, "home": "Rome", "interests": []})
    (shown,) = reading.profiles
    now = shown.changed(body={"age": 31, "home": "Oslo", "interests": []}, pinned=("age",), version=2)
    operations = [
        {"op": "replace", "path": f"/{name}", "value": value}
        for name, value in (("age", 25), ("home", "Bonn"))
    ]
    found = reconcile(a_patch(*operations, APPEND), reading, Held(profiles=(now,)))

    (change,) = found.changes
    assert isinstance(change, PatchProfile)
    assert change.set == {"interests": ["Tea"]}
    assert codes(found) == {"pinned", "stale"}
    assert found.versions == {shown.id: 2}


def test_the_first_patch_makes_the_document_for_the_threads_audience():
    (change,) = reconcile(a_patch({"op": "add", "path": "/name", "value": "Ann"}), READING).changes

    assert isinstance(change, PatchProfile)
    assert (change.set, change.audience) == ({"name": "Ann"}, THREAD.audience)


def lesson(line: str) -> Lesson:
    return Lesson(field="heuristics", line=line, cited=(Cited(message=READING.new[0].id),))


def test_a_line_of_experience_is_the_agents_and_names_whose_it_was():
    found = reconcile(Formed(experience=(lesson("Ask which tea."), lesson("ask which tea"))), READING)

    assert found.changes == ()
    (added,) = found.experience
    assert (added.line.owner.kind.value, added.line.owner.id) == ("agent", "guide")
    assert added.line.evidence[0].owner == ANN


def test_a_line_is_given_once_by_each_user():
    agent = reconcile(Formed(experience=(lesson("Ask which tea."),)), READING).experience[0].line.owner
    others = a_line(agent, "Ask which tea.", [(ANN.model_copy(update={"id": "ben"}), new_id())])
    own = a_line(agent, "Ask which tea.", [(ANN, new_id())])
    formed = Formed(experience=(lesson("Ask which tea"),))

    assert len(reconcile(formed, READING, Held(experience=(others,))).experience) == 1
    assert reconcile(formed, READING, Held(experience=(others, own))).experience == ()


def test_an_episode_spans_what_was_read():
    draft = EpisodeDraft(goal="Choose a tea", outcome=Outcome.SUCCEEDED)
    (change,) = reconcile(Formed(episode=draft), READING).changes

    assert isinstance(change, RecordEpisode)
    assert change.episode.started_at == READING.new[0].observed_at
    assert change.episode.ended_at == READING.new[-1].observed_at
    assert change.episode.sources == tuple(message.id for message in READING.new)


# ── The second time ──────────────────────────────────────────────────────────────────────────────────────────────

CONTENTS = st.sampled_from(
    ["Likes tea", "User likes tea.", "Does not like tea", "Lives in Rome", "Lives in Oslo", "Took the pill"]
)
DRAFTS = st.builds(
    lambda content, places, **fields: (content, places, fields),
    CONTENTS,
    st.lists(st.integers(1, 6), min_size=1, max_size=2, unique=True),
    key=st.none() | st.sampled_from(["home", "drink"]),
    cardinality=st.sampled_from([*Cardinality]),
    subject=st.none() | st.sampled_from(["Bob"]),
    applies_when=st.sampled_from(["", "", "at work"]),
    trust=st.sampled_from([Trust.USER, Trust.USER, Trust.TOOL]),
    valid_to=st.none() | st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    supersedes=st.lists(st.integers(0, 3), max_size=2, unique=True),
)
HELDS = st.lists(
    st.tuples(
        CONTENTS,
        st.fixed_dictionaries(
            {
                "cardinality": st.sampled_from([*Cardinality]),
                "trust": st.sampled_from([Trust.USER, Trust.TOOL]),
                "subject": st.none() | st.just("Bob"),
                "applies_when": st.sampled_from(["", "at work"]),
            }
        ),
        st.booleans(),
    ),
    max_size=4,
)


async def everything(pen: Pen) -> Held:
    records = await pen.scan()
    return Held(
        memories=tuple(one for one in records if isinstance(one, Memory)),
        profiles=tuple(one for one in records if isinstance(one, ProfileDocument)),
        episodes=tuple(one for one in records if isinstance(one, Episode)),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(DRAFTS, max_size=4), HELDS)
async def test_what_was_applied_is_not_applied_again(drafts, helds):
    pen = Pen(InMemoryEngine(), ANN)
    await pen.write(OpenThread(THREAD))
    messages = tuple(message.changed(seq=0) for message in READING.new)
    await pen.write(Append(THREAD.id, messages, tuple(packed(message.content) for message in messages)))
    pen.now = BEFORE
    ids: list[UUID] = []
    for content, fields, keyed in helds:
        key = "home" if keyed and fields["cardinality"] is Cardinality.ONE else None
        ids.append(await pen.remember(content, key=key, agent="guide", audience=THREAD.audience, **fields))
    pen.now = READING.now
    notes = tuple(
        note(
            content,
            *places,
            **{**fields, "supersedes": tuple(ids[n] for n in fields["supersedes"] if n < len(ids))},
        )
        for content, places, fields in drafts
    )
    patch = a_patch({"op": "add", "path": "/interests/-", "value": "tea"}).patches
    formed = Formed(notes=notes, patches=patch, episode=EpisodeDraft(goal="Talk", outcome=Outcome.SUCCEEDED))
    before = await everything(pen)
    found = reconcile(formed, READING, before)
    terms = [
        Remember(change.memory, packed(change.memory.passage_text()), run=change.run)
        if isinstance(change, Remember)
        else change
        for change in found.changes
    ]
    receipt = await pen.write(*terms)

    after = await everything(pen)
    assert [one for one in receipt.ignored if one.code != "superseded"] == []
    assert reconcile(formed, READING, after).changes == ()
    assert {one.id for one in before.memories} <= {one.id for one in after.memories}
    assert not any(
        isinstance(change, Supersede) and change.loser == change.winner for change in found.changes
    )
