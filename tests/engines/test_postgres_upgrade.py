"""A book on a server is upgraded once, all or nothing; newer ones and those of development builds
are refused.
"""

from __future__ import annotations

from typing import Any

import pytest

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server import migrations  # noqa: E402
from memoranda.engines.postgres.server.migrations import Migration, book_migrations  # noqa: E402
from memoranda.errors import ReadOnly, StorageError, VersionMismatch  # noqa: E402
from memoranda_conformance.builders import ANN, Pen  # noqa: E402
from tests.engines.postgres_server import Place  # noqa: E402

COLOURS = Migration(
    2, "colours", "CREATE TABLE colours (name text); INSERT INTO colours VALUES ('white')"
)


def with_steps(monkeypatch: pytest.MonkeyPatch, *more: Migration) -> None:
    steps = (book_migrations()[0], *more)
    monkeypatch.setattr(migrations, "book_migrations", lambda: steps)


async def asked(database: Place, question: str) -> list[Any]:
    connection = await asyncpg.connect(database.url)
    try:
        return [row[0] for row in await connection.fetch(question)]
    finally:
        await connection.close()


async def written(database: Place) -> None:
    engine = await PostgresEngine.open(database.url)
    await Pen(engine, ANN).remember("lives in Bonn")
    await engine.close()


async def test_an_older_book_is_upgraded_and_keeps_what_it_holds(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(database)
    with_steps(monkeypatch, COLOURS)
    with pytest.raises(ReadOnly, match="format 1 of 2"):
        await PostgresEngine.open(database.url, read_only=True)
    engine = await PostgresEngine.open(database.url)
    assert (await engine.facts()).records == {"memory": 1}
    await engine.close()
    assert await asked(database, "SELECT name FROM memoranda.colours") == ["white"]
    assert await asked(database, "SELECT number FROM memoranda.formats ORDER BY number") == [1, 2]


async def test_a_step_that_fails_leaves_the_book_as_it_was(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(database)
    with monkeypatch.context() as patched:
        with_steps(patched, COLOURS, Migration(3, "broken", "INSERT INTO nowhere VALUES (1)"))
        with pytest.raises(StorageError, match="nowhere"):
            await PostgresEngine.open(database.url)
    assert await asked(database, "SELECT number FROM memoranda.formats") == [1]
    engine = await PostgresEngine.open(database.url)
    assert (await engine.facts()).records == {"memory": 1}
    await engine.close()


async def test_a_newer_book_is_refused_and_left_alone(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        with_steps(patched, COLOURS)
        await written(database)
    for read_only in (False, True):
        with pytest.raises(VersionMismatch, match=r"format 2.*up to 1.*upgrade Memoranda"):
            await PostgresEngine.open(database.url, read_only=read_only)
    assert await asked(database, "SELECT number FROM memoranda.formats ORDER BY number") == [1, 2]


async def test_a_book_of_a_development_build_is_refused_and_left_alone(database: Place) -> None:
    connection = await asyncpg.connect(database.url)
    await connection.execute(
        "CREATE SCHEMA memoranda; CREATE TABLE memoranda.migrations (number bigint);"
        "CREATE TABLE memoranda.owners (no bigint); CREATE TABLE memoranda.ledger (owner bigint)"
    )
    await connection.close()
    for read_only in (False, True):
        with pytest.raises(VersionMismatch, match="a development build"):
            await PostgresEngine.open(database.url, read_only=read_only)
    tables = await asked(
        database,
        "SELECT tablename FROM pg_tables WHERE schemaname = 'memoranda' ORDER BY tablename",
    )
    assert tables == ["ledger", "migrations", "owners"]
