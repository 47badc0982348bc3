"""The transport: requests to a service, repeated where that is safe, and its errors as the
library's own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
from collections.abc import AsyncIterable, AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic_core import from_json

from memoranda.errors import (
    Busy,
    InvalidInput,
    MemorandaError,
    OutcomeUnknown,
    StorageError,
    VersionMismatch,
    installing,
)
from memoranda.wire.problems import ABSENT, RETRIED, error_of

# Only programs that ask a service need the package.
if TYPE_CHECKING:
    import httpx2

#: Seconds to connect, and to wait for an answer: longer than the service lets a request take.
_CONNECT, _ANSWER = 10.0, 90.0
#: How often a request is sent, the seconds before the second time, and the most before any.
_TRIES: Final = 4
_PAUSE, _LONGEST_PAUSE = 0.1, 30.0
_CONNECTIONS: Final = 64
#: Errors of the service after which the same request may succeed.
_PASSING = (Busy, OutcomeUnknown)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    #: JSON in UTF-8; None: no body.
    body: bytes | None = None
    operation: str | None = None
    #: True if sending it twice does what sending it once does.
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The address and the key of a service."""

    address: str
    key: str = field(default="", repr=False)


def place_of(address: str, key: str | None, private_hosts: Collection[str] = ()) -> Place:
    """Check an address and a key; raise InvalidInput for an address that would show the key to the
    network.

    A private host may get the key over plain HTTP.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise InvalidInput("address: it is not a valid URL", field="address") from None
    if not parts.hostname or parts.query or parts.fragment:
        raise InvalidInput(
            "address: give http://host:port or https://host, without ? and #", field="address"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "address: give the key as key=…, or in MEMORANDA_KEY, not in the address",
            field="address",
        )
    if key is not None and (not key.isascii() or not key.isprintable() or " " in key):
        raise InvalidInput(
            "key: it has characters that no key of a service has; copy it again", field="key"
        )
    if (
        key
        and parts.scheme == "http"
        and not (_is_loopback(parts.hostname) or parts.hostname in private_hosts)
    ):
        raise InvalidInput(
            "address: with http:// everyone on the way to another machine could read the key and the memories: use https://, "
            "or a tunnel that ends on this machine; or, on a network that you trust, name the host in MEMORANDA_PRIVATE_HOSTS",
            field="address",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    return Place(shown, key or "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Transport:
    """Connections to one service."""

    def __init__(self, place: Place, *, over: httpx2.AsyncBaseTransport | None = None) -> None:
        try:
            import httpx2  # noqa: PLC0415
        except ModuleNotFoundError as exc:
            raise InvalidInput(
                f"address: a book of a service needs its client: {installing('client')}",
                field="address",
            ) from exc
        self.address = place.address
        self._failures = httpx2.TransportError
        self._before_sending = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
        self._http = httpx2.AsyncClient(
            base_url=place.address,
            headers={"Authorization": f"Bearer {place.key}"} if place.key else {},
            timeout=httpx2.Timeout(_ANSWER, connect=_CONNECT),
            limits=httpx2.Limits(
                max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS
            ),
            transport=over,
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        return f"<Transport {self.address}>"

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, asked: Asked) -> Any:
        """Send a request and return the JSON of its answer; raise the library's error for a
        problem.
        """
        tries = 0
        while True:
            tries += 1
            last = tries == _TRIES
            try:
                answer = await self._http.send(self._request(asked))
            except self._failures as exc:
                sent = not isinstance(exc, self._before_sending)
                if last or (sent and not asked.repeatable):
                    raise self._lost(exc, asked, sent=sent) from None
                pause = 0.0
            else:
                if answer.is_success:
                    return self._json(answer)
                if asked.method == "GET" and self._problem(answer).get("code") == ABSENT:
                    return None
                error = self._error(answer)
                if last or not _is_worth_repeating(answer.status_code, error, asked):
                    raise error
                pause = _seconds(answer.headers.get("retry-after"))
            own = _PAUSE * 2 ** (tries - 1)
            await asyncio.sleep(min(max(pause, own * random.uniform(0.5, 1.5)), _LONGEST_PAUSE))

    async def lines(self, asked: Asked) -> AsyncIterator[str]:
        """Yield the lines of an answer as they arrive; raise StorageError if it breaks off."""
        count = 0
        try:
            answer = await self._http.send(self._request(asked), stream=True)
            try:
                if not answer.is_success:
                    await answer.aread()
                    raise self._error(answer)
                rest = b""
                async for piece in answer.aiter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        count += 1
                        yield line.decode()
                if rest:
                    raise StorageError(
                        f"the export broke off within line {count + 1}: export again"
                    )
            finally:
                await answer.aclose()
        except self._failures as exc:
            raise StorageError(
                f"the export broke off after {count} lines ({type(exc).__name__}): export again"
            ) from None

    async def send_lines(self, asked: Asked, lines: AsyncIterable[bytes]) -> Any:
        """Send lines as they come and return the JSON of the answer. It is sent once: lines cannot
        be read twice.
        """
        request = self._request(asked, lines)
        try:
            answer = await self._http.send(request)
        except self._failures as exc:
            raise self._lost(exc, asked, sent=True) from None
        if not answer.is_success:
            raise self._error(answer)
        return self._json(answer)

    def _request(self, asked: Asked, lines: AsyncIterable[bytes] | None = None) -> httpx2.Request:
        headers: dict[str, str | bytes] = {}
        if asked.operation is not None:
            headers["Idempotency-Key"] = asked.operation.encode()
        if asked.body is not None:
            headers["Content-Type"] = "application/json"
        return self._http.build_request(
            asked.method,
            asked.path,
            params=list(asked.query) or None,
            content=asked.body if lines is None else lines,
            headers=[
                (name.encode(), one if isinstance(one, bytes) else one.encode())
                for name, one in headers.items()
            ],
        )

    def _json(self, answer: httpx2.Response) -> Any:
        try:
            return from_json(answer.content)
        except ValueError:
            raise VersionMismatch(
                f"{self.address} did not answer with JSON: is it a service of Memoranda?"
            ) from None

    def _error(self, answer: httpx2.Response) -> MemorandaError:
        return error_of(answer.status_code, self._problem(answer))

    def _problem(self, answer: httpx2.Response) -> Mapping[str, Any]:
        try:
            body = from_json(answer.content)
        except ValueError:
            return {}
        return body if isinstance(body, Mapping) else {}

    def _lost(self, exc: Exception, asked: Asked, *, sent: bool) -> StorageError:
        what = f"{self.address} did not answer ({type(exc).__name__})"
        if not sent:
            return Busy(f"{what}: check the address, and that memoranda serve runs there")
        if asked.repeatable:
            return Busy(f"{what}; try again")
        return OutcomeUnknown(
            f"{what}: the request may have been done, or not; look before you repeat it"
        )


def _is_worth_repeating(status: int, error: MemorandaError, asked: Asked) -> bool:
    if status not in RETRIED:
        return False
    # Requests over the limit were not begun.
    passing = type(error) in (*_PASSING, StorageError) or status == 429
    return passing and (asked.repeatable or status == 429)


def _seconds(text: str | None) -> float:
    """Return the seconds that an answer asks to wait; 0 if it does not say, or names a date."""
    return float(text) if text is not None and text.isascii() and text.isdecimal() else 0.0
