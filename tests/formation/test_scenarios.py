"""Acceptance scenarios of formation: numbered stories, from a conversation to the memories of a
later day.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import known, opened, settle


def patch(request: ModelRequest, text: str, **values: Any) -> dict[str, Any]:
    """Return a patch of the profile with one source: the prompt entry that contains a text."""
    operations = [
        {"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()
    ]
    return {
        "schema": "Profile",
        "operations": operations,
        "sources": [{"message": handle(request, text)}],
    }


async def test_1_a_name_that_is_corrected_stays_one_document(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        name = "Robert" if handle(request, "prefer to be called Robert") else "Bob"
        return {"patches": [patch(request, name, name=name)]}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        for text in ("My name is Bob.", "I prefer to be called Robert."):
            await thread.append("user", text)
            await settle(book, clock)
        (document,) = await book.profiles.documents("ann", agent="guide")
        # The name is the memory with the key; what it replaced is in the history, and no document
        # is stored.
        assert document.body == {"name": "Robert"} and document.version == 0
        page = await book.records.list(
            "ann", types="memory", only={"keys": ["name"]}, agent="guide"
        )
        assert [one.status for one in page if isinstance(one, Memory)] == ["superseded", "active"]
        assert await book.profiles.documents("ben", agent="guide") == []


async def test_2_three_friends_are_three_notes_and_the_one_with_a_new_name_is_updated(
    clock: HandClock,
):
    friend = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "preferred_name": {"type": "string"}},
        "required": ["name"],
    }

    def note(request: ModelRequest, text: str, content: str, **data: str) -> dict[str, Any]:
        return {
            "content": content,
            "subject": data["name"],
            "schema": "Relationship",
            "data": data,
            "sources": [{"message": handle(request, text)}],
        }

    def say(request: ModelRequest) -> Said:
        if handle(request, "goes by Jo"):
            held = handle(request, "Joanne is a friend")
            return {
                "notes": [
                    {
                        **note(
                            request,
                            "goes by Jo",
                            "Joanne, called Jo, is a friend",
                            name="Joanne",
                            preferred_name="Jo",
                        ),
                        "supersedes": [held],
                    },
                    note(request, "goes by Jo", "Nick is a friend of Jo", name="Nick"),
                ]
            }
        return {
            "notes": [
                note(request, "Joanne and Anthony", f"{name} is a friend", name=name)
                for name in ("Joanne", "Anthony")
            ]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        await book.schemas.put("Relationship", parameters=friend, update_mode="insert")
        first = await book.thread("ann", agent="guide")
        await first.append("user", "My friends Joanne and Anthony took me sailing.")
        await settle(book, clock)
        second = await book.thread("ann", agent="guide")
        await second.append(
            "user", "Joanne goes by Jo now. She brought Nick along, he is a friend as well."
        )
        await settle(book, clock)
        page = await book.records.list(
            "ann", types="memory", only={"statuses": ["active"]}, agent="guide"
        )
        held = {
            str(record.subject): record for record in page.records if isinstance(record, Memory)
        }
        assert sorted(held) == ["Anthony", "Joanne", "Nick"] and len(page.records) == 3
        assert held["Joanne"].data["document"]["preferred_name"] == "Jo"
        assert len(held["Joanne"].supersedes) == 1


DAY_ONE = """
import asyncio, sys, memoranda
async def main():
    async with memoranda.open(sys.argv[1], models=None, embed=None, worker=False) as book:
        thread = await book.thread("ann", agent="guide", name="movies")
        await thread.append([
            {"role": "user", "content": "Recommend me a movie"},
            {"role": "assistant", "content": "How about a romantic comedy?"},
            {"role": "user", "content": "I prefer action movies"},
        ])
        await thread.close()
        await book.worker.drain()
asyncio.run(main())
"""
DAY_TWO = """
import asyncio, json, sys, memoranda
async def main():
    async with memoranda.open(sys.argv[1], models=None, embed=None, worker=False) as book:
        context = await book.context("ann", "Recommend me a movie", agent="guide")
        episodes = await book.episodes.list("ann", agent="guide")
        print(json.dumps({
            "profile": await book.profiles.get("ann", agent="guide"),
            "context": context.text,
            "episodes": [(episode.goal, episode.outcome.value) for episode in episodes],
        }))
asyncio.run(main())
"""


def test_3_what_was_said_of_movies_in_one_process_is_known_on_another_day_in_another(
    tmp_path: Path,
):
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    told = ""
    for program in (DAY_ONE, DAY_TWO):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "book.db")],
            capture_output=True,
            text=True,
            check=True,
            env=surroundings,
        )
        told = done.stdout
    found = json.loads(told)
    assert found["profile"] == {"interests": ["action movies"]}
    assert "Prefers action movies" in found["context"]
    assert found["episodes"] == [["Recommend me a movie", "succeeded"]]


@pytest.mark.parametrize("by_model", [False, True])
async def test_4_and_5_what_changed_is_replaced_and_what_is_more_is_added(
    clock: HandClock, by_model: bool
):
    def say(request: ModelRequest) -> Said:
        later = handle(request, "moved to Boston") is not None
        said, home, age, interest = (
            ("moved to Boston", "Boston", 25, "tea")
            if later
            else ("live in New York", "New York", 20, "jazz")
        )
        sources = [{"message": handle(request, said)}]
        notes = [
            {"content": f"Lives in {home}", "key": "home", "sources": sources},
            {"content": f"Is {age} years old", "key": "age", "sources": sources},
        ]
        patched = patch(request, said, home=home, age=age)
        patched["operations"].append({"op": "add", "path": "/interests/-", "value": interest})
        return {"notes": notes, "patches": [patched]}

    async with opened("memory://", clock, ScriptedModels(say) if by_model else None) as book:
        thread = await book.thread("ann", agent="guide")
        for text in (
            "I live in New York. I am 20 years old. I like jazz.",
            "I moved to Boston. I am 25 years old now. I like tea.",
        ):
            await thread.append("user", text)
            await settle(book, clock)
        assert {"Lives in Boston", "Is 25 years old"} <= set(await known(book))
        assert not {"Lives in New York", "Is 20 years old"} & set(await known(book))
        profile = await book.profiles.get("ann", agent="guide")
        assert profile == {"home": "Boston", "age": 25, "interests": ["jazz", "tea"]}


async def test_what_is_said_three_times_in_one_conversation_is_listed_once(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for said in ("I like jazz.", "I really like jazz!", "I like jazz and tea."):
            await thread.append("user", said)
        await settle(book, clock)

        assert await book.profiles.get("ann", agent="guide") == {"interests": ["jazz", "tea"]}
        assert await known(book) == ["Likes jazz", "Likes tea"]


async def test_6_a_refund_is_an_episode_with_its_tool_call_that_is_found_when_it_is_asked_for_again(
    clock: HandClock,
):
    def say(request: ModelRequest) -> Said:
        return {
            "episode": {
                "goal": "Look up the refund of order #8842",
                "summary": "The refund is being processed, 3 to 5 business days.",
                "outcome": "succeeded",
                "tags": ["refund", "order-lookup"],
            }
        }

    call = [
        {
            "part_kind": "tool-call",
            "tool_name": "lookup_order",
            "tool_call_id": "c1",
            "args": {"id": "8842"},
        }
    ]
    result = [
        {
            "part_kind": "tool-return",
            "tool_name": "lookup_order",
            "tool_call_id": "c1",
            "content": {"status": "refund_processing"},
        }
    ]
    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="support")
        await thread.append(
            [
                {"role": "user", "content": "Where is my refund for order #8842?"},
                {"role": "assistant", "content": "Looking it up.", "native": call},
                {"role": "tool", "content": '{"status": "refund_processing"}', "native": result},
                {"role": "assistant", "content": "It is being processed, 3 to 5 business days."},
            ]
        )
        await thread.close()
        await settle(book, clock)
        clock.now += timedelta(days=3)
        (episode,) = await book.episodes.list(
            "ann", outcome="succeeded", tags=["refund"], agent="support"
        )
        (made,) = episode.tool_calls
        assert (made.tool, made.inputs, made.success) == ("lookup_order", {"id": "8842"}, True)
        assert "refund_processing" in made.output
        found = await book.recall(
            "ann", "did I already try to look up order 8842?", agent="support"
        )
        assert episode.id in {hit.id for hit in found} | {
            one.record.id for hit in found for one in hit.folded
        }
        assert await book.episodes.list("ann", outcome="failed", agent="support") == []
        assert len((await book.why("ann", episode.id, agent="support")).sources) == 4


async def test_the_receipt_of_what_was_formed_says_what_it_used(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(lambda request: {})) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz.")
        await settle(book, clock)
        entry = (await book.engine.entries(thread.owner, 0, 100))[-1]
        assert entry.operation is not None
        receipts = [entry.note["used"]]
        assert receipts[0]["calls"] == 1 and receipts[0]["tokens_in"] == 100
        (spent,) = await book.admin.usage("ann")
        assert (spent.agent, spent.task, spent.calls, spent.answers) == ("guide", "formation", 1, 1)
        found = await book.records.operation("ann", f"form:{thread.id}:0:1", as_owner=True)
        assert found is None or found.usage.calls == 1
