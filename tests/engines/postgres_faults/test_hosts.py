"""Another host, a replica, a role that may not: what cannot be written to is told or left, and
nothing is kept.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from memoranda.errors import ReadOnly, StorageError
from memoranda_conformance.builders import BEN, Pen
from tests.engines.between import SOON, Between, between, contents, through
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402


async def test_another_host_serves_where_the_first_is_down_silent_or_a_replica(
    address: str, way: Between
):
    async with between(address) as other:
        options = {"longest_wait": 4, "longest_statement": 4}
        engine = await PostgresEngine.open(through(address, way, other, **options))
        for fail in ("is_down", "is_replica", "is_silent"):
            setattr(way, fail, True)
            way.cut()
            await Pen(engine).remember(fail)
            assert other.links
            setattr(way, fail, False)
            other.is_down = True
            other.cut()
            assert await Pen(engine).scan()
            other.is_down = False
        await engine.close()
    assert await contents(address) == ["is_down", "is_replica", "is_silent"]


async def test_a_primary_that_became_a_replica_is_left_for_the_one_that_took_over(
    address: str, way: Between
):
    way.is_replica = True
    engine = await PostgresEngine.open(
        through(address, way, connections=1, **SOON), create=False, read_only=True
    )
    await engine.close()
    with pytest.raises(ReadOnly, match="replica"):
        await PostgresEngine.open(through(address, way, **SOON))
    way.is_replica = False
    engine = await PostgresEngine.open(through(address, way, connections=1, **SOON))
    way.is_replica = True
    way.cut()
    assert await Pen(engine).scan()
    with pytest.raises(ReadOnly, match="replica"):
        await Pen(engine).remember("tea")
    assert await Pen(engine).scan()
    way.is_replica = False
    await Pen(engine).remember("coffee")
    assert await contents(address) == ["coffee"]
    await engine.close()


async def test_a_table_that_another_role_owns_is_told_and_nothing_is_kept(
    own_server: Place, administrator: Any
):
    await administrator.execute(
        "CREATE ROLE guest LOGIN PASSWORD 'x'; GRANT CREATE ON DATABASE books TO guest"
    )
    address = own_server.new_book().replace("reader_and_writer:secret@", "guest:x@")
    engine = await PostgresEngine.open(address)
    ledger = f'"{engine.server.schema}".ledger'
    await administrator.execute(
        f"ALTER TABLE {ledger} OWNER TO postgres; REVOKE ALL ON {ledger} FROM guest"
    )
    with pytest.raises(ReadOnly, match="OWNER TO"):
        await Pen(engine).remember("tea")
    with pytest.raises(StorageError, match="see who owns its tables"):
        await engine.scrub()
    await administrator.execute(f"ALTER TABLE {ledger} OWNER TO guest")
    assert await Pen(engine).scan() == []
    await Pen(engine).remember("coffee")
    assert "dead rows" not in (await engine.scrub()).pending_because
    await engine.close()


async def test_a_schema_that_a_role_may_not_use_is_told(
    address: str, own_server: Place, administrator: Any
):
    await administrator.execute("CREATE ROLE stranger LOGIN PASSWORD 'x'")
    with pytest.raises(StorageError):
        await PostgresEngine.open(address.replace("reader_and_writer:secret@", "stranger:x@"))


@pytest.fixture
def pooler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a book sets when it connects does not come through."""
    connecting = asyncpg.connect

    async def as_through_a_pooler(
        url: str, *, server_settings: dict[str, str], **options: object
    ) -> object:
        return await connecting(url, **options)

    monkeypatch.setattr(asyncpg, "connect", as_through_a_pooler)


@pytest.mark.usefixtures("pooler")
async def test_no_book_is_made_where_its_schema_cannot_be_chosen(own_server: Place):
    with pytest.raises(StorageError, match="search_path"):
        await PostgresEngine.open(own_server.new_book())


@pytest.mark.parametrize("read_only", [False, True])
async def test_another_book_than_the_one_that_is_meant_is_not_opened(
    read_only: bool, own_server: Place, administrator: Any, request: pytest.FixtureRequest
):
    theirs, ours = own_server.new_book(), own_server.new_book()
    for url in (theirs, ours):
        await (await PostgresEngine.open(url)).close()
    path = theirs.rpartition("schema=")[2]
    request.getfixturevalue("pooler")
    await administrator.execute(f"ALTER ROLE reader_and_writer SET search_path = {path}")
    try:
        await (await PostgresEngine.open(theirs, read_only=read_only)).close()
        for create in (False, True):
            with pytest.raises(StorageError, match="search_path"):
                await PostgresEngine.open(ours, create=create, read_only=read_only)
    finally:
        await administrator.execute("ALTER ROLE reader_and_writer RESET search_path")


async def test_a_book_that_is_only_read_is_not_written_through_a_pooler(
    address: str, administrator: Any, request: pytest.FixtureRequest
):
    request.getfixturevalue("pooler")
    await administrator.execute(
        f"ALTER ROLE reader_and_writer SET search_path = {address.rpartition('schema=')[2]}"
    )
    try:
        engine = await PostgresEngine.open(address, read_only=True)
        with pytest.raises(ReadOnly):
            await Pen(engine).remember("tea")
        assert len(await Pen(engine).scan()) == 1
        await engine.close()
    finally:
        await administrator.execute("ALTER ROLE reader_and_writer RESET search_path")


async def test_a_book_that_is_closed_says_so(address: str):
    engine = await PostgresEngine.open(address)
    await engine.close()
    with pytest.raises(StorageError, match="closed"):
        await engine.get(BEN, Pen(engine).view, [UUID(int=1)])
