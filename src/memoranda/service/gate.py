"""The gate of the service: every request passes it, to be named, counted, limited, and known by its
credential.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from random import getrandbits
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from memoranda import telemetry
from memoranda.access.guard import Audit, Guard
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.book import Book
from memoranda.errors import MemorandaError
from memoranda.service.answers import Refused, error_answer, mistake
from memoranda.service.metrics import Metrics
from memoranda.tasks import begin_request

#: Credentials whose rate is remembered; beyond it, those that asked nothing lately are forgotten.
_MOST = 10_000


class Rates:
    """The rate of each credential: a bucket of tokens that fills up evenly."""

    def __init__(self, a_minute: int, clock: Callable[[], float]) -> None:
        self._a_second = a_minute / 60
        self._full = max(float(a_minute), 1.0)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> None:
        """Count a request; raise ``Refused`` if this credential has asked too often."""
        if not self._a_second:
            return
        now = self._clock()
        left, since = self._buckets.pop(who, (self._full, now))
        left = min(self._full, left + (now - since) * self._a_second)
        self._buckets[who] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if len(self._buckets) > _MOST:
            # The order is that of the last request.
            del self._buckets[next(iter(self._buckets))]
        if left < 1:
            pause = max(1, round((1 - left) / self._a_second))
            raise Refused(
                429,
                "rate",
                f"this credential has asked too often; ask again in {pause} s",
                headers={"Retry-After": str(pause)},
            )


def bounded_body(receive: Any, settings: ServiceSettings, length: str | None) -> Any:
    """Return ``receive`` of an ASGI request that refuses a body which is too large, or takes too
    long to arrive.
    """
    most = settings.body_bytes
    if length is not None and length.isdecimal() and int(length) > most:
        raise _too_large(most)
    got = 0
    until = asyncio.get_running_loop().time() + settings.body_seconds
    whole = False

    async def limited() -> Any:
        nonlocal got, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise Refused(
                408, "slow", "the body did not arrive in time", headers={"Connection": "close"}
            ) from None
        whole = message["type"] != "http.request" or not message.get("more_body", False)
        got += len(message.get("body", b""))
        if got > most:
            raise _too_large(most)
        return message

    return limited


def _too_large(most: int) -> Refused:
    return Refused(
        413,
        "too_large",
        f"the body has more than {most} bytes; send less at once (service.body_bytes sets the limit)",
        headers={"Connection": "close"},
    )


#: A stream whose credential has ended is ended after so many seconds at the latest, besides the
#: time of one read.
CHECKED_SECONDS: Final = 5.0


class LongStreams:
    """The streams that are open: at most so many, and none that outlives its credential or the
    service.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End all streams, and refuse new ones."""
        self._stopping.set()

    async def serve(
        self, work: Callable[[], Awaitable[None]], is_allowed: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Answer with a stream; return True if it ended by itself, False if it was ended here."""
        if self._open >= self._most or self._stopping.is_set():
            raise Refused(
                503,
                "busy",
                "too many streams are open; open it in a moment",
                headers={"Retry-After": "1"},
            )
        limit = asyncio.timeout(None)
        watching = asyncio.create_task(self._end(limit, is_allowed))
        self._open += 1
        try:
            async with limit:
                await work()
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._open -= 1
            watching.cancel()
        return not limit.expired()

    async def _end(self, limit: asyncio.Timeout, is_allowed: Callable[[], Awaitable[bool]]) -> None:
        """Wait until the service stops or the credential has ended; then end the stream."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECKED_SECONDS):
                    await self._stopping.wait()
            try:
                if not await is_allowed():
                    break
            except MemorandaError:
                break  # nobody can tell whether it is allowed
        limit.reschedule(asyncio.get_running_loop().time())


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
#: Returns the principal of a credential, or of a request without one; None if it opens nothing.
Authenticate = Callable[[str | None], Awaitable[Principal | None]]

_log = logging.getLogger("memoranda.service")
#: Paths that anybody may ask: they tell nothing about the book.
_OPEN = frozenset({"/livez", "/readyz"})
#: Paths whose answers may take as long as they need.
_STREAMED = (
    "/v1/export",
    "/v1/import",
    "/admin/gdpr/",
    "/mcp",
    "/v1/verify",
    "/v1/rebuild",
    "/v1/scrub",
    "/v1/embed",
    "/v1/reembed",
)
#: Headers that say one thing: of two, a proxy and this service could each believe another.
_SENT_ONCE = ("host", "authorization", "x-api-key", "idempotency-key", "if-match")
_SAFE_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
#: The hosts by which this machine is asked from itself.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass
class Gate:
    """An ASGI application around another one."""

    app: App
    book: Book
    settings: ServiceSettings
    authenticate: Authenticate
    metrics: Metrics
    audit: Audit | None = None
    #: Hosts by which the service may be asked, besides those of the settings.
    hosts: frozenset[str] = LOOPBACK
    clock: Callable[[], float] = time.monotonic
    running: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._rates = Rates(self.settings.requests_per_minute, self.clock)
        #: The streams of clients that listen; they are no requests in progress.
        self.streams = LongStreams(self.settings.max_concurrent)
        self._hosts = self.hosts | frozenset(host.lower() for host in self.settings.allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin_request()
        call = _Call(scope, send, self.clock())
        call.state["request_id"] = call.id
        with telemetry.request(scope["method"], call.headers) as work:
            await self._answered(call, receive, work)

    async def _answered(self, call: _Call, receive: Receive, work: telemetry.Work) -> None:
        self.running += 1
        try:
            await self._served(call, receive)
        except Refused as exc:
            await call.answer(exc.answer(call.id))
        except MemorandaError as exc:
            await call.answer(error_answer(exc, call.id))
        except ClientDisconnect:
            # Nobody waits for an answer.
            pass
        except Exception:
            _log.exception("request %s failed", call.id)
            await call.answer(mistake(call.id))
            if not call.is_whole:
                # The server ends the connection, so that nobody takes a part for the whole.
                raise
        finally:
            self.running -= 1
            self._tell(call, work)

    async def _served(self, call: _Call, receive: Receive) -> None:
        settings, headers = self.settings, call.headers
        if "*" not in self._hosts and _host(headers.get("host", "")) not in self._hosts:
            raise Refused(
                421,
                "host",
                "this service does not answer to this host; name it in service.allowed_hosts",
            )
        for name in _SENT_ONCE:
            if len(headers.getlist(name)) > 1:
                raise Refused(
                    400, "repeated", f"{name.title()}: it is sent more than once; send it once"
                )
        if self._is_foreign_page(headers) and await self._answered_preflight(call):
            return
        if self.running > settings.max_concurrent:
            raise Refused(
                503,
                "busy",
                "too many requests at once; ask again in a moment",
                headers={"Retry-After": "1"},
            )
        if call.path not in _OPEN:
            await self._enter(call)
        limited = receive
        if call.path != "/v1/import":
            limited = bounded_body(receive, settings, headers.get("content-length"))
        if call.listens:
            await self._listened(call, limited)
            return
        try:
            async with asyncio.timeout(
                None if call.path.startswith(_STREAMED) else settings.request_seconds
            ):
                await self.app(call.scope, limited, call.send)
        except TimeoutError:
            raise Refused(
                503,
                "timeout",
                f"it took longer than {settings.request_seconds:g} s; a write may be stored: repeat it with the same "
                "Idempotency-Key",
                headers={"Retry-After": "1"},
            ) from None

    async def _listened(self, call: _Call, receive: Receive) -> None:
        """Answer a client of MCP that listens for as long as its credential opens the same."""

        async def is_allowed() -> bool:
            principal: Principal = call.state["principal"]
            return await self.authenticate(_credential(call.headers)) == principal

        call.state["verb"] = "mcp.listen"
        self.running -= 1
        try:
            is_over = await self.streams.serve(
                lambda: self.app(call.scope, receive, call.send), is_allowed
            )
        finally:
            self.running += 1
        if not is_over and call.status is None:
            raise Refused(503, "busy", "the stream was ended before it began; open it again")
        if not is_over and not call.is_whole:
            await call.send({"type": "http.response.body", "body": b""})

    async def _enter(self, call: _Call) -> None:
        """Find the principal of the request, count the request, and give it the book as this
        principal may use it.
        """
        principal = await self.authenticate(_credential(call.headers))
        if principal is None:
            raise Refused(
                401,
                "credential",
                "give a valid key or token of this tenant: Authorization: Bearer …",
                headers={"WWW-Authenticate": 'Bearer realm="memoranda"'},
            )
        self._rates.take(principal.binding or principal.name)
        call.state["principal"] = principal
        call.state["guard"] = Guard(self.book, principal, "rest", self.audit)

    # ── browsers ──────────────────────────────────────────────────────────────────────────────────

    def _is_foreign_page(self, headers: Headers) -> bool:
        """Return True for a page of an allowed origin; refuse pages of any other one."""
        origin = headers.get("origin")
        if origin is None:
            return False
        if origin in self.settings.cors_origins:
            return True
        # With the port: a page that another program of this machine serves is foreign, too.
        if origin.partition("://")[2].lower() == headers.get("host", "").lower():
            return False
        raise Refused(
            403, "origin", "pages of this origin may not ask; name it in service.cors_origins"
        )

    async def _answered_preflight(self, call: _Call) -> bool:
        call.more["Access-Control-Allow-Origin"] = call.headers["origin"]
        call.more["Vary"] = "Origin"
        call.more["Access-Control-Expose-Headers"] = "ETag, Retry-After, X-Request-Id"
        if call.scope["method"] != "OPTIONS":
            return False
        call.more["Access-Control-Allow-Methods"] = "GET, POST, PUT, PATCH, DELETE"
        call.more["Access-Control-Allow-Headers"] = (
            "Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-Match"
        )
        await call.answer(Response(status_code=204))
        return True

    # ── what is told of it ────────────────────────────────────────────────────────────────────────

    def _tell(self, call: _Call, work: telemetry.Work) -> None:
        verb = str(call.state.get("verb") or _place(call.path))
        seconds, status = self.clock() - call.begun, call.status or 499
        self.metrics.request(verb, status, seconds)
        telemetry.answered(work, verb, status)
        principal = call.state.get("principal")
        _log.info(
            "request",
            extra={
                "request_id": call.id,
                "verb": verb,
                "method": call.scope["method"],
                "status": status,
                "milliseconds": round(seconds * 1000, 1),
                "principal": principal.name if principal is not None else None,
            },
        )


class _Call:
    """One request, and what was answered so far."""

    def __init__(self, scope: Scope, send: Send, begun: float) -> None:
        self.scope = scope
        self.begun = begun
        self.headers = Headers(scope=scope)
        self.path: str = scope["path"]
        self.id = _request_id(self.headers.get("x-request-id"))
        self.state: dict[str, Any] = scope.setdefault("state", {})
        self.status: int | None = None
        #: True once the whole answer was sent.
        self.is_whole = False
        #: True for a stream that has no end of its own; MCP refuses a header that is not the method
        #: of the body.
        is_listening = self.headers.get("mcp-method", "").strip(" \t") == "subscriptions/listen"
        self.listens = is_listening and self.path in ("/mcp", "/mcp/admin")
        #: Headers that the answer gets besides its own.
        self.more: dict[str, str] = {}
        self._send = send

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message.setdefault("headers", [])
            there = {name for name, _ in given}
            own = {"x-request-id": self.id, **self.more}
            more = [(name.lower().encode(), value.encode("latin-1")) for name, value in own.items()]
            message["headers"] = [
                *given,
                *(one for one in (*_SAFE_HEADERS, *more) if one[0] not in there),
            ]
        await self._send(message)
        self.is_whole = message["type"] == "http.response.body" and not message.get(
            "more_body", False
        )

    async def answer(self, response: Response) -> None:
        """Send a whole answer, unless one has begun: then the connection is all that can be
        ended.
        """
        if self.status is not None:
            return
        await response(self.scope, _nothing, self.send)


async def _nothing() -> MutableMapping[str, Any]:
    return {"type": "http.disconnect"}


def _credential(headers: Headers) -> str | None:
    kind, _, rest = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and rest.strip():
        return rest.strip()
    return headers.get("x-api-key")


def _request_id(given: str | None) -> str:
    """Return the id that the caller gave a request, if it is one that a log can hold, or a new
    one.
    """
    if (
        given
        and len(given) <= 64
        and all(one.isalnum() or one in "-_." for one in given)
        and given.isascii()
    ):
        return given
    # No secret, and drawn without asking the system: that would let go of the interpreter in every
    # request.
    return f"{getrandbits(128):032x}"


def _host(given: str) -> str:
    """Return a host without its port."""
    if given.startswith("["):
        return given[1:].partition("]")[0].lower()
    return given.partition(":")[0].lower()


def _place(path: str) -> str:
    """Return the first part of a path if it is a known word; metrics and logs never name an
    owner.
    """
    first = path.strip("/").partition("/")[0]
    return first if first in _PLACES else "other"


_PLACES = frozenset(
    "livez readyz health metrics openapi.json admin mcp usermemorystore propertiesstore schedulestore store v1".split()
)
