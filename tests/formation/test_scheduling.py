"""Forming on request: scheduled, put off, cancelled and rescheduled, with schemas of one
request.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import JobState
from memoranda.model.drafts import Scheduled
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import known, opened, settle

USER = {
    "name": "User",
    "description": "What is known of the person.",
    "update_mode": "patch",
    "parameters": {
        "type": "object",
        "properties": {
            "user_name": {"type": "string"},
            "interests": {"type": "array", "items": {"type": "string"}},
        },
    },
}
PERSON = {
    "name": "Person",
    "update_mode": "insert",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "relationship": {"type": "string"}},
        "required": ["name"],
    },
}


def answer(request: ModelRequest) -> Said:
    """Fill whatever the question asks for."""
    said = next(h for h in (handle(request, "sister"), handle(request, "Mia"), "m1") if h)
    source = {"sources": [{"message": said}]}
    name = {"op": "add", "path": "/user_name", "value": "Mia", **source}
    return {
        "notes": [
            {"content": "Likes hill walks", "kind": "preference", **source},
            {
                "content": "Zoe is a sister",
                "subject": "Zoe",
                "schema": "Person",
                "data": {"name": "Zoe"},
                **source,
            },
        ],
        "patches": [{"schema": "User", "operations": [name]}],
    }


SAID = "I'm Mia, Zoe is my sister, and I like hill walks."


def waits(found: Scheduled, clock: HandClock) -> int:
    return round((found.at - clock.now).total_seconds())


async def documents(book: memoranda.Book) -> list[str]:
    page = await book.records.list("ann", types="memory", agent="guide")
    return [one.data["document"]["name"] for one in page if isinstance(one, Memory) and one.data]


async def test_only_the_schemas_of_the_request_are_filled_and_the_others_are_not_even_shown(
    clock: HandClock,
):
    models = ScriptedModels(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        assert await thread.schedule(after=5, schemas=[USER])
        assert await settle(book, clock, 5) == 1
        assert await book.profiles.get("ann", "User", agent="guide") == {"user_name": "Mia"}
        assert await known(book) == []
        (asked,) = models.asked
        assert (
            "User: What is known" in asked.instructions
            and "AgentExperience" not in asked.instructions
        )
        assert asked.content.endswith("Fill: patches (User).")
        (part,) = await thread.formed()
        assert part.schemas == ("User",) and part.usage.calls == 1
        assert [one.type.value for one in part.written] == ["profile"]
        assert {one.code for one in part.left_out} == {"unasked"}


async def test_a_schema_of_notes_alone_is_filled_and_plain_notes_are_left_out(clock: HandClock):
    models = ScriptedModels(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.form(schemas=[PERSON])
        await settle(book, clock, 0)
        assert await known(book) == ["Zoe is a sister"] and await documents(book) == ["Zoe"]
        assert "only notes of a schema (Person)" in models.asked[0].content
        (part,) = await thread.formed()
        assert {(one.part, one.code) for one in part.left_out} >= {("notes[0]", "unasked")}


async def test_each_request_has_its_own_schemas_also_under_one_name(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        field = "nick" if "nick" in request.instructions else "user_name"
        operation = {
            "op": "add",
            "path": f"/{field}",
            "value": "Mia",
            "sources": [{"message": "m1"}],
        }
        return {"patches": [{"schema": "User", "operations": [operation]}]}

    own = {**USER, "parameters": {"type": "object", "properties": {"nick": {"type": "string"}}}}
    async with opened("memory://", clock, ScriptedModels(say)) as book:
        for owner, schema in (("ann", USER), ("ben", own)):
            thread = await book.thread(owner, agent="guide")
            await thread.append("user", "I'm Mia.")
            await thread.schedule(after=1, schemas=[schema])
        await settle(book, clock, 1)
        assert await book.profiles.get("ann", "User", agent="guide") == {"user_name": "Mia"}
        assert await book.profiles.get("ben", "User", agent="guide") == {"nick": "Mia"}
        assert await book.schemas.list() == []


async def test_stored_and_built_in_schemas_are_named_also_one_that_is_formed_only_on_request(
    clock: HandClock,
):
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        await book.schemas.put(
            "Person", parameters=PERSON["parameters"], update_mode="insert", trigger="request"
        )
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.schedule(after=1, schemas=["Note", "Person"])
        await settle(book, clock, 1)
        assert await known(book) == ["Likes hill walks", "Zoe is a sister"]


async def test_without_a_model_rules_fill_what_they_can_of_the_request(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Boston and I like jazz.")
        await thread.schedule(after=1, schemas=["Profile"])
        await settle(book, clock, 1)
        assert await book.profiles.get("ann", agent="guide") == {
            "interests": ["jazz"],
            "home": "Boston",
        }
        assert "Likes jazz" not in await known(book)


async def test_what_is_scheduled_can_be_read_and_a_message_puts_it_off_with_its_schemas(
    clock: HandClock,
):
    models = ScriptedModels(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        assert await thread.scheduled() is None
        await thread.append("user", SAID)
        await thread.schedule(after=timedelta(seconds=10), schemas=["Profile", USER])
        found = await thread.scheduled()
        assert found is not None and found.schemas == ("Profile", "User")
        assert found.state is JobState.WAITING and waits(found, clock) == 10
        clock.advance(seconds=9)
        await thread.append("user", "And tea.")
        found = await thread.scheduled()
        assert found is not None and found.schemas == ("Profile", "User")
        assert waits(found, clock) == 30
        assert await settle(book, clock, 29) == 0
        assert await settle(book, clock, 1) == 1
        assert len(models.asked) == 1 and await thread.scheduled() is None


async def test_what_is_scheduled_again_replaces_the_pause_and_the_schemas(clock: HandClock):
    models = ScriptedModels(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.schedule(after=5, schemas=[PERSON])
        clock.advance(seconds=4)
        await thread.schedule(after=5, schemas=[USER])
        assert await settle(book, clock, 4) == 0
        assert await settle(book, clock, 1) == 1
        assert [part.schemas for part in await thread.formed()] == [("User",)]
        await thread.append("user", SAID)
        await thread.schedule(after=5, schemas=[USER])
        await thread.schedule()
        found = await thread.scheduled()
        assert found is not None and found.schemas == () and waits(found, clock) == 30


async def test_what_is_cancelled_does_not_run_and_its_messages_wait_for_the_next_one(
    clock: HandClock,
):
    models = ScriptedModels(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.schedule(after=5, schemas=[USER])
        assert await thread.unschedule() and not await thread.unschedule()
        assert await settle(book, clock, 3600) == 0 and models.asked == []
        await thread.schedule(after=5, schemas=[USER])
        await settle(book, clock, 5)
        assert await book.profiles.get("ann", "User", agent="guide") == {"user_name": "Mia"}


async def test_form_runs_what_is_scheduled_at_once_with_its_schemas(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.schedule(after=600, schemas=[USER])
        await thread.form()
        await settle(book, clock, 0)
        assert [part.schemas for part in await thread.formed()] == [("User",)]


async def test_a_thread_is_formed_again_for_the_schemas_of_a_request_alone(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await thread.schedule(after=0, schemas=[USER])
        await settle(book, clock, 0)
        await thread.form_again(schemas=[PERSON])
        await settle(book, clock, 0)
        assert await documents(book) == ["Zoe"] and await known(book) == ["Zoe is a sister"]


async def test_nothing_is_scheduled_where_formation_is_off_or_for_who_does_not_see_the_thread(
    clock: HandClock,
):
    async with opened("memory://", clock) as book:
        await book.agents.put("guide", settings={"forming": {"enabled": False}})
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        assert not await thread.schedule(after=1) and await thread.scheduled() is None
        with pytest.raises(NotFound):
            await book.thread("ann", agent="other", id=thread.id)


@pytest.mark.parametrize(
    ("schemas", "at", "says"),
    [
        ([], "schemas", "1 to 32"),
        ("User", "schemas", "give a list"),
        (["Nobody"], "schemas/0", "no schema 'Nobody'"),
        ([USER, USER], "schemas", "'User' is given twice"),
        ([{"parameters": {}}], "schemas/0", "has a name"),
        ([{**USER, "trigger": "close"}], "schemas/0/trigger", "no such field"),
        ([{**USER, "update_mode": "merge"}], "schemas/0/update_mode", "patch"),
        ([{**USER, "name": "a b"}], "schemas/0/name", "letter"),
        ([{**PERSON, "name": "Note"}], "schemas/0/parameters", "cannot be changed"),
        (
            [{**USER, "parameters": {"type": "object", "$ref": "https://x.example"}}],
            "schemas/0/parameters",
            "ref",
        ),
        (
            [
                {
                    **USER,
                    "parameters": {
                        "type": "object",
                        "properties": {"a": {"type": "string", "x-memoranda-key": "a"}},
                    },
                }
            ],
            "schemas/0/parameters",
            "schemas.put",
        ),
        ([7], "schemas/0", "a name or a definition"),
    ],
)
async def test_schemas_that_cannot_be_used_are_refused_with_their_place(
    clock: HandClock, schemas: Any, at: str, says: str
):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        with pytest.raises(InvalidInput, match=says) as refused:
            await thread.schedule(schemas=schemas)
        assert str(refused.value.field).startswith(at)
        found = await thread.scheduled()
        assert found is not None and found.schemas == ()


@pytest.mark.parametrize("after", [-1, float("nan"), 10**9, True, "5", timedelta(days=8)])
async def test_a_pause_that_is_none_is_refused(clock: HandClock, after: Any):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        with pytest.raises(InvalidInput, match="after: "):
            await thread.schedule(after=after)


def test_the_synchronous_thread_schedules_reads_and_cancels(tmp_path: Path):
    with memoranda.open_sync(tmp_path / "book.db", models=None, embed=None, worker=False) as book:
        thread = book.thread("ann", agent="guide")
        thread.append("user", "I like jazz.")
        assert thread.schedule(after=60, schemas=["Profile"])
        found = thread.scheduled()
        assert found is not None and found.schemas == ("Profile",)
        assert thread.unschedule() and thread.scheduled() is None


SCHEDULES = """
import asyncio, os, signal, sys, memoranda
async def main():
    async with memoranda.open(sys.argv[1], models=None, embed=None, worker=False) as book:
        thread = await book.thread("ann", agent="guide", name="talk")
        await thread.append("user", "I live in Boston and I like jazz.")
        await thread.schedule(after=0.5, schemas=["Profile"])
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


async def test_what_a_killed_process_scheduled_is_formed_by_the_next_one(tmp_path: Path):
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", SCHEDULES, str(tmp_path / "book.db")], env=surroundings, check=False
    )
    assert done.returncode == -signal.SIGKILL
    clock = HandClock()
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide", name="talk")
        found = await thread.scheduled()
        assert found is not None and found.schemas == ("Profile",)
        clock.now = found.at
        assert await book.worker.drain() == 1
        assert await book.profiles.get("ann", agent="guide") == {
            "interests": ["jazz"],
            "home": "Boston",
        }
        # The field that is bound to a key is a memory; what is liked would be a note.
        assert await known(book) == ["Home: Boston"]
