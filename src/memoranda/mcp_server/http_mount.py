"""MCP over HTTP inside a service, which has checked the credential of each request before."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import parse_qs

from mcp.server import MCPServer
from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.access.guard import Audit, Guard
from memoranda.access.principal import Principal
from memoranda.book import Book
from memoranda.errors import InvalidInput
from memoranda.mcp_server.asker import Asker, Whose
from memoranda.mcp_server.server_factory import make_server

#: The asker of the request that is being answered.
_ASKER: Final[ContextVar[Asker]] = ContextVar("memoranda_mcp_asker")
#: The agent of a connection that names none.
AGENT: Final = "mcp"
_WORDS: Final = ("owner", "agent", "group", "audience")


class McpMount:
    """An application for ``/mcp``, and ``/mcp/admin`` with the administrator's tools, mounted at
    the root as the last route.

    The address of a connection may say for whom it is, within what its credential opens:
    ``/mcp?owner=ann&agent=coder&group=shop&audience=group``. ``running`` is a context that lasts as
    long as the service.
    """

    def __init__(self, book: Book, audit: Audit | None = None) -> None:
        self._book, self._audit = book, audit
        #: The server of the five tools, and the one that has the administrator's, too.
        self.core, self._admin = make_server(_ASKER.get), make_server(_ASKER.get, admin=True)
        self._core_app, self._admin_app = _application(self.core), _application(self._admin)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests as long as the context lasts."""
        async with self.core.session_manager.run(), self._admin.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request as its principal."""
        path = scope["path"]
        is_admin = path == "/mcp/admin"
        if path != "/mcp" and not is_admin:
            raise HTTPException(404)
        _refuse_unanswerable(Request(scope))
        principal: Principal = scope["state"]["principal"]
        whose = whose_of(principal, scope["query_string"].decode("latin-1"), is_admin=is_admin)
        asker = Asker(Guard(self._book, principal, "mcp", self._audit), whose)
        token = _ASKER.set(asker)
        try:
            app = self._admin_app if is_admin else self._core_app
            # The parser of requests leaves spaces around a value; the application compares values
            # with the body.
            headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            await app(
                {**scope, "headers": headers, "path": "/mcp", "raw_path": b"/mcp", "root_path": ""},
                receive,
                send,
            )
        finally:
            _ASKER.reset(token)


def whose_of(principal: Principal, query: str, *, is_admin: bool = False) -> Whose:
    """Return whose memory a connection is about: what its address names, or all that its credential
    opens.
    """
    given: dict[str, list[str]] = parse_qs(query)
    unknown = sorted(set(given) - set(_WORDS))
    if unknown:
        raise InvalidInput(
            f"{unknown[0][:60]!r} is no part of the address; it takes {', '.join(_WORDS)}"
        )
    owner = given.get("owner", [principal.person or _only(principal.owners)])[-1]
    if owner is None:
        if not is_admin:
            raise InvalidInput(
                "owner: this credential opens more than one; name one in the address, as in /mcp?owner=ann",
                field="owner",
            )
        owner = principal.name
    groups = tuple(dict.fromkeys(given.get("group", sorted(principal.groups or ()))))
    agent = given.get("agent", [_only(principal.agents) or AGENT])[-1]
    if "agent" not in given and principal.agents is not None and agent not in principal.agents:
        named = ", ".join(sorted(principal.agents)) or "none"
        raise InvalidInput(
            f"agent: name one of this credential's agents in the address: {named}", field="agent"
        )
    return Whose(owner, agent or AGENT, groups, given.get("audience", [None])[-1])


def _refuse_unanswerable(request: Request) -> None:
    """Raise HTTPException for a request whose client would not take the answer, or that has
    none.
    """
    if request.method != "POST":
        # A stream that a client opens by GET would stay empty: requests know nothing of each other
        # here.
        raise HTTPException(405, "this path takes POST", {"Allow": "POST"})
    if not all(check_accept_headers(request)):
        raise HTTPException(
            406,
            "Accept: an answer is JSON or a stream; send Accept: application/json, text/event-stream",
        )


def _only(names: frozenset[str] | None) -> str | None:
    return next(iter(names)) if names is not None and len(names) == 1 else None


def _application(server: MCPServer) -> ASGIApp:
    # The service has checked the host already, against hosts that this application does not know.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    # Not ``json_response``: that drops what a tool says while it runs, and sends nothing while a
    # client waits.
    app: Any = server.streamable_http_app(
        streamable_http_path="/mcp", stateless_http=True, transport_security=unchecked
    )
    made: ASGIApp = app
    return made
