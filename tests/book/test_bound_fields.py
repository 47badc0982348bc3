"""Tests of bound fields: a field of a profile and the memory with its key are one statement."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

import memoranda
from memoranda import Book, InvalidInput
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from tests.formation.books import opened, settle


async def home(book: Book, agent: str = "guide") -> Any:
    """Return the home in the profile, as an agent reads it."""
    return (await book.profiles.get("ana", agent=agent)).get("home")


async def homes(book: Book) -> dict[str, str]:
    """Return each memory about the home with its status."""
    page = await book.records.list("ana", types="memory", only={"keys": ["home"]}, as_owner=True)
    return {one.content: one.status.value for one in page if isinstance(one, Memory)}


async def say(book: Book, clock: HandClock, *texts: str) -> list[Any]:
    """Say something in a new conversation and form it by rules."""
    thread = await book.thread("ana", agent="guide")
    said = [(await thread.append("user", text)).items[0].id for text in texts]
    await settle(book, clock)
    return said


async def test_what_a_user_says_of_a_bound_field_is_one_memory_and_no_document(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        await say(book, clock, "My name is Ana. I live in Boston. I'm a nurse. I'm 34 years old.")
        profile = {"name": "Ana", "home": "Boston", "occupation": "nurse", "age": 34}
        assert await book.profiles.get("ana", agent="guide") == profile
        assert (await book.records.list("ana", types="profile", as_owner=True)).records == ()
        page = await book.records.list("ana", types="memory", as_owner=True)
        held = {one.key: (one.content, one.data) for one in page if isinstance(one, Memory)}
        assert held["home"] == ("Lives in Boston", {"value": "Boston"})
        assert held["age"] == ("Is 34 years old", {"value": 34})
        (document,) = (await book.about("ana", agent="guide")).profile
        assert document.body == profile and document.version == 0
        assert await book.profiles.get("ana", agent="other") == {}


async def test_a_correction_a_retraction_an_undo_and_forgetting_change_what_the_profile_shows(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        (said,) = await say(book, clock, "I live in Boston.")
        moved = await book.remember("ana", "Lives in Lisbon", key="home", agent="guide")
        assert await home(book) == "Lives in Lisbon"
        context = await book.context(
            "ana", "where do I live?", types=["memory", "profile"], agent="guide"
        )
        assert context.text.count("Lisbon") == 1 and "Boston" not in context.text
        await book.undo("ana", moved.position, agent="guide")
        assert await home(book) == "Boston"
        await book.undo("ana", moved.position + 1, agent="guide")
        assert await home(book) == "Lives in Lisbon"
        retracted = await book.memories.retract("ana", moved.id, agent="guide")
        assert await home(book) is None
        await book.undo("ana", retracted.position, agent="guide")
        await book.forget("ana", [moved.id], agent="guide")
        assert await home(book) is None
        other = await say(book, clock, "I live in Rome.")
        assert await home(book) == "Rome"
        await book.forget("ana", [*other, said], as_owner=True)
        assert await home(book) is None


async def test_a_home_that_is_taken_back_in_words_leaves_the_profile(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        await say(book, clock, "I live in Boston.")
        await say(book, clock, "I don't live in Boston anymore.")
        assert await home(book) is None and await homes(book) == {"Lives in Boston": "retracted"}


async def test_what_a_person_sets_is_a_pinned_memory_that_only_people_change(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        await say(book, clock, "I live in Boston.")
        receipt = await book.profiles.patch("ana", {"home": "Lisbon"}, as_owner=True)
        (item, *_) = receipt.items
        memory = await book.records.get("ana", item.id, as_owner=True)
        assert isinstance(memory, Memory) and memory.pinned and memory.trust == "user"
        assert (memory.key, memory.data) == ("home", {"value": "Lisbon"})
        assert await homes(book) == {"Lives in Boston": "superseded", "Home: Lisbon": "active"}
        # A program, an agent's own statement and a conversation leave it.
        refused = await book.profiles.patch(
            "ana", {"home": "Rome"}, audience="global", agent="guide"
        )
        assert [(part.code, part.field) for part in refused.ignored] == [("pinned", "home")]
        await book.remember("ana", "Lives in Rome", key="home", agent="guide")
        await say(book, clock, "I moved to Porto.")
        assert await home(book) == "Lisbon"
        gone = await book.profiles.patch("ana", unset=["home"], as_owner=True)
        assert await home(book) is None
        await book.undo("ana", gone.position, as_owner=True)
        assert await home(book) == "Lisbon"


async def test_what_a_program_sets_is_a_memory_that_is_not_pinned(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        fields = {"home": "Lisbon", "interests": ["tea"]}
        receipt = await book.profiles.patch("ana", fields, agent="guide")
        memory = await book.records.get("ana", receipt.items[1].id, agent="guide")
        assert isinstance(memory, Memory) and not memory.pinned and memory.audience.agent == "guide"
        (stored,) = await book.records.list("ana", types="profile", as_owner=True)
        assert isinstance(stored, ProfileDocument) and stored.body == {"interests": ["tea"]}
        again = await book.profiles.patch("ana", {"home": "Lisbon"}, agent="guide")
        assert [(part.code, part.field) for part in again.ignored] == [("unchanged", "home")]
        await say(book, clock, "I moved to Porto.")
        assert await home(book) == "Porto"
        await book.profiles.put("ana", {"interests": ["tea"]}, agent="guide")
        assert await book.profiles.get("ana", agent="guide") == {"interests": ["tea"]}


async def test_of_several_memories_the_pinned_then_the_trusted_then_the_narrower_then_the_newer_holds_a_field(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:

        async def remember(content: str, **fields: Any) -> Any:
            clock.advance(seconds=1)
            return (await book.remember("ana", content, key="home", **fields)).id

        await remember("Rome", agent="guide", groups=["g"], audience="group")
        assert await home(book) is None

        async def told() -> Any:
            return (await book.profiles.get("ana", agent="guide", groups=["g"]))["home"]

        await remember("Oslo", agent="guide", audience="global")
        assert await told() == "Rome"
        await remember("Bonn", agent="guide")
        assert await told() == "Bonn"
        await remember("Kiel", audience="global", trust="user")
        assert await told() == "Kiel"
        own = await remember("Graz", agent="guide", pinned=True)
        assert await told() == "Graz"
        disputed = await remember("Hull", agent="guide", trust="web")
        memory = await book.records.get("ana", disputed, agent="guide")
        assert isinstance(memory, Memory) and memory.disputes == own
        assert await told() == "Graz"
        await book.memories.retract("ana", own, agent="guide")
        assert await told() == "Kiel"


async def test_a_memory_holds_a_field_only_while_it_is_valid(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        until = clock() + timedelta(days=3)
        await book.remember("ana", "Lives in Oslo", key="home", valid_to=until, agent="guide")
        await book.remember("ana", "Is Ana B.", key="name", valid_from=until, agent="guide")
        assert await book.profiles.get("ana", agent="guide") == {"home": "Lives in Oslo"}
        clock.advance(days=4)
        assert await book.profiles.get("ana", agent="guide") == {"name": "Is Ana B."}


async def test_a_value_that_does_not_fit_its_field_is_not_shown(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        await book.remember("ana", "Is 34 years old", key="age", agent="guide")
        await book.remember("ana", "Lives in Rome", key="home", data={"value": 7}, agent="guide")
        # Only a text may stand for its value; the home shows its words, the age nothing.
        assert await book.profiles.get("ana", agent="guide") == {"home": "Lives in Rome"}
        with pytest.raises(InvalidInput, match="set/age"):
            await book.profiles.patch("ana", {"age": 900}, agent="guide")


class Habits(BaseModel):
    """How somebody lives."""

    diet: str = Field(default="", json_schema_extra={"x-memoranda-key": "diet"})
    cups: int | None = Field(default=None, json_schema_extra={"x-memoranda-key": "cups of coffee"})
    rooms: list[str] = []


async def test_a_tenants_schema_binds_its_fields_by_name_in_json_and_in_pydantic(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        await book.schemas.put("Habits", parameters=Habits)
        await book.profiles.put(
            "ana", {"diet": "vegan", "cups": 3, "rooms": ["attic"]}, schema="Habits", as_owner=True
        )
        page = await book.records.list("ana", types="memory", as_owner=True)
        held = {one.key: one.data for one in page if isinstance(one, Memory)}
        assert held == {"diet": {"value": "vegan"}, "cups of coffee": {"value": 3}}
        context = await book.context("ana", as_owner=True)
        assert "vegan" in context.text and context.text.count("attic") == 1
        await book.remember("ana", "Eats fish again", key="diet", as_owner=True, pinned=True)
        assert (await book.profiles.get("ana", "Habits", as_owner=True))[
            "diet"
        ] == "Eats fish again"
        # A tenant's own Profile binds the fields of the built-in one, unless it says otherwise.
        fields = {"home": {"type": "string"}, "name": {"type": "string", "x-memoranda-key": None}}
        await book.schemas.put("Profile", parameters={"type": "object", "properties": fields})
        await book.profiles.patch("ana", {"home": "Bonn", "name": "Ana"}, agent="guide")
        stored = await book.records.list("ana", types="profile", agent="guide")
        assert [one.body for one in stored if isinstance(one, ProfileDocument)] == [
            {"rooms": ["attic"]},
            {"name": "Ana"},
        ]
        assert await book.profiles.get("ana", agent="guide") == {"home": "Bonn", "name": "Ana"}


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"a": {"type": "array", "items": {}, "x-memoranda-key": "a"}}, "binds a list"),
        (
            {"a": {"type": "string", "x-memoranda-key": "k"}, "b": {"x-memoranda-key": "k"}},
            "is the key of the field 'a' already",
        ),
        ({"a": {"type": "string", "x-memoranda-key": " "}}, "is not a key"),
        ({"a": {"type": "string", "x-memoranda-key": 3}}, "is not a key"),
        ({"a": {"type": "string", "x-memoranda-key": "k" * 101}}, "a key has at most 100"),
        (
            {"a": {"type": "object", "properties": {"b": {"x-memoranda-key": "k"}}}},
            "only in a field of the document",
        ),
    ],
)
async def test_a_binding_that_cannot_be_is_refused_with_the_schema(
    book: Book, properties: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        await book.schemas.put("Habits", parameters={"type": "object", "properties": properties})


async def test_a_context_tells_a_field_and_its_memory_once(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        note = "Runs the back end team of Lumen Freight, in Rotterdam"
        await book.remember(
            "ana", note, key="occupation", data={"value": "team lead"}, agent="guide", trust="user"
        )
        await book.profiles.patch("ana", {"home": "Lisbon"}, as_owner=True)
        text = (await book.context("ana", agent="guide")).text
        # In other words than its value, the memory tells more; in the same words the field stands
        # in the profile.
        assert note in text and "team lead" not in text
        assert "home] Lisbon" in text and "Home: Lisbon" not in text


async def test_a_context_with_a_profile_makes_no_more_round_trips(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(tmp_path / "book.db", clock=clock, worker=False, embed=None) as book:
        await book.profiles.patch("ana", {"home": "Lisbon", "interests": ["tea"]}, as_owner=True)
        await book.context("ana", "tea", agent="guide")
        counts: dict[str, int] = {}
        for name in ("scan", "scans", "get"):
            real = getattr(type(book.engine), name)

            def counted(self: Any, *args: Any, name: str = name, real: Any = real) -> Any:
                counts[name] = counts.get(name, 0) + 1
                return real(self, *args)

            monkeypatch.setattr(type(book.engine), name, counted)
        context = await book.context("ana", "tea", types=["profile", "memory"], agent="guide")
        assert "Lisbon" in context.text
        assert counts.pop("scans") == 1 and "scan" not in counts


class Diet(BaseModel):
    """What somebody eats, before any field is bound."""

    diet: str = ""
    cups: int | None = None
    rooms: list[str] = []


async def test_a_field_that_a_schema_binds_later_keeps_its_stored_values(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        await book.schemas.put("Habits", parameters=Diet)
        await book.profiles.put(
            "ana", {"diet": "vegan", "rooms": ["attic"]}, schema="Habits", agent="guide"
        )
        await book.profiles.put(
            "ben", {"diet": "no nuts", "cups": 3}, schema="Habits", as_owner=True
        )
        await book.remember(
            "ben", "Eats nuts", key="diet", agent="guide", trust="web", audience="global"
        )

        async def read(owner: str, **who: Any) -> Any:
            return await book.profiles.get(owner, "Habits", **who)

        before = [await read("ana", agent="guide"), await read("ben", as_owner=True)]
        await book.schemas.put("Habits", parameters=Habits)
        assert [await read("ana", agent="guide"), await read("ben", as_owner=True)] == before
        assert "vegan" in (await book.context("ana", agent="guide")).text
        # What a person set stays pinned: neither an agent nor a memory of an agent replaces it.
        left = await book.profiles.patch(
            "ben", {"diet": "nuts"}, schema="Habits", audience="global", agent="guide"
        )
        assert ("pinned", "diet") in [(part.code, part.field) for part in left.ignored]
        await book.remember("ben", "Eats all", key="diet", agent="guide", audience="global")
        assert await read("ben", as_owner=True) == before[1]
        # The next edit writes a memory, and the value leaves the document.
        await book.profiles.patch("ben", {"diet": "no milk"}, schema="Habits", as_owner=True)
        assert await read("ben", as_owner=True) == {"diet": "no milk", "cups": 3, "rooms": []}
        await book.profiles.patch("ana", unset=["diet"], schema="Habits", agent="guide")
        assert await read("ana", agent="guide") == {"diet": "", "rooms": ["attic"]}
        page = await book.records.list("ben", types="profile", as_owner=True)
        assert [one.body for one in page if isinstance(one, ProfileDocument)] == [{"cups": 3}]


def home_bound_to(key: str | None) -> dict[str, Any]:
    """Return the parameters of a profile with a home, bound to a key or not."""
    return {"type": "object", "properties": {"home": {"type": "string", "x-memoranda-key": key}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Porto.", "Porto"),
        ("I don't live in Boston anymore.", None),
        ("I like tea.", "Boston"),
    ],
)
async def test_conversations_go_on_from_a_value_that_was_stored_before_its_field_was_bound(
    clock: HandClock, text: str, expected: str | None
) -> None:
    async with opened("memory://", clock) as book:
        await book.schemas.put("Profile", parameters=home_bound_to(None))
        await say(book, clock, "I live in Boston.")
        (stored,) = await book.records.list("ana", types="profile", as_owner=True)
        assert isinstance(stored, ProfileDocument) and stored.body == {"home": "Boston"}
        await book.schemas.put("Profile", parameters=home_bound_to("home"))
        assert await home(book) == "Boston"
        said = await say(book, clock, text)
        assert await home(book) == expected
        # What was replaced or taken back does not come back when the later message is forgotten.
        await book.forget("ana", said, as_owner=True)
        assert await home(book) == ("Boston" if expected == "Boston" else None)


@pytest.mark.parametrize(
    ("operation", "text", "expected"),
    [
        ({"op": "replace", "path": "/diet", "value": "fish"}, "I eat fish now.", "fish"),
        ({"op": "remove", "path": "/diet"}, "I'm not vegan any more.", ""),
    ],
)
async def test_a_model_changes_a_value_that_was_stored_before_its_field_was_bound(
    clock: HandClock, operation: dict[str, Any], text: str, expected: str
) -> None:
    operations = iter([{"op": "add", "path": "/diet", "value": "vegan"}, operation])

    def say(request: ModelRequest) -> Said:
        *_, newest = entries(request)
        patch = {
            "schema": "Habits",
            "operations": [next(operations)],
            "sources": [{"message": newest}],
        }
        return {"patches": [patch]}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        await book.schemas.put("Habits", parameters=Diet)
        thread = await book.thread("ana", agent="guide")
        await thread.append("user", "I am vegan.")
        await settle(book, clock)
        await book.schemas.put("Habits", parameters=Habits)
        assert (await book.profiles.get("ana", "Habits", agent="guide"))["diet"] == "vegan"
        later = await thread.append("user", text)
        await settle(book, clock)
        assert (await book.profiles.get("ana", "Habits", agent="guide"))["diet"] == expected
        # A value that was replaced does not come back when the later message is forgotten.
        await book.forget("ana", [later.items[0].id], as_owner=True)
        assert (await book.profiles.get("ana", "Habits", agent="guide"))["diet"] == ""


async def test_a_patch_of_a_bound_field_gives_its_value_to_the_note_with_its_key(
    clock: HandClock,
) -> None:
    def say(request: ModelRequest) -> Said:
        *_, newest = entries(request)
        sources = [{"message": newest}]
        operations = [
            {"op": "add", "path": "/home", "value": "Porto"},
            {"op": "add", "path": "/name", "value": "Ana"},
        ]
        note = {
            "content": "Lives in Porto.",
            "kind": "fact",
            "key": "home",
            "cardinality": "one",
            "sources": [{"message": newest, "quote": "I live in Porto"}],
        }
        patch = {"schema": "Profile", "operations": operations, "sources": sources}
        return {"notes": [note], "patches": [patch]}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ana", agent="guide")
        await thread.append("user", "I am Ana, and I live in Porto.")
        await settle(book, clock)
        page = await book.records.list("ana", types="memory", as_owner=True)
        held = {one.content: (one.key, one.data) for one in page if isinstance(one, Memory)}
        assert held == {
            "Lives in Porto.": ("home", {"value": "Porto"}),
            "Name: Ana": ("name", {"value": "Ana"}),
        }
        assert await book.profiles.get("ana", agent="guide") == {"home": "Porto", "name": "Ana"}


async def test_a_report_names_each_memory_whose_value_its_field_does_not_take(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:

        async def told() -> list[tuple[str, str]]:
            found = await book.profiles.report("ana", agent="guide")
            return [(fault.at, fault.reason) for _, report in found for fault in report.faults]

        said = await book.remember("ana", "Is 41", key="age", agent="guide")
        ((at, reason),) = await told()
        assert at == "/age" and str(said.id) in reason and "no value" in reason
        given = {"value": "forty-one"}
        said = await book.remember("ana", "Is forty-one", key="age", data=given, agent="guide")
        ((at, reason),) = await told()
        assert (
            at == "/age"
            and str(said.id) in reason
            and "a value that is a text; it should be a whole number" in reason
        )
        await book.remember("ana", "Is 41", key="age", data={"value": 41}, agent="guide")
        assert await told() == []
        some = {"applies_when": "at work", "agent": "guide"}
        await book.remember("ana", "Lives in Boston", key="home", **some)  # type: ignore[arg-type]
        ((at, reason),) = await told()
        assert at == "/home" and "cannot show its text" in reason


async def test_a_schema_whose_documents_are_inserted_binds_no_field(clock: HandClock) -> None:
    shape = {"type": "object", "properties": {"to": {"type": "string", "x-memoranda-key": "trip"}}}
    async with opened("memory://", clock) as book:
        with pytest.raises(InvalidInput, match="update_mode='patch'") as refused:
            await book.schemas.put("Trip", parameters=shape, update_mode="insert")
        assert refused.value.field == "parameters/properties/to/x-memoranda-key"
