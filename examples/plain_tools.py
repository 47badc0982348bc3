"""A memory's tools with any client of a model: schemas, and calls by name. It needs no key: the
calls are written here.

python examples/plain_tools.py [BOOK]
"""

from __future__ import annotations

import asyncio
import sys

import memoranda
from memoranda.integrations.memory_files import MemoryFiles
from memoranda.integrations.plain_tools import Call, MemoryTools, Scope, run_tool, tool_schemas

#: What a model would answer to a request with these tools: a call's id, its tool and its arguments.
CALLS = [
    ("call-1", "remember", '{"content": "Keeps bees on the roof", "key": "pets"}'),
    ("call-2", "search", '{"query": "bees"}'),
    ("call-3", "explode", "{}"),
]


async def main(address: str) -> None:
    """Offer the tools, and carry out what a model calls."""
    scope = Scope("ana", "helper")
    async with memoranda.open(address) as book:
        for schema in tool_schemas("openai"):
            print(schema["function"]["name"], "-", schema["function"]["description"])
        memory = MemoryTools(book, scope)
        for id, name, arguments in CALLS:
            answer = await run_tool(memory, Call("run-1", id), name, arguments)
            print(f"{name}> {answer.text}" + (" (failed)" if answer.failed else ""))
        # The commands of Anthropic's memory tool, for any client.
        files = MemoryFiles(book, scope)
        path = "/memories/roof.md"
        for command in (
            {"command": "create", "path": path, "file_text": "Two hives.\n"},
            {"command": "view", "path": path},
        ):
            text, _ = await files.answer(command, operation=f"run-1 {command['command']}")
            print(text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "memory://"))
