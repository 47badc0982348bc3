"""The server of the service: uvicorn with one book, until it is asked to stop; no request is cut."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

import uvicorn

from memoranda.service.connections import Connection, Connections
from memoranda.service.gate import Gate

#: Seconds that running requests have to end when the service stops.
_LAST_REQUESTS = 30


class Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(
        self, config: uvicorn.Config, gate: Gate, listening: Callable[[str], Awaitable[None] | None]
    ) -> None:
        super().__init__(config)
        self._gate = gate
        self._listening = listening

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C, and let the program end as usual: it closes its book, and its exit code is 0."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the running requests end; a second signal ends them at once."""
        if self.should_exit:
            self.force_exit = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell the address."""
        await super().startup(sockets)
        for one in self.servers:
            for opened in one.sockets:
                host, port = opened.getsockname()[:2]
                self._listening(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams that have no end of their own, let running requests end, and stop."""
        self._gate.streams.stop()
        await super().shutdown(sockets)


def server_of(app: Gate, host: str, port: int, listening: Callable[[str], None]) -> Server:
    """Return a server of this application; it calls ``listening`` with its address."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=partial(Connection, Connections(app.settings)),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_LAST_REQUESTS,
        timeout_keep_alive=75,
        h11_max_incomplete_event_size=65_536,
    )
    return Server(config, app, listening)
