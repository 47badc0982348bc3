"""Schemas when they are configured, and stored documents when their schema has changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

import memoranda
from memoranda.formation.schemas.definitions import (
    DEFAULTS,
    EPISODE,
    EXPERIENCE,
    NOTE,
    PROFILE,
    parameters_of,
    schema_from_record,
    schemas_for_agent,
)
from memoranda.model.profiles import ProfileDocument, Schema
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.values import new_id

TENANT = Owner(tenant="acme", kind=OwnerKind.TENANT, id="acme")
ANA = Owner(tenant="acme", kind=OwnerKind.USER, id="ana")


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Pet(BaseModel):
    name: str = Field(min_length=1)
    kind: Literal["cat", "dog"] = "cat"
    size: Size | None = None
    born: date | None = None
    friends: list[Pet] = []


class Household(BaseModel):
    """The members of a household."""

    pets: list[Pet] = []
    rooms: dict[str, int] = {}
    postcode: str = Field(default="", pattern=r"^[0-9]{4}(-[0-9]{3})?$|^$", max_length=8)


def schema(name: str, parameters: dict[str, Any], **fields: Any) -> Schema:
    return Schema(id=new_id(), owner=TENANT, name=name, parameters=parameters, **fields)


def document(body: dict[str, Any], digest: str = "") -> ProfileDocument:
    return ProfileDocument(id=new_id(), owner=ANA, body=body, schema_hash=digest)


def described(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_the_schemas_that_are_there_from_the_start_can_be_used():
    assert all(one.unusable == () for one in DEFAULTS.values())
    assert list(PROFILE.parameters["properties"]) == [
        "name",
        "age",
        "interests",
        "home",
        "occupation",
        "conversation_preferences",
    ]
    assert len(EXPERIENCE.parameters["properties"]) == 8
    assert [one.update_mode for one in (PROFILE, NOTE, EXPERIENCE, EPISODE)] == ["patch"] + [
        "insert"
    ] * 3
    seen = {
        "name": "Ana",
        "age": None,
        "interests": ["films"],
        "home": "",
        "conversation_preferences": [],
    }
    assert PROFILE.shape.faults(seen) == ()
    assert (
        NOTE.shape.faults({"content": "Likes tea", "applies_when": "", "cardinality": "many"}) == ()
    )
    assert [fault.reason for fault in NOTE.shape.faults({"content": "Likes tea"})] == [
        "has no 'applies_when', which is required"
    ]
    assert EPISODE.shape.faults({"goal": "book a flight", "outcome": "won"})[0].at == "/outcome"


def test_a_pydantic_class_is_a_schema():
    shape = schema_from_record(schema("Household", parameters_of(Household))).shape
    pet = {
        "name": "Tom",
        "size": "small",
        "born": "2020-02-29",
        "friends": [{"name": "Rex", "kind": "dog"}],
    }
    assert shape.faults({"pets": [pet], "rooms": {"kitchen": 1}, "postcode": "4000-123"}) == ()
    found = shape.faults({"pets": [{**pet, "friends": [{"kind": "cow"}]}], "postcode": "x"})
    assert {fault.at for fault in found} == {
        "/pets/0/friends/0",
        "/pets/0/friends/0/kind",
        "/postcode",
    }
    assert schema_from_record(schema("Pet", parameters_of(Pet))).shape.faults({})


def test_a_class_that_json_schema_cannot_tell_is_refused_in_words():
    class Priced(BaseModel):
        price: str = Field(json_schema_extra={"pattern": "^(?!0)"})

    class Odd(BaseModel):
        how: Callable[[int], int]

    with pytest.raises(memoranda.InvalidInput, match="lookaround"):
        parameters_of(Priced)
    with pytest.raises(memoranda.InvalidInput, match="parameters"):
        parameters_of(Odd)


def test_the_version_is_that_of_the_json_and_not_of_its_layout():
    one = schema_from_record(schema("Trip", described(a={"type": "string", "minLength": 1}, b={})))
    other = schema_from_record(
        schema(
            "Trip",
            {"properties": {"b": {}, "a": {"minLength": 1, "type": "string"}}, "type": "object"},
        )
    )
    assert one.digest == other.digest and len(one.digest) <= 64
    assert (
        one.digest
        != schema_from_record(
            schema("Trip", described(a={"type": "string", "minLength": 2}, b={}))
        ).digest
    )


def test_a_document_that_does_not_fit_any_more_is_reported_with_its_places():
    before = schema_from_record(
        schema("Profile", described(age={"type": "string"}, tags={"type": "array"}))
    )
    after = schema_from_record(
        schema(
            "Profile",
            described(age={"type": "integer"}, tags={"type": "array", "items": {"type": "string"}}),
        )
    )
    stored = document({"age": "20", "tags": ["a", 1], "more": None}, before.digest)
    assert before.report(stored).faults == () and not before.report(stored).outdated
    report = after.report(stored)
    assert report.outdated
    assert [(fault.at, fault.reason) for fault in report.faults] == [
        ("/age", "is a text; it should be a whole number"),
        ("/tags/1", "is a whole number; it should be a text"),
    ]


def test_a_schema_that_was_never_checked_is_reported_too_and_never_raises():
    imported = schema_from_record(
        schema("Trip", {"type": "object", "properties": {"a": {"$ref": "http://example.org"}}})
    )
    report = imported.report(document({"a": 1}))
    assert report.faults == () and [fault.at for fault in report.unusable] == ["/properties/a/$ref"]


def test_an_agent_is_served_by_the_defaults_and_by_what_its_tenant_made_for_it():
    own = schema("Trip", described(to={"type": "string"}), agents=("guide",), update_mode="insert")
    profile = schema("Profile", described(town={"type": "string"}), trigger="close")
    found = {one.name: one for one in schemas_for_agent("guide", [own, profile])}
    assert set(found) == {"Profile", "Note", "AgentExperience", "Episode", "Trip"}
    assert found["Profile"].parameters == profile.parameters and found["Profile"].trigger == "close"
    assert found["Profile"].instructions == PROFILE.instructions
    assert "Trip" not in {one.name for one in schemas_for_agent("coach", [own, profile])}
    assert "Trip" not in {one.name for one in schemas_for_agent(None, [own, profile])}


async def test_the_book_keeps_a_schema_and_says_what_is_wrong_with_one(book: memoranda.Book):
    first = await book.schemas.put(
        "Household", parameters=Household, instructions="Ask about pets.", operation="h"
    )
    again = await book.schemas.put(
        "Household", parameters=Household, instructions="Ask about pets.", operation="h"
    )
    assert again.repeated and again.id == first.id
    kept = await book.schemas.get("Household")
    assert kept is not None and kept.description == "The members of a household."
    assert (kept.update_mode, kept.trigger, kept.agents) == ("patch", "silence", ())
    await book.profiles.patch("ana", {"pets": []}, schema="Household")
    assert (await book.profiles.documents("ana", "Household"))[0].schema_hash == schema_from_record(
        kept
    ).digest
    with pytest.raises(memoranda.InvalidInput) as caught:
        await book.schemas.put(
            "Trip", parameters=described(a={"$ref": "http://x"}, b={"type": "text"})
        )
    assert [error.field for error in caught.value.errors] == [
        "parameters/properties/a/$ref",
        "parameters/properties/b/type",
    ]
    assert await book.schemas.get("Trip") is None


async def test_a_changed_schema_never_stands_between_a_reader_and_a_document(book: memoranda.Book):
    await book.schemas.put("Trip", parameters=described(to={"type": "string"}))
    await book.profiles.patch("ana", {"to": "Porto"}, schema="Trip")
    await book.schemas.put("Trip", parameters=described(to={"type": "array"}))
    assert await book.profiles.get("ana", "Trip") == {"to": "Porto"}
    kept = await book.schemas.get("Trip")
    assert kept is not None
    report = schema_from_record(kept).report((await book.profiles.documents("ana", "Trip"))[0])
    assert report.outdated and [fault.at for fault in report.faults] == ["/to"]


@pytest.mark.parametrize(
    ("name", "fields", "field"),
    [
        ("Trip", {}, "parameters"),
        ("Trip", {"parameters": {}}, "parameters"),
        ("Trip", {"parameters": UUID}, "parameters"),
        ("my trip", {"parameters": described()}, "name"),
        ("", {"parameters": described()}, "name"),
        ("1st", {"parameters": described()}, "name"),
        ("é", {"parameters": described()}, "name"),
        ("T" * 65, {"parameters": described()}, "name"),
        (7, {"parameters": described()}, "name"),
        ("Trip", {"parameters": described(), "update_mode": "upsert"}, "update_mode"),
        ("Trip", {"parameters": described(), "trigger": "often"}, "trigger"),
        ("Trip", {"parameters": described(), "model": "x"}, "model"),
        ("Profile", {"update_mode": "insert"}, "update_mode"),
        ("Note", {"update_mode": "patch"}, "update_mode"),
        ("Episode", {"parameters": described()}, "parameters"),
    ],
)
async def test_what_a_schema_cannot_be_is_refused_by_its_field(
    book: memoranda.Book, name: Any, fields: Any, field: str
):
    with pytest.raises(memoranda.InvalidInput) as caught:
        await book.schemas.put(name, **fields)
    assert caught.value.field == field


async def test_what_is_said_around_a_default_can_be_said_otherwise(book: memoranda.Book):
    await book.schemas.put("Note", instructions="Keep what concerns travel.")
    await book.schemas.put("Episode", instructions="Be brief.")
    assert {one.name: one.trigger for one in schemas_for_agent("guide", await book.schemas.list())}[
        "Episode"
    ] == "close"
    await book.schemas.put("Episode", trigger="request")
    await book.schemas.put("Profile", description="The traveller.")
    found = {one.name: one for one in schemas_for_agent("guide", await book.schemas.list())}
    assert found["Note"].instructions == "Keep what concerns travel."
    assert found["Note"].parameters == NOTE.parameters and found["Note"].update_mode == "insert"
    assert (
        found["Episode"].trigger == "request" and found["Episode"].parameters == EPISODE.parameters
    )
    assert (
        found["Profile"].parameters == PROFILE.parameters
        and found["Profile"].description == "The traveller."
    )
    assert found["Profile"].digest == PROFILE.digest


async def test_what_a_person_sets_is_held_to_the_same_schema(book: memoranda.Book):
    with pytest.raises(
        memoranda.InvalidInput, match="it should be a whole number or null"
    ) as caught:
        await book.profiles.patch("ana", {"age": "old", "interests": ["films", 7]}, as_owner=True)
    assert [error.field for error in caught.value.errors] == ["set/age", "set/interests/1"]
    await book.profiles.patch("ana", {"age": 20, "favourite colour": "red"}, as_owner=True)
    await book.schemas.put(
        "Profile", parameters={**described(age={"type": "string"}), "additionalProperties": False}
    )
    await book.profiles.patch("ana", unset=["favourite colour"], as_owner=True)
    with pytest.raises(memoranda.InvalidInput, match="not a field of this schema"):
        await book.profiles.patch(
            "ana", {"favourite colour": "blue"}, agent="guide", audience="global"
        )
    # The memory that says the age has no text as its value, so that the field shows its words.
    assert await book.profiles.get("ana") == {"age": "Age: 20"}
