"""Requests to an ASGI application in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote, urlencode


@dataclass(frozen=True)
class Ask:
    """One request: its path is percent-encoded, its query a list of pairs."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()

    def with_header(self, name: str, value: str) -> Ask:
        """Return the request with one more header."""
        return replace(self, headers=(*self.headers, (name, value)))


@dataclass(frozen=True)
class Answer:
    """A status, headers and a whole body."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


async def ask(app: Any, request: Ask) -> Answer:
    """Send one request to the application, and return its answer."""
    body = b"" if request.body is None else json.dumps(request.body).encode()
    headers = [("host", "localhost"), ("content-type", "application/json"), *request.headers]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": _decoded(request.path),
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": urlencode(request.query, quote_via=quote).encode(),
        "headers": [
            (name.lower().encode(), value.encode("utf-8", "surrogatepass"))
            for name, value in headers
        ],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if parts:
            return parts.pop()
        # The client stays until its answer is whole.
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    return Answer(
        start["status"],
        b"".join(message.get("body", b"") for message in sent[1:]),
        {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]},
    )


def _decoded(path: str) -> str:
    return unquote(path, errors="replace")
