"""A person's memory that several agents of PydanticAI share."""

from __future__ import annotations

import json

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from memoranda import InvalidInput
from memoranda.integrations.pydantic_ai import Memoranda, Scope


def an_agent(book: memoranda.Book, scope: Scope, seen: list[str]) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(
            json.dumps(
                [str(getattr(part, "content", "")) for one in messages for part in one.parts]
            )
        )
        return ModelResponse(parts=[TextPart("Fine.")])

    return Agent(FunctionModel(answer), capabilities=[Memoranda(book, scope)])


async def told(book: memoranda.Book, scope: Scope) -> None:
    await an_agent(book, scope, []).run("I live in Boston.")
    await book.form("ana", as_owner=True)
    await book.jobs.run()


async def asked(book: memoranda.Book) -> str:
    """Return what a second agent's model reads before it answers."""
    seen: list[str] = []
    await an_agent(book, Scope("ana", "tutor", thread="tuesday"), seen).run("Where do I live?")
    return seen[0]


async def test_a_second_agent_knows_the_profile_and_the_memories_of_a_common_scope(
    book: memoranda.Book,
) -> None:
    await told(book, Scope("ana", "coach", thread="monday", audience="global"))
    seen = await asked(book)
    # The profile and a memory say the same: a context tells it once.
    assert "home] Boston" in seen and "Lives in Boston" not in seen
    page = await book.records.list("ana", types="memory", agent="tutor")
    assert [str(getattr(record, "content", "")) for record in page.records] == ["Lives in Boston"]
    assert await book.profiles.get("ana", agent="tutor") == {"home": "Boston"}


async def test_without_it_a_second_agent_knows_nothing(book: memoranda.Book) -> None:
    await told(book, Scope("ana", "coach", thread="monday"))
    assert "Boston" not in await asked(book)


async def test_a_common_scope_begins_a_thread_of_its_own_beside_a_private_one(
    book: memoranda.Book,
) -> None:
    await told(book, Scope("ana", "coach", thread="monday"))
    await an_agent(book, Scope("ana", "coach", thread="monday", audience="global"), []).run(
        "Hello."
    )
    threads = (await book.records.list("ana", types="thread", agent="coach")).records
    assert sorted(one.audience.kind.value for one in threads) == ["global", "self"]
    assert "Boston" not in await asked(book)


async def test_a_malformed_audience_is_refused_before_a_model_is_called(
    book: memoranda.Book,
) -> None:
    seen: list[str] = []
    for audience in ("everyone", "group"):
        with pytest.raises(InvalidInput, match="audience"):
            await an_agent(book, Scope("ana", "coach", audience=audience), seen).run("Hello.")
    assert seen == []
