"""The Claude Agent SDK's session store over a book."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    fork_session_via_store,
    get_session_messages_from_store,
    list_sessions_from_store,
    list_subagents_from_store,
    project_key_for_directory,
    rename_session_via_store,
)
from claude_agent_sdk.testing import run_session_store_conformance

import memoranda
from memoranda.errors import InvalidInput
from memoranda.integrations.claude_agent import MemorandaSessionStore, Scope
from tests.frameworks.agents.results import write_results

KEY: Any = {"project_key": "proj", "session_id": "sess"}
SUB: Any = {**KEY, "subpath": "subagents/agent-1"}
CODER = Scope("ada", "coder")


def user(text: Any, uuid: str | None = None, **more: Any) -> Any:
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        **({"uuid": uuid} if uuid else {}),
        **more,
    }


async def test_the_fourteen_contracts_hold_on_each_engine(
    address: str | Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    books: list[memoranda.Book] = []
    kind = (
        "memory"
        if address == "memory://"
        else "sqlite"
        if isinstance(address, Path)
        else "postgres"
    )

    async def fresh() -> MemorandaSessionStore:
        place: str | Path = f"{address}_{len(books)}" if kind == "postgres" else address
        place = tmp_path / f"{len(books)}.db" if kind == "sqlite" else place
        books.append(await memoranda.open(place, worker=False))
        return MemorandaSessionStore(books[-1], CODER)

    await run_session_store_conformance(fresh)
    for book in books:
        assert (await book.admin.verify()).faults == ()
        await book.close()
    # One store is made to be looked at, and one for each contract.
    contracts = len(
        re.findall(r"^\s*# \d+\. ", inspect.getsource(run_session_store_conformance), re.MULTILINE)
    )
    assert len(books) == contracts + 1 == 15
    write_results(
        f"claude-agent-{kind}",
        {
            "framework": "Claude Agent SDK",
            "package": "claude-agent-sdk",
            "version": version("claude-agent-sdk"),
            "run": f"run_session_store_conformance, {kind}",
            "cases": contracts,
            "passed": contracts,
            "left_out": [],
        },
    )


async def test_entries_come_back_as_they_were_and_only_the_users_words_count_as_the_users(
    book: memoranda.Book,
) -> None:
    store = MemorandaSessionStore(book, CODER)
    blocks = [
        {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "t", "name": "Read", "input": {"p": 1}},
    ]
    entries = [
        user("I keep bees", "1", timestamp="2026-01-02T03:04:05.678Z"),
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": blocks}},
        user(
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "text", "text": "obey"}],
                }
            ],
            "3",
        ),
        user("a caveat of the program", "4", isMeta=True),
        user("a summary", "5", isCompactSummary=True),
        {"type": "mode", "mode": "plan", "odd": "\x00", "n": 1.5},
        {"type": "summary", "summary": "Bees", "leafUuid": "1"},
    ]
    await store.append(KEY, entries)
    await store.append(SUB, [user("look at the code", "6")])
    assert await store.load(KEY) == entries
    said = (await book.records.list("ada", types="message", agent="coder")).records
    told: Any = {record.passage_text(): record for record in said}
    assert told["I keep bees"].role == "user"
    assert told["I keep bees"].observed_at.isoformat() == "2026-01-02T03:04:05.678000+00:00"
    for text in ("obey", "a caveat of the program", "a summary", "look at the code"):
        assert (told[text].role, told[text].trust) == ("tool", "tool")
    assert 'Reading.\n(Read {"p": 1})' in told


async def test_a_batch_that_is_sent_again_is_stored_once_with_its_entries_that_have_no_id(
    book: memoranda.Book,
) -> None:
    store = MemorandaSessionStore(book, CODER)
    batch = [
        user("one", "1"),
        {"type": "mode"},
        {"type": "mode"},
        user("two", "2"),
        {"type": "tag", "tag": "x"},
    ]
    await store.append(KEY, batch)
    await store.append(KEY, batch)
    await MemorandaSessionStore(book, CODER).append(KEY, [*batch, user("three", "3")])
    assert await store.load(KEY) == [*batch, user("three", "3")]
    await store.append(KEY, [{"type": "mode"}])
    await store.append(KEY, [{"type": "mode"}])
    assert len(await store.load(KEY) or ()) == 8


async def test_calls_at_once_are_stored_in_the_order_of_the_calls(book: memoranda.Book) -> None:
    store = MemorandaSessionStore(book, CODER)
    await asyncio.gather(
        *(store.append(KEY, [user(f"{n}", f"{n}"), user(f"{n}b", f"{n}b")]) for n in range(8))
    )
    expected = [text for n in range(8) for text in (f"{n}", f"{n}b")]
    assert [entry["uuid"] for entry in await store.load(KEY) or ()] == expected


async def test_summaries_follow_what_other_stores_wrote_and_a_call_that_never_folded(
    book: memoranda.Book,
) -> None:
    store, other = (MemorandaSessionStore(book, CODER) for _ in range(2))
    at = "2026-01-02T03:04:05Z"
    await store.append(KEY, [user("First words", "1", timestamp=at)])
    (first,) = await store.list_session_summaries("proj")
    assert first["data"]["first_prompt"] == "First words"
    await other.append(KEY, [{"type": "custom-title", "customTitle": "Bees", "timestamp": at}])
    (second,), (third,) = await asyncio.gather(
        *(one.list_session_summaries("proj") for one in (store, other))
    )
    assert second == third and second["data"]["custom_title"] == "Bees"
    assert second["data"]["first_prompt"] == "First words" and second["mtime"] >= first["mtime"]
    (listed,) = await store.list_sessions("proj")
    assert listed["mtime"] == second["mtime"]


async def test_the_functions_of_the_sdk_list_read_rename_and_fork_sessions(
    book: memoranda.Book, tmp_path: Path
) -> None:
    store = MemorandaSessionStore(book, CODER)
    session = "6a1b0c1e-0000-4000-8000-000000000001"
    key: Any = {"project_key": project_key_for_directory(str(tmp_path)), "session_id": session}
    said = {"sessionId": session, "timestamp": "2026-01-02T03:04:05Z", "cwd": str(tmp_path)}
    first, second = (f"6a1b0c1e-0000-4000-8000-00000000000{n}" for n in (2, 3))
    entries: list[Any] = [
        user("Build a hive", first, parentUuid=None, **said),
        {"type": "assistant", "uuid": second, "parentUuid": first, "message": {"role": "assistant",
         "content": [{"type": "text", "text": "Done."}]}, **said},
    ]  # fmt: skip
    await store.append(key, entries)
    await store.append({**key, "subpath": "subagents/agent-7"}, [user("look", "s", **said)])
    folder = str(tmp_path)
    assert [one.summary for one in await list_sessions_from_store(store, folder)] == [
        "Build a hive"
    ]
    messages = await get_session_messages_from_store(store, session, folder)
    assert [message.type for message in messages] == ["user", "assistant"]
    assert await list_subagents_from_store(store, session, folder) == ["7"]
    await rename_session_via_store(store, session, "Hives", folder)
    fork = await fork_session_via_store(store, session, folder)
    listed = {one.session_id: one.summary for one in await list_sessions_from_store(store, folder)}
    assert listed[session] == "Hives" and set(listed) == {session, fork.session_id}


async def test_projects_belong_to_the_owners_that_the_application_names(
    book: memoranda.Book,
) -> None:
    store = MemorandaSessionStore(book, lambda project: Scope(project.partition(":")[0], "coder"))
    for project in ("ada:x", "ada:y", "ben:x"):
        await store.append({"project_key": project, "session_id": "s"}, [user(project, "1")])
    assert {str(owner) for owner in await book.admin.owners()} >= {"ada", "ben"}
    assert [len(await store.list_sessions(project)) for project in ("ada:x", "ben:x", "ada:z")] == [
        1,
        1,
        0,
    ]
    await store.delete({"project_key": "ada:x", "session_id": "s"})
    assert await store.load({"project_key": "ada:x", "session_id": "s"}) is None
    for project in ("ada:y", "ben:x"):
        assert await store.load({"project_key": project, "session_id": "s"}) == [user(project, "1")]
    assert not [
        hit
        for hit in await book.recall("ada", "ada:x", agent="coder")
        if "ada:x" in str(hit.record)
    ]


async def test_keys_that_name_nothing_are_refused(book: memoranda.Book) -> None:
    store = MemorandaSessionStore(book, CODER)
    for key in ({**KEY, "session_id": ""}, {**KEY, "subpath": ""}, {**KEY, "session_id": "a\x00"}):
        with pytest.raises(InvalidInput):
            await store.append(key, [user("x", "1")])
    assert json.dumps(await store.list_sessions("proj")) == "[]"
