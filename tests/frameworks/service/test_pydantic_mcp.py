"""PydanticAI's own client of MCP reaches the memory over both transports, with a model that follows
a script.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memoranda.mcp_server.server_factory import INSTRUCTIONS
from tests.frameworks.service.conftest import Live

pytestmark = pytest.mark.asyncio


def over_standard_input(folder: Path) -> MCPToolset[None]:
    arguments = ["-m", "memoranda", "mcp", "--owner", "ann", "--agent", "coder"]
    around = {"XDG_DATA_HOME": str(folder), "MEMORANDA_EMBEDDING_USE": "none"}
    return MCPToolset(
        StdioTransport(sys.executable, arguments, env=around, keep_alive=False),
        include_instructions=True,
    )


def over_http(live: Live) -> MCPToolset[None]:
    address = f"{live.url}/mcp?owner=ann&agent=coder"
    return MCPToolset(
        address, headers={"Authorization": f"Bearer {live.secret}"}, include_instructions=True
    )


async def answered(toolset: MCPToolset[None], tool: str, **arguments: Any) -> str:
    """Return what an agent says in a session of its own, after its model called one tool."""
    seen: list[AgentInfo] = []

    def follow(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        returned = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        return ModelResponse(
            [TextPart(str(returned)) if returned else ToolCallPart(tool, arguments)]
        )

    agent = Agent(FunctionModel(follow), toolsets=[toolset])
    async with agent:
        done = await agent.run("go on")
    names = {one.name for one in seen[0].function_tools}
    assert names == {"remember", "recall", "context", "why", "forget"}
    assert INSTRUCTIONS in str(seen[0].instructions)
    return done.output


async def remembers_in_one_session_and_recalls_in_a_second(
    connect: Callable[[], MCPToolset[None]],
) -> None:
    assert "stored" in await answered(
        connect(), "remember", content="The tests run with make check"
    )
    recalled = await answered(connect(), "recall", query="how do the tests run?")
    assert "The tests run with make check" in recalled


async def test_an_agent_remembers_in_one_session_and_recalls_in_a_second_over_standard_input(
    tmp_path: Path,
) -> None:
    await remembers_in_one_session_and_recalls_in_a_second(partial(over_standard_input, tmp_path))


async def test_an_agent_remembers_in_one_session_and_recalls_in_a_second_over_http(
    live: Live,
) -> None:
    await remembers_in_one_session_and_recalls_in_a_second(partial(over_http, live))
