"""A book, and a way to it that tests break; nothing here may hang."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda_conformance.builders import Pen
from tests.engines.between import SOON, Between, between, nothing_hangs, through
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with nothing_hangs():
        yield


@pytest.fixture
def own_server(postgres: Place) -> Place:
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    return postgres


@pytest.fixture(autouse=True)
async def _nothing_runs_on(own_server: Place) -> AsyncIterator[None]:
    """What a test left running on the server, whose client is gone, stands in no other test's
    way.
    """
    yield
    administrator = await asyncpg.connect(own_server.administrator)
    await administrator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE xact_start IS NOT NULL AND usename <> current_user"
    )
    await administrator.close()


@pytest.fixture
async def address(own_server: Place) -> str:
    """A book that is there already."""
    url = own_server.new_book()
    engine = await PostgresEngine.open(url)
    await Pen(engine).remember("was here before")
    await engine.close()
    return url


@pytest.fixture
async def way(address: str) -> AsyncIterator[Between]:
    async with between(address) as found:
        yield found


@pytest.fixture
async def engine(address: str, way: Between) -> AsyncIterator[PostgresEngine]:
    """The book, by a way that can be broken."""
    opened = await PostgresEngine.open(through(address, way, connections=2, **SOON))
    yield opened
    way.is_silent = way.is_down = False
    assert (await opened.verify()).faults == ()
    await opened.close()


@pytest.fixture
async def administrator(own_server: Place) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(own_server.administrator.replace("/postgres?", "/books?"))
    yield connection
    await connection.close()
