"""A book on a server that an earlier version made is upgraded once, and nobody writes to it in the old way afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda.errors import NotABook, ReadOnly, StorageError, VersionMismatch
from memoranda.testing.builders import ANN, Pen
from tests.engines.postgres_server import Place
from tests.upgrade.old_books import SERVER, put_schema

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.migrations import book_migrations  # noqa: E402
from memoranda.model.records import WHOLE, Owner  # noqa: E402

ANA = Owner(id="ana")

#: What a process of commit b965598 sends before anything else that it writes, and before a read of the whole book.
OLD_WRITE = """
BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL commonplace.whole = 'on';
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
SELECT pg_advisory_xact_lock_shared(hashtext('commonplace book'), hashtext(current_schema())); DO $$
DECLARE mark text;
BEGIN
    SELECT name || ' ' || convert_from(value, 'UTF8') INTO mark FROM book WHERE name IN ('departure', 'arrival')
    ORDER BY name DESC LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = 'CP001', MESSAGE = mark; END IF;
END $$
"""
OLD_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: How it names the owner whose rows it reads.
OLD_FACING = "SELECT set_config('commonplace.owner', no::text, true) FROM owners WHERE id = 'ana'"

WALLED = {"records", "versions", "links", "gone", "terms", "uses", "ledger", "vectors", "jobs", "kept"}


async def as_old(url: str, schema: str = "commonplace") -> Any:
    """A connection as an open book of commit b965598 has it."""
    return await asyncpg.connect(url, server_settings={"search_path": f'"{schema}"'})


@pytest.fixture
async def administrator(database: Place) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database.administrator)
    yield connection
    await connection.close()


async def schemas(administrator: Any) -> set[str]:
    rows = await administrator.fetch(
        "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema')"
    )
    return {row[0] for row in rows}


async def version(administrator: Any, schema: str) -> int:
    return int(await administrator.fetchval(f"SELECT max(number) FROM {schema}.migrations"))


async def opened_and_used(address: str, **options: Any) -> None:
    engine = await PostgresEngine.open(address, **options)
    found = await engine.get(ANA, WHOLE, [SERVER.id("boston")])
    assert list(found) == [SERVER.id("boston")]
    assert (await engine.verify()).faults == ()
    await Pen(engine, ANN).remember("likes tea")
    await engine.close()


# ── the schema's name ────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_default_schema_is_renamed_when_its_book_is_upgraded(database: Place, administrator: Any):
    await put_schema(database.url)
    await opened_and_used(database.url)
    assert await schemas(administrator) == {"commonplace", "memoranda"}
    assert await version(administrator, "memoranda") == len(book_migrations())
    await opened_and_used(database.url, create=False)


async def test_an_older_program_finds_tables_of_another_where_its_book_was(
    database: Place, administrator: Any
):
    await put_schema(database.url)
    await opened_and_used(database.url)
    # An empty schema it would fill with a book, and of this one it says that it belongs to another program.
    rows = await administrator.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'commonplace'")
    assert [row[0] for row in rows] == ["renamed_to_memoranda"]
    with pytest.raises(NotABook, match="renamed to memoranda"):
        await PostgresEngine.open(database.at_schema("commonplace"))


async def test_a_schema_that_the_address_names_keeps_its_name(database: Place, administrator: Any):
    await put_schema(database.url, "ours")
    await opened_and_used(database.at_schema("ours"))
    assert await schemas(administrator) == {"ours"}
    await put_schema(database.url)
    await opened_and_used(database.at_schema("commonplace"))
    assert await schemas(administrator) == {"ours", "commonplace"}
    # It is served under its name now, and whoever does not give it is told so.
    with pytest.raises(VersionMismatch, match="schema=commonplace"):
        await PostgresEngine.open(database.url)
    assert await schemas(administrator) == {"ours", "commonplace"}


def sql_in(error: VersionMismatch) -> str:
    return str(error).rpartition("run: ")[2]


async def test_where_the_role_may_not_rename_the_error_has_the_statements_for_an_administrator(
    database: Place, administrator: Any
):
    await put_schema(database.url)
    name = await administrator.fetchval("SELECT current_database()")
    await administrator.execute(f"ALTER DATABASE {name} OWNER TO CURRENT_USER")
    with pytest.raises(VersionMismatch, match="may not rename") as stopped:
        await PostgresEngine.open(database.url)
    assert await schemas(administrator) == {"commonplace"}
    assert await version(administrator, "commonplace") == 1
    await administrator.execute(sql_in(stopped.value))
    await opened_and_used(database.url)
    assert await version(administrator, "memoranda") == len(book_migrations())
    assert await schemas(administrator) == {"commonplace", "memoranda"}


@pytest.mark.parametrize("theirs", ["", "CREATE TABLE memoranda.theirs ()"])
async def test_a_schema_that_is_there_already_is_not_replaced(
    theirs: str, database: Place, administrator: Any
):
    await put_schema(database.url)
    await administrator.execute(f"CREATE SCHEMA memoranda; {theirs}")
    with pytest.raises(VersionMismatch, match="there already") as stopped:
        await PostgresEngine.open(database.url)
    assert await version(administrator, "commonplace") == 1
    await administrator.execute(sql_in(stopped.value))
    await opened_and_used(database.url)


async def test_opening_only_to_read_changes_nothing_and_says_what_to_do(database: Place, administrator: Any):
    await put_schema(database.url)
    for address in (database.url, database.at_schema("commonplace")):
        with pytest.raises(ReadOnly, match="open it once without read_only"):
            await PostgresEngine.open(address, read_only=True)
    assert await schemas(administrator) == {"commonplace"}
    assert await version(administrator, "commonplace") == 1


async def test_many_processes_that_come_at_once_upgrade_it_once(database: Place):
    await put_schema(database.url)
    engines = await asyncio.gather(*(PostgresEngine.open(database.url, connections=1) for _ in range(5)))
    for engine in engines:
        await Pen(engine, ANN).remember("likes tea")
        await engine.close()


async def test_behind_a_pooler_that_chooses_the_schema_nothing_is_renamed(
    database: Place, administrator: Any, monkeypatch: pytest.MonkeyPatch
):
    await put_schema(database.url)
    connecting = asyncpg.connect

    async def as_through_a_pooler(url: str, *, server_settings: dict[str, str], **options: object) -> object:
        return await connecting(url, **options)

    path = "ALTER ROLE reader_and_writer SET search_path"
    try:
        # The databases' fixture connects as well, once the test is over.
        with monkeypatch.context() as patched:
            patched.setattr(asyncpg, "connect", as_through_a_pooler)
            await administrator.execute(f"{path} = commonplace")
            with pytest.raises(StorageError, match="search_path = memoranda"):
                await PostgresEngine.open(database.url)
            assert await schemas(administrator) == {"commonplace"}
            assert await version(administrator, "commonplace") == 1
            await administrator.execute(f"{path} = memoranda")
            await opened_and_used(database.url)
    finally:
        await administrator.execute("ALTER ROLE reader_and_writer RESET search_path")


# ── the second wall, and programs that were open already ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("partitions", [0, 3])
async def test_every_walled_table_asks_for_the_new_settings(
    partitions: int, database: Place, administrator: Any
):
    connection = await asyncpg.connect(database.url, server_settings={"search_path": "parted"})
    await connection.execute("CREATE SCHEMA parted")
    await connection.execute("CREATE TABLE migrations (number bigint PRIMARY KEY, name text, at timestamptz)")
    await connection.execute("SELECT set_config('commonplace.partitions', $1::text, false)", str(partitions))
    await connection.execute(book_migrations()[0].sql)
    await connection.execute("INSERT INTO migrations VALUES (1, 'book', now())")
    await connection.close()
    engine = await PostgresEngine.open(database.at_schema("parted"))
    pen = Pen(engine)
    await pen.remember("likes tea")
    assert len(await pen.scan()) == 1
    await engine.close()
    rows = await administrator.fetch("SELECT tablename, qual FROM pg_policies WHERE schemaname = 'parted'")
    assert {row[0] for row in rows} == WALLED
    for table, condition in rows:
        assert "memoranda.whole" in condition
        assert ("memoranda.owner" in condition) == (table != "kept")


async def test_an_upgrade_waits_for_what_an_older_program_is_writing(database: Place):
    await put_schema(database.url)
    old = await as_old(database.url)
    await old.execute(OLD_WRITE)
    upgrading = asyncio.create_task(PostgresEngine.open(database.url))
    await asyncio.sleep(0.5)
    assert not upgrading.done()
    await old.execute("UPDATE uses SET count = 41")
    await old.execute("COMMIT")
    engine = await upgrading
    uses = await engine.uses(ANA, WHOLE, [SERVER.id("tea")])
    assert uses[SERVER.id("tea")].count == 41
    # The connection that was open then writes nothing more.
    with pytest.raises(asyncpg.UndefinedTableError):
        await old.execute(OLD_WRITE)
    await old.close()
    await engine.close()


async def test_a_write_that_waits_while_the_book_is_upgraded_is_refused(database: Place):
    await put_schema(database.url, "ours")
    reader, writer = await as_old(database.url, "ours"), await as_old(database.url, "ours")
    await reader.execute(f"{OLD_READ}; SELECT count(*) FROM jobs")
    # It has kept writers out already, and waits for the reader.
    upgrading = asyncio.create_task(PostgresEngine.open(database.at_schema("ours")))
    await asyncio.sleep(0.5)
    writing = asyncio.create_task(writer.execute(OLD_WRITE))
    await asyncio.sleep(0.5)
    assert not (upgrading.done() or writing.done())
    await reader.execute("COMMIT")
    with pytest.raises(asyncpg.RaiseError, match="upgraded this book"):
        await writing
    await (await upgrading).close()
    for connection in (reader, writer):
        await connection.close()


async def test_an_upgrade_and_a_reader_that_wait_for_each_other_both_come_to_an_end(database: Place):
    await put_schema(database.url, "ours")
    reader = await as_old(database.url, "ours")
    await reader.execute(f"{OLD_READ}; SELECT count(*) FROM jobs")
    upgrading = asyncio.create_task(PostgresEngine.open(database.at_schema("ours")))
    await asyncio.sleep(0.5)
    # The table is the upgrade's, and the other that it wants is the reader's: the server gives one of the two up.
    try:
        await reader.execute("SELECT * FROM book")
        await reader.execute("COMMIT")
    except asyncpg.PostgresError:
        await reader.execute("ROLLBACK")
    engine = await upgrading
    assert (await engine.verify()).faults == ()
    await engine.close()
    await reader.close()


@pytest.mark.parametrize("as_superuser", [False, True])
async def test_an_older_program_that_is_open_cannot_write_to_an_upgraded_book(
    as_superuser: bool, database: Place
):
    await put_schema(database.url, "ours")
    old = await as_old(database.administrator if as_superuser else database.url, "ours")
    await old.execute(OLD_WRITE)
    await old.execute("COMMIT")
    await opened_and_used(database.at_schema("ours"))
    with pytest.raises(asyncpg.RaiseError, match="upgraded this book"):
        await old.execute(OLD_WRITE)
    await old.execute("ROLLBACK")
    with pytest.raises(asyncpg.PostgresError):
        await old.execute("INSERT INTO book (name, value) VALUES ('secret', 'x') ON CONFLICT DO NOTHING")
    await old.close()


@pytest.mark.parametrize("table", sorted(WALLED))
async def test_an_older_program_that_is_open_is_told_and_never_answered_with_nothing(
    table: str, database: Place
):
    await put_schema(database.url, "ours")
    old = await as_old(database.url, "ours")
    await opened_and_used(database.at_schema("ours"))
    for facing in (OLD_FACING, "SET LOCAL commonplace.whole = 'on'"):
        await old.execute(OLD_READ)
        await old.execute(facing)
        with pytest.raises(asyncpg.RaiseError, match="upgraded this book"):
            await old.fetch(f"SELECT * FROM {table}")
        await old.execute("ROLLBACK")
    await old.close()
