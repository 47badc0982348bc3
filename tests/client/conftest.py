"""The book of a service that listens on this machine, instead of a book in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import memoranda
from memoranda.client import RemoteBook, open_remote
from memoranda.service.app import make_app
from memoranda.service.composition import server_of


@asynccontextmanager
async def served(book: memoranda.Book, **how) -> AsyncIterator[str]:
    """Serve a book on a free port of this machine, and return the address."""
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = server_of(make_app(book, **how), "127.0.0.1", 0, listening.set_result)
    serving = asyncio.create_task(server.serve())
    try:
        yield await listening
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
async def own_book(tmp_path, clock) -> AsyncIterator[memoranda.Book]:
    """The book that the service has."""
    async with memoranda.open(tmp_path / "book.db", clock=clock) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


@pytest.fixture
async def book(own_book) -> AsyncIterator[RemoteBook]:
    async with served(own_book) as address, await open_remote(address) as remote:
        yield remote
