"""Tests of other forms of an answer: what has another form goes back to the model once, and nothing
is lost.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from memoranda.book import Book
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.memories import Memory
from memoranda.models.json_answer import Unreadable, read_json
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import ScriptedModels, handle
from tests.formation.books import opened, settle

SAID = (
    "Hi, I'm Dana. I live in Utrecht and I run the backend team at Lumen Freight.",
    "Noted. Anything else?",
    "Please always show me the diff before you touch anything in main. I like jazz.",
    "By the way, we're on Postgres 16 now, and alembic needs one head.",
)
WHOLE: dict[str, Any] = {
    "notes": [
        {
            "content": "Dana runs the backend team at Lumen Freight.",
            "key": "employer",
            "sources": [{"message": "m1", "quote": "I run the backend team at Lumen Freight"}],
        },
        {
            "content": "Always show the diff before touching main.",
            "kind": "instruction",
            "sources": [
                {
                    "message": "m3",
                    "quote": "always show me the diff before you touch anything in main",
                }
            ],
        },
        {
            "content": "Dana's team is on Postgres 16.",
            "supersedes": ["c1"],
            "sources": [{"message": "m4", "quote": "we're on Postgres 16 now"}],
        },
    ],
    "repeats": [],
    "patches": [
        {
            "schema": "Profile",
            "operations": [
                {"op": "add", "path": "/name", "value": "Dana"},
                {"op": "add", "path": "/interests", "value": ["jazz"]},
            ],
            "sources": [{"message": "m1"}, {"message": "m3"}],
        }
    ],
    "experience": [
        {"field": "tool_patterns", "line": "Alembic needs one head", "sources": [{"message": "m4"}]}
    ],
    "episode": {"goal": "Get to know each other", "outcome": "succeeded"},
}


def answered(text: str) -> ModelAnswer:
    """Return the answer that a provider makes of a model's text."""
    try:
        return ModelAnswer(text=text, value=read_json(text))
    except Unreadable as exc:
        return ModelAnswer(text=text, fault=str(exc))


async def outcome(clock: HandClock, text: str) -> tuple[dict[str, Any], int]:
    """Return the records that a book has after an answer that is mended when asked, and the number
    of questions.
    """

    def say(request: ModelRequest) -> ModelAnswer:
        held = handle(request, "Postgres 15")
        given = TEXT if request.earlier else text
        written = given if held in (None, "c1") else given.replace("c1", str(held))
        return answered(written)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        await book.remember("dana", "Dana's team is on Postgres 15.", agent="forge")
        thread = await book.thread("dana", agent="forge")
        for place, said in enumerate(SAID):
            await thread.append("assistant" if place == 1 else "user", said)
        await thread.close()
        await settle(book, clock)
        return await left(book), len(models.asked)


async def left(book: Book) -> dict[str, Any]:
    page = await book.records.list("dana", types="memory", as_owner=True)
    memories = [one for one in page.records if isinstance(one, Memory)]
    episodes = await book.episodes.list("dana", agent="forge")
    return {
        "active": sorted(one.content for one in memories if one.active),
        "kinds": sorted(one.kind for one in memories if one.active),
        "gone": sorted(one.content for one in memories if not one.active),
        "profile": await book.profiles.get("dana", agent="forge"),
        "episodes": [(one.goal, one.outcome.value) for one in episodes],
        "lines": [one.line for one in await book.experience.list("forge")],
    }


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    answer = copy.deepcopy(WHOLE)
    return json.dumps(change(answer) or answer)


def each(change: Callable[[dict[str, Any]], Any]) -> str:
    """The answer with a change of each note."""

    def all_notes(answer: dict[str, Any]) -> None:
        for note in answer["notes"]:
            change(note)

    return changed(all_notes)


def with_handle(form: Callable[[str], Any]) -> str:
    return each(lambda note: [one.update(message=form(one["message"])) for one in note["sources"]])


def with_quote(form: Callable[[str], Any]) -> str:
    return each(lambda note: [one.update(quote=form(one["quote"])) for one in note["sources"]])


def with_memory(form: Any) -> str:
    return each(lambda note: note.update(supersedes=form) if "supersedes" in note else None)


def renamed(**names: str) -> str:
    return json.dumps({names.get(part, part): inner for part, inner in WHOLE.items()})


def patched(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> str:
    return changed(
        lambda answer: answer["patches"][0].update(
            operations=change(answer["patches"][0]["operations"])
        )
    )


TEXT = json.dumps(WHOLE)
NOTES, PATCH = WHOLE["notes"], WHOLE["patches"][0]
FORMS = {
    "schema names as keys": renamed(
        notes="Note", patches="Profile", experience="AgentExperience", episode="Episode"
    ),
    "memories and profile": renamed(notes="memories", patches="profile", episode="episodes"),
    "small letters": renamed(notes="NOTES", patches="Patches", experience="agent_experience"),
    "in an answer": json.dumps({"answer": WHOLE}),
    "in an output, with thoughts": json.dumps(
        {"reasoning": "Let me think.", "output": {"result": WHOLE}}
    ),
    "in a list": json.dumps([WHOLE]),
    "as JSON in a text": json.dumps({"answer": json.dumps(WHOLE)}),
    "parts as JSON in texts": json.dumps(
        {part: json.dumps(inner) for part, inner in WHOLE.items()}
    ),
    "as the call of a tool": json.dumps({"name": "answer", "arguments": WHOLE}),
    "sources as handles": each(
        lambda note: note.update(sources=[one["message"] for one in note["sources"]])
    ),
    "one handle for sources": each(lambda note: note.update(sources=note["sources"][0]["message"])),
    "one object for sources": each(lambda note: note.update(sources=note["sources"][0])),
    "handles with their quotes": each(
        lambda note: note.update(sources={one["message"]: one["quote"] for one in note["sources"]})
    ),
    "source for sources": each(lambda note: note.update(source=note.pop("sources"))),
    "message and quote in the note": each(lambda note: note.update(note.pop("sources")[0])),
    "handles in brackets": with_handle(lambda name: f"[{name}]"),
    "handles in capitals": with_handle(str.upper),
    "handles as numbers": with_handle(lambda name: int(name[1:])),
    "handles as objects": with_handle(lambda name: {"id": name}),
    "handles with their label": with_handle(lambda name: f"[{name}, 2026-09-01 09:07, user]"),
    "quotes that end in dots": with_quote(lambda quote: quote + "…"),
    "quotes in quotation marks": with_quote(lambda quote: f'"{quote}"'),
    "quotes after their speaker": with_quote(lambda quote: "user: " + quote),
    "quotes with a gap": with_quote(
        lambda quote: " ... ".join((" ".join(quote.split()[:2]), " ".join(quote.split()[-2:])))
    ),
    "quotes in a list": with_quote(lambda quote: [quote]),
    "a quote with a changed word": with_quote(lambda quote: quote.replace("touch", "change")),
    "supersedes in brackets": with_memory(["[c1]"]),
    "supersedes in capitals": with_memory(["C1"]),
    "supersedes as an object": with_memory([{"memory": "c1"}]),
    "supersedes as a text": with_memory("c1"),
    "one note for a list": json.dumps({**WHOLE, "notes": NOTES[0], "Note": NOTES[1:]}),
    "one patch for a list": json.dumps({**WHOLE, "patches": PATCH}),
    "operations under patches": json.dumps(
        {**WHOLE, "patches": [{**one, "sources": ["m1", "m3"]} for one in PATCH["operations"]]}
    ),
    "a patch for each source": json.dumps(
        {
            **WHOLE,
            "patches": [
                {**PATCH, "operations": [one], "sources": [source]}
                for one, source in zip(PATCH["operations"], PATCH["sources"], strict=True)
            ],
        }
    ),
    "sources in operations": json.dumps(
        {
            **WHOLE,
            "patches": [
                {
                    "schema": "Profile",
                    "operations": [
                        {**one, "sources": [source]}
                        for one, source in zip(PATCH["operations"], PATCH["sources"], strict=True)
                    ],
                }
            ],
        }
    ),
    "paths without a slash": patched(
        lambda found: [{**one, "path": one["path"][1:]} for one in found]
    ),
    "paths with the document": patched(
        lambda found: [{**one, "path": "/Profile" + one["path"]} for one in found]
    ),
    "other words for operations": patched(lambda found: [{**one, "op": "set"} for one in found]),
    "a text where a list is": patched(lambda found: [found[0], {**found[1], "value": "jazz"}]),
    "fields in capitals": patched(
        lambda found: [{**one, "path": one["path"].title()} for one in found]
    ),
    "an unknown field": patched(
        lambda found: [*found, {"op": "add", "path": "/employer", "value": "Lumen Freight"}]
    ),
    "the document as a patch": patched(
        lambda _: [{"op": "replace", "path": "", "value": {"name": "Dana", "interests": ["jazz"]}}]
    ),
    "the document under its name": json.dumps(
        {
            **{part: inner for part, inner in WHOLE.items() if part != "patches"},
            "Profile": {"name": "Dana", "interests": ["jazz"], "sources": ["m1", "m3"]},
        }
    ),
    "lines under their fields": json.dumps(
        {
            **WHOLE,
            "experience": {
                "Tool patterns": [{"line": "Alembic needs one head", "sources": ["m4"]}]
            },
        }
    ),
    "a field of another name": json.dumps(
        {**WHOLE, "experience": [{**WHOLE["experience"][0], "field": "Tools"}]}
    ),
    "success": json.dumps({**WHOLE, "episode": {**WHOLE["episode"], "outcome": "Success"}}),
    "completed": json.dumps({**WHOLE, "episode": {**WHOLE["episode"], "outcome": "completed"}}),
    "an episode in a list": json.dumps({**WHOLE, "episode": [WHOLE["episode"]]}),
    "a trailing comma": TEXT[:-1] + ",}",
    "a line break in a text": TEXT.replace("backend team", "backend\nteam"),
    "a comment": "{ // as asked\n" + TEXT[1:],
    "words of Python": TEXT.replace('"kind"', '"subject": None, "kind"', 1),
    "nulls": each(
        lambda note: note.update(dict.fromkeys(("subject", "applies_when", "valid_from", "tags")))
    ),
}


#: The forms that are read as they are; others cost a second question.
READ = (
    "sources as handles",
    "one handle for sources",
    "one object for sources",
    "handles in brackets",
    "handles in capitals",
    "supersedes in brackets",
    "supersedes in capitals",
    "supersedes as a text",
    "one patch for a list",
    "a patch for each source",
    "sources in operations",
    "an unknown field",
    "a line break in a text",
    "nulls",
)


@pytest.mark.parametrize("form", [*FORMS])
async def test_an_answer_in_another_form_forms_the_same_with_a_second_question_at_most(
    clock: HandClock, form: str
):
    wanted, asked = await outcome(clock, TEXT)
    assert (
        asked == 1
        and len(wanted["active"]) == 4
        and wanted["gone"] == ["Dana's team is on Postgres 15."]
    )
    assert wanted["profile"] == {"name": "Dana", "interests": ["jazz"]}
    assert len(wanted["lines"]) == len(wanted["episodes"]) == 1
    found, asked = await outcome(HandClock(), FORMS[form])

    found["active"] = [" ".join(content.split()) for content in found["active"]]
    assert found == wanted
    assert asked == (1 if form in READ else 2)


@pytest.mark.parametrize("named", ["c1", "[C1]"])
async def test_a_memory_that_is_taken_back_is_named_by_its_handle(clock: HandClock, named: str):
    models = ScriptedModels([{"retracts": {"memory": named, "sources": "m1"}}])
    async with opened("memory://", clock, models) as book:
        held = await book.remember("dana", "Dana's team is on Postgres 15.", agent="forge")
        thread = await book.thread("dana", agent="forge")
        await thread.append(
            "user", "That my team is on Postgres 15 is not right any more, forget it."
        )
        await settle(book, clock)
        found = await book.records.get("dana", held.id, as_owner=True)

    assert isinstance(found, Memory) and not found.active
    assert len(models.asked) == 1


UNREADABLE = {
    "unknown part": json.dumps({"observations": NOTES, "title": "A talk"}),
    "statements without sources": json.dumps({**WHOLE, "notes": ["Dana lives in Utrecht"]}),
    "JSON in a text that is cut": json.dumps({"answer": json.dumps(WHOLE)[:-9]}),
    "a list of texts": json.dumps(["Dana lives in Utrecht"]),
    "two episodes": json.dumps({**WHOLE, "episode": [WHOLE["episode"]] * 2}),
    "an unknown field of experience": json.dumps(
        {**WHOLE, "experience": [{**WHOLE["experience"][0], "field": "wisdom"}]}
    ),
    "an unknown outcome": json.dumps(
        {**WHOLE, "episode": {**WHOLE["episode"], "outcome": "partly"}}
    ),
    "a patch of no document": json.dumps(
        {
            **WHOLE,
            "patches": [
                {"operations": [{"op": "add", "path": "/shoe", "value": 4}], "sources": ["m1"]}
            ],
        }
    ),
}


@pytest.mark.parametrize("form", [*UNREADABLE])
async def test_content_whose_meaning_is_not_plain_goes_back_to_the_model(
    clock: HandClock, form: str
):
    answers = [UNREADABLE[form], TEXT]

    def say(request: ModelRequest) -> ModelAnswer:
        return answered(answers[bool(request.earlier)])

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("dana", agent="forge")
        for place, said in enumerate(SAID):
            await thread.append("assistant" if place == 1 else "user", said)
        await thread.close()
        await settle(book, clock)
        found = await left(book)

    assert len(models.asked) == 2
    assert len(found["active"]) == 4 and found["profile"] == {"name": "Dana", "interests": ["jazz"]}
    assert len(found["lines"]) == len(found["episodes"]) == 1


@pytest.mark.parametrize(
    ("quote", "kept"),
    [
        ("we're on Postgres 16 now", "we're on Postgres 16 now"),
        ("“We're on Postgres 16 now”", ""),
        ("we are on Postgres 16 now", ""),
    ],
)
async def test_a_quote_that_is_not_there_goes_back_once_and_then_the_note_stays_without_it(
    clock: HandClock, quote: Any, kept: str
):
    note = {
        "content": "Dana's team is on Postgres 16.",
        "sources": [{"message": "m1", "quote": quote}],
    }
    models = ScriptedModels([{"notes": [note]}] * 2)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("dana", agent="forge")
        await thread.append("user", SAID[3])
        await settle(book, clock)
        (memory,) = (await book.records.list("dana", types="memory", as_owner=True)).records

    assert isinstance(memory, Memory)
    assert [one.quote for one in memory.quotes] == ([kept] if kept else [])
    assert len(memory.sources) == 1
    assert len(models.asked) == (1 if kept else 2)
