"""A service on a real socket of this machine, and raw requests to it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import NamedTuple

from memoranda.access.service_settings import ServiceSettings
from memoranda.service.app import make_app
from memoranda.service.composition import server_of


class Answer(NamedTuple):
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


@asynccontextmanager
async def listening(book, settings=None, *, listen="127.0.0.1", **how):
    """Serve this book on a free port of this machine, and yield the port."""
    told = asyncio.get_running_loop().create_future()
    app = make_app(book, settings or ServiceSettings(), **how)
    server = server_of(
        app, listen, 0, lambda address: told.set_result(int(address.rpartition(":")[2]))
    )
    serving = asyncio.ensure_future(server.serve())
    await asyncio.wait({told, serving}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        await serving
    try:
        yield told.result()
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def connected(port, host="127.0.0.1"):
    """Yield a reader and a writer of a connection."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()


def head(method, path, **headers):
    """Return the first bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def read_answer(reader):
    """Read one answer with a length."""
    async with asyncio.timeout(20):
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(lines[0].split()[1]), headers, body)
