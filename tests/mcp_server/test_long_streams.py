"""Clients that listen: no limit for requests ends their streams; a stop and the end of their
credential do.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager
from functools import wraps

import pytest
from mcp.server.mcpserver import Context

from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.errors import StorageError
from memoranda.mcp_server.http_mount import McpMount
from memoranda.operations import Role
from memoranda.service import gate
from tests.service.listening import connected, head, listening, read_answer

ANN = Principal("ann", "default", Role.EDITOR, frozenset({"ann"}))
_VERSION = "2026-07-28"
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def asked(method, /, **given):
    """Return a whole request of MCP."""
    params = {**given, "_meta": _ENVELOPE}
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()
    words = {
        "Authorization": "Bearer ann",
        "Accept": "*/*",
        "Content-Type": "application/json",
        "Content-Length": len(body),
        "MCP-Protocol-Version": _VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": given["name"]} if "name" in given else {}),
    }
    return head("POST", "/mcp", **words) + body


SLOW = (
    head("POST", "/v1/owners/ann/recall", Content_Type="application/json", Content_Length=18)
    + b'{"query":"tea"}'
)
LISTEN = asked("subscriptions/listen", notifications={"toolsListChanged": True})


async def tell_of_tools(ctx: Context) -> str:
    """Tell the clients that listen that the tools changed."""
    await ctx.notify_tools_changed()
    return "told"


@asynccontextmanager
async def serving(book, settings=None, *, authenticate=None):
    async def always(_):
        return ANN

    mount = McpMount(book)
    mount.core.add_tool(tell_of_tools)
    how = {"mounts": [("", mount)], "while_it_runs": [mount.running()]}
    async with listening(book, settings, authenticate=authenticate or always, **how) as port:
        yield port


@asynccontextmanager
async def stream(port):
    """Open a stream; yield its reader once it is acknowledged."""
    async with connected(port) as (reader, writer):
        writer.write(LISTEN)
        async with asyncio.timeout(20):
            assert b"200 OK" in await reader.readuntil(b"\r\n")
            await reader.readuntil(b"acknowledged")
            yield reader


async def answer_to(port, request):
    async with connected(port) as (reader, writer):
        writer.write(request)
        return await read_answer(reader)


async def ended(reader):
    """Return whether the stream came to a whole end; one that is cut raises an error."""
    await reader.readuntil(b"\r\n0\r\n\r\n")
    return True


async def test_a_stream_outlasts_the_limit_of_requests(book, monkeypatch):
    @wraps(type(book).recall)
    async def never(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr(type(book), "recall", never)
    async with serving(book, ServiceSettings(request_seconds=0.05)) as port, stream(port) as reader:
        # This request begins after the stream, and has reached the limit.
        slow = await answer_to(port, SLOW)
        assert (slow.status, slow.json()["code"]) == (503, "timeout")
        await answer_to(port, asked("tools/call", name="tell_of_tools", arguments={}))
        assert b"notifications/tools/list_changed" in await reader.readuntil(b"list_changed")


async def test_a_stop_waits_for_no_client_that_listens(book):
    async with AsyncExitStack() as client:
        async with serving(book) as port:
            reader = await client.enter_async_context(stream(port))
        assert await ended(reader)


@pytest.mark.parametrize(
    "now", [None, Principal("ann", "default", Role.EDITOR, frozenset({"bob"}))]
)
async def test_a_stream_ends_with_what_its_credential_opens(book, monkeypatch, now):
    held: list[Principal | None] = [ANN]

    async def authenticate(_):
        return held[0]

    monkeypatch.setattr(gate, "CHECKED_SECONDS", 0.01)
    async with serving(book, authenticate=authenticate) as port, stream(port) as reader:
        held[0] = now
        assert await ended(reader)


async def test_a_stream_ends_when_nobody_can_tell_whether_its_credential_holds(book, monkeypatch):
    held: list[Principal] = [ANN]

    async def authenticate(_):
        if not held:
            raise StorageError("gone")
        return held[0]

    monkeypatch.setattr(gate, "CHECKED_SECONDS", 0.01)
    async with serving(book, authenticate=authenticate) as port, stream(port) as reader:
        held.clear()
        assert await ended(reader)


async def test_streams_take_no_place_of_requests_and_have_a_bound_of_their_own(book):
    async with serving(book, ServiceSettings(max_concurrent=1)) as port, stream(port):
        assert (await answer_to(port, asked("tools/list"))).status == 200
        refused = await answer_to(port, LISTEN)
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
