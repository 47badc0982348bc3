"""The page about MCP: its entries work as they stand."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tomllib
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from memoranda.cli.service_commands.mcp_commands import mcp_command
from tests.cli.command_line import run_command
from tests.mcp_server.asked_tools import Tools
from tests.service.live_service import live_service

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "mcp.md").read_text("utf-8")
ENTRIES = re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL)
BLOCKS = [(form, block) for form, block in ENTRIES if "command" in block]
OF_SERVICE = next(block for _, block in ENTRIES if "url" in block)


def entry(form, block):
    servers = next(iter((json.loads(block) if form == "json" else tomllib.loads(block)).values()))
    return servers["memoranda"]


def test_there_is_an_entry_for_each_form_of_configuration():
    agents = [entry(*block)["args"][2] for block in BLOCKS]
    assert agents == ["claude-code", "claude-desktop", "vs-code", "codex"]


@pytest.mark.parametrize("number", range(4))
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
    assert ", ".join(f"`{name}`" for name in names[:-1]) + f" and `{names[-1]}`" in PAGE


def test_the_entry_of_a_service_remembers_in_one_session_and_recalls_in_a_second(tmp_path):
    create = re.findall(r"\$ memoranda (keys create .*?)  ", PAGE)[0].split()
    with live_service(tmp_path / "book.db") as url:
        made = run_command(tmp_path, *create, "--book", "book.db", "--json")
        found = entry(
            "json", OF_SERVICE.replace("${MEMORANDA_KEY}", json.loads(made.stdout)["secret"])
        )
        address = found["url"].replace("http://127.0.0.1:7411", url)
        asyncio.run(
            asked(address, found["headers"], "remember", content="The tests run with make check")
        )
        recalled = asyncio.run(
            asked(address, found["headers"], "recall", query="how do the tests run?")
        )
    assert [one["text"] for one in recalled["found"]] == ["The tests run with make check"]


async def asked(address, headers, tool, **arguments):
    """Return the answer of one tool in a session of its own."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        mcp.Client(streamable_http_client(address, http_client=http)) as client,
    ):
        return await Tools(client)(tool, **arguments)
