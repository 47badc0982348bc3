"""A broken `memoranda`, for a control: `python -m proofs._service.broken_service NAME serve
...`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from memoranda.cli import main
from memoranda.service import v1_requests
from memoranda.service.gate import Gate

_BODY = b"{}"
_LATER_SECONDS = 0.3


def _without_keys() -> None:
    """Take no notice of idempotency keys."""

    async def nothing(request: Any, shape: Any, given: dict[str, Any]) -> None:
        """Add nothing."""

    v1_requests._add_headers = nothing


def _too_early() -> None:
    """Acknowledge appends before they are stored."""
    whole = Gate.__call__
    later: set[asyncio.Task[None]] = set()

    async def hasty(self: Gate, scope: Any, receive: Any, send: Any) -> None:
        if (
            scope["type"] != "http"
            or not scope["path"].endswith("/messages")
            or scope["method"] != "POST"
        ):
            await whole(self, scope, receive, send)
            return
        message = await receive()

        async def sent() -> Any:
            return message

        async def dropped(_: Any) -> None:
            """Answer nobody."""

        async def store() -> None:
            await asyncio.sleep(_LATER_SECONDS)
            await whole(self, scope, sent, dropped)

        task = asyncio.ensure_future(store())
        later.add(task)
        task.add_done_callback(later.discard)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(_BODY)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": _BODY})

    Gate.__call__ = hasty  # type: ignore[method-assign]


BROKEN = {"without keys": _without_keys, "too early": _too_early}

if __name__ == "__main__":
    BROKEN[sys.argv.pop(1)]()
    main()
