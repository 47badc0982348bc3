"""MCP over HTTP, mounted in the service behind its keys."""

from __future__ import annotations

from contextlib import asynccontextmanager

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context

from memoranda.access.principal import Principal, Role
from memoranda.errors import InvalidInput
from memoranda.mcp_server.http_mount import McpMount, whose_of
from memoranda.service.app import make_app
from tests.mcp_server.asked_tools import Tools


async def _of_key(secret):
    names = {"key-of-ann": "ann", "key-of-bob": "bob"}
    if secret == "root":
        return Principal("root", "default", Role.ADMIN)
    if secret not in names:
        return None
    name = names[secret]
    return Principal(name, "default", Role.EDITOR, frozenset({name}), None, frozenset({"shop"}), name)


@asynccontextmanager
async def serving(book):
    mount = McpMount(book)
    async with mount.running():
        yield make_app(book, authenticate=_of_key, mounts=[("", mount)])


@asynccontextmanager
async def connected(service, key, address="/mcp"):
    headers = {"Authorization": f"Bearer {key}"}
    transport = httpx2.ASGITransport(app=service, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
        streams = streamable_http_client(f"http://localhost{address}", http_client=http)
        async with mcp.Client(streams) as client:
            yield Tools(client)


async def test_two_credentials_at_once_each_get_their_own_memory(book):
    async with (
        serving(book) as service,
        connected(service, "key-of-ann") as ann,
        connected(service, "key-of-bob") as bob,
    ):
        kept = await ann("remember", content="Ann likes tea")
        await bob("remember", content="Bob likes coffee")
        assert [one["text"] for one in (await ann("recall", question="likes"))["found"]] == ["Ann likes tea"]
        assert [one["text"] for one in (await bob("recall"))["found"]] == ["Bob likes coffee"]
        assert "no memory has the id" in await bob.refused("why", id=kept["id"])


async def test_an_address_names_no_owner_that_the_credential_does_not_open(book):
    async with serving(book) as service, connected(service, "key-of-bob", "/mcp?owner=ann") as bob:
        assert "there is no owner ann for this credential" in await bob.refused("recall", question="tea")


async def test_what_a_tool_reports_while_it_runs_reaches_the_client(book):
    async def work(ctx: Context) -> str:
        await ctx.report_progress(1, 2)
        return "done"

    async def told(done, total, message):
        seen.append((done, total))

    seen: list[tuple[float, float]] = []
    mount = McpMount(book)
    mount.core.add_tool(work)
    async with mount.running():
        service = make_app(book, authenticate=_of_key, mounts=[("", mount)])
        async with connected(service, "key-of-ann") as ann:
            await ann.client.call_tool("work", {}, progress_callback=told)
    assert seen == [(1, 2)]


async def test_the_tools_of_an_administrator_have_their_own_address(book):
    async with serving(book) as service:
        async with connected(service, "root", "/mcp/admin") as root:
            assert (await root("count_user_memories", userId="ann"))["count"] == 0
        async with connected(service, "key-of-bob", "/mcp/admin") as bob:
            assert "there is no owner ann" in await bob.refused("count_user_memories", userId="ann")


async def test_without_a_key_and_beside_its_address_there_is_nothing(book):
    async with serving(book) as service:
        transport = httpx2.ASGITransport(app=service, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            assert (await http.post("/mcp", json={})).status_code == 401
            headers = {"Authorization": "Bearer root"}
            assert (await http.get("/elsewhere", headers=headers)).status_code == 404
            refused = await http.post("/mcp", json={}, headers=headers)
            assert (refused.status_code, "/mcp?owner=" in refused.json()["detail"]) == (422, True)


def test_a_connection_is_about_what_its_credential_opens():
    ann = Principal("k", "default", Role.EDITOR, frozenset({"ann"}), frozenset({"bot"}), frozenset({"shop"}))
    assert whose_of(ann, "") == whose_of(ann, "owner=ann&agent=bot&group=shop")
    with pytest.raises(InvalidInput, match="no part of the address"):
        whose_of(ann, "user=ann")
