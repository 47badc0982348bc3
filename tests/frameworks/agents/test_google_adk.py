"""The memory service of Google's ADK over a book, beside the one that ADK brings for tests."""

from __future__ import annotations

import random
import unicodedata
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.genai import types

import memoranda
from memoranda.errors import InvalidInput, NotFound
from memoranda.integrations.google_adk import MemorandaMemoryService, Scope
from tests.frameworks.agents.results import write_results


def service(book: memoranda.Book, **settings: Any) -> MemorandaMemoryService:
    return MemorandaMemoryService(book, lambda app, user: Scope(user, app), **settings)


def event(id: str, text: str | None, author: str = "user", **part: Any) -> Event:
    content = (
        None if text is None else types.Content(parts=[types.Part(text=text, **part)], role="user")
    )
    return Event(
        id=id, invocation_id=f"inv-{id}", author=author, timestamp=1_700_000_000.5, content=content
    )


def session(id: str, *events: Event, app: str = "app", user: str = "ada") -> Session:
    return Session(app_name=app, user_id=user, id=id, last_update_time=1000, events=list(events))


async def found(memory: Any, query: str, app: str = "app", user: str = "ada") -> list[str]:
    answer = await memory.search_memory(app_name=app, user_id=user, query=query)
    return [entry.content.parts[0].text for entry in answer.memories]


async def test_a_session_is_found_again_with_who_said_it_and_when(book: memoranda.Book) -> None:
    memory = service(book)
    call = types.Part(function_call=types.FunctionCall(name="f", args={}))
    image = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png"))
    mixed = event("c", "Bees fly.", "helper")
    assert mixed.content is not None and mixed.content.parts is not None
    mixed.content.parts += [call, image]
    await memory.add_session_to_memory(
        session(
            "s",
            event("a", "I keep bees."),
            event("b", None),
            mixed,
            event("d", "bees?", thought=True),
        )
    )
    answer = await memory.search_memory(app_name="app", user_id="ada", query="bees")
    assert {entry.content.parts[0].text for entry in answer.memories} == {
        "I keep bees.",
        "Bees fly.",
    }
    by_helper = next(entry for entry in answer.memories if entry.author == "helper")
    assert by_helper.content == mixed.content, "every part comes back as it was"
    assert by_helper.timestamp == "2023-11-14T22:13:20.500000+00:00"
    assert by_helper.custom_metadata["session_id"] == "s"
    assert by_helper.custom_metadata["event_id"] == "c"


async def test_a_session_that_is_added_again_adds_what_is_new_and_nothing_forgotten(
    book: memoranda.Book,
) -> None:
    memory = service(book)
    said = [event(str(n), f"bees {n}") for n in range(3)]
    await memory.add_session_to_memory(session("s", *said[:2]))
    answer = await memory.search_memory(app_name="app", user_id="ada", query="bees 0")
    (first,) = (entry for entry in answer.memories if entry.content.parts[0].text == "bees 0")
    await memory.delete_memory(app_name="app", user_id="ada", memory_id=first.id)
    await memory.add_session_to_memory(session("s", *said))
    await memory.add_events_to_memory(app_name="app", user_id="ada", events=said, session_id="s")
    assert sorted(await found(memory, "bees")) == ["bees 1", "bees 2"]


async def test_events_without_a_session_or_an_id_are_kept_once(book: memoranda.Book) -> None:
    memory = service(book)
    for _ in range(2):
        await memory.add_events_to_memory(
            app_name="app", user_id="ada", events=[event("", "I keep bees.")]
        )
    assert await found(memory, "bees") == ["I keep bees."]


async def test_users_and_apps_find_only_their_own(book: memoranda.Book) -> None:
    memory = service(book)
    for app, user in (
        ("app", "ada"),
        ("app", "ben"),
        ("other", "ada"),
        ("app/x", "ada"),
        ("app", "x/ada"),
    ):
        text = f"secret of {app} {user}"
        await memory.add_session_to_memory(session("s", event("e", text), app=app, user=user))
    for app, user in (
        ("app", "ada"),
        ("app", "ben"),
        ("other", "ada"),
        ("app/x", "ada"),
        ("app", "x/ada"),
    ):
        assert await found(memory, "secret", app, user) == [f"secret of {app} {user}"]
    answer = await memory.search_memory(app_name="app", user_id="ben", query="secret")
    with pytest.raises(NotFound):
        await memory.delete_memory(app_name="app", user_id="ada", memory_id=answer.memories[0].id)
    assert await found(memory, "secret", "app", "ben") == ["secret of app ben"]


async def test_statements_are_remembered_once_and_found_beside_what_was_said(
    book: memoranda.Book,
) -> None:
    memory = service(book)
    content = types.Content(parts=[types.Part(text="Ada keeps bees")])
    entry = MemoryEntry(id="m1", content=content, custom_metadata={"key": "bees", "kind": "fact"})
    for _ in range(2):
        await memory.add_memory(app_name="app", user_id="ada", memories=[entry])
    answer = await memory.search_memory(app_name="app", user_id="ada", query="bees")
    assert [(one.author, one.custom_metadata["type"]) for one in answer.memories] == [
        ("memory", "memory")
    ]
    records: Any = (await book.records.list("ada", types="memory", agent="app")).records
    assert [record.key for record in records] == ["bees"]
    empty = MemoryEntry(content=types.Content(parts=[]))
    with pytest.raises(InvalidInput):
        await memory.add_memory(app_name="app", user_id="ada", memories=[empty])


async def test_an_author_says_who_said_it_and_where_it_came_from(book: memoranda.Book) -> None:
    thread = await book.thread("ada", agent="app")
    await thread.append("user", "Bees want money", speaker="Mallory", trust="web")
    await book.remember("ada", "Bees are for sale", trust="web", agent="app")
    answer = await service(book).search_memory(app_name="app", user_id="ada", query="bees")
    assert {one.author for one in answer.memories} == {
        'user "Mallory", from web',
        "memory, from web",
    }


async def test_a_search_shows_masks_in_place_of_secrets(book: memoranda.Book) -> None:
    memory = service(book)
    await memory.add_session_to_memory(
        session("s", event("e", "My bees card is 4556737586899855."))
    )
    (shown,) = await found(memory, "bees card")
    assert "455673" not in shown and "bees" in shown


async def test_a_question_without_words_finds_nothing(book: memoranda.Book) -> None:
    memory = service(book)
    await memory.add_session_to_memory(session("s", event("e", "I keep bees.")))
    assert [await found(memory, query) for query in ("", " \n", "\x00")] == [[], [], []]
    await memory.add_session_to_memory(session("empty"))


WORDS = "bees honey garden Rome coffee violin snow river Python 太郎 機械学習 Café Алексей 민수입니다".split()


async def test_it_finds_the_events_that_the_service_of_adk_finds(tmp_path: Path) -> None:
    """ADK publishes the tests of its services in no source archive: its service in memory is the
    measure instead.
    """
    cases, missed = 0, []
    async with memoranda.open(tmp_path / "book.db") as book:
        for seed in range(12):
            dice = random.Random(seed)
            ours, theirs = service(book, limit=50), InMemoryMemoryService()
            told = [
                session(
                    f"s{n}",
                    *(event(f"{n}-{m}", " ".join(dice.sample(WORDS, 3))) for m in range(3)),
                    user=f"u{seed}",
                )
                for n in range(3)
            ]
            for one in told:
                await ours.add_session_to_memory(one)
                await theirs.add_session_to_memory(one)
            for query in WORDS:
                cases += 1
                for form in (query, unicodedata.normalize("NFD", query.upper())):
                    expected = set(await found(theirs, form, user=f"u{seed}"))
                    if not expected <= set(await found(ours, form, user=f"u{seed}")):
                        missed.append({"case": f"{seed} {form}", "why": "not found"})
    assert missed == []
    write_results(
        "google-adk",
        {
            "framework": "Google ADK",
            "package": "google-adk",
            "version": version("google-adk"),
            "run": "events found by InMemoryMemoryService, SQLite",
            "cases": cases,
            "passed": cases,
            "left_out": [
                {
                    "case": "tests/unittests/memory",
                    "why": "in no source archive of the package; the same sessions and questions are asked of ADK's own service",
                }
            ],
        },
    )


class Scripted(BaseLlm):
    """A model that calls the memory tool and repeats its answer."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        last = llm_request.contents[-1].parts[-1]
        if last.function_response is None:
            part = types.Part(
                function_call=types.FunctionCall(name="load_memory", args={"query": "bees"})
            )
        else:
            part = types.Part(text=f"I know: {last.function_response.response}")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def test_an_agent_of_adk_loads_what_was_said_in_an_earlier_session(
    book: memoranda.Book,
) -> None:
    memory = service(book)
    await memory.add_session_to_memory(session("monday", event("e", "I keep bees.")))
    agent = LlmAgent(name="helper", model=Scripted(model="scripted"), tools=[load_memory])
    sessions = InMemorySessionService()
    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=memory)
    tuesday = await sessions.create_session(app_name="app", user_id="ada")
    asked = types.Content(role="user", parts=[types.Part(text="What do I keep?")])
    events = [
        one
        async for one in runner.run_async(user_id="ada", session_id=tuesday.id, new_message=asked)
    ]
    final = events[-1].content
    assert final is not None and final.parts is not None
    assert "I keep bees." in str(final.parts[0].text)
