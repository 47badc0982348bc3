"""A conversation with a provider's model that remembers you between two starts of the program.

python examples/real_provider.py [provider:model] [book.db]

Set the key in the provider's own variable, such as OPENAI_API_KEY.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import infer_model

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope, history

INSTRUCTIONS = "You are a companion. Store with `remember` what will matter to this user later on."


async def main(name: str, address: Path) -> int:
    """Talk until the input ends, and return the exit code."""
    try:
        model = infer_model(name)
    except (UserError, ImportError) as error:
        print(f"{name} cannot be used: {error}", file=sys.stderr)
        print(
            "Set the provider's key, install its client, or name another model: provider:model",
            file=sys.stderr,
        )
        return 2
    async with memoranda.open(address) as book:
        memory = Memoranda(book, Scope("me", "companion", thread="talk"))
        agent = Agent(model, instructions=INSTRUCTIONS, capabilities=[memory])
        thread = await book.thread("me", name="talk", agent="companion")
        while line := (await asyncio.to_thread(_ask)):
            result = await agent.run(line, message_history=await history(thread, budget=4000))
            print(result.output)
    return 0


def _ask() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    raise SystemExit(
        asyncio.run(main(given.get(0, "openai:gpt-5-mini"), Path(given.get(1, "book.db"))))
    )
