"""The page about MCP: its entries work as they stand."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters

from memoranda.cli.service_commands.mcp_commands import mcp_command

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
BLOCKS = re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL)


def entry(form, block):
    servers = next(iter((json.loads(block) if form == "json" else tomllib.loads(block)).values()))
    return servers["memoranda"]


def test_there_is_an_entry_for_each_of_six_programs():
    agents = [entry(*block)["args"][2] for block in BLOCKS]
    assert agents == ["claude-code", "cursor", "claude-desktop", "vs-code", "windsurf", "codex"]


@pytest.mark.parametrize("number", range(6))
def test_the_command_takes_every_argument_of_an_entry(number):
    found = entry(*BLOCKS[number])
    assert (found["command"], found["args"][0]) == ("memoranda", "mcp")
    assert mcp_command.make_context("mcp", list(found["args"][1:])).params["agent"]


async def test_an_entry_starts_a_server_with_the_tools_of_the_page(tmp_path):
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memoranda", *entry(*BLOCKS[-1])["args"]],
        env={"XDG_DATA_HOME": str(tmp_path), "MEMORANDA_EMBEDDING_USE": "none"},
    )
    async with mcp.Client(started) as client:
        names = [one.name for one in (await client.list_tools()).tools]
    assert names == re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE)
