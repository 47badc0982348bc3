"""Tests of a profile's sources: each field and item names its own messages, and is erased only with
these.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memoranda.book import Book
from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.prompt import compose
from memoranda.model.drafts import WantedSchema
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import ScriptedModels
from memoranda_conformance.builders import ANN, START, a_memory
from tests.formation.books import opened, settle
from tests.formation.readings import talk

SAID = (
    "Hello, I'm Dana Okafor.",
    "I run the backend team at Lumen Freight.",
    "I like jazz and short answers.",
    "I like chess, too.",
)
OPERATIONS: list[dict[str, Any]] = [
    {"op": "add", "path": "/name", "value": "Dana Okafor"},
    {"op": "add", "path": "/occupation", "value": "runs the backend team at Lumen Freight"},
    {"op": "add", "path": "/interests", "value": ["jazz"]},
    {"op": "add", "path": "/interests/-", "value": "chess"},
]


def patch(operations: list[dict[str, Any]], *sources: str) -> dict[str, Any]:
    return {
        "schema": "Profile",
        "operations": operations,
        **({"sources": [*sources]} if sources else {}),
    }


ANSWERS = {
    "one list for all": [patch(OPERATIONS, "m1", "m2", "m3", "m4")],
    "sources in each operation": [
        patch(
            [
                {**one, "sources": [{"message": f"m{place}"}]}
                for place, one in enumerate(OPERATIONS, start=1)
            ]
        )
    ],
    "a patch for each source": [
        patch([one], f"m{place}") for place, one in enumerate(OPERATIONS, start=1)
    ],
    "some with their own": [
        patch([{**OPERATIONS[0], "sources": ["m1"]}, OPERATIONS[1]], "m2"),
        patch(OPERATIONS[2:], "m3", "m4"),
    ],
}


async def document(book: Book) -> ProfileDocument:
    (found,) = await book.profiles.documents("dana", agent="forge")
    return found


async def sources(book: Book) -> dict[str, tuple[tuple[UUID, ...], ...]]:
    """Return the sources of each field; a bound field's are those of the memory that holds it."""
    found = {}
    for name, grounds in (await document(book)).grounds.items():
        held = await book.records.get("dana", grounds[0][0], agent="forge")
        found[name] = (held.sources,) if isinstance(held, Memory) else grounds
    return found


@pytest.mark.parametrize("form", [*ANSWERS])
@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_forgetting_the_message_with_the_name_removes_the_name_and_nothing_else(
    clock: HandClock, tmp_path: Path, form: str, engine: str
):
    where = "memory://" if engine == "memory" else tmp_path / "book.db"
    models = ScriptedModels([{"patches": ANSWERS[form]}])
    async with opened(where, clock, models) as book:
        thread = await book.thread("dana", agent="forge")
        said = [(await thread.append("user", text)).items[0].id for text in SAID]
        await settle(book, clock)
        assert await sources(book) == {
            "name": ((said[0],),),
            "occupation": ((said[1],),),
            "interests": ((said[2],), (said[3],)),
        }

        await book.forget("dana", [said[0]], as_owner=True)
        assert (await document(book)).body == {
            "occupation": "runs the backend team at Lumen Freight",
            "interests": ["jazz", "chess"],
        }
        await book.forget("dana", [said[2]], as_owner=True)
        assert (await document(book)).body["interests"] == ["chess"]
        assert len(models.asked) == 1


async def test_rules_know_which_message_gave_each_field(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("dana", agent="forge")
        said = [
            (await thread.append("user", text)).items[0].id
            for text in (
                "My name is Dana.",
                "I live in Utrecht.",
                "I like jazz.",
                "I really like jazz!",
            )
        ]
        await settle(book, clock)
        assert await sources(book) == {
            "name": ((said[0],),),
            "home": ((said[1],),),
            "interests": ((said[2], said[3]),),
        }
        await book.forget("dana", [said[0]], as_owner=True)
        assert (await document(book)).body == {"home": "Utrecht", "interests": ["jazz"]}


async def test_a_value_said_again_gets_only_the_source_that_says_it(clock: HandClock):
    again = [
        {"op": "add", "path": "/interests/-", "value": "jazz", "sources": ["m2"]},
        {"op": "add", "path": "/home", "value": "Utrecht", "sources": ["m1"]},
    ]
    answers = [
        {
            "patches": [
                patch([{"op": "add", "path": "/interests", "value": ["jazz", "chess"]}], "m1")
            ]
        }
    ]
    models = ScriptedModels([*answers, {"patches": [patch(again)]}])
    async with opened("memory://", clock, models) as book:
        first = await book.thread("dana", agent="forge")
        (one,) = (await first.append("user", "I like jazz and chess.")).items
        await settle(book, clock)
        second = await book.thread("dana", agent="forge")
        (home,) = (await second.append("user", "I moved to Utrecht.")).items
        (more,) = (await second.append("user", "Jazz it is, as ever.")).items
        await settle(book, clock)
        assert await sources(book) == {
            "interests": ((one.id, more.id), (one.id,)),
            "home": ((home.id,),),
        }


async def test_an_operation_that_nobody_said_costs_no_other(clock: HandClock):
    operations = [
        *OPERATIONS[:2],
        {"op": "add", "path": "/home", "value": "Rotterdam", "sources": ["m2"]},
    ]
    models = ScriptedModels([{"patches": [patch(operations, "m1", "m3")]}])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("dana", agent="forge")
        await thread.append("user", SAID[0])
        await thread.append("assistant", "You live in Rotterdam, I believe.")
        await thread.append("user", SAID[1])
        await settle(book, clock)
        assert set((await document(book)).body) == {"name", "occupation"}
        assert len(models.asked) == 1


def test_more_quotes_than_a_patch_keeps_cost_that_patch_and_not_the_answer():
    hobbies = [f"hobby{place}" for place in range(120)]
    prompt = compose(talk(("user", f"I like {' '.join(hobbies)}")))
    assert prompt is not None
    operations = [
        {
            "op": "add",
            "path": "/interests/-",
            "value": hobby,
            "sources": [{"message": "m1", "quote": f"{hobby} {after}"}],
        }
        for hobby, after in pairwise(hobbies)
    ]
    found = read_answer({"patches": [patch(operations[:80]), patch(operations[80:])]}, prompt)

    assert [len(one.operations) for one in found.patches] == [80]
    assert [(one.part, one.code) for one in found.left_out] == [("patches[1]", "many")]


def test_a_patched_memory_keeps_when_it_happened_and_how_exactly_its_end_is_known():
    schema = WantedSchema(
        name="Trip",
        update_mode="insert",
        parameters={
            "type": "object",
            "properties": {"city": {"type": "string"}, "hotel": {"type": "string"}},
        },
    )
    held = a_memory(
        ANN,
        "Ann goes to Lisbon",
        data={"schema": "Trip", "document": {"city": "Lisbon"}},
        happened="2026-05-07",
        valid_to=START + timedelta(days=9),
        valid_to_granularity="day",
    )
    reading = talk(
        ("user", "The hotel in Lisbon is the Avenida"), schemas=(schema,), candidates=(held,)
    )
    prompt = compose(reading)
    assert prompt is not None
    operation = {"op": "add", "path": "/hotel", "value": "Avenida"}
    (draft,) = read_answer(
        {"patches": [{"memory": "c1", "operations": [operation], "sources": ["m1"]}]}, prompt
    ).notes

    assert (draft.happened, draft.valid_to) == (held.happened, held.valid_to)
    assert draft.valid_to_granularity == held.valid_to_granularity == "day"
