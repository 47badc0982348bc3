"""Tests that formed records have no secret, and nothing that the user asked not to keep."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.formation.privacy.unwanted import unwanted_spans
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import Thread
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from tests.formation.books import known, opened, settle

PASSPORT = "X4821903"
PASSWORD = "Tr0ub4dor&3"
KEY = "sk-proj-h8Kd02mZpQ7vTnB4sXyL1aRc"


def answering(*parts: dict[str, Any]) -> Callable[[ModelRequest], Said]:
    """Return a model that answers each question with all these parts."""
    return lambda request: {name: value for part in parts for name, value in part.items()}


def note(content: str, *sources: Any, **fields: Any) -> dict[str, Any]:
    return {
        "content": content,
        "sources": [{"message": one} for one in sources or ("m1",)],
        **fields,
    }


async def everything(book: Any) -> str:
    """Return all formed records of a book as text."""
    lines = [line async for line in book.admin.export()]
    return "\n".join(line for line in lines if '"type": "message"' not in line)


async def test_no_question_to_a_model_holds_a_secret_and_none_reaches_what_is_formed(
    clock: HandClock,
) -> None:
    models = ScriptedModels(
        answering({"notes": [note("Dana's key for OpenAI is kept in [hidden: key] form by Mei.")]})
    )
    said = [
        {
            "role": "user",
            "content": f"My passport number is {PASSPORT}, and use {KEY} for the demo.",
        },
        {"role": "assistant", "content": f"I noted the passport {PASSPORT}."},
    ]
    async with opened("memory://", clock, models) as book:
        await book.remember("ann", f"Wifi password: {PASSWORD}", agent="guide", audience="global")
        thread = await book.thread("ann", agent="guide", audience="global")
        await thread.append(said)
        await thread.append("user", "And what is the wifi password again?")
        await settle(book, clock)
        await thread.close()
        await settle(book, clock)
        whole = await everything(book)
    assert models.asked
    for request in models.asked:
        assert (
            PASSPORT not in request.content
            and KEY not in request.content
            and PASSWORD not in request.content
        )
    assert "[hidden: passport number]" in models.asked[0].content
    assert PASSPORT not in whole and KEY not in whole


async def test_a_note_a_patch_and_a_lesson_that_are_only_a_secret_are_refused_and_reported(
    clock: HandClock,
) -> None:
    answer = answering(
        {
            "notes": [
                note("The user's passport number is [hidden: passport number].", key="passport"),
                note(f"The password is {PASSWORD}"),
                note(
                    "The user flies to Lisbon on Monday.",
                    applies_when=f"the password is {PASSWORD}",
                ),
            ],
            "patches": [
                {
                    "schema": "Profile",
                    "operations": [
                        {"op": "add", "path": "/name", "value": f"password: {PASSWORD}"},
                        {"op": "add", "path": "/home", "value": "Lisbon"},
                    ],
                    "sources": [{"message": "m1"}],
                }
            ],
            "experience": [
                {
                    "field": "heuristics",
                    "line": f"Log in with password {PASSWORD}",
                    "sources": [{"message": "m1"}],
                }
            ],
        }
    )
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            "user",
            f"I fly home to Lisbon on Monday, passport number {PASSPORT}, the password is {PASSWORD}.",
        )
        await settle(book, clock)
        assert await known(book) == ["Home: Lisbon", "The user flies to Lisbon on Monday."]
        assert await book.profiles.get("ann", agent="guide") == {"home": "Lisbon"}
        assert await book.experience.list("guide") == []
        assert PASSWORD not in await everything(book)


async def test_keep_forms_secrets_as_they_were_said(clock: HandClock) -> None:
    models = ScriptedModels(answering({"notes": [note(f"The wifi password is {PASSWORD}.")]}))
    async with opened("memory://", clock, models, secrets="keep") as book:
        await (await book.thread("ann", agent="guide")).append(
            "user", f"The wifi password is {PASSWORD}."
        )
        await settle(book, clock)
        assert await known(book) == [f"The wifi password is {PASSWORD}."]
    assert PASSWORD in models.asked[0].content


async def test_rules_form_no_secret(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            "user",
            f"Remember that my password is {PASSWORD}. I live in Boston. Log in with password {PASSWORD}.",
        )
        await settle(book, clock)
        await thread.close()
        await settle(book, clock)
        assert await known(book) == ["Lives in Boston"]
        formed = await thread.get()
        assert isinstance(formed, Thread) and PASSWORD not in formed.title and formed.title
        assert PASSWORD not in await everything(book)


async def test_tool_calls_in_an_episode_that_is_formed_hold_no_secret(clock: HandClock) -> None:
    call = {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "c1",
                "function": {"name": "login", "arguments": f'{{"password": "{PASSWORD}"}}'},
            }
        ],
    }
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Log in, please.")
        await thread.append("assistant", "(…)", native=call)
        await thread.append(
            "tool", f"logged in with {KEY}", native={"role": "tool", "tool_call_id": "c1"}
        )
        await thread.close()
        await settle(book, clock)
        (episode,) = (await book.records.list("ann", types="episode", agent="guide")).records
        assert "login" in str(episode.model_dump()) and PASSWORD not in str(episode.model_dump())
        assert KEY not in str(episode.model_dump())


UNWANTED = [
    (
        ["My salary is 90,000 euros, but please don't store that."],
        "The user's salary is 90,000 euros.",
    ),
    (["I was in hospital in May. Don't remember that."], "The user was in hospital in May."),
    (["I was in hospital in May.", "Please don't save that."], "The user was in hospital in May."),
    (["Ich verdiene 90.000 Euro. Das bitte nicht speichern."], "Der Nutzer verdient 90.000 Euro."),
    (["Ich habe Diabetes.", "Merk dir das bitte nicht."], "Der Nutzer hat Diabetes."),
    (["Gano 90.000 euros al año, no lo guardes."], "El usuario gana 90.000 euros al año."),
    (
        ["Mi hermana está enferma.", "No guardes eso, por favor."],
        "La hermana del usuario está enferma.",
    ),
    (["Please don't note this: I was ill in May."], "The user was ill in May."),
    (["I earn 90,000 euros.", "Don't store my salary."], "The user earns 90,000 euros."),
]


@pytest.mark.parametrize(("said", "content"), UNWANTED)
async def test_what_the_user_asks_not_to_keep_is_in_no_note_patch_or_lesson(
    clock: HandClock, said: list[str], content: str
) -> None:
    handles = [f"m{place}" for place in range(1, len(said) + 2)]
    answer = answering(
        {
            "notes": [
                note(content, *handles[:1]),
                note(content, *handles[-2:-1]),
                note("The user likes jazz.", handles[-1]),
            ],
            "patches": [
                {
                    "schema": "Profile",
                    "operations": [{"op": "add", "path": "/occupation", "value": content}],
                    "sources": [{"message": handles[0]}],
                }
            ],
            "experience": [
                {"field": "heuristics", "line": content, "sources": [{"message": handles[0]}]}
            ],
        }
    )
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([{"role": "user", "content": one} for one in [*said, "I like jazz."]])
        await settle(book, clock)
        assert await known(book) == ["The user likes jazz."]
        assert await book.profiles.get("ann", agent="guide") == {}
        assert await book.experience.list("guide") == []


async def test_the_sentences_beside_an_unwanted_one_are_kept(clock: HandClock) -> None:
    answer = answering(
        {"notes": [note("The user lives in Lisbon."), note("The user earns 90,000 euros.")]}
    )
    async with opened("memory://", clock, ScriptedModels(answer)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Lisbon. I earn 90,000 euros, but don't store that.")
        await settle(book, clock)
        assert await known(book) == ["The user lives in Lisbon."]


async def test_rules_keep_nothing_that_the_user_asks_not_to_keep(
    tmp_path: Path, clock: HandClock
) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Boston, but don't store that.")
        await thread.append("user", "Ich wohne in Hamburg. Das bitte nicht speichern.")
        await thread.append("user", "I like jazz.")
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
        formed = await thread.get()
        assert isinstance(formed, Thread) and "Boston" not in formed.title
        assert "Boston" not in str(await book.profiles.get("ann", agent="guide"))


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember that.",
        "We don't store that in S3.",
        "Don't store that in the database, use a cache.",
        "Don't forget that I like jazz.",
        "They never keep it.",
        "Ich kann mir das nicht merken, wenn es laut ist",
        "No recuerdo eso.",
        "Save that file, please.",
        "Don't write that function.",
        "I don't write that down.",
        "Don't write it in Python.",
    ],
)
def test_what_only_speaks_of_storing_asks_for_nothing(text: str) -> None:
    assert unwanted_spans(["I live in Rome.", text])[0] == []


@pytest.mark.parametrize(
    "part",
    [
        "please don't store that. ",
        "don't store my a b ",
        "das bitte aber ",
        "no guardes mi a ",
        "a. ",
    ],
)
def test_many_requests_take_time_in_proportion(part: str) -> None:
    started = time.process_time()
    unwanted_spans([part * (20_000 // len(part))] * 2)
    assert time.process_time() - started < 2
