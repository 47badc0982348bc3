"""Tests of reconciled patches, lines and episodes: only differences are written, and people's
values stay.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.formation.reconcile.reconciler import CurrentRecords, reconcile
from memoranda.model.changes import AddEvidence, AddExperience, PatchProfile, RecordEpisode
from memoranda.model.drafts import Formed, Lesson, ProfilePatch, Reading
from memoranda.model.memories import Cited
from memoranda.model.messages import EpisodeDraft, Outcome
from memoranda.model.profiles import Grounds, ProfileDocument
from memoranda.model.records import OwnerKind
from memoranda.model.values import new_id
from memoranda_conformance.builders import ANN, FOR_A, START, a_line
from tests.formation.readings import THREAD, at_once
from tests.formation.test_reconcile import READING, codes


def a_patch(*operations: dict[str, Any]) -> Formed:
    cited = (Cited(message=READING.new[0].id),)
    return Formed(
        patches=(ProfilePatch(schema_name="Profile", operations=operations, cited=cited),)
    )


def with_profile(body: dict[str, Any], **fields: Any) -> Reading:
    profile = ProfileDocument(id=new_id(), owner=ANN, audience=THREAD.audience, body=body, **fields)
    return READING.model_copy(update={"profiles": (profile,)})


APPEND = {"op": "add", "path": "/interests/-", "value": "Tea"}


def test_a_patch_sets_only_the_fields_that_it_changes():
    reading = with_profile({"age": 20, "interests": ["films"]})
    (change,) = at_once(
        a_patch({"op": "replace", "path": "/age", "value": 25}, APPEND), reading
    ).changes

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

    assert at_once(a_patch(*operations), reading).changes == ()


def test_an_item_that_one_answer_appends_twice_is_listed_once():
    twice = a_patch(APPEND, {**APPEND, "value": "Rum"}, {**APPEND, "value": " tea"})

    for reading in (with_profile({"interests": ["films"]}), READING):
        (change,) = at_once(twice, reading).changes
        assert isinstance(change, PatchProfile)
        assert change.set["interests"][-2:] == ["Tea", "Rum"] and len(change.set["interests"]) <= 3


def test_what_a_person_set_or_changed_meanwhile_wins():
    reading = with_profile({"age": 20, "home": "Rome", "interests": []})
    (shown,) = reading.profiles
    now = shown.changed(
        body={"age": 31, "home": "Oslo", "interests": []}, pinned=("age",), version=2
    )
    operations = [
        {"op": "replace", "path": f"/{name}", "value": value}
        for name, value in (("age", 25), ("home", "Bonn"))
    ]
    found = reconcile(a_patch(*operations, APPEND), reading, CurrentRecords(profiles=(now,)))

    (change,) = found.changes
    assert isinstance(change, PatchProfile)
    assert change.set == {"interests": ["Tea"]}
    assert codes(found) == {"pinned", "stale"}
    assert found.versions == {shown.id: 2}


def test_the_first_patch_makes_the_document_for_the_threads_audience():
    (change,) = at_once(a_patch({"op": "add", "path": "/name", "value": "Ann"}), READING).changes

    assert isinstance(change, PatchProfile)
    assert (change.set, change.audience) == ({"name": "Ann"}, THREAD.audience)


def test_a_patch_rests_on_the_messages_that_it_was_made_of():
    (change,) = at_once(a_patch({"op": "add", "path": "/name", "value": "Ann"}), READING).changes

    assert isinstance(change, PatchProfile)
    assert change.sources == (READING.new[0].id,)


def test_what_was_derived_before_and_is_said_again_rests_on_more_and_only_once():
    earlier, said = new_id(), READING.new[0].id
    body = {"age": 20, "home": "Rome", "interests": ["tea", "films"]}
    grounds: dict[str, Grounds] = {"age": ((earlier,),), "interests": ((earlier,), (earlier,))}
    operations: list[dict[str, Any]] = [{**APPEND}, {"op": "replace", "path": "/age", "value": 20}]
    operations += [{"op": "replace", "path": "/home", "value": "Rome"}]
    (change,) = at_once(a_patch(*operations), with_profile(body, grounds=grounds)).changes

    assert isinstance(change, PatchProfile)
    assert (change.set, change.again) == ({}, {"age": 20, "interests": ["tea"]})

    grounds = {"age": ((earlier, said),), "interests": ((earlier, said), (earlier,))}
    assert at_once(a_patch(*operations), with_profile(body, grounds=grounds)).changes == ()


def test_an_item_said_again_beside_a_new_one_is_said_again():
    earlier = new_id()
    reading = with_profile({"interests": ["tea"]}, grounds={"interests": ((earlier,),)})
    (change,) = at_once(a_patch(APPEND, {**APPEND, "value": "Rum"}), reading).changes

    assert isinstance(change, PatchProfile)
    assert (change.set, change.again) == ({"interests": ["tea", "Rum"]}, {"interests": ["tea"]})


def test_a_document_that_is_read_more_widely_than_the_conversation_is_left_alone():
    reading = READING.model_copy(update={"thread": THREAD.changed(audience=FOR_A)})
    wide = ProfileDocument(id=new_id(), owner=ANN, body={"age": 20})
    found = reconcile(
        a_patch({"op": "replace", "path": "/age", "value": 25}),
        reading,
        CurrentRecords(profiles=(wide,)),
    )

    assert found.changes == ()
    assert codes(found) == {"audience"}


def lesson(line: str) -> Lesson:
    return Lesson(field="heuristics", line=line, cited=(Cited(message=READING.new[0].id),))


def test_a_line_of_experience_is_the_agents_and_names_whose_it_was():
    found = at_once(Formed(experience=(lesson("Ask which tea."), lesson("ask which tea"))), READING)

    assert found.changes == ()
    (added,) = found.experience
    assert isinstance(added, AddExperience)
    assert (added.line.owner.kind.value, added.line.owner.id) == ("agent", "guide")
    assert added.line.evidence[0].owner == ANN


BEN_TOO = ANN.model_copy(update={"id": "ben"})
AGENT = ANN.model_copy(update={"id": "guide", "kind": OwnerKind.AGENT})


def test_a_line_that_the_agent_has_already_gets_this_users_evidence_whomever_it_came_from():
    said = READING.new[0].id
    others = a_line(AGENT, "Ask which tea.", [(BEN_TOO, new_id())])
    own = a_line(AGENT, "Ask which tea.", [(ANN, said)])
    formed = Formed(experience=(lesson("ask which tea"), lesson("Ask which tea")))

    (added,) = reconcile(formed, READING, CurrentRecords(experience=(others,))).experience
    assert isinstance(added, AddEvidence)
    assert (added.line, added.evidence.owner, added.evidence.sources) == (others.id, ANN, (said,))
    assert added.evidence.guarded_at is None
    assert reconcile(formed, READING, CurrentRecords(experience=(others, own))).experience == ()


def test_a_lesson_that_repeats_a_retired_line_adds_nothing_and_says_so():
    retired = a_line(AGENT, "Ask which tea.", [(BEN_TOO, new_id())], retired_at=START)
    formed = Formed(experience=(lesson("Ask which tea"),))

    found = reconcile(formed, READING, CurrentRecords(experience=(retired,)))
    assert found.experience == ()
    assert [(left.part, left.code) for left in found.left_out] == [("experience[0]", "retired")]
    serving = a_line(AGENT, "Ask which tea.", [(BEN_TOO, new_id())])
    (added,) = reconcile(formed, READING, CurrentRecords(experience=(retired, serving))).experience
    assert isinstance(added, AddEvidence) and added.line == serving.id


def test_an_episode_spans_what_was_read():
    draft = EpisodeDraft(goal="Choose a tea", outcome=Outcome.SUCCEEDED)
    (change,) = at_once(Formed(episode=draft), READING).changes

    assert isinstance(change, RecordEpisode)
    assert change.episode.started_at == READING.new[0].observed_at
    assert change.episode.ended_at == READING.new[-1].observed_at
    assert change.episode.sources == tuple(message.id for message in READING.new)
