"""An agent that knows on the second day what it was told on the first. No key is needed: the model is a few rules.

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
    """Stands in for a language model: keeps what it is asked to, and looks into what it is given."""
    said = [str(part.content) for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    if not said:
        return ModelResponse([TextPart("I shall remember that.")])
    *given, prompt = said
    if prompt.startswith("Remember: "):
        return ModelResponse([ToolCallPart("remember", {"content": prompt.removeprefix("Remember: ")})])
    known = [line.strip() for text in given for line in text.splitlines() if "] " in line]
    return ModelResponse(
        [TextPart("\n".join(["I know of you:", *known]) if known else "I know nothing of you.")]
    )


async def main(address: Path) -> None:
    """Two days, of which the second knows nothing but what is in the book."""
    for prompt in ("What do you know of me?", "Remember: Keeps bees on the roof", "What do you know of me?"):
        async with memoranda.open(address) as book:
            agent = Agent(FunctionModel(rules), capabilities=[Memoranda(book, Scope("ana", "companion"))])
            result = await agent.run(prompt)
            print(f"> {prompt}\n{result.output}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "book.db"))
