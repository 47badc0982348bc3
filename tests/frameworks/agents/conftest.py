"""Real books for the agent SDKs' tests: in a file, in memory, and on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import memoranda
from tests.engines.conftest import postgres as postgres
from tests.engines.postgres_server import Place


def pytest_configure(config: pytest.Config) -> None:
    """Let the SDKs warn of their own affairs when they are imported."""
    for package in ("google", "authlib", "websockets", "pydantic", "fastapi", "opentelemetry"):
        config.addinivalue_line("filterwarnings", rf"ignore::DeprecationWarning:{package}")
    config.addinivalue_line("filterwarnings", "ignore::UserWarning:google")


@pytest.fixture(params=["sqlite", "memory", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """The address of a book on each engine. It is no coroutine: the server is started outside the
    event loop.
    """
    if request.param == "postgres":
        place: Place = request.getfixturevalue("postgres")
        return place.new_book()
    return tmp_path / "book.db" if request.param == "sqlite" else "memory://"


@pytest.fixture
async def book(address: str | Path) -> AsyncIterator[memoranda.Book]:
    """A book on each engine, checked at the end."""
    async with memoranda.open(address) as opened:
        yield opened
        assert (await opened.admin.verify()).faults == ()
