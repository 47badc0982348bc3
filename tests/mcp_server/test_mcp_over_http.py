"""MCP over HTTP, mounted in the service behind its keys."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError

from memoranda.access.principal import Principal
from memoranda.errors import Busy, InvalidInput
from memoranda.mcp_server.http_mount import McpMount, whose_of
from memoranda.operations import Role
from memoranda.service.app import make_app
from tests.mcp_server.asked_tools import Tools


async def _of_key(secret):
    names = {"key-of-ann": "ann", "key-of-bob": "bob"}
    if secret == "root":
        return Principal("root", "default", Role.ADMIN)
    if secret not in names:
        return None
    name = names[secret]
    return Principal(
        name, "default", Role.EDITOR, frozenset({name}), None, frozenset({"shop"}), name
    )


@asynccontextmanager
async def serving(book):
    mount = McpMount(book)
    async with mount.running():
        yield make_app(book, authenticate=_of_key, mounts=[("", mount)])


@asynccontextmanager
async def connected(service, key, address="/mcp"):
    headers = {"Authorization": f"Bearer {key}"}
    transport = httpx2.ASGITransport(app=service, raise_app_exceptions=False)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers
    ) as http:
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
        assert [one["text"] for one in (await ann("recall", query="likes"))["found"]] == [
            "Ann likes tea"
        ]
        assert [one["text"] for one in (await bob("recall"))["found"]] == ["Bob likes coffee"]
        assert "no memory has the id" in await bob.refused("why", id=kept["id"])


async def test_the_profile_is_read_over_http(book):
    await book.profiles.patch("ann", {"interests": ["tea"]}, agent="mcp")
    async with serving(book) as service, connected(service, "key-of-ann") as ann:
        read = await ann.client.read_resource("memoranda://profile")
        assert json.loads(read.contents[0].text) == {"Profile": {"interests": ["tea"]}}


async def test_an_address_names_no_owner_that_the_credential_does_not_open(book):
    async with serving(book) as service, connected(service, "key-of-bob", "/mcp?owner=ann") as bob:
        assert "there is no owner ann for this credential" in await bob.refused(
            "recall", query="tea"
        )


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


_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
_OLD, _NEW = "2025-11-25", "2026-07-28"


async def posted(service, accepted, version=_OLD, **more):
    """Return the answer to a list of tools, asked by a client that accepts these forms."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Authorization": "Bearer key-of-ann",
        "Accept": accepted,
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/list",
    }
    transport = httpx2.ASGITransport(app=service, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        body = {**_LIST, "params": {"_meta": envelope}}
        return await http.post("/mcp", json=body, headers={**headers, **more})


@pytest.mark.parametrize("version", [_OLD, _NEW])
@pytest.mark.parametrize(
    "accepted", ["*/*", "application/json, text/event-stream", "text/*, application/json;q=0.9"]
)
async def test_a_client_that_accepts_both_forms_of_an_answer_gets_one(book, accepted, version):
    async with serving(book) as service:
        answer = await posted(service, accepted, version)
    assert (answer.status_code, "remember" in answer.text) == (200, True)


@pytest.mark.parametrize("version", [_OLD, _NEW])
@pytest.mark.parametrize("accepted", ["application/json", "text/event-stream", "text/*", ""])
async def test_a_client_that_accepts_only_one_form_is_told_both(book, accepted, version):
    async with serving(book) as service:
        refused = await posted(service, accepted, version)
    assert (refused.status_code, refused.headers["content-type"]) == (
        406,
        "application/problem+json",
    )
    assert refused.json()["title"] == "The client would not take the answer"
    assert "send Accept: application/json, text/event-stream" in refused.json()["detail"]


async def test_nothing_but_post_is_answered(book):
    async with serving(book) as service:
        transport = httpx2.ASGITransport(app=service, raise_app_exceptions=False)
        headers = {"Authorization": "Bearer key-of-ann", "Accept": "text/event-stream"}
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            refused = await http.get("/mcp", headers=headers)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_spaces_around_a_header_are_no_part_of_its_value(book):
    async with serving(book) as service:
        answer = await posted(service, "*/*", _NEW, **{"Mcp-Method": "  tools/list  "})
    assert answer.status_code == 200


def test_a_connection_is_about_what_its_credential_opens():
    ann = Principal(
        "k", "default", Role.EDITOR, frozenset({"ann"}), frozenset({"bot"}), frozenset({"shop"})
    )
    assert whose_of(ann, "") == whose_of(ann, "owner=ann&agent=bot&group=shop")
    with pytest.raises(InvalidInput, match="no part of the address"):
        whose_of(ann, "user=ann")
    several = Principal(
        "ann", "default", Role.VIEWER, person="ann", agents=frozenset({"bot", "guide"})
    )
    with pytest.raises(
        InvalidInput, match="agent: name one of this credential's agents in the address: bot, guide"
    ):
        whose_of(several, "")
    assert whose_of(several, "agent=guide").agent == "guide"


async def test_a_prompt_about_an_owner_who_is_not_opened_says_so(book, caplog):
    await book.remember("bob", "Bob likes coffee")
    async with serving(book) as service, connected(service, "key-of-ann", "/mcp?owner=bob") as ann:
        with pytest.raises(MCPError, match=r"^there is no owner bob for this credential$"):
            await ann.client.get_prompt("what_do_you_know_about_me")
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


async def test_the_engines_own_words_are_for_the_log(book, monkeypatch, caplog):
    async def lost(*_, **__):
        raise Busy("postgresql://svc@10.0.0.5: connection refused")

    async with serving(book) as service, connected(service, "key-of-ann") as ann:
        for name in ("scan", "get", "apply"):
            monkeypatch.setattr(book.engine, name, lost)
        told = [await ann.refused("remember", content="Ann likes tea")]
        for call in (
            ann.client.read_resource("memoranda://memories"),
            ann.client.get_prompt("what_do_you_know_about_me"),
        ):
            with pytest.raises(MCPError) as refused:
                await call
            told.append(str(refused.value))
    for text in told:
        assert "its server cannot be reached" in text and "10.0.0.5" not in text
    assert caplog.text.count("10.0.0.5") >= 3
