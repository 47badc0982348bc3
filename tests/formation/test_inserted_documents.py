"""Tests of inserted documents: a model changes one field of the document that it sees, and the
others stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memoranda.book import Book
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import opened, settle

CONTACT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The full first name."},
        "preferred_name": {"type": "string"},
        "phone": {"type": "string"},
        "relationship": {
            "type": "string",
            "enum": ["friend", "family", "colleague"],
            "default": "friend",
        },
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
SAID = (
    "I met Joanne and Anthony at the sailing club. Joanne's number is 555-0101.",
    "Joanne goes by Jo now. She brought Nick along, he is a friend as well.",
)


def note(request: ModelRequest, text: str, content: str, **data: Any) -> dict[str, Any]:
    return {
        "content": content,
        "subject": data.get("name"),
        "schema": "Contact",
        "data": data,
        "sources": [{"message": handle(request, text)}],
    }


def first(request: ModelRequest) -> dict[str, Any]:
    return {
        "notes": [
            note(
                request,
                SAID[0][:8],
                "Joanne is a friend, number 555-0101",
                name="Joanne",
                phone="555-0101",
            ),
            note(request, SAID[0][:8], "Anthony is a friend", name="Anthony"),
        ]
    }


def jo(request: ModelRequest, **more: Any) -> dict[str, Any]:
    operation = {"op": "add", "path": "/preferred_name", "value": "Jo"}
    memory = handle(request, "Joanne is a friend")
    source = {"message": handle(request, "goes by Jo")}
    return {
        "schema": "Contact",
        "memory": memory,
        "operations": [operation],
        "sources": [source],
        **more,
    }


def second(request: ModelRequest) -> dict[str, Any]:
    return {
        "notes": [note(request, "goes by Jo", "Nick is a friend of Jo", name="Nick")],
        "patches": [jo(request)],
    }


def say(request: ModelRequest) -> Said:
    return first(request) if handle(request, "goes by Jo") is None else second(request)


async def contacts(book: Book) -> dict[str, Memory]:
    page = await book.records.list(
        "ann", types="memory", only={"statuses": ["active"]}, as_owner=True
    )
    return {str(one.subject): one for one in page.records if isinstance(one, Memory)}


async def told(book: Book, clock: HandClock, *texts: str) -> list[UUID]:
    said = []
    for text in texts:
        thread = await book.thread("ann", agent="guide")
        said.append((await thread.append("user", text)).items[0].id)
        await settle(book, clock)
    return said


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_an_update_that_names_one_field_keeps_the_others(
    clock: HandClock, tmp_path: Path, engine: str
):
    models = ScriptedModels(say)
    async with opened(
        "memory://" if engine == "memory" else tmp_path / "book.db", clock, models
    ) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        said = await told(book, clock, *SAID)
        held = await contacts(book)
        whole = {"name": "Joanne", "phone": "555-0101", "relationship": "friend"}

        assert sorted(held) == ["Anthony", "Joanne", "Nick"]
        assert held["Joanne"].data["document"] == {**whole, "preferred_name": "Jo"}
        assert held["Joanne"].content == "Joanne is a friend, number 555-0101; preferred name: Jo"
        assert held["Joanne"].sources[1:] == (said[1],)
        assert held["Nick"].data["document"] == {"name": "Nick", "relationship": "friend"}
        assert len(models.asked) == 2
        assert '"phone": "555-0101"' in models.asked[1].content

        (older,) = held["Joanne"].supersedes
        found = await book.records.get("ann", older, as_owner=True)
        assert isinstance(found, Memory) and not found.active and found.data["document"] == whole
        found_by = await book.recall("ann", "preferred name", types="memory", as_owner=True)
        assert found_by[0].id == held["Joanne"].id


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
@pytest.mark.parametrize("place", [0, 1])
async def test_forgetting_either_message_forgets_what_it_said_of_the_contact(
    clock: HandClock, tmp_path: Path, engine: str, place: int
):
    where = "memory://" if engine == "memory" else tmp_path / "book.db"
    async with opened(where, clock, ScriptedModels(say)) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        said = await told(book, clock, *SAID)
        await book.forget("ann", [said[place]], as_owner=True)
        page = await book.records.list("ann", types="memory", as_owner=True)
        left = str([one.model_dump_json() for one in page.records])

        assert ("555-0101" in left, '"Jo"' in left) == (place == 1, False)
        assert str(said[place]) not in left


async def test_a_change_of_a_document_is_undone_like_any_other(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(say)) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        await told(book, clock, *SAID)
        history = await book.records.history(
            "ann", (await contacts(book))["Joanne"].id, as_owner=True
        )
        await book.undo("ann", history[-1].position, as_owner=True)

        assert "preferred_name" not in (await contacts(book))["Joanne"].data["document"]


async def test_a_field_that_changes_changes_in_the_words_too(clock: HandClock):
    def moved(request: ModelRequest) -> Said:
        if handle(request, "new number") is None:
            return first(request)
        source = {"message": handle(request, "new number")}
        operation = {"op": "replace", "path": "/phone", "value": "555-0202"}
        return {"patches": [jo(request, operations=[operation], sources=[source])]}

    async with opened("memory://", clock, ScriptedModels(moved)) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        await told(book, clock, SAID[0], "Joanne has a new number, 555-0202.")
        joanne = (await contacts(book))["Joanne"]

        assert joanne.content == "Joanne is a friend, number 555-0202"
        assert joanne.data["document"]["phone"] == "555-0202"


async def test_a_note_that_replaces_a_document_keeps_the_fields_that_it_does_not_name(
    clock: HandClock,
):
    def noted(request: ModelRequest) -> Said:
        if handle(request, "goes by Jo") is None:
            return first(request)
        made = note(request, "goes by Jo", "Joanne goes by Jo", name="Joanne", preferred_name="Jo")
        return {"notes": [{**made, "supersedes": [handle(request, "Joanne is a friend")]}]}

    async with opened("memory://", clock, ScriptedModels(noted)) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        await told(book, clock, *SAID)
        assert (await contacts(book))["Joanne"].data["document"] == {
            "name": "Joanne",
            "preferred_name": "Jo",
            "phone": "555-0101",
            "relationship": "friend",
        }


INVALID: list[dict[str, Any]] = [
    {"operations": [{"op": "replace", "path": "/relationship", "value": "rival"}]},
    {"operations": [{"op": "remove", "path": "/name"}]},
    {"operations": [{"op": "add", "path": "/shoe_size", "value": 40}]},
    {"memory": "c9"},
]


@pytest.mark.parametrize(
    "slip", INVALID, ids=["value", "required", "unknown field", "unknown memory"]
)
async def test_an_invalid_change_goes_back_to_the_model(clock: HandClock, slip: dict[str, Any]):
    def corrected(request: ModelRequest) -> Said:
        if handle(request, "goes by Jo") is None:
            return first(request)
        return {"patches": [jo(request) if request.earlier else jo(request, **slip)]}

    models = ScriptedModels(corrected)
    async with opened("memory://", clock, models) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        await told(book, clock, *SAID)
        assert len(models.asked) == 3
        assert (await contacts(book))["Joanne"].data["document"]["preferred_name"] == "Jo"


@pytest.mark.parametrize(("mended", "calls", "kept"), [(True, 2, ["Joanne"]), (False, 3, [])])
async def test_an_invalid_document_goes_back_and_never_becomes_a_plain_note(
    clock: HandClock, mended: bool, calls: int, kept: list[str]
):
    def wrong(request: ModelRequest) -> Said:
        data = {"name": "Joanne"} if mended and request.earlier else {"name": 7}
        fine = {"content": "Sails at the club", "sources": [{"message": "m1"}]}
        return {
            "notes": [
                fine,
                {
                    **note(request, "Joanne and I sail", "Joanne is a friend"),
                    "subject": "Joanne",
                    "data": data,
                },
            ]
        }

    models = ScriptedModels(wrong)
    async with opened("memory://", clock, models) as book:
        await book.schemas.put("Contact", parameters=CONTACT, update_mode="insert")
        await told(book, clock, "Joanne and I sail at the club, she is a friend.")
        held = await contacts(book)
        assert len(models.asked) == calls
        assert [name for name in held if name != "None"] == kept and "None" in held


async def test_descriptions_and_defaults_reach_the_model(clock: HandClock):
    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        await book.schemas.put(
            "Contact", description="Somebody they know.", parameters=CONTACT, update_mode="insert"
        )
        await told(book, clock, SAID[0])
        for words in ("Somebody they know.", "The full first name.", '"default":"friend"'):
            assert words in models.asked[0].instructions
