"""PydanticAI's native memory tool over the files of a book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anthropic import AsyncAnthropic
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.native_tools import MemoryTool
from pydantic_ai.providers.anthropic import AnthropicProvider

import memoranda
from memoranda.integrations.memory_files import MemoryFiles, Scope
from tests.fakes.anthropic_server import EXPECTED, results, serving


async def test_an_agent_with_the_native_memory_tool_edits_items(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        files = MemoryFiles(book, Scope("ada", "writer"))
        with serving() as (url, asked):
            async with AsyncAnthropic(api_key="none", base_url=url) as client:
                model = AnthropicModel(
                    "claude-sonnet-5-5", provider=AnthropicProvider(anthropic_client=client)
                )
                settings: Any = {"max_tokens": 1000}  # more is streamed
                agent = Agent(
                    model, capabilities=[NativeTool(MemoryTool())], model_settings=settings
                )

                @agent.tool
                async def memory(ctx: RunContext[None], /, **command: Any) -> str:
                    """Keep files."""
                    text, _ = await files.answer(
                        command, operation=f"{ctx.run_id} {ctx.tool_call_id}"
                    )
                    return text

                answer = await agent.run("Remember that I drink tea and coffee")
        assert answer.output == "Done."
        assert {"type": "memory_20250818", "name": "memory"} in asked[0]["tools"]
        # A function's errors are texts like any other.
        assert [text for text, _ in results(asked)] == [text for text, _ in EXPECTED]
        item = await book.items.get("ada", ("memories",), "tea.txt", agent="writer")
        assert item is not None and item.value == "Ada drinks tea\nand coffee\n"
