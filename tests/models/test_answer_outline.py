"""A model that no provider holds to a schema reads the form of its answer as an outline."""

from __future__ import annotations

from memoranda.models.json_answer import answer_outline


def test_an_outline_names_fields_values_and_lists_and_explains_what_comes_twice_once():
    source = {"type": "object", "properties": {"message": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "age": {"type": ["integer", "null"]},
            "kind": {"type": "string", "enum": ["one", "many"]},
            "sources": {"$ref": "#/$defs/sources"},
            "notes": {
                "type": "array",
                "items": {"type": "object", "properties": {"sources": {"$ref": "#/$defs/sources"}}},
            },
            "data": {"type": "object"},
            "value": {},
        },
        "$defs": {"sources": {"type": "array", "items": source}},
    }

    assert answer_outline(schema) == (
        "{title, age: integer | null, kind: one | many, sources: [{message}], "
        "notes: [{sources}], data: {…}, value: any}"
    )


def test_a_long_list_of_values_is_left_to_the_instructions():
    assert (
        answer_outline({"properties": {"field": {"type": "string", "enum": list("abcdef")}}})
        == "{field}"
    )
