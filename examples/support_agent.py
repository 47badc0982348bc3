"""A support agent that first searches its memory for earlier attempts. It needs no key: its model
is a few rules.

python examples/support_agent.py
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope


@dataclass
class Deps:
    """The dependencies of a run: the user who is signed in, and the ticket."""

    user: str
    ticket: str


async def rules(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer in place of a language model: search first, and restart the router unless that failed
    before.
    """
    answers = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if not answers:
        return ModelResponse([ToolCallPart("search", {"query": "restart the router"})])
    (answer,) = answers
    if answer.tool_name == "search" and "failed" not in str(answer.content):
        return ModelResponse([ToolCallPart("restart_router", {"room": "cellar"})])
    if answer.tool_name == "search":
        return ModelResponse([TextPart("Restarting failed last time: I am sending a technician.")])
    return ModelResponse([TextPart("The router is up again.")])


def scope(ctx: RunContext[Deps]) -> Scope:
    """Choose the scope of a run; the application does it, never the model."""
    return Scope(ctx.deps.user, "support", thread=ctx.deps.ticket)


async def main() -> None:
    """Handle the same complaint twice; the first attempt fails."""
    async with memoranda.open("memory://") as book:
        memory = Memoranda(book, scope, closes=True)
        agent = Agent(FunctionModel(rules), deps_type=Deps, capabilities=[memory])

        @agent.tool_plain
        async def restart_router(room: str) -> str:
            """Restart a router."""
            raise ConnectionError(f"the router in the {room} does not answer")

        for ticket in ("ticket-1", "ticket-2"):
            prompt = "Please restart the router, there is no network."
            print(f"{ticket}> {prompt}")
            try:
                result = await agent.run(prompt, deps=Deps("ana", ticket))
                print(result.output)
            except ConnectionError as error:
                print(f"(it failed: {error})")
        for episode in reversed(await book.episodes.list("ana", agent="support")):
            print(
                f"{episode.outcome}: {', '.join(call.tool for call in episode.tool_calls) or 'no tools'}"
            )


if __name__ == "__main__":
    asyncio.run(main())
