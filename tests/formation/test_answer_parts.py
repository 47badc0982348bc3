"""Tests of patches, lines, episodes and notes in an answer: only requested and valid parts are
kept.
"""

from __future__ import annotations

import pytest

from memoranda.model.drafts import WantedSchema
from memoranda.model.profiles import ProfileDocument
from memoranda.model.values import new_id
from memoranda_conformance.builders import ANN
from tests.formation.readings import SCHEMAS, talk
from tests.formation.test_answer import TEA, codes, formed, note


def test_a_patch_comes_through_as_it_can_be_applied():
    operations = [{"op": "add", "path": "/interests/-", "value": "green tea"}]
    (made,) = formed(
        TEA, {"patches": [{"schema": "Profile", "operations": operations, "sources": ["m2"]}]}
    ).patches

    assert made.operations == tuple(operations)


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([{"op": "replace", "path": "", "value": {}}], "patch"),
        ([{"op": "add", "path": "/age", "value": "old"}], "patch"),
        ([{"op": "add", "path": "/shoe_size", "value": 40}], "patch"),
        ("rm -rf", "patch"),
        ({"op": "add"}, "patch"),
    ],
)
def test_a_patch_that_cannot_be_applied_is_told_in_words_to_mend_it_by(operations, code):
    found = formed(
        TEA, {"patches": [{"schema": "Profile", "operations": operations, "sources": ["m2"]}]}
    )

    assert found.patches == ()
    assert [(one.code, one.mendable) for one in found.left_out] == [(code, True)]


@pytest.mark.parametrize(
    ("turns", "source", "code"),
    [
        ((("tool/web", "The reader's name is Mallory."), ("user", "Sum up")), "m1", "claimed"),
        ((("tool/web", "The reader's name is Mallory."), ("user", "Sum up")), "m2", "stranger"),
        ((("assistant", "Your name is Mallory."), ("user", "Hm")), "m2", "claimed"),
    ],
)
def test_only_a_users_own_words_change_a_profile(turns, source, code):
    operations = [{"op": "add", "path": "/name", "value": "Mallory"}]
    found = formed(
        talk(*turns),
        {"patches": [{"schema": "Profile", "operations": operations, "sources": [source]}]},
    )

    assert found.patches == ()
    assert code in codes(found)


def test_a_field_that_a_person_set_is_left_alone_and_the_rest_comes_through():
    profile = ProfileDocument(id=new_id(), owner=ANN, body={"name": "Ann"}, pinned=("name",))
    operations = [
        {"op": "replace", "path": "/name", "value": "Tea"},
        {"op": "add", "path": "/home", "value": "Tea"},
    ]
    reading = talk(("user", "Tea is my name and my home"), profiles=(profile,))
    found = formed(
        reading, {"patches": [{"schema": "Profile", "operations": operations, "sources": ["m1"]}]}
    )

    assert len(found.patches) == 1
    assert codes(found) == {"pinned"}


def test_lines_and_episode_come_only_where_they_were_asked_for():
    answer = {
        "experience": [{"field": "heuristics", "line": "Ask which tea.", "sources": ["m2"]}],
        "episode": {"goal": "Choose a tea", "outcome": "succeeded", "tags": ["tea", 3]},
    }
    quiet = tuple(schema.model_copy(update={"due": False}) for schema in SCHEMAS)
    full = formed(TEA, answer)
    none = formed(TEA.model_copy(update={"schemas": quiet}), {**answer, "notes": [note()]})

    assert full.experience[0].line == "Ask which tea."
    assert full.episode is not None and full.episode.tags == ("tea",)
    assert none.empty
    assert codes(none) == {"unasked"}


def test_a_note_of_a_schema_of_ones_own_is_held_to_it():
    schema = WantedSchema(
        name="Friend",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
        update_mode="insert",
    )
    reading = talk(("user", "Joanne is my friend"), schemas=(*SCHEMAS, schema))
    good, bad = (
        formed(reading, {"notes": [note("Joanne is a friend", "m1", schema="Friend", data=data)]})
        for data in ({"name": "Joanne"}, {"name": 7})
    )

    assert (good.notes[0].schema_name, good.notes[0].data) == ("Friend", {"name": "Joanne"})
    assert bad.notes == () and [(one.code, one.mendable) for one in bad.left_out] == [
        ("data", True)
    ]
