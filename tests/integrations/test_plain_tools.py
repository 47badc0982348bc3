"""The memory's tools without a framework: schemas in each provider's form, and calls by name."""

from __future__ import annotations

import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from pydantic_ai import Agent

import memoranda
from memoranda.errors import InvalidInput, StorageError
from memoranda.integrations.plain_tools import (
    Call,
    MemoryTools,
    Scope,
    ToolAnswer,
    run_tool,
    tool_schemas,
)
from memoranda.integrations.pydantic_ai import Memoranda
from tests.integrations.scripted import COACH, Script

EVERY = ("remember", "recall", "search", "forget", "read_turns")


def tools_of(book: memoranda.Book, scope: Scope = COACH, **settings: Any) -> MemoryTools:
    return MemoryTools(book, scope, **settings)


async def run(
    book: memoranda.Book, name: str, arguments: Any = None, id: str = "1", **more: Any
) -> ToolAnswer:
    return await run_tool(tools_of(book), Call("run", id), name, arguments, **more)


def test_each_provider_gets_the_tools_in_its_own_form() -> None:
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few words."}
        },
        "required": ["query"],
    }
    closed = {**schema, "additionalProperties": False}
    named = {
        "name": "search",
        "description": "Search what is remembered of the user, and what was done for them before.",
    }
    assert tool_schemas("openai", tools=["search"]) == [
        {"type": "function", "function": {**named, "parameters": closed}}
    ]
    assert tool_schemas("openai_responses", tools=["search"]) == [
        {"type": "function", **named, "parameters": closed, "strict": False}
    ]
    assert tool_schemas("anthropic", tools=["search"]) == [{**named, "input_schema": closed}]
    assert tool_schemas("gemini", tools=["search"]) == [{**named, "parameters": schema}]
    assert tool_schemas("gemini", tools=["recall"]) == [
        {"name": "recall", "description": "Show what is remembered of the user."}
    ]
    names = [one["name"] for one in tool_schemas("anthropic")]
    assert names == ["remember", "recall", "search", "forget"]
    json.dumps(
        [
            tool_schemas(form, tools=EVERY)
            for form in ("openai", "openai_responses", "anthropic", "gemini")
        ]
    )


@pytest.mark.parametrize("allow_global", [False, True])
async def test_they_say_the_same_as_the_tools_of_pydantic_ai(
    book: memoranda.Book, allow_global: bool
) -> None:
    script = Script()
    capability = Memoranda[None](book, COACH, tools=EVERY, allow_global=allow_global)
    await Agent(script.model, capabilities=[capability]).run("Hello!")
    for schema in tool_schemas("anthropic", tools=EVERY, allow_global=allow_global):
        told = script.described[schema["name"]]
        assert told.startswith(schema["description"])
        for name, argument in schema["input_schema"]["properties"].items():
            assert repr(name) in told and argument["description"] in told
    (remember,) = tool_schemas("anthropic", tools=["remember"], allow_global=allow_global)
    assert ("global" in str(remember)) is allow_global


def test_what_is_no_form_or_tool_is_refused() -> None:
    unknown: Any = "cohere"
    with pytest.raises(InvalidInput, match="anthropic"):
        tool_schemas(unknown)
    with pytest.raises(InvalidInput, match="read_turns"):
        tool_schemas("openai", tools=["explode"])


async def test_a_statement_is_kept_found_and_forgotten_by_calls_with_json(
    book: memoranda.Book,
) -> None:
    kept = await run(book, "remember", '{"content": "Keeps bees", "key": "pets", "audience": null}')
    assert kept == ToolAnswer("Remembered: pets = Keeps bees [fact, self]", False)
    for name, arguments in (("recall", ""), ("recall", None), ("search", {"query": "bees"})):
        answer = await run(book, name, arguments)
        assert not answer.failed and "pets = Keeps bees" in answer.text
    gone = await run(book, "forget", {"key": "pets"})
    assert not gone.failed and gone.text.startswith("Forgotten")
    assert (
        await run(book, "search", {"query": "bees"})
    ).text == "No memories matching 'bees' found."


async def test_the_same_call_twice_is_done_once(book: memoranda.Book) -> None:
    for _ in range(2):
        await run(book, "remember", {"content": "Keeps bees"}, id="same")
    assert len((await book.records.list("ana", types="memory", agent="coach")).records) == 1


async def test_turns_are_read_where_the_tool_is_named(book: memoranda.Book) -> None:
    thread = await book.thread("ana", name="monday", agent="coach")
    await thread.append("user", "I keep bees")
    call = Call("run", "1", thread)
    memory, turns = tools_of(book), {"first": 1.0, "last": 1}
    assert (await run_tool(memory, call, "read_turns", turns)).text.startswith("There is no tool")
    answer = await run_tool(memory, call, "read_turns", turns, tools=EVERY)
    assert not answer.failed and "I keep bees" in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("explode", {}, "The tools are remember, recall, search, forget."),
        ("read_turns", {"first": 1, "last": 2}, "There is no tool"),
        ("remember", "{", "Not remembered. The arguments are not JSON"),
        ("remember", "[]", "Not remembered. The arguments are no JSON object"),
        ("remember", {}, "Not remembered. The argument content is missing."),
        ("remember", {"content": None}, "Not remembered. The argument content is missing."),
        ("remember", {"content": 3}, "Not remembered. The argument content must be text."),
        ("remember", {"content": "x", "owner": "ben"}, "There is no argument 'owner'."),
        ("remember", {"content": "x" * 5000}, "Not remembered. Content too long."),
        ("search", {"query": True}, "Not searched. The argument query must be text."),
        ("forget", {"key": " "}, "Not forgotten. Key must not be empty."),
    ],
)
async def test_what_a_model_gets_wrong_is_answered_and_nothing_is_stored(
    book: memoranda.Book, name: str, arguments: Any, told: str
) -> None:
    answer = await run(book, name, arguments)
    assert answer.failed and told in answer.text
    assert list((await book.records.list("ana", as_owner=True)).records) == []


async def test_a_model_reaches_no_other_owner(book: memoranda.Book) -> None:
    await book.remember("ben", "Ben keeps snakes", agent="coach")
    secret = (await book.records.list("ben", types="memory", agent="coach")).records[0].id
    for name, arguments in (
        ("search", {"query": "snakes"}),
        ("recall", {}),
        ("forget", {"key": str(secret)}),
    ):
        assert "Ben" not in (await run(book, name, arguments)).text
    unknown = str(uuid4())
    said = (await run(book, "remember", {"content": "x", "replaces": unknown})).text.replace(
        unknown, "ID"
    )
    replaced = await run(book, "remember", {"content": "x", "replaces": str(secret)})
    assert replaced.text.replace(str(secret), "ID") == said and "No memory has the id" in said
    assert (await book.records.get("ben", secret, agent="coach")).version == 1


async def test_a_book_that_is_down_fails_the_call_and_not_the_program(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StorageError("the disk is gone")

    with (
        monkeypatch.context() as patched,
        caplog.at_level(logging.WARNING, "memoranda.integrations"),
    ):
        patched.setattr(book, "remember", down)
        answer = await run(book, "remember", {"content": "Keeps bees"})
    assert answer == ToolAnswer("Not remembered. The memory cannot be reached now.", True)


def test_a_program_without_an_event_loop_runs_them_on_the_books_own() -> None:
    with memoranda.open_sync("memory://") as book:
        memory = MemoryTools(book.book, COACH)
        answer = book.run(run_tool(memory, Call("run", "1"), "remember", {"content": "Keeps bees"}))
    assert answer.text == "Remembered: Keeps bees [fact, self]"
