"""A service over a book in a file or on a server, for any principal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest

import memoranda
from memoranda.access.principal import Principal, local_admin
from memoranda.access.service_settings import ServiceSettings
from memoranda.service.app import make_app
from memoranda.testing.clock import HandClock
from tests.engines.conftest import postgres as postgres

EVERY = ServiceSettings(compatible=("eddi", "gdpr", "langgraph", "knowledge"))
#: Makes a client of a principal; without one, of the local administrator.
Clients = Callable[..., httpx2.AsyncClient]


@pytest.fixture
async def book(tmp_path: Path, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(tmp_path / "book.db", clock=clock) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


@pytest.fixture
async def clients(book: memoranda.Book) -> AsyncIterator[Clients]:
    made: list[httpx2.AsyncClient] = []

    def client(
        principal: Principal | None = None,
        of: memoranda.Book = book,
        settings: ServiceSettings = EVERY,
    ) -> httpx2.AsyncClient:
        async def authenticate(_: str | None) -> Principal:
            return principal or local_admin(of.tenant)

        app = make_app(of, settings, authenticate=authenticate)
        made.append(
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost")
        )
        return made[-1]

    yield client
    for one in made:
        await one.aclose()
