"""An agent that still knows tomorrow what it was told today. It needs no key: its model is a few
rules.

python examples/remembering_agent.py [book.db]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope


async def rules(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer in place of a language model: remember on request, and repeat what the context
    says.
    """
    said = [str(part.content) for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    if not said:
        return ModelResponse([TextPart("I shall remember that.")])
    *given, prompt = said
    if prompt.startswith("Remember: "):
        return ModelResponse(
            [ToolCallPart("remember", {"content": prompt.removeprefix("Remember: ")})]
        )
    known = [line.strip() for text in given for line in text.splitlines() if "] " in line]
    return ModelResponse(
        [
            TextPart(
                "\n".join(["I know about you:", *known]) if known else "I know nothing about you."
            )
        ]
    )


async def main(address: Path) -> None:
    """Ask three times; each time, the agent knows only what is in the book."""
    for prompt in (
        "What do you know about me?",
        "Remember: Keeps bees on the roof",
        "What do you know about me?",
    ):
        async with memoranda.open(address) as book:
            agent = Agent(
                FunctionModel(rules), capabilities=[Memoranda(book, Scope("ana", "companion"))]
            )
            result = await agent.run(prompt)
            print(f"> {prompt}\n{result.output}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "book.db"))
