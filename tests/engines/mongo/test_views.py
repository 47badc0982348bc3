"""What people find at a shell of MongoDB: views that say what the book says, and that answer from
indexes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from click.testing import CliRunner
from pymongo import MongoClient

pytest.importorskip("pydantic_ai", reason="the framework is not installed: pydantic-ai")

import memoranda
from examples import learning_agent
from memoranda.cli.program import program
from memoranda.engines.mongo.views import SETS, VIEWS
from tests.engines.mongo_server import MongoPlace

ALL = list(SETS)


async def filled(at: str) -> None:
    """Make a book with a record of every type, and of every status."""
    async with memoranda.open(at, worker=False, embed=None) as book:
        for owner in ("ann", "bea"):
            thread = await book.thread(owner, name="trip", agent="chef", tags=["food"])
            await thread.append(
                [
                    {"role": "user", "content": f"I am {owner}, and I moved to Lisbon"},
                    {"role": "assistant", "content": "Noted"},
                ]
            )
            gone = await thread.append("user", "my pin is canary")
            await book.forget(owner, ids=[gone.items[0].id], as_owner=True)
            await book.remember(
                owner,
                "prefers rye bread",
                key="bread",
                kind="preference",
                applies_when="at breakfast",
            )
            await book.remember(owner, "prefers white bread", key="bread", kind="preference")
            wrong = await book.remember(owner, "owns a boat", operation=f"boat of {owner}")
            await book.undo(owner, wrong.position, as_owner=True)
            past = datetime.now(UTC) + timedelta(milliseconds=100)
            await book.remember(owner, "is expired", expires_at=past)
            for tag in ("refund", "order"):
                await book.episodes.record(
                    owner,
                    goal=f"find the {tag}",
                    summary="found it",
                    outcome="succeeded",
                    tags=[tag],
                )
            await book.profiles.patch(owner, {"name": owner.title(), "interests": ["bread"]})
        await book.agents.put("chef", model="any", description="cooks", system_prompt="be short")
        await book.experience.add("chef", "heuristics", "ask for allergies first")
        for name in ALL:
            await book.engine.make_views(name)  # type: ignore[attr-defined]


async def test_a_view_shows_what_the_book_tells_the_owner_and_nothing_that_was_withdrawn_or_erased(
    mongo: MongoPlace,
):
    at = mongo.new_book()
    await filled(at)
    async with memoranda.open(at, worker=False, embed=None) as book:
        with MongoClient[Any](at, uuidRepresentation="standard") as client:
            db: Any = client.get_default_database()
            for type, view in (
                ("thread", "threads"),
                ("message", "messages"),
                ("episode", "episodes"),
                ("memory", "memories"),
            ):
                for owner in ("ann", "bea"):
                    told = (
                        await book.records.list(
                            owner, types=type, as_owner=True, only={"statuses": None}, limit=500
                        )
                    ).records
                    shown = {one["_id"]: one for one in db[view].find({"owner_id": owner})}
                    assert shown.keys() == {one.id for one in told} and told
                    for one in told:
                        for field in (
                            "content",
                            "role",
                            "seq",
                            "kind",
                            "key",
                            "summary",
                            "goal",
                            "tags",
                            "name",
                            "agent",
                            "status",
                        ):
                            if (value := getattr(one, field, None)) is not None and value != ():
                                assert shown[one.id].get(field, value) == (
                                    list(value) if isinstance(value, tuple) else value
                                )
            held = {
                getattr(one, "content", "")
                for one in (
                    await book.records.list(
                        "ann", types="memory", only={"statuses": ["active"]}, as_owner=True
                    )
                ).records
            }
            user = db.users.find_one({"_id": "ann"})
            assert (
                {one["content"] for one in user["memories"]}
                == held
                == {one["content"] for one in db.semantic_memory.find({"user_id": "ann"})}
            )
            assert user["profile"] == await book.profiles.get("ann", as_owner=True)
            agent = db.agents.find_one({"name": "chef"})
            assert (agent["system_prompt"], agent["experience"]["heuristics"]) == (
                "be short",
                ["ask for allergies first"],
            )
            task = db.tasks.find_one({"user_id": "ann"})
            assert [one["role"] for one in task["message_history"]] == ["user", "assistant"]
            assert "canary" not in repr([list(db[name].find()) for name in VIEWS])
            await book.forget("ann", everything=True, as_owner=True)
            assert not [name for name in VIEWS if "ann" in repr(list(db[name].find()))]


async def test_an_application_finds_its_users_agents_and_tasks_in_the_shape_of_its_documents(
    mongo: MongoPlace,
):
    at = mongo.new_book()
    for prompts in (
        ["Recommend me a movie", "I prefer romance movies"],
        ["I prefer action movies"],
    ):
        await learning_agent.main(at, "ann", prompts)
    with MongoClient[Any](at, uuidRepresentation="standard") as client:
        db: Any = client.get_default_database()
        async with memoranda.open(at, worker=False, embed=None) as book:
            await book.engine.make_views("000")  # type: ignore[attr-defined]
            loaded = await learning_agent.User.load(book, "ann", "movies")
        user = db.users.find_one({"_id": "ann"})
        told = [
            {name: one[name] for name in ("context", "category", "content")}
            for one in user["memories"]
        ]
        # What a profile's field rests on is a memory, too.
        assert (
            [one.model_dump() for one in loaded.memories if one.model_dump() in told]
            == [one.model_dump() for one in loaded.memories]
            != []
        )
        agent = db.agents.find_one({"name": "movies"})
        assert agent["experience"]["heuristics"] == [
            "Ask for the kind of movie before proposing one."
        ]
        tasks = list(
            db.tasks.find({"user_id": "ann", "status": "completed"}).sort({"created_at": 1})
        )
        answers = [one["message_history"][-1]["parts"][0]["content"] for one in tasks]
        assert answers == ["How about this romance movie?", "How about this action movie?"]


def copies(db: Any, owners: int) -> None:
    """Copy the records of an owner for many more."""
    for name in ("owners", "records"):
        docs = list(db[name].find({"owner_id": "ann"}))
        for number in range(owners):
            ids: dict[Any, UUID] = {}
            db[name].insert_many(
                [_copied(doc, f"user_{number}", ids) for doc in docs], ordered=False
            )


def _copied(doc: dict[str, Any], owner: str, ids: dict[Any, UUID]) -> dict[str, Any]:
    again = {**doc, "owner_id": owner, "_id": ids.setdefault(doc["_id"], uuid4())}
    if "thread" in doc:
        again["thread"] = ids.setdefault(doc["thread"], uuid4())
    return again


def examined(db: Any, view: str, filter: Any, sort: Any, limit: int) -> tuple[int, int]:
    """Return how many documents the server examines for a query, and how many it returns."""
    query = {
        "find": view,
        "filter": filter,
        **({"sort": sort} if sort else {}),
        **({"limit": limit} if limit else {}),
    }
    told = db.command("explain", query, verbosity="executionStats", codec_options=db.codec_options)
    cursor = told["stages"][0]["$cursor"] if "stages" in told else told
    return cursor["executionStats"]["totalDocsExamined"], len(
        list(db[view].find(filter, sort=list(sort.items()) or None, limit=limit))
    )


async def test_the_queries_that_people_know_examine_little_more_than_they_return(mongo: MongoPlace):
    at = mongo.new_book()
    await filled(at)
    with MongoClient[Any](at, uuidRepresentation="standard") as client:
        db: Any = client.get_default_database()
        copies(db, 1_000)
        # Of two episodes and of two memories each filter takes one.
        two = ["prefers white bread", "is expired"]
        ours = {"owner_id": "user_7", "$or": [{"type": "episode"}, {"body.content": {"$in": two}}]}
        docs = list(db.records.find(ours))
        assert len(docs) == 4
        for _ in range(40):
            db.records.insert_many(
                [
                    {key: value for key, value in {**doc, "_id": uuid4()}.items() if key != "slot"}
                    for doc in docs
                ]
            )
        thread = db.threads.find_one({"owner_id": "user_7"})
        for view, filter, sort, limit in (
            ("short_term_memory", {"thread_id": thread["_id"]}, {}, 0),
            ("short_term_memory", {"user_id": "user_7"}, {}, 0),
            (
                "episodic_memory",
                {"episode_id": db.episodes.find_one({"owner_id": "user_7"})["_id"]},
                {},
                0,
            ),
            ("episodic_memory", {"user_id": "user_7"}, {"started_at": -1}, 0),
            ("episodic_memory", {"user_id": "user_7", "tags": "refund"}, {"started_at": -1}, 0),
            ("episodic_memory", {"user_id": "user_7", "thread_id": thread["_id"]}, {}, 0),
            ("semantic_memory", {"user_id": "user_7"}, {}, 0),
            ("semantic_memory", {"user_id": "user_7", "type": "preference"}, {"strength": -1}, 0),
            ("users", {"_id": "user_7"}, {}, 0),
            ("tasks", {"_id": thread["_id"]}, {}, 0),
            ("tasks", {"user_id": "user_7"}, {}, 0),
            ("tasks", {"user_id": "user_7", "status": "running"}, {"created_at": -1}, 0),
            ("agents", {"name": "chef"}, {}, 0),
            (
                "messages",
                {
                    "owner_id": "user_7",
                    "owner_kind": "user",
                    "tenant": "default",
                    "thread_id": thread["_id"],
                },
                {"seq": 1},
                0,
            ),
            ("usermemories", {"userId": "user_7", "key": "bread"}, {}, 0),
        ):
            looked, returned = examined(db, view, filter, sort, limit)
            assert returned or (view, "thread_id") == ("episodic_memory", [*filter][-1]), (
                view,
                filter,
            )
            assert looked <= 2 * returned + 10, (view, filter, looked, returned)


@pytest.mark.again
async def test_a_thread_of_a_hundred_thousand_messages_stops_no_reader(mongo: MongoPlace):
    at = mongo.new_book()
    await filled(at)
    with MongoClient[Any](at, uuidRepresentation="standard") as client:
        db: Any = client.get_default_database()
        message = db.records.find_one({"owner_id": "ann", "type": "message"})
        message["body"]["content"] = "x" * 300
        for start in range(1, 100_001, 10_000):
            db.records.insert_many(
                [
                    {**message, "_id": uuid4(), "seq": 10 + start + number}
                    for number in range(10_000)
                ],
                ordered=False,
            )
        db.records.update_one({"_id": message["thread"]}, {"$set": {"seq": 100_010}})
        for name in VIEWS:
            assert next(iter(db[name].find({})), None) is not None or name == "profiles"
        task = db.tasks.find_one({"_id": message["thread"]})
        assert (
            len(task["message_history"]),
            task["total"],
            task["message_history"][-1]["seq"],
        ) == (
            200,
            100_010,
            100_010,
        )


def line(*words: str) -> Any:
    found = CliRunner().invoke(program, [*words], catch_exceptions=False)
    assert found.exit_code in (0, 1), found.output
    return json.loads(found.stdout)


def test_init_makes_views_and_a_taken_name_is_left_alone_and_told(
    mongo: MongoPlace, tmp_path: Path
):
    at = mongo.at(f"views_{uuid4().hex[:8]}")
    with MongoClient[Any](at) as client:
        db: Any = client.get_default_database()
        db.threads.insert_one({"of": "another program"})
        line("--book", at, "--json", "init")
        assert set(SETS[""]) <= set(
            db.list_collection_names()
        ) and db.threads.find_one() == db.threads.find_one({"of": "another program"})
        assert line("--book", at, "--json", "views", "create")["taken"] == ["threads"]
        checks = {one["name"]: one for one in line("--book", at, "--json", "doctor")["checks"]}
        assert "threads" in checks["views"]["found"]
        made = line("--book", at, "--json", "views", "create", "--seed", "002", "--prefix", "old_")
        assert made["made"] == [
            "old_short_term_memory",
            "old_episodic_memory",
            "old_semantic_memory",
        ]
        assert (
            line("--book", at, "--json", "views", "create", "--seed", "002", "--prefix", "old_")[
                "there"
            ]
            == made["made"]
        )
        refused = CliRunner().invoke(
            program, ["--book", str(tmp_path / "book.db"), "views", "create"]
        )
        assert refused.exit_code
