"""Documents held against schemas: what fits, what does not, and where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.formation.schemas.schema_check import schema_faults
from memoranda.formation.schemas.validation import document_faults


def at(**keywords: Any) -> dict[str, Any]:
    """A schema of an object with the field x."""
    return {
        "type": "object",
        "properties": {"x": {key.replace("_", "$"): v for key, v in keywords.items()}},
    }


TREE = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name"],
        }
    },
}

#: A schema, values of x that fit, values that do not.
CASES: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    (at(type="string"), ["", "x"], [None, 1, True, [], {}]),
    (at(type="integer"), [0, -3, 2**60, 4.0], [1.5, True, "1", None]),
    (at(type="number"), [0, 1.5, -2], [True, "1", None]),
    (at(type="boolean"), [True, False], [0, 1, "true", None]),
    (at(type="null"), [None], [0, "", False, [], {}]),
    (at(type="array"), [[], [1]], [{}, "[]", None]),
    (at(type="object"), [{}, {"a": 1}], [[], None, "x"]),
    (at(type=["string", "null"]), ["x", None], [0, []]),
    (
        at(enum=["a", 1, None, [1, {"b": True}]]),
        ["a", 1, 1.0, None, [1.0, {"b": True}]],
        ["b", True, [1, {"b": 1}]],
    ),
    (at(const=0), [0, 0.0], [False, None, "0", 1]),
    (at(const={"a": [1]}), [{"a": [1]}], [{"a": [True]}, {"a": [1], "b": 2}]),
    (at(minimum=1, maximum=3), [1, 2.5, 3, "0"], [0.99, 4]),
    (at(exclusiveMinimum=1, exclusiveMaximum=3), [1.1, 2], [1, 3]),
    (at(multipleOf=0.1), [0.3, 1, 0, -0.7], [0.35]),
    (at(multipleOf=3), [0, 3, -9, 6.0], [1, 3.5]),
    (at(minLength=2, maxLength=3), ["ab", "é😀x", 7], ["a", "abcd"]),
    (at(pattern="^[a-z]+$"), ["abc", 5], ["", "Abc", "a1"]),
    (at(pattern="b"), ["abc"], ["ac"]),
    (at(type="string", pattern="^(a+)+$"), ["a" * 400], ["a" * 400 + "!", "a" * 501]),
    (
        at(format="date"),
        ["2026-02-28", 3],
        ["2026-02-30", "20260228", "2026-W09-6", "٢٠٢٦-02-28", ""],
    ),
    (
        at(format="date-time"),
        ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00.5+02:00", "2026-02-28T10:00:00"],
        ["2026-02-28", "2026-02-28T25:00:00Z", "yesterday", "1700000000"],
    ),
    (
        at(format="uuid"),
        ["12345678-1234-5678-1234-567812345678"],
        ["{12345678-1234-5678-1234-567812345678}", "1"],
    ),
    (at(format="email"), ["ana@example.org", "ana@localhost"], ["ana", "@", "ana @example.org"]),
    (at(format="duration"), ["P1D", "-PT2H"], ["1 day, 02:00:00", "02:00:00", "P"]),
    (at(format="password"), ["anything"], []),
    (at(items={"type": "integer"}), [[], [1, 2], "x"], [[1, "2"], [None]]),
    (
        at(prefixItems=[{"type": "string"}], items={"type": "integer"}),
        [[], ["a"], ["a", 1]],
        [[1], ["a", "b"]],
    ),
    (at(prefixItems=[{"type": "string"}], items=False), [["a"]], [["a", 1]]),
    (at(minItems=1, maxItems=2), [[1], [1, 2], {}], [[], [1, 2, 3]]),
    (at(uniqueItems=True), [[1, True, "1"], [[1], [2]]], [[1, 1.0], [{"a": 1}, {"a": 1}]]),
    (
        at(properties={"a": {"type": "string"}}, required=["a"]),
        [{"a": "x"}, {"a": "", "b": 1}, 3],
        [{}, {"a": 1}],
    ),
    (at(properties={"a": {}}, additionalProperties=False), [{}, {"a": 1}], [{"b": 1}]),
    (
        at(properties={"a": {}}, additionalProperties={"type": "integer"}),
        [{"a": "", "b": 1}],
        [{"b": "x"}],
    ),
    (
        at(
            properties={"a": {}},
            patternProperties={"^x-": {"type": "integer"}, "-y$": {"minimum": 1}},
        ),
        [{"x-a": 0, "a": 1}, {"x-y": 1}, {"b": "x"}, []],
        [{"x-a": "b"}, {"x-y": 0}, {"b-y": 0}],
    ),
    (
        at(properties={"a": {}}, patternProperties={"^x-": {}}, additionalProperties=False),
        [{"a": 1, "x-b": 2}],
        [{"b": 1}],
    ),
    (
        at(contentMediaType="application/json", contentSchema={"required": ["a"]}),
        ['{"a": 1}', 3],
        ["{", "{}", '{"a": 1, "a": 2}'],
    ),
    (at(propertyNames={"enum": ["de", "en"]}), [{}, {"de": 1}], [{"fr": 1}]),
    (at(minProperties=1, maxProperties=2), [{"a": 1}, []], [{}, {"a": 1, "b": 2, "c": 3}]),
    (at(anyOf=[{"type": "string"}, {"type": "integer", "minimum": 5}]), ["", 5], [4, None, 5.5]),
    (at(oneOf=[{"type": "integer"}, {"type": "number", "minimum": 5}]), [1, 5.5], [6, 1.5, "x"]),
    (at(allOf=[{"minimum": 1}, {"maximum": 3}]), [1, 3], [0, 4]),
    (
        TREE,
        [{"name": "a", "children": [{"name": "b", "children": []}]}],
        [{"name": "a", "children": [{}]}, {}],
    ),
]


@pytest.mark.parametrize(
    ("schema", "good", "bad"), CASES, ids=[str(list(c[0]["properties"]["x"])) for c in CASES]
)
def test_a_document_fits_where_json_schema_says_that_it_does(schema: dict, good: list, bad: list):
    assert schema_faults(schema) == ()
    for value in good:
        assert document_faults(schema, {"x": value}) == (), value
    for value in bad:
        found = document_faults(schema, {"x": value})
        assert found and all(fault.at.startswith("/x") and fault.reason for fault in found), value
    assert document_faults(schema, {}) == ()


def test_a_fault_says_where_it_is_and_what_should_be_there():
    found = document_faults(TREE, {"x": {"name": "a", "children": [{"name": "b"}, {"name": 7}]}})
    assert [(fault.at, fault.reason) for fault in found] == [
        ("/x/children/1/name", "is a whole number; it should be a text")
    ]
    found = document_faults(at(properties={"a/b": {}}, additionalProperties=False), {"x": {"~": 1}})
    assert [(fault.at, fault.reason) for fault in found] == [
        ("/x/~0", "is not a field of this schema")
    ]


def test_of_alternatives_the_one_that_was_meant_is_told():
    maybe = at(anyOf=[{"type": "array", "items": {"type": "string"}}, {"type": "null"}])
    assert [fault.at for fault in document_faults(maybe, {"x": ["a", 1]})] == ["/x/1"]
    assert (
        document_faults(maybe, {"x": 1})[0].reason
        == "is a whole number; it should be a list or null"
    )


def test_work_without_end_is_a_fault_and_not_a_wait():
    definitions: dict[str, Any] = {"d0": {"type": "integer"}}
    for number in range(1, 40):
        definitions[f"d{number}"] = {
            "type": "object",
            "properties": {"a": {"anyOf": [{"$ref": f"#/$defs/d{number - 1}"}] * 2}},
        }
    doubling = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d30"}},
        "$defs": definitions,
    }
    assert schema_faults(doubling) == ()
    value: Any = "no number"
    for _ in range(30):
        value = {"a": value}
    found = document_faults(doubling, {"x": value})
    assert [fault.reason for fault in found] == [
        "takes too many steps to check; simplify the schema or the document"
    ]


def test_matching_many_long_names_is_a_fault_and_not_a_wait():
    schema = at(patternProperties={"^(a+)+$": {"type": "integer"}, "b": {}})
    assert document_faults(schema, {"x": {f"a{number}": "" for number in range(9_000)}}) == ()
    names = {"a" * 400 + str(number): "" for number in range(9_000)}
    assert "too many steps" in document_faults(schema, {"x": names})[0].reason


def test_a_document_that_is_deeper_than_any_record_is_a_fault():
    value: dict[str, Any] = {"name": "a"}
    for levels in range(1, 5_000):
        value = {"name": "a", "children": [value]}
        if levels in (10, 60):
            assert bool(document_faults(TREE, {"x": value})) is (levels == 60)
    assert document_faults(TREE, {"x": value})
    assert document_faults(at(enum=["a"]), {"x": value})
    while value.get("children"):
        value = value["children"].pop()


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "children", "x"]), inner)
    ),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([case[0] for case in CASES]), ANY_JSON)
def test_whatever_a_document_holds_it_is_told_and_not_raised(schema: dict, value: Any):
    for fault in document_faults(schema, {"x": value}):
        (fault.at + fault.reason).encode("utf-8", "surrogatepass")
