"""The open connections of the service: how long a header may take, and which are closed if there
are too many.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memoranda.access.service_settings import ServiceSettings

#: Descriptors that connections leave to the book: its files, or its server.
_KEPT = 256
_NO_LIMIT = 2**31
_REFUSED = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
    b"too many connections are open; close some, or come back in a moment\n"
)


class Connections:
    """All open connections, by what they wait for; one that waits for its answer is in neither
    group.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = _NO_LIMIT if soft == resource.RLIM_INFINITY else max(soft - _KEPT, soft // 2)
        self.most = min(settings.connections or most, most)
        self.header_seconds = settings.header_seconds
        self.reading_seconds = settings.request_seconds
        #: Connections whose client has to send a header, or the rest of one; the oldest first.
        self.unfinished: dict[Connection, None] = {}
        #: Connections that were answered and may be used again; the longest idle first.
        self.idle: dict[Connection, None] = {}
        self._most_per_address = settings.connections_per_address
        self._by_address: Counter[str] = Counter()
        self._proxies = [ip_network(one) for one in settings.proxies]

    def takes(self, new: Connection) -> bool:
        """Count a new connection, and close another one if it is one too many; return False if it
        has no place.
        """
        if self._most_per_address and not self._is_exempt(new.address):
            self._by_address[new.address] += 1
            if self._by_address[new.address] > self._most_per_address:
                return False
        if len(new.connections) <= self.most:
            return True
        # The last ones were closed already, but their client does not read its answer.
        closing = (one for one in new.connections if one.transport.is_closing())
        victim: Any = next(
            (one for group in (self.unfinished, self.idle, closing) for one in group), None
        )
        if victim is None:
            return False
        self.forget(victim)
        victim.transport.abort()
        return True

    def lost(self, one: Connection) -> None:
        """Count a connection no more."""
        self.forget(one)
        self._by_address[one.address] -= 1
        if self._by_address[one.address] <= 0:
            del self._by_address[one.address]

    def forget(self, one: Connection) -> None:
        """Take a connection out of its group."""
        self.unfinished.pop(one, None)
        self.idle.pop(one, None)

    def _is_exempt(self, address: str) -> bool:
        given = ip_address(address.partition("%")[0])
        plain = (given.ipv4_mapped or given) if isinstance(given, IPv6Address) else given
        return plain.is_loopback or any(plain in one for one in self._proxies)


class Connection(HttpToolsProtocol):
    """A connection that is closed if its client takes too long for a header, or does not read its
    answer.
    """

    def __init__(self, open_connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._all = open_connections
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        #: True from the first byte of a header to its last.
        self._is_begun = False
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first header."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if self._all.takes(self):
            self._await_header()
        else:
            transport.write(_REFUSED)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End everything that belongs to the connection."""
        super().connection_lost(exc)
        self._end_wait()
        self._end_stall()
        self._all.lost(self)

    def data_received(self, data: bytes) -> None:
        """Take bytes; an idle connection has the time of a header from here on, whatever they
        are.
        """
        super().data_received(data)
        if self in self._all.idle:
            self._await_header()

    def on_message_begin(self) -> None:
        """Note the beginning of a header."""
        super().on_message_begin()
        self._is_begun = True

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._is_begun = False
        self._end_wait()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, of which a part may be here already."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is None:
            return  # it is closing, or the next answer has begun
        if self._is_begun:
            self._unset_keepalive_if_required()
            self._await_header()
        else:
            self._all.idle[self] = None

    def pause_writing(self) -> None:
        """Begin to wait until the client reads."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._all.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        self._end_stall()

    def _end_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _await_header(self) -> None:
        self._end_wait()
        self._all.unfinished[self] = None
        self._deadline = self.loop.call_later(
            self._all.header_seconds, self.timeout_keep_alive_handler
        )

    def _end_wait(self) -> None:
        self._all.forget(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
