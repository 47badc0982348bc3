"""Patches of all sorts, against a second implementation of the standard."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.formation.schemas.json_patch import OPERATIONS, apply_patch, changed_fields
from tests.formation.plain_patch import differences, equal, plain_patch

KEYS = st.sampled_from(["a", "b", "0", "1", "a/b", "~m", "", "ключ", "-"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([1.0, 0.5, "", "x", "naïve"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
PARTS = st.sampled_from(
    ["a", "b", "0", "1", "2", "-", "01", "a~1b", "~0m", "", "ключ", "x", "٣", "1e0", "+1"]
)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(
    lambda parts: "".join("/" + part for part in parts)
)


@st.composite
def paths_in(draw: Any, document: Any) -> str:
    """A path that often leads somewhere."""
    if draw(st.integers(0, 5)) == 0:
        return str(draw(PATHS | st.just("")))
    path, place = "", document
    for _ in range(draw(st.integers(1, 3))):
        if isinstance(place, dict) and place:
            key = draw(st.sampled_from(sorted(place)))
            path, place = path + "/" + key.replace("~", "~0").replace("/", "~1"), place[key]
        elif isinstance(place, list) and place:
            at = draw(st.integers(0, len(place) - 1))
            path, place = f"{path}/{at}", place[at]
        else:
            break
    return path + (f"/{draw(PARTS)}" if not path or draw(st.booleans()) else "")


@st.composite
def patches(draw: Any, names: tuple[str, ...]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    document = draw(DOCUMENTS)
    operations = []
    for name in draw(st.lists(st.sampled_from(names), max_size=5)):
        operation = {"op": name, "path": draw(paths_in(document))}
        if name != "remove":
            operation["value"] = draw(VALUES)
        operations.append(operation)
    return document, operations


def without_neighbouring_removals(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    removals = [one for one in operations if one["op"] == "remove"]
    return [one for one in operations if one["op"] != "remove" or one is removals[0]]


@settings(max_examples=250, deadline=None)
@given(patches(("add", "remove", "replace")))
def test_what_is_applied_is_what_the_standard_says(case):
    document, operations = case
    operations = without_neighbouring_removals(operations)
    before = json.dumps([document, operations])
    done = apply_patch(document, operations)
    expected = plain_patch(document, operations)
    assert json.dumps([document, operations]) == before
    if expected is None:
        assert done.faults and not done.changed and equal(done.document, document)
    else:
        assert done.faults == ()
        assert equal(done.document, expected)
        assert done.changed is not equal(document, expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.data())
def test_removals_mean_the_places_that_were_shown_in_whatever_order_they_come(items, data):
    places = data.draw(st.lists(st.integers(0, len(items) - 1), unique=True, max_size=len(items)))
    operations: list[dict[str, Any]] = [
        {"op": "remove", "path": f"/list/{place}"} for place in places
    ]
    aside = data.draw(st.integers(0, len(operations)))
    operations.insert(aside, {"op": "replace", "path": "/other", "value": 2})
    done = apply_patch({"list": items, "other": 1}, operations)
    assert done.faults == ()
    left = [item for place, item in enumerate(items) if place not in places]
    assert done.document == {"list": left, "other": 2}


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_the_differences_of_two_documents_make_one_of_the_other(before, after):
    operations = differences(before, after)
    assert len(operations) <= OPERATIONS
    done = apply_patch(before, operations)
    assert done.faults == () and equal(done.document, after)
    assert done.changed is bool(operations)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_the_fields_between_two_documents_make_one_of_the_other(before, after):
    fields, gone = changed_fields(before, after)
    merged = {name: value for name, value in {**before, **fields}.items() if name not in gone}
    assert equal(merged, after)
    assert all(
        name not in before or not equal(before[name], value) for name, value in fields.items()
    )


@settings(max_examples=100, deadline=None)
@given(patches(("add", "remove", "replace")), st.sets(KEYS))
def test_no_patch_changes_a_field_that_a_person_set(case, pinned):
    document, operations = case
    done = apply_patch(document, operations, pinned=pinned)
    for name in pinned:
        assert (name in done.document) == (name in document)
        assert equal(done.document.get(name), document.get(name))


ANYTHING = st.recursive(
    LEAVES | st.floats() | st.integers() | st.text() | st.binary(max_size=2) | st.just(object()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)
ODD_OPERATION = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]) | ANYTHING},
    optional={"path": PATHS | ANYTHING, "from": PATHS | ANYTHING, "value": ANYTHING},
)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, ANYTHING | st.lists(ODD_OPERATION | ANYTHING, max_size=4))
def test_no_patch_is_so_odd_that_it_raises_or_that_its_faults_cannot_be_shown(document, operations):
    done = apply_patch(document, operations)
    for fault in done.faults:
        assert fault.reason and len(fault.reason) < 1000 and len(fault.path) < 300
        (fault.reason + fault.path).encode()
    json.dumps(done.document, allow_nan=False)
