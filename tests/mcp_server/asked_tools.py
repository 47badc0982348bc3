"""Servers for one owner, asked by the SDK's own client."""

from __future__ import annotations

from contextlib import asynccontextmanager

import mcp
from mcp.types import TextContent

from memoranda.access.guard import Guard
from memoranda.access.principal import Principal, local_admin
from memoranda.mcp_server.asker import Asker, Whose
from memoranda.mcp_server.server_factory import make_server
from memoranda.operations import Role


class Tools:
    """A client that returns what tools answer, and the texts of refusals."""

    def __init__(self, client: mcp.Client) -> None:
        self.client = client

    async def __call__(self, name, /, **arguments):
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, name, /, **arguments):
        result = await self.client.call_tool(name, arguments)
        assert result.is_error
        said = result.content[0]
        assert isinstance(said, TextContent)
        return said.text


@asynccontextmanager
async def asking(book, whose=None, *, principal=None, admin=False):
    """Yield the tools of a server for one owner."""
    whose = whose or Whose("ann", "coder")
    own = frozenset({whose.owner}), frozenset({whose.agent}), frozenset(whose.groups)
    usual = local_admin(book.tenant) if admin else Principal("test", book.tenant, Role.EDITOR, *own)
    server = make_server(Asker(Guard(book, principal or usual, "mcp"), whose), admin=admin)
    async with mcp.Client(server) as client:
        yield Tools(client)
