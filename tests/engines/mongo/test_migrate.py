"""What other programs stored in MongoDB, read from a real server, becomes records of a book; once,
also after a kill.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from bson import DBRef, ObjectId
from click.testing import CliRunner
from pymongo import MongoClient

import memoranda
from memoranda.cli.program import program
from memoranda.migrate.formats import EXPERIENCE
from tests.engines.mongo_server import MongoPlace

AT = datetime(2026, 4, 1, 9, 15, tzinfo=UTC)
ANN, BOT, TASK = ObjectId(), ObjectId(), ObjectId()
FIRST, SECOND = str(uuid4()), str(uuid4())
SAMPLES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "eddi-properties": {
        "properties": [
            {"_id": ObjectId(), "userId": "ann", "city": "Lisbon", "age": 41, "vip": True, "tags": ["a", "b"]},
            {"_id": ObjectId(), "city": "nobody's"},
        ]
    },
    "eddi": {
        "usermemories": [
            {"_id": ObjectId(), "userId": "ann", "key": "drink", "value": "tea", "category": "preference", "visibility": "self",
             "sourceAgentId": "chef", "createdAt": AT, "updatedAt": AT, "accessCount": 3, "conflicted": False},
            {"_id": ObjectId(), "userId": "ann", "key": "team", "value": {"size": 4}, "category": "fact", "visibility": "group",
             "sourceAgentId": "chef", "groupIds": ["kitchen"]},
        ]
    },
    "beanie": {
        "agents": [{"_id": BOT, "name": "guide", "model": "any", "system_prompt": "be short",
                    "experience": {"procedural_knowledge": "ask first", "heuristics": ["offer two films"], **{one: [] for one in EXPERIENCE[3:5]}}}],
        "users": [{"_id": ANN, "profile": {"name": "Ann", "age": None, "interests": ["action movies"], "home": ""}, "memories": [
            {"id": FIRST, "created_at": AT, "context": "films", "category": "preference", "content": "likes comedies", "superseded_ids": []},
            {"id": SECOND, "created_at": AT.replace(day=2), "context": "films", "category": "taste", "content": "prefers action movies",
             "superseded_ids": [FIRST, str(uuid4())]},
        ]}],
        "tasks": [{"_id": TASK, "user": DBRef("users", ANN), "agent": DBRef("agents", BOT), "status": "completed", "created_at": AT,
                   "updated_at": AT, "message_history": [
            {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "You help.", "timestamp": AT},
                                          {"part_kind": "user-prompt", "content": "Recommend me a movie", "timestamp": AT}]},
            {"kind": "response", "timestamp": AT, "model_name": "any", "parts": [
                {"part_kind": "tool-call", "tool_name": "find", "args": {"of": "films"}, "tool_call_id": "c1"}]},
            {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "find", "content": "Up", "tool_call_id": "c1", "timestamp": AT}]},
            {"kind": "response", "timestamp": AT, "parts": [{"part_kind": "text", "content": "How about Up?"}]},
        ]}],
    },
    "agent-memory": {
        "short_term_memory": [{"_id": ObjectId(), "thread_id": "thread_abc123", "user_id": "ann", "summary": "old",
                               "messages": [{"role": "user", "content": "where is my refund?", "timestamp": AT}]}],
        "episodic_memory": [{"_id": ObjectId(), "episode_id": "ep_1", "thread_id": "thread_abc123", "user_id": "ann",
                             "summary": "Looked up refund status", "outcome": "succeeded", "tags": ["refund"], "started_at": AT, "ended_at": AT,
                             "tool_calls": [{"tool": "lookup_order", "inputs": {"order_id": "8842"}, "output": {"eta_days": 5}, "success": True,
                                             "called_at": AT}]}],
        "semantic_memory": [{"_id": ObjectId(), "memory_id": "mem_1", "user_id": "ann", "type": "preference", "embedding": [0.1, 0.2],
                             "content": "prefers metric units", "source_episode_id": "ep_1", "strength": 0.87, "created_at": AT}],
    },
    "langgraph": {"items": [{"_id": ObjectId(), "namespace": ["memories", "ann"], "key": "bread", "value": {"kind": "rye", "n": 2}},
                            {"_id": ObjectId(), "namespace": ["memories"], "key": "lost", "value": {}}]},
}  # fmt: skip
USER = {"beanie": str(ANN)}


@pytest.fixture
def source(mongo: MongoPlace) -> Iterator[Any]:
    """Return a function that loads a sample into a database, and the database's address."""
    client: Any = MongoClient(mongo.url)
    names: list[str] = []

    def load(format: str) -> str:
        names.append(f"source_{uuid4().hex[:8]}")
        for collection, docs in SAMPLES[format].items():
            client[names[-1]][collection].insert_many(docs)
        return mongo.at(names[-1])

    yield load
    for name in names:
        client.drop_database(name)
    client.close()


def line(book: Path, *words: str, code: int = 0) -> Any:
    # The command has an event loop of its own.
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(
            CliRunner().invoke, program, ["--book", str(book), "--json", *words]
        ).result()
    assert found.exit_code == code, found.output
    return json.loads(found.stdout) if not code else found.output


@pytest.fixture
def book(tmp_path: Path) -> Path:
    line(tmp_path / "book.db", "init")
    return tmp_path / "book.db"


async def content(path: Path, owner: str) -> list[tuple[Any, ...]]:
    async with memoranda.open(path, worker=False, embed=None) as book:
        found = (
            await book.records.list(owner, as_owner=True, only={"statuses": None}, limit=500)
        ).records
        return sorted(((one.type.value, one.id, one.version) for one in found), key=str)


@pytest.mark.parametrize("format", SAMPLES)
async def test_a_second_run_changes_nothing_and_brings_back_nothing_that_was_forgotten(
    format: str, source: Any, book: Path
):
    place, owner = source(format), USER.get(format, "ann")
    planned = line(book, "migrate", format, place, "--dry-run")
    assert not await content(book, owner)
    first = line(book, "migrate", format, place)
    assert (first["written"], first["before"]) == (planned["written"], 0)
    there = await content(book, owner)
    assert there
    again = line(book, "migrate", format, place)
    assert (sum(again["written"].values()), again["before"]) == (0, sum(first["written"].values()))
    assert await content(book, owner) == there
    async with memoranda.open(book, worker=False, embed=None) as opened:
        await opened.forget(owner, everything=True, as_owner=True)
    line(book, "migrate", format, place)
    assert not await content(book, owner)


async def test_entries_of_eddi_keep_type_category_and_readers_and_the_collection_is_renamed_when_all_arrived(
    source: Any, book: Path
):
    place = source("eddi-properties")
    report = line(book, "migrate", "eddi-properties", place, "--rename")
    assert [one["why"] for one in report["left_out"]] == ["it has no userId"]
    assert report["renamed"] == "properties_migrated_v6"
    with MongoClient[Any](place) as client:
        assert client.get_default_database().list_collection_names() == ["properties_migrated_v6"]
    line(book, "migrate", "eddi", source("eddi"))
    async with memoranda.open(book, worker=False, embed=None) as opened:
        found: Any = (await opened.records.list("ann", types="memory", as_owner=True)).records
    entries = {one.data["entry"]["key"]: one for one in found}
    assert {name: one.data["entry"]["value"] for name, one in entries.items()} == {
        "city": "Lisbon", "age": 41, "vip": True, "tags": ["a", "b"], "drink": "tea", "team": {"size": 4},
    }  # fmt: skip
    assert entries["city"].data["entry"]["category"] == "legacy"
    assert [entries[name].audience.kind.value for name in ("city", "drink", "team")] == [
        "global",
        "self",
        "group",
    ]
    assert (entries["drink"].observed_at, entries["drink"].agent, entries["drink"].trust.value) == (
        AT,
        "chef",
        "assistant",
    )


async def test_users_agents_and_tasks_arrive_with_what_replaced_what_and_their_histories(
    source: Any, book: Path
):
    report = line(book, "migrate", "beanie", source("beanie"), "--trust", "user")
    assert report["left_out"] == [] and report["not_taken"] == {"tasks.updated_at": 1}
    async with memoranda.open(book, worker=False, embed=None) as opened:
        held: Any = (
            await opened.records.list(
                str(ANN), types="memory", as_owner=True, only={"statuses": None}
            )
        ).records
        told = {one.content: one for one in held if one.external_id}
        old, new = told["likes comedies"], told["prefers action movies"]
        assert (old.status.value, new.status.value, new.supersedes) == (
            "superseded",
            "active",
            (old.id,),
        )
        assert (new.observed_at, new.trust.value, new.kind, new.tags, new.applies_when) == (
            AT.replace(day=2),
            "user",
            "fact",
            ("taste",),
            "films",
        )
        profile = await opened.profiles.get(str(ANN), as_owner=True)
        assert (profile["name"], profile["interests"]) == ("Ann", ["action movies"])
        agent = await opened.agents.get("guide")
        assert agent is not None and agent.system_prompt == "be short"
        assert {one.line for one in await opened.experience.list("guide")} == {
            "ask first",
            "offer two films",
        }
        thread = await opened.thread(str(ANN), id=str(TASK), as_owner=True)
        page: Any = await thread.messages()
        assert [one.role for one in page.records] == ["user", "assistant", "tool", "assistant"]
        assert (await thread.get()).status.value == "completed" and (
            await thread.get()
        ).agent == "guide"
        messages = pytest.importorskip("memoranda.integrations.pydantic_messages").messages_of(
            page.records
        )
    assert [one.kind for one in messages] == ["request", "response", "request", "response"]
    assert messages[1].parts[0].tool_name == "find"


async def test_three_collections_of_memory_keep_ids_times_and_where_they_come_from(
    source: Any, book: Path
):
    report = line(book, "migrate", "agent-memory", source("agent-memory"))
    assert report["left_out"] == []
    assert report["not_taken"] == {
        "short_term_memory.summary": 1,
        "semantic_memory.embedding": 1,
        "semantic_memory.strength": 1,
    }
    async with memoranda.open(book, worker=False, embed=None) as opened:
        memory: Any = await opened.records.get("ann", "mem_1", as_owner=True)
        episode: Any = await opened.records.get("ann", "ep_1", as_owner=True)
        assert (memory.sources, memory.kind, memory.observed_at) == (
            (episode.id,),
            "preference",
            AT,
        )
        assert (episode.tool_calls[0].output, episode.started_at, episode.tags) == (
            {"eta_days": 5},
            AT,
            ("refund",),
        )
        assert episode.thread == (await opened.thread("ann", id="thread_abc123", as_owner=True)).id


async def test_what_nobody_touched_is_taken_out_and_the_rest_is_named(source: Any, book: Path):
    place = source("agent-memory")
    run = line(book, "migrate", "agent-memory", place)["run"]
    async with memoranda.open(book, worker=False, embed=None) as opened:
        thread = await opened.thread("ann", id="thread_abc123", as_owner=True)
        await thread.append("user", "one more")
    assert "the run over this source is" in line(
        book, "migrate", "agent-memory", place, "--undo", "another", code=2
    )
    report = line(book, "migrate", "agent-memory", place, "--undo", run)
    assert [one["key"] for one in report["left_out"]] == ["thread_abc123"]
    async with memoranda.open(book, worker=False, embed=None) as opened:
        left: Any = (
            await opened.records.list("ann", types=["memory", "episode"], as_owner=True)
        ).records
        assert [one.status.value for one in left] == ["undone"]


@pytest.mark.parametrize("format", SAMPLES)
async def test_a_run_is_taken_out_again_but_for_agents(format: str, source: Any, book: Path):
    place, owner = source(format), USER.get(format, "ann")
    run = line(book, "migrate", format, place)["run"]
    report = line(book, "migrate", format, place, "--undo", run)
    assert {one["key"].partition("/")[0] for one in report["left_out"]} <= {str(BOT)}
    async with memoranda.open(book, worker=False, embed=None) as opened:
        types = ["memory", "episode", "item", "thread", "message"]
        assert not (
            await opened.records.list(
                owner, types=types, as_owner=True, only={"statuses": ["active"]}
            )
        ).records
        assert not (
            await opened.records.list(owner, types=["item", "thread", "message"], as_owner=True)
        ).records
        assert not any((await opened.profiles.get(owner, as_owner=True)).values())
    again = line(book, "migrate", format, place)
    assert sum(again["written"].values()) == 0


async def test_a_restricted_owner_is_skipped_and_named(source: Any, book: Path):
    line(book, "restrict", "ann")
    assert line(book, "migrate", "agent-memory", source("agent-memory"))["restricted"] == ["ann"]
    assert not await content(book, "ann")


def test_the_database_of_a_book_and_a_view_are_no_source(
    mongo: MongoPlace, source: Any, book: Path
):
    of_book = mongo.at(f"book_{uuid4().hex[:8]}")
    line(of_book, "init")  # type: ignore[arg-type]
    assert "is the database of a book" in line(book, "migrate", "eddi", of_book, code=12)
    place = source("eddi")
    with MongoClient[Any](place) as client:
        db: Any = client.get_default_database()
        db.properties.drop()
        db.create_collection("properties", viewOn="usermemories", pipeline=[])
    assert "is a view" in line(book, "migrate", "eddi-properties", place, code=2)


def test_a_run_that_was_killed_goes_on_and_writes_each_document_once(book: Path, tmp_path: Path):
    docs = [
        {
            "_id": str(number),
            "userId": f"user{number % 3}",
            "key": f"key{number}",
            "value": number,
            "visibility": "global",
        }
        for number in range(300)
    ]
    (tmp_path / "usermemories.json").write_text("\n".join(map(json.dumps, docs)))
    words = [
        sys.executable,
        "-m",
        "memoranda",
        "--book",
        str(book),
        "migrate",
        "eddi",
        str(tmp_path / "usermemories.json"),
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while not asyncio.run(content(book, "user2")) and running.poll() is None:
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
    report = line(book, "migrate", "eddi", str(tmp_path / "usermemories.json"))
    assert report["before"] + sum(report["written"].values()) == 300 and report["before"]
    assert sum([len(asyncio.run(content(book, f"user{number}"))) for number in range(3)]) == 300
