"""Patches as models write them: the rules beyond the standard, and what is refused in which
words.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from memoranda.formation.schemas.definitions import PROFILE
from memoranda.formation.schemas.json_patch import FAULTS, OPERATIONS, apply_patch
from memoranda.formation.schemas.validation import Shape
from memoranda.model.values import DATA_BYTES

ANA: dict[str, Any] = {"name": "Ana", "interests": ["films", "chess", "tea"], "age": 20}


def add(path: str, value: object) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def refused(operations: object, document: dict | None = None, shape: Shape = PROFILE.shape) -> str:
    before = ANA if document is None else document
    done = apply_patch(before, operations, shape)
    assert done.document == before and not done.changed and done.faults
    return done.faults[0].reason


def test_a_patch_changes_what_it_names_and_leaves_what_was_given_alone():
    given = json.loads(json.dumps(ANA))
    value = ["walks"]
    done = apply_patch(
        given, [add("/interests/-", "walks"), {"op": "replace", "path": "/age", "value": 25}]
    )
    assert done.document == {**ANA, "interests": ["films", "chess", "tea", "walks"], "age": 25}
    assert done.changed and done.faults == () and given == ANA
    done = apply_patch(given, [add("/seen", value)])
    done.document["seen"].append("more")
    done.document["interests"].clear()
    assert value == ["walks"] and given == ANA


def test_one_operation_that_fails_undoes_all_of_them():
    done = apply_patch(
        ANA, [add("/home", "Porto"), {"op": "remove", "path": "/pets"}], PROFILE.shape
    )
    assert done.document == ANA and not done.changed
    assert [(fault.index, fault.path) for fault in done.faults] == [(1, "/pets")]


def test_what_is_malformed_is_told_of_every_operation_at_once():
    done = apply_patch(
        ANA, [{"op": "drop", "path": "/age"}, add("age", 1), {"op": "add", "path": "/age"}, 7]
    )
    assert [fault.index for fault in done.faults] == [0, 1, 2, 3]
    assert "add, remove, replace" in done.faults[0].reason
    assert "does not begin with /" in done.faults[1].reason


@pytest.mark.parametrize("name", ["remove", "replace", "add"])
def test_the_document_as_a_whole_is_neither_replaced_nor_removed(name: str):
    operation = {"op": name, "path": "", "value": {}}
    assert "whole document" in refused([operation])


@pytest.mark.parametrize("name", ["move", "copy", "test"])
def test_no_other_operation_is_known(name: str):
    operation = {"op": name, "from": "/name", "path": "/home", "value": "Ana"}
    assert "it may be add, remove, replace" in refused([operation])


@pytest.mark.parametrize("document", [{}, {"interests": None}])
def test_a_list_or_an_object_that_is_missing_is_made_where_the_schema_says_that_there_is_one(
    document: dict,
):
    assert apply_patch(document, [add("/interests/-", "tea")], PROFILE.shape).document == {
        "interests": ["tea"]
    }
    deep = Shape(
        {
            "type": "object",
            "properties": {"job": {"anyOf": [{"$ref": "#/$defs/Job"}, {"type": "null"}]}},
            "$defs": {
                "Job": {"type": "object", "properties": {"places": {"type": "array", "items": {}}}}
            },
        }
    )
    assert apply_patch({}, [add("/job/places/0", "mill")], deep).document == {
        "job": {"places": ["mill"]}
    }


def test_nothing_is_made_where_the_schema_says_nothing_or_something_else():
    assert "does not exist" in refused([add("/pets/-", "cat")])
    assert "points into a text" in refused([add("/name/-", " Maria")])
    assert apply_patch({}, [add("/pets/-", "cat")]).faults


def test_a_replacement_of_a_field_that_the_schema_names_sets_it():
    replace = {"op": "replace", "path": "/home", "value": "Porto"}
    assert apply_patch({}, [replace], PROFILE.shape).document == {"home": "Porto"}
    assert "use add" in apply_patch({}, [replace]).faults[0].reason


def test_an_entry_that_is_removed_twice_is_a_fault_and_not_its_neighbour():
    remove = {"op": "remove", "path": "/interests/1"}
    assert "removed twice" in refused([remove, remove])
    assert "removed twice" in refused([remove, add("/home", "Porto"), remove])


def test_an_operation_on_the_same_list_parts_the_removals_before_it_from_those_after_it():
    first, second = ({"op": "remove", "path": f"/interests/{place}"} for place in (0, 1))
    assert apply_patch(ANA, [first, add("/interests/-", "walks"), second]).document[
        "interests"
    ] == [
        "chess",
        "walks",
    ]
    assert apply_patch(ANA, [first, add("/home", "Porto"), second]).document["interests"] == ["tea"]


def test_what_is_inside_goes_before_what_holds_it():
    document = {"list": [{"a": 1, "b": 2}, {"a": 3}]}
    operations = [{"op": "remove", "path": "/list/0"}, {"op": "remove", "path": "/list/1/a"}]
    assert apply_patch(document, operations).document == {"list": [{}]}


def test_what_a_person_set_stays_and_the_rest_is_applied():
    operations = [
        add("/name", "Anna"),
        add("/interests/-", "walks"),
        {"op": "remove", "path": "/name"},
        add("/occupation", "cook"),
    ]
    done = apply_patch(ANA, operations, PROFILE.shape, pinned=["name"])
    assert done.document == {**ANA, "interests": [*ANA["interests"], "walks"], "occupation": "cook"}
    assert [fault.index for fault in done.left_out] == [0, 2]
    assert "a person set" in done.left_out[0].reason


def test_a_patch_that_changes_nothing_says_so():
    assert not apply_patch(ANA, []).changed
    assert not apply_patch(
        ANA, [add("/name", "Ana"), {"op": "replace", "path": "/age", "value": 20.0}]
    ).changed
    assert not apply_patch(ANA, [add("/name", "Bea")], pinned=["name"]).changed
    assert not apply_patch(None, [], Shape({"type": "object", "required": ["name"]})).faults
    assert apply_patch({"on": 1}, [add("/on", True)]).changed


def test_the_result_is_held_against_the_schema():
    done = apply_patch(
        ANA, [add("/age", "old"), add("/colour", "red"), add("/interests/0", 7)], PROFILE.shape
    )
    assert {fault.path for fault in done.faults} == {"/age", "/colour", "/interests/0"}
    assert all(fault.index is None for fault in done.faults)


def test_what_was_wrong_before_stays_and_does_not_stand_in_the_way():
    old = {"name": 7, "interests": [1, "chess"]}
    done = apply_patch(
        old,
        [add("/home", "Porto"), {"op": "add", "path": "/interests/0", "value": "tea"}],
        PROFILE.shape,
    )
    assert done.changed and done.document["interests"] == ["tea", 1, "chess"]
    assert not done.faults
    assert {fault.at for fault in PROFILE.shape.faults(done.document)} == {"/name", "/interests/1"}
    worse = apply_patch(old, [add("/interests/-", 2)], PROFILE.shape)
    assert worse.faults and worse.document == old
    mended = apply_patch(
        old, [add("/name", "Ana"), {"op": "remove", "path": "/interests/0"}], PROFILE.shape
    )
    assert mended.changed and PROFILE.shape.faults(mended.document) == ()


def test_a_document_that_is_not_there_yet_must_be_whole_at_once():
    shape = Shape(
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    )
    assert "has no 'name'" in apply_patch(None, [add("/home", "Porto")], shape).faults[0].reason
    assert apply_patch({}, [add("/home", "Porto")], shape).document == {"home": "Porto"}
    assert apply_patch(None, [add("/name", "Ana")], shape).document == {"name": "Ana"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/interests/~2", "not followed by 0 or 1"),
        ("/interests/~", "not followed by 0 or 1"),
        ("/interests/" + "9" * 1500, "no 999"),
        ("/interests/00", "not a list index"),
        ("/interests/01", "not a list index"),
        ("/interests/-1", "not a list index"),
        ("/interests/٣", "not a list index"),
        ("/interests/1.0", "not a list index"),
        ("/interests/", "not a list index"),
        ("/interests/9", "has 3 entries"),
        ("/interests/-", "after the last entry"),
        ("/" * 40, "levels; at most"),
        ("/" + "x" * 3000, "characters"),
        ("interests", "does not begin with /"),
        ("#/interests", "does not begin with /"),
        ("/a\x00b", "NUL"),
        ("/\ud800", "surrogate"),
        (None, "not a text"),
        (["interests"], "not a text"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_in_words(path: object, words: str):
    done = apply_patch(ANA, [{"op": "replace", "path": path, "value": "x"}])
    assert words in done.faults[0].reason
    json.dumps([done.faults[0].path, done.faults[0].reason]).encode()


def test_escapes_and_empty_names_lead_where_they_say():
    document = {"a/b": 1, "m~n": 2, "": {"": 3}, "~1": 4}
    for path, value in (("/a~1b", 1), ("/m~0n", 2), ("//", 3), ("/~01", 4)):
        done = apply_patch(document, [{"op": "replace", "path": path, "value": value}])
        assert done.faults == () and not done.changed


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "not finite"),
        (float("-inf"), "not finite"),
        (10**400, "64 bits"),
        ({1: 2}, "key that is not a text"),
        ({"a": {1, 2}}, "contains a set"),
        ("\x00", "NUL"),
        ("\ud800", "surrogate"),
        ("x" * (DATA_BYTES + 1), "larger than"),
    ],
)
def test_a_value_that_json_or_a_record_cannot_hold_is_refused(value: object, words: str):
    assert words in refused([add("/home", value)])


def test_depth_and_growth_have_an_end():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested deeper" in refused([add("/home", deep)])
    while deep:
        deep = deep.pop()
    nesting = [add("/x" + "/a" * depth, {}) for depth in range(60)]
    assert "at most 32" in refused(nesting, {}, Shape({}))
    wide = [add(f"/x{i}", "é" * 9_000) for i in range(100)]
    assert "bytes as JSON" in refused(wide, {}, Shape({}))


def test_ten_thousand_operations_are_refused_before_any_is_read():
    # Each would be a fault of its own, had it been read.
    done = apply_patch(ANA, [None] * 10_000)
    assert [fault.index for fault in done.faults] == [
        None
    ] and f"at most {OPERATIONS}" in done.faults[0].reason
    assert len(apply_patch(ANA, [{}] * OPERATIONS).faults) == FAULTS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"op": "add", "path": "/age", "path": "/name", "value": 1}]', "twice"),
        ('[{"op": "add", "path": "/age", "value": NaN}]', "NaN"),
        ('[{"op": "add", "path": "/age", "value": 1e999}]', "not finite"),
        ('[{"op": "add"', "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("1" * 5000, "not JSON"),
        ("{}", "not a list"),
        ('{"op": "add", "path": "/age", "value": 1}', "not a list"),
        ("null", "not a list"),
        (" " * (DATA_BYTES + 1), "characters"),
    ],
)
def test_a_patch_as_text_is_read_strictly(text: str, words: str):
    assert words in refused(text)


def test_a_patch_as_text_is_applied_like_a_list():
    assert apply_patch(ANA, '[{"op": "add", "path": "/age", "value": 21}]').document["age"] == 21
