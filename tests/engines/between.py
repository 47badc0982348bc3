"""A way between a book and its server that tests break: it cuts, swallows and holds what passes."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import parse_qs, urlsplit, urlunsplit

from memoranda_conformance.builders import Pen

#: Whoever waits for longer hangs.
HANGING_SECONDS = 60
#: Of a statement; an isolation level has the word too.
COMMIT = b"COMMIT\x00"
#: How long a book waits here, in seconds.
SOON = {"longest_statement": 1, "longest_wait": 1}
_SSL_REQUEST = 80877103
_CANCEL_REQUEST = 80877102


class Fault(Enum):
    """What happens to a link when what was waited for passes."""

    #: It does not reach the server, and both sides are cut off.
    CUT_BEFORE = auto()
    #: It reaches the server, and both sides are cut off before the answer passes.
    CUT_AFTER = auto()
    #: It does not reach the server, and nothing passes any more.
    HUSH_BEFORE = auto()
    #: It reaches the server, and no answer passes any more.
    HUSH_AFTER = auto()


@dataclass(eq=False)
class Link:
    """One connection that passes."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    is_hushed: bool = False
    #: Cut off as soon as the server answers.
    is_ending: bool = False
    has_begun: bool = False

    def cut(self) -> None:
        self.near.transport.abort()
        self.far.transport.abort()


@dataclass
class Between:
    """Where a book connects to, in its server's stead."""

    socket: str
    port: int = 0
    links: set[Link] = field(default_factory=set)
    #: New connections are accepted and never answered; what passes already is swallowed.
    is_silent: bool = False
    #: New connections are refused.
    is_down: bool = False
    #: New connections may only read.
    is_replica: bool = False
    #: A link whose client vanishes stays open towards the server, as behind a network that is cut.
    keeps_far_ends: bool = False
    #: What is waited for in what clients send, and what happens then, once.
    trap: tuple[bytes, Fault] | None = None
    #: Set when the trap was met.
    met: asyncio.Event = field(default_factory=asyncio.Event)
    #: How many bytes still pass, either way, before all links are cut, once.
    bytes_left: int | None = None
    #: Set when anybody connected.
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set when a link has ended.
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def wait_for(self, phrase: bytes, fault: Fault) -> None:
        self.met.clear()
        self.trap = (phrase, fault)

    def cut(self) -> None:
        for link in list(self.links):
            link.cut()

    async def accept(self, near_in: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        if self.is_down:
            near.transport.abort()
            return
        far_in, far = await asyncio.open_unix_connection(self.socket)
        link = Link(near, far)
        self.links.add(link)
        self.asked.set()
        for one in (self.upwards(link, near_in), self.downwards(link, far_in)):
            task = asyncio.create_task(one)
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def upwards(self, link: Link, reader: asyncio.StreamReader) -> None:
        while data := await _read(reader):
            if self.trap is not None and self.trap[0] in data:
                fault, self.trap = self.trap[1], None
                link.is_hushed = fault in (Fault.HUSH_BEFORE, Fault.HUSH_AFTER)
                link.is_ending = fault is Fault.CUT_AFTER
                self.met.set()
                if fault is Fault.CUT_BEFORE:
                    link.cut()
                if fault is Fault.HUSH_AFTER:
                    link.far.write(data)
            if not link.is_hushed and not self.is_silent and self._may_pass(data):
                link.far.write(self._as_replica(link, data))
        link.near.transport.abort()
        if not self.keeps_far_ends:
            link.far.transport.abort()
            self.links.discard(link)
        self.ended.set()

    async def downwards(self, link: Link, reader: asyncio.StreamReader) -> None:
        while data := await _read(reader):
            if link.is_ending:
                link.cut()
            elif not link.is_hushed and not self.is_silent and self._may_pass(data):
                link.near.write(data)
        if not link.is_hushed and not self.is_silent:
            link.cut()

    def _may_pass(self, data: bytes) -> bool:
        if self.bytes_left is None:
            return True
        self.bytes_left -= len(data)
        if self.bytes_left >= 0:
            return True
        self.bytes_left = None
        self.cut()
        return False

    def _as_replica(self, link: Link, data: bytes) -> bytes:
        """The first packet asks for what a replica would answer."""
        if link.has_begun or struct.unpack_from("!l", data, 4)[0] in (
            _SSL_REQUEST,
            _CANCEL_REQUEST,
        ):
            return data
        link.has_begun = True
        if not self.is_replica:
            return data
        asked = data[4:-1] + b"default_transaction_read_only\0on\0\0"
        return struct.pack("!l", len(asked) + 4) + asked


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65_536)
    except ConnectionError:
        return b""


@asynccontextmanager
async def between(url: str) -> AsyncIterator[Between]:
    """A way to the server at an address that names its socket's folder."""
    folder = parse_qs(urlsplit(url).query)["host"][0]
    way = Between(f"{folder}/.s.PGSQL.5432")
    door = await asyncio.start_server(way.accept, "127.0.0.1", 0)
    way.port = door.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        door.close()
        for link in list(way.links):
            link.cut()
        for task in list(way.tasks):
            task.cancel()


@asynccontextmanager
async def nothing_hangs() -> AsyncIterator[None]:
    """Ends whatever runs in this loop for longer than anything may."""

    def end() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel("it hangs")

    loop = asyncio.get_running_loop()
    ending = loop.call_later(HANGING_SECONDS, end)
    try:
        yield
    finally:
        ending.cancel()


def through(url: str, *ways: Between, **options: object) -> str:
    """The address of the same book, by way of these."""
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    query = "&".join(
        [one for one in parts.query.split("&") if not one.startswith("host=")]
        + [f"{name}={value}" for name, value in options.items()]
    )
    hosts = ",".join(f"127.0.0.1:{way.port}" for way in ways)
    return urlunsplit(parts._replace(netloc=f"{user}@{hosts}", query=query))


async def contents(address: str) -> list[str]:
    """What the book holds, seen by another way."""
    from memoranda.engines.postgres.engine import PostgresEngine  # noqa: PLC0415 - it needs the driver

    engine = await PostgresEngine.open(address)
    found = [record.passage_text() for record in await Pen(engine).scan()]
    await engine.close()
    return found[1:]
