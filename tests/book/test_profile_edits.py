"""Tests of people's edits of a profile: a new document replaces the old one, is checked against its
schema, and is pinned.
"""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import memoranda
from memoranda.errors import InvalidInput


async def test_a_document_that_is_put_takes_the_place_of_the_one_there_was(
    book: memoranda.Book,
) -> None:
    await book.profiles.patch("ann", {"name": "Ann", "home": "Oslo"}, agent="guide")
    await book.profiles.put("ann", {"home": "Rome", "interests": ["tea"]}, agent="guide")
    assert await book.profiles.get("ann", agent="guide") == {"home": "Rome", "interests": ["tea"]}
    again = await book.profiles.put("ann", {"home": "Rome", "interests": ["tea"]}, agent="guide")
    assert {part.code for part in again.ignored} == {"unchanged"}


async def test_a_field_that_no_document_has_is_read_with_its_schemas_default(
    book: memoranda.Book,
) -> None:
    fields = {
        "tone": {"type": "string", "default": "friendly"},
        "topics": {"type": "array", "items": {"type": "string"}, "default": ["news"]},
        "name": {"type": ["string", "null"], "default": None},
        "home": {"type": "string"},
    }
    await book.schemas.put("Style", parameters={"type": "object", "properties": fields})
    assert await book.profiles.get("ann", "Style", agent="guide") == {
        "tone": "friendly",
        "topics": ["news"],
    }
    await book.profiles.patch(
        "ann", {"tone": "brief", "home": "Oslo"}, schema="Style", agent="guide"
    )
    style = await book.profiles.get("ann", "Style", agent="guide")
    assert style == {"tone": "brief", "topics": ["news"], "home": "Oslo"}
    # A default is nothing that is known of the person: no document and no context has it.
    (document,) = await book.profiles.documents("ann", "Style", agent="guide")
    assert document.body == {"tone": "brief", "home": "Oslo"}
    context = await book.context("ann", "What style?", agent="guide")
    assert "brief" in context.text and "news" not in context.text
    assert "Speak in a {tone} tone of {home}.".format_map(style) == "Speak in a brief tone of Oslo."


async def test_a_field_of_any_name_is_pinned_and_read_again(book: memoranda.Book) -> None:
    body = {"": 1, "two\nlines": {"\x98": None}, "x" * 3_000: "long"}
    await book.profiles.put("ann", body, as_owner=True)
    assert await book.profiles.get("ann", as_owner=True) == body
    assert (await book.about("ann", as_owner=True)).profile
    receipt = await book.profiles.patch("ann", {"": 2}, audience="global", agent="guide")
    assert receipt.ignored[0].code == "pinned"


async def test_what_a_person_puts_is_pinned_and_a_program_leaves_it(book: memoranda.Book) -> None:
    await book.profiles.put("ann", {"home": "Rome"}, as_owner=True)
    receipt = await book.profiles.patch(
        "ann", {"home": "Oslo", "name": "Ann"}, audience="global", agent="guide"
    )
    assert [part.field for part in receipt.ignored] == ["home"]
    assert await book.profiles.get("ann", as_owner=True) == {"home": "Rome", "name": "Ann"}


@pytest.mark.parametrize("body", [{"age": "old"}, {"age": 900}, ["home"], None])
async def test_a_document_that_does_not_fit_is_refused_whole(
    book: memoranda.Book, body: object
) -> None:
    await book.profiles.put("ann", {"home": "Rome"}, agent="guide")
    with pytest.raises(InvalidInput):
        await book.profiles.put("ann", body, agent="guide")  # type: ignore[arg-type]
    assert await book.profiles.get("ann", agent="guide") == {"home": "Rome"}


class Known(BaseModel):
    """What a model may answer about a person."""

    home: str | None = None
    interests: list[str] = []


async def test_of_an_object_only_the_fields_that_were_set_are_written(book: memoranda.Book) -> None:
    await book.profiles.put("ann", Known(home="Rome"), agent="guide")
    assert await book.profiles.get("ann", agent="guide") == {"home": "Rome"}
    await book.profiles.patch("ann", Known(interests=["tea"]), agent="guide")
    assert await book.profiles.get("ann", agent="guide") == {"home": "Rome", "interests": ["tea"]}


@pytest.mark.parametrize(
    "empty", [{}, Known(), Known(home=None), {"home": "", "interests": [], "facts": {"a": None}}]
)
async def test_an_empty_answer_of_a_model_empties_no_profile(
    book: memoranda.Book, empty: Any
) -> None:
    await book.profiles.put("ann", empty, schema="Open", agent="guide")
    await book.profiles.put("ann", {"home": "Rome", "dogs": 0}, schema="Open", agent="guide")
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"patch.*replace_all=True"):
            await book.profiles.put("ann", empty, schema="Open", agent="guide")
        assert await book.profiles.get("ann", "Open", agent="guide") == {"home": "Rome", "dogs": 0}
    await book.profiles.put("ann", empty, schema="Open", agent="guide", replace_all=True)
    left = await book.profiles.get("ann", "Open", agent="guide")
    assert not left.get("home") and "dogs" not in left
    await book.profiles.put("ann", {"dogs": 0}, schema="Open", agent="guide")
    with pytest.raises(InvalidInput, match="replace_all"):
        await book.profiles.put("ann", {}, schema="Open", agent="guide")


async def test_a_document_that_fits_its_schema_no_more_is_read_and_reported(
    book: memoranda.Book,
) -> None:
    shape = {"type": "object", "properties": {"goal": {"type": "string"}}}
    await book.schemas.put("Trip", parameters=shape, description="A journey.")
    await book.profiles.put("ann", {"goal": "Rome"}, schema="Trip", agent="guide")
    ((_, fine),) = await book.profiles.report("ann", "Trip", agent="guide")
    assert not fine.outdated and not fine.faults
    changed = {"type": "object", "properties": {"goal": {"type": "integer"}}}
    await book.schemas.put("Trip", parameters=changed, description="A journey.")
    ((document, report),) = await book.profiles.report("ann", "Trip", agent="guide")
    assert document.body == {"goal": "Rome"} and report.outdated
    assert [fault.at for fault in report.faults] == ["/goal"]
    assert await book.profiles.report("ann", "Nowhere", agent="guide") == []


async def test_a_document_of_a_schema_that_nobody_defined_is_stored_with_a_warning(
    book: memoranda.Book, caplog: pytest.LogCaptureFixture
) -> None:
    for home in ("Oslo", "Rome"):
        await book.profiles.patch("ann", {"home": home}, schema="Profil", agent="guide")
        await book.profiles.patch("ann", {"home": home}, agent="guide")
    assert await book.profiles.get("ann", "Profil", agent="guide") == {"home": "Rome"}
    told = [record.getMessage() for record in caplog.records if record.name == "memoranda.schemas"]
    assert len(told) == 1 and "'Profil'" in told[0] and "book.schemas.put" in told[0]


async def test_what_the_person_set_is_read_by_all_whatever_an_agent_or_a_conversation_says(
    book: memoranda.Book,
) -> None:
    await book.profiles.patch("ana", {"interests": ["tea"]}, as_owner=True)
    await book.profiles.patch("ana", {"interests": ["cars"], "town": "Bonn"}, agent="helper")
    thread = await book.thread("ana", agent="coach")
    await thread.append("user", "I like chess.")
    await thread.form()
    for who in ({"agent": "helper"}, {"agent": "coach"}, {"as_owner": True}, {}):
        assert (await book.profiles.get("ana", **who))["interests"] == ["tea"]
    told = (await book.context("ana", agent="helper", types=["profile"])).text
    assert "tea" in told and "cars" not in told and "Bonn" in told
    await book.profiles.patch("ana", unset=["interests"], as_owner=True)
    assert (await book.profiles.get("ana", agent="helper"))["interests"] == ["cars"]
