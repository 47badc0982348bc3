"""What a schema may say, and what is refused before it is ever used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.formation.schemas.definitions import FormationSchema
from memoranda.formation.schemas.patterns import (
    matches,
    pattern_fault,
    pattern_weight,
)
from memoranda.formation.schemas.schema_check import (
    KNOWN,
    PATTERNS,
    PROPERTIES,
    schema_faults,
)


def described(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        found = described(a=found)
    return found


UNFIT: list[tuple[Any, str, str]] = [
    ([], "", "not a JSON object"),
    ("x", "", "not a JSON object"),
    ({"type": "string"}, "", "does not describe an object"),
    ({"properties": {"a": {}}}, "", "does not describe an object"),
    ({"anyOf": [{"type": "object"}, {"type": "null"}]}, "", "does not describe an object"),
    (described(a={"type": "text"}), "/properties/a/type", "not one of object"),
    (described(a={"type": []}), "/properties/a/type", "not one of object"),
    (described(a=7), "/properties/a", "not a schema"),
    (described(a={"not": {}}), "/properties/a/not", "not a supported keyword"),
    (described(a={"if": {}}), "/properties/a/if", "not a supported keyword"),
    (described(a={"maxlength": 3}), "/properties/a/maxlength", "not a supported keyword"),
    (
        described(a={"dependentRequired": {}}),
        "/properties/a/dependentRequired",
        "not a supported keyword",
    ),
    (
        described(a={"patternProperties": {"(": {}}}),
        "/properties/a/patternProperties",
        "linear time",
    ),
    (described(a={"patternProperties": []}), "/properties/a/patternProperties", "not an object"),
    (
        described(a={"patternProperties": {"a": 1}}),
        "/properties/a/patternProperties/a",
        "not a schema",
    ),
    (described(a={"$dynamicRef": "#x"}), "/properties/a/$dynamicRef", "not a supported keyword"),
    (
        described(a={"$ref": "https://example.org/schema"}),
        "/properties/a/$ref",
        "outside the schema",
    ),
    (described(a={"$ref": "other.json#/a"}), "/properties/a/$ref", "outside the schema"),
    (described(a={"$ref": "file:///etc/passwd"}), "/properties/a/$ref", "outside the schema"),
    (described(a={"$ref": 7}), "/properties/a/$ref", "outside the schema"),
    (described(a={"$ref": "#/$defs/None"}), "/properties/a/$ref", "refers to no schema"),
    (described(a={"$ref": "#anchor"}), "/properties/a/$ref", "does not begin with /"),
    (
        described(a={"$ref": "#/properties/a/enum/0", "enum": [{}]}),
        "/properties/a/$ref",
        "refers to no schema",
    ),
    (described(a={"$ref": "#/properties/a"}), "/properties/a", "refers to itself"),
    ({"$ref": "#"}, "", "refers to itself"),
    ({**described(), "anyOf": [{"$ref": "#"}]}, "", "refers to itself"),
    (
        {
            **described(),
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        },
        "/$defs/a",
        "itself",
    ),
    ({**described(), "$schema": "http://json-schema.org/draft-04/schema#"}, "/$schema", "2020-12"),
    (described(a={"$id": "x", "type": "string"}), "/properties/a/$id", "root only"),
    (described(a={"enum": []}), "/properties/a/enum", "not a list"),
    (described(a={"enum": "ab"}), "/properties/a/enum", "not a list"),
    ({**described(), "required": ["a", "a"]}, "/required", "distinct names"),
    ({**described(), "required": "a"}, "/required", "not a list of distinct names"),
    (described(a={"minLength": -1}), "/properties/a/minLength", "not a count"),
    (described(a={"maxItems": "3"}), "/properties/a/maxItems", "not a count"),
    (described(a={"minimum": "3"}), "/properties/a/minimum", "not a valid limit"),
    (described(a={"multipleOf": 0}), "/properties/a/multipleOf", "not a valid limit"),
    (described(a={"anyOf": []}), "/properties/a/anyOf", "not a list of schemas"),
    (described(a={"anyOf": {}}), "/properties/a/anyOf", "not a list of schemas"),
    (described(a={"uniqueItems": 1}), "/properties/a/uniqueItems", "neither true nor false"),
    (
        described(a={"format": "datetime"}),
        "/properties/a/format",
        "not a known format",
    ),
    (described(a={"pattern": "("}), "/properties/a/pattern", "not a pattern"),
    (described(a={"pattern": "(a)\\1"}), "/properties/a/pattern", "not a pattern"),
    (described(a={"pattern": "(?=a)"}), "/properties/a/pattern", "lookaround"),
    (described(a={"pattern": "x" * 201}), "/properties/a/pattern", "at most 200"),
    (described(a={"pattern": "(a{1000}){1000}"}), "/properties/a/pattern", "repeats"),
    (described(a={"pattern": 5}), "/properties/a/pattern", "not a text"),
    (described(a={"default": float("nan")}), "", "not finite"),
    (described(a={"const": {1, 2}}), "", "contains a set"),
    (described(**{"a\nb": {}}), "/properties", "visible characters"),
    (described(**{" ": {}}), "/properties", "visible characters"),
    (described(a={"description": "x" * 70_000}), "", "larger than"),
    (described(**{f"f{n}": {} for n in range(PROPERTIES + 1)}), "/properties", "at most 256"),
    (
        described(**{f"f{n}": {"pattern": "a"} for n in range(PATTERNS + 1)}),
        "/properties/f16/pattern",
        "too many",
    ),
    (nested(17), "", "nested deeper"),
]


@pytest.mark.parametrize(
    ("parameters", "place", "words"), UNFIT, ids=[f"{n}: {u[2]}" for n, u in enumerate(UNFIT)]
)
def test_a_schema_that_could_not_be_used_is_refused_when_it_is_configured(
    parameters: Any, place: str, words: str
):
    found = schema_faults(parameters)
    assert (found[0].at, words in found[0].reason) == (place, True), found


def test_a_chain_of_references_has_an_end():
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, 200):
        definitions[f"d{number}"] = {"$ref": f"#/$defs/d{number - 1}"}
    assert "through more than" in schema_faults({**described(), "$defs": definitions})[0].reason
    few = {name: one for name, one in definitions.items() if len(name) == 2 and name < "d8"}
    assert schema_faults({**described(a={"$ref": "#/$defs/d7"}), "$defs": few}) == ()


def test_all_that_is_wrong_is_told_up_to_a_bound():
    found = schema_faults(described(**{f"f{n}": {"type": "x"} for n in range(50)}))
    assert len(found) == 20


WORDS = [
    "type",
    "properties",
    "items",
    "anyOf",
    "$ref",
    "enum",
    "pattern",
    "required",
    "format",
    "minimum",
    "$defs",
    "a",
]
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.sampled_from(["object", "string", "#", "#/a", "("])
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(
    ODD | st.dictionaries(st.sampled_from(WORDS), ODD).map(lambda more: {**more, "type": "object"}),
    ODD,
)
def test_a_schema_is_refused_or_it_can_be_used_and_neither_raises(parameters: Any, value: Any):
    if schema_faults(parameters) == ():
        shape = FormationSchema("X", "", parameters, "patch").shape
        shape.faults(value)
        shape.types_at(("a", "0", "-"))
        shape.defines(("a", "b"))


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("abc", 3),
        ("[a-z]{2}", 20),
        ("(ab){3}c", 7),
        ("((a?){10}){10}", 200),
        ("a{2,5}b{3,}", 8),
        (r"\d{4}-\p{L}{2}", 61),
        (r"[]a[b\]]{3}]{2}", 20),
        (r"\({3}\[{2}", 50),
        ("[^]]{2}(?:ab|c){2}", 32),
    ],
)
def test_what_a_pattern_repeats_is_counted_as_if_it_were_written_out(pattern: str, places: int):
    assert pattern_fault(pattern) is None
    assert pattern_weight(pattern) == places


@pytest.mark.parametrize(
    "pattern",
    [
        "(a?){999}{9}",
        "((a{50}){50}){50}",
        r"\w{300}",
        "(?x) # [\n(a{99}){99}",
        "(?i)a",
        "(a?){90}?{90}",
    ],
)
def test_a_pattern_that_would_be_slow_is_refused(pattern: str):
    assert pattern_fault(pattern) is not None


def test_a_pattern_that_makes_others_go_back_and_forth_is_matched_all_the_same():
    assert not matches("^(a+)+$", "a" * 400 + "!")
    assert not matches("(.*a){20}$", "ab" * 200)
    assert matches("b", "abc")


def test_the_reference_lists_every_keyword():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "schema-keywords.md").read_text(
        "utf-8"
    )
    assert [word for word in KNOWN - {"definitions"} if f"`{word}`" not in page] == []
