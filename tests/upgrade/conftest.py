"""Books that the version before the renaming made, in a file, on a server and as an export."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.engines.conftest import postgres
from tests.engines.postgres_server import Place

__all__ = ["postgres"]

_NUMBERS = itertools.count()


@pytest.fixture
def database(postgres: Place) -> Iterator[Place]:
    """A database of its own for one test, owned by the ordinary role; its books have the default schema."""
    asyncpg = pytest.importorskip("asyncpg")
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    name = f"upgraded_{next(_NUMBERS)}"

    async def run(statement: str) -> None:
        connection = await asyncpg.connect(postgres.administrator)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(run(f"CREATE DATABASE {name} OWNER reader_and_writer"))
    ours, administrators = (
        urlunsplit(urlsplit(url)._replace(path=f"/{name}")) for url in (postgres.url, postgres.administrator)
    )
    yield Place(ours, administrators)
    asyncio.run(run(f"DROP DATABASE {name} WITH (FORCE)"))
