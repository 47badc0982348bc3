"""Tests that contexts hold the user's words and memories, but no repetitions by the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope
from memoranda.recall.context.result import Context
from tests.integrations.scripted import prompts

ASKED = "What do you know about me?"
TOLD = {
    "I live in Lisbon and I work as a nurse.": "Lives in Lisbon and works as a nurse",
    "I am allergic to peanuts, so beware.": "Is allergic to peanuts",
    "My dog is called Pixel.": "Has a dog called Pixel",
}
_ENTRY = re.compile(r"^- \[([^\]]*)\] (.*)$")


async def parrot(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Remember the user's statements, and recite all memories when asked."""
    *contexts, prompt = prompts(messages)
    if "Remembered" in str(messages[-1].parts):
        return ModelResponse([TextPart("I shall remember that.")])
    if prompt in TOLD:
        return ModelResponse([ToolCallPart("remember", {"content": TOLD[prompt]})])
    known = list(dict.fromkeys(recited(contexts)))
    if not known:
        return ModelResponse([TextPart("I know nothing about you yet.")])
    if prompt == ASKED:
        return ModelResponse([TextPart("\n".join(["Here is what I know about you:", *known]))])
    facts = [
        line.replace("Lives", "live").replace("Is ", "You are ").replace("Has", "have")
        for line in known
    ]
    return ModelResponse([TextPart("You told me this: " + ". ".join(facts) + ". Anything else?")])


def recited(contexts: list[str]) -> Iterator[str]:
    inside = False
    for line in "\n".join(contexts).splitlines():
        inside = line == "<memories>" or (inside and line != "</memories>")
        entry = _ENTRY.match(line)
        if inside and entry is not None:
            yield entry[2]


async def conversations(book: memoranda.Book) -> None:
    """Hold four conversations, as with an assistant of four days."""
    for day in range(4):
        agent = Agent(
            FunctionModel(parrot),
            capabilities=[Memoranda(book, Scope("ana", "helper", thread=f"{day}"))],
        )
        history: list[ModelMessage] = []
        prompts = [ASKED, *TOLD, ASKED] if day == 0 else [ASKED, "Sum up what I told you.", ASKED]
        for prompt in prompts:
            history = (await agent.run(prompt, message_history=history)).all_messages()


def passages(context: Context) -> list[str]:
    return [
        line
        for block in context.blocks
        if block.name == "passages"
        for line in block.text.splitlines()[1:-1]
    ]


async def test_four_conversations_do_not_fill_a_context_with_recitals(book: memoranda.Book) -> None:
    await conversations(book)
    for question in (
        ASKED,
        "Where do I live, and what am I allergic to?",
        "What is my dog called?",
    ):
        context = await book.context("ana", question, agent="helper")
        lines = passages(context)
        assert [line for line in lines if ", user]" not in line] == [], question
        assert f"user] {ASKED}" not in context.text or question != ASKED
        for memory in TOLD.values():
            assert memory in context.text
    # The user's own words are there, as they were said.
    text = (await book.context("ana", "Where do I live?", agent="helper")).text
    assert "I live in Lisbon and I work as a nurse." in text
