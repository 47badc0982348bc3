"""The doorkeeper: whose credential a request has, and whether a service may run without any."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Protocol

from memoranda.access.principal import Principal, local_admin
from memoranda.book import Book
from memoranda.errors import InvalidInput

#: Seconds for which it is remembered that a book has no key yet.
_REMEMBERED = 2.0


class Check(Protocol):
    """A kind of credential."""

    async def principal_of(self, secret: str) -> Principal | None:
        """Return the principal of a credential; None if it opens nothing."""


class Doorkeeper:
    """Finds the principal of each request. Until a book has a key, every program on this machine is
    an administrator.
    """

    def __init__(
        self,
        book: Book,
        keys: Check,
        tokens: Check | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book = book
        self._keys = keys
        self._tokens = tokens
        self._clock = clock
        self._is_locked = tokens is not None
        self._asked_at = float("-inf")

    async def __call__(self, credential: str | None) -> Principal | None:
        """Return the principal of a request with this credential; None if it may not enter."""
        if credential is not None:
            if self._tokens is not None and credential.count(".") == 2:
                return await self._tokens.principal_of(credential)
            return await self._keys.principal_of(credential)
        return None if await self.is_locked() else local_admin(self._book.tenant)

    async def is_locked(self) -> bool:
        """Return True if requests need a credential. Once they do, they always do."""
        if not self._is_locked and self._clock() - self._asked_at >= _REMEMBERED:
            self._is_locked = bool(await self._book.keys.list(limit=1))
            self._asked_at = self._clock()
        return self._is_locked


def refuse_open_address(host: str, *, is_locked: bool) -> None:
    """Raise InvalidInput if a service without keys would be reached from other machines."""
    if is_locked or is_loopback(host):
        return
    raise InvalidInput(
        f"host: {host} is reached from other machines, and the book has no key, so anybody could read and erase it. Make "
        "one: memoranda keys create NAME; or listen on 127.0.0.1",
        field="host",
    )


def is_loopback(host: str) -> bool:
    """Return True if only programs on this machine reach this host."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_taken_address(host: str, port: int) -> None:
    """Raise InvalidInput if nothing can listen at this address, with the cure; port 0 is always
    free.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE:
            raise InvalidInput(
                f"port: another program listens on {host}:{port}; stop it, or give another --port",
                field="port",
            ) from None
        raise InvalidInput(
            f"host: it is impossible to listen on {host}:{port} ({exc.strerror}); give an address of this machine",
            field="host",
        ) from None
