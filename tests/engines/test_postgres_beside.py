"""A book beside other sessions and under an administrator's settings of the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import Busy, InvalidInput, NotABook, StorageError
from memoranda.model.changes import ChangeAudience
from memoranda.model.records import WHOLE
from memoranda.storage.upkeep_questions import PassagesAmong
from memoranda_conformance.builders import ANN, FOR_A, FOR_B, SMALL, Pen
from tests.engines.between import nothing_hangs
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres import vector_sets  # noqa: E402
from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with nothing_hangs():
        yield


@pytest.fixture
async def administrator(postgres: Place) -> AsyncIterator[Any]:
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    connection = await asyncpg.connect(postgres.administrator)
    yield connection
    await connection.execute("ALTER ROLE reader_and_writer RESET ALL")
    await connection.close()


async def test_a_passage_that_comes_to_another_shelf_while_its_vector_is_put_is_met_there(
    postgres: Place,
):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    await engine.begin_set(SMALL)
    moving = await pen.remember("likes tea", audience=FOR_A)
    for number in range(20):
        await pen.remember(f"likes {number}", audience=FOR_B)
    held = {
        shelf.number: delta.mark for shelf, delta in await engine.since(ANN, WHOLE, lambda _: None)
    }

    async def put(session: Session) -> None:
        there = await vector_sets.passages_among(session, PassagesAmong([moving]))
        await asyncio.wait_for(pen.write(ChangeAudience(moving, FOR_B)), 20)
        shelves = await vector_sets.remark(session, list(there.values()))
        assert [shelf.passages for shelf in shelves] == [0, 21]

    await engine.server.write(put)
    came = [(shelf.audience, delta) for shelf, delta in await engine.since(ANN, WHOLE, held.get)]
    found = [(audience, row.id) for audience, delta in came for row in delta.rows]
    assert found == [(FOR_B, moving.bytes)]
    await engine.close()


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_a_book_is_made_once_by_whoever_comes_whatever_isolation_a_role_is_set_to(
    isolation: str, postgres: Place, administrator: Any
):
    await administrator.execute(
        f"ALTER ROLE reader_and_writer SET default_transaction_isolation = '{isolation}'"
    )
    for _ in range(3):
        address = postgres.new_book()
        engines = await asyncio.gather(
            *(PostgresEngine.open(address, connections=1) for _ in range(4))
        )
        await asyncio.gather(*(Pen(engine).remember(str(n)) for n, engine in enumerate(engines)))
        assert len(await Pen(engines[0]).scan()) == 4
        for engine in engines:
            await engine.close()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_no_book_is_made_in_a_database_that_cannot_hold_every_text(
    encoding: str, postgres: Place, administrator: Any
):
    name = f"in_{encoding.lower()}"
    await administrator.execute(
        f"CREATE DATABASE {name} OWNER reader_and_writer "
        f"ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    with pytest.raises(StorageError, match=f"{encoding}.*UTF8"):
        await PostgresEngine.open(postgres.new_book().replace("/books", f"/{name}"))
    await administrator.execute(f"DROP DATABASE {name}")


async def test_an_operators_limit_on_transactions_holds_for_what_is_no_upkeep(
    postgres: Place, administrator: Any
):
    if administrator.get_server_version().major < 17:
        pytest.skip("a server has had that limit since PostgreSQL 17")
    await administrator.execute("ALTER ROLE reader_and_writer SET transaction_timeout = '1s'")
    engine = await PostgresEngine.open(postgres.new_book())

    async def sleep(session: Session) -> None:
        await session.text("SELECT pg_sleep(2)")

    for call in (engine.server.read, engine.server.write):
        with pytest.raises(Busy, match="transaction_timeout"):
            await call(sleep)
    await engine.server.read(sleep, long=True)
    await engine.server.write(sleep, alone=True)
    await engine.server.outside("SELECT pg_sleep(2)")
    assert await Pen(engine).scan() == []
    await engine.close()


async def test_a_partition_takes_as_many_locks_as_the_page_for_operators_says(postgres: Place):
    engine = await PostgresEngine.open(f"{postgres.new_book()}&partitions=3")
    asked = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relispartition"
    ((count,),) = await engine.server.read(lambda session: session.text(asked))
    told = Path(__file__, "../../../docs/guides/postgresql.md").resolve().read_text("utf-8")
    await engine.close()
    assert f"A partition is {count // 3} tables and indexes" in " ".join(told.split())


async def test_where_no_book_is_there_is_none_to_be_read_and_a_setting_that_no_server_knows_is_no_address(
    postgres: Place,
):
    address = postgres.new_book()
    with pytest.raises(NotABook, match="holds no book"):
        await PostgresEngine.open(address, read_only=True)
    with pytest.raises(InvalidInput, match="shema"):
        await PostgresEngine.open(f"{address}&shema=foo")
