"""The command ``memoranda mcp`` over standard input and output."""

from __future__ import annotations

import json
import sys

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.types import TextResourceContents

import memoranda
from tests.mcp_server.asked_tools import Tools
from tests.service.live_service import live_service

_SHOP = ["--group", "shop", "--audience", "group"]


def program(folder, *options, owner="ann", **variables):
    environment = {"XDG_DATA_HOME": str(folder), "MEMORANDA_EMBEDDING_USE": "none", **variables}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "memoranda", "mcp", "--owner", owner, *options],
        env=environment,
    )


async def test_two_programs_share_the_users_own_book_over_standard_input(tmp_path):
    async with (
        mcp.Client(program(tmp_path, "--agent", "claude-code", *_SHOP)) as one,
        mcp.Client(program(tmp_path, "--agent", "cursor", *_SHOP, "--admin")) as other,
    ):
        await Tools(one)("remember", content="The tests run with make check")
        found = await Tools(other)("recall", query="how do tests run?")
        assert [each["text"] for each in found["found"]] == ["The tests run with make check"]
        assert (await Tools(other)("count_user_memories", userId="ann"))["count"] == 1
    assert (tmp_path / "memoranda" / "memoranda.db").exists()


async def test_the_profile_is_read_over_standard_input(tmp_path):
    (tmp_path / "memoranda").mkdir()
    async with memoranda.open(
        tmp_path / "memoranda" / "memoranda.db", worker=False, embed=None
    ) as book:
        await book.profiles.patch("ann", {"interests": ["tea"]}, agent="mcp")
    async with mcp.Client(program(tmp_path)) as one:
        (read,) = (await one.read_resource("memoranda://profile")).contents
    assert isinstance(read, TextResourceContents)
    assert json.loads(read.text) == {"Profile": {"interests": ["tea"]}}


@pytest.mark.parametrize(("audit", "noted"), [("true", ["cursor recall mcp"]), ("false", [])])
async def test_reads_on_standard_input_are_in_the_audit_if_there_is_one(tmp_path, audit, noted):
    started = program(tmp_path, "--agent", "cursor", MEMORANDA_SERVICE_AUDIT=audit)
    async with mcp.Client(started) as one:
        await Tools(one)("remember", content="The tests run with make check")
        await Tools(one)("recall", query="how do tests run?")
    async with memoranda.open(
        tmp_path / "memoranda" / "memoranda.db", worker=False, embed=None
    ) as book:
        lines = [
            f"{line.principal} {line.verb} {line.surface}"
            for line in (await book.admin.reads()).lines
        ]
    assert lines == noted


async def test_a_program_uses_the_book_of_a_service_with_its_key(tmp_path):
    async with memoranda.open(tmp_path / "book.db", worker=False) as book:
        secret = (await book.keys.create("coder", role="editor", owners=["ann"])).secret
    with live_service(tmp_path / "book.db") as url:
        ann, bob = (
            program(tmp_path, "--book", url, owner=owner, MEMORANDA_KEY=secret)
            for owner in ("ann", "bob")
        )
        async with mcp.Client(ann) as one:
            await one.call_tool("remember", {"content": "the tests run with ./dev test"})
            found = await one.call_tool("recall", {"query": "how do the tests run?"})
            assert "./dev test" in str(found.structured_content)
        async with mcp.Client(bob) as other:
            refused = await other.call_tool("recall", {"query": "how do the tests run?"})
            assert refused.is_error and "for this credential" in str(refused.content)
