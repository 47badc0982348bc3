"""Whatever becomes of the server or of the way to it: a book tells it in time, keeps all or nothing, and goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import pytest

from commonplace.errors import Busy, OutcomeUnknown, ReadOnly, StorageError
from commonplace.model.ids import new_id
from commonplace.testing.builders import BEN, Pen
from tests.engines.between import Between, Fault, between, nothing_hangs, through
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from commonplace.engines.postgres.engine import PostgresEngine  # noqa: E402
from commonplace.engines.postgres.session import Session  # noqa: E402

#: Of a statement; an isolation level has the word too.
COMMIT = b"COMMIT\x00"
#: How long a book waits here, in seconds.
SOON = {"longest_statement": 1, "longest_wait": 1}


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with nothing_hangs():
        yield


@pytest.fixture
def own_server(postgres: Place) -> Place:
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    return postgres


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
async def administrator(own_server: Place) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(own_server.administrator.replace("/postgres?", "/books?"))
    yield connection
    await connection.close()


async def contents(address: str) -> list[str]:
    """What the book holds, seen by another way."""
    engine = await PostgresEngine.open(address)
    found = [record.passage_text() for record in await Pen(engine).scan()]
    await engine.close()
    return found[1:]


AT_EVERY_PHASE = pytest.mark.parametrize("phrase", [b"BEGIN", b"FOR UPDATE", b"INSERT INTO ledger"])


@AT_EVERY_PHASE
@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
async def test_a_write_whose_connection_is_cut_before_the_commit_is_done_again(
    phrase: bytes, fault: Fault, address: str, way: Between, engine: PostgresEngine
):
    way.wait_for(phrase, fault)
    await Pen(engine).remember("tea")
    assert way.met.is_set()
    assert await contents(address) == ["tea"]


@AT_EVERY_PHASE
@pytest.mark.parametrize("fault", [Fault.HUSH_BEFORE, Fault.HUSH_AFTER])
async def test_a_write_that_meets_silence_is_told_in_time_and_keeps_nothing(
    phrase: bytes, fault: Fault, address: str, way: Between, engine: PostgresEngine
):
    way.wait_for(phrase, fault)
    with pytest.raises(Busy, match="does not answer"):
        await Pen(engine).remember("tea")
    assert await contents(address) == []
    await Pen(engine).remember("coffee")
    assert await contents(address) == ["coffee"]


@pytest.mark.parametrize(
    ("fault", "kept"),
    [(Fault.CUT_BEFORE, 0), (Fault.HUSH_BEFORE, 0), (Fault.CUT_AFTER, 1), (Fault.HUSH_AFTER, 1)],
)
async def test_a_write_that_is_lost_while_it_is_committed_says_that_nobody_knows(
    fault: Fault, kept: int, address: str, way: Between, engine: PostgresEngine
):
    way.wait_for(COMMIT, fault)
    with pytest.raises(OutcomeUnknown, match="same operation id"):
        await Pen(engine).remember("tea")
    await Pen(engine, BEN).remember("coffee")
    assert await contents(address) == ["tea"] * kept


@pytest.mark.parametrize("fault", list(Fault))
async def test_an_operation_that_is_lost_while_it_is_committed_is_looked_up_and_written_once(
    fault: Fault, address: str, way: Between, engine: PostgresEngine
):
    pen = Pen(engine)
    change = pen.remembering("tea", id=new_id())
    way.wait_for(COMMIT, fault)
    receipt = await pen.write(change, operation="one", request=b"x")
    assert way.met.is_set()
    again = await pen.write(change, operation="one", request=b"x")
    assert again.repeated and again.position == receipt.position
    assert await contents(address) == ["tea"]


async def test_an_operation_that_nobody_can_look_up_stays_unknown(
    address: str, way: Between, engine: PostgresEngine
):
    pen = Pen(engine)
    change = pen.remembering("tea", id=new_id())
    way.wait_for(COMMIT, Fault.CUT_AFTER)

    async def go_down() -> None:
        await way.met.wait()
        way.is_down = True

    going = asyncio.create_task(go_down())
    with pytest.raises(OutcomeUnknown):
        await pen.write(change, operation="one", request=b"x")
    await going
    way.is_down = False
    assert (await pen.write(change, operation="one", request=b"x")).repeated
    assert await contents(address) == ["tea"]


async def test_wherever_a_connection_is_cut_an_operation_is_written_once(
    address: str, way: Between, engine: PostgresEngine
):
    pen = Pen(engine)
    expected = []
    for bytes_left in range(0, 6_000, 171):
        change = pen.remembering(str(bytes_left), id=new_id())
        way.bytes_left = bytes_left
        for _ in range(2):
            try:
                await pen.write(change, operation=f"cut at {bytes_left}", request=b"x")
            except StorageError:
                continue
        way.bytes_left = None
        await pen.write(change, operation=f"cut at {bytes_left}", request=b"x")
        expected.append(str(bytes_left))
    assert await contents(address) == expected


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FROM owners", COMMIT])
@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
async def test_a_read_whose_connection_is_cut_is_done_again(
    phrase: bytes, fault: Fault, way: Between, engine: PostgresEngine
):
    way.wait_for(phrase, fault)
    assert len(await Pen(engine).scan()) == 1
    assert way.met.is_set()


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FROM owners"])
async def test_a_read_that_meets_silence_is_told_in_time(phrase: bytes, way: Between, engine: PostgresEngine):
    way.wait_for(phrase, Fault.HUSH_AFTER)
    with pytest.raises(Busy, match="does not answer"):
        await Pen(engine).scan()
    assert len(await Pen(engine).scan()) == 1


async def test_a_read_that_was_answered_does_not_mind_that_its_end_is_not(
    way: Between, engine: PostgresEngine
):
    way.wait_for(COMMIT, Fault.HUSH_BEFORE)
    assert len(await Pen(engine).scan()) == 1


async def test_the_way_in_to_a_silent_server_ends_in_time(address: str, way: Between):
    way.is_silent = True
    with pytest.raises(Busy, match="does not answer"):
        await PostgresEngine.open(through(address, way, **SOON))


@pytest.mark.parametrize("bytes_left", [0, 8, 100, 250, 700])
async def test_the_way_in_that_is_cut_is_told(bytes_left: int, address: str, way: Between):
    way.bytes_left = bytes_left
    with pytest.raises(Busy, match="cannot be reached"):
        await PostgresEngine.open(through(address, way, **SOON))
    engine = await PostgresEngine.open(through(address, way, **SOON))
    await engine.close()


async def test_a_secure_connection_that_a_server_cannot_have_is_told(address: str, way: Between):
    with pytest.raises(StorageError, match="sslmode") as told:
        await PostgresEngine.open(through(address, way, sslmode="require"))
    assert not isinstance(told.value, Busy)


async def test_a_book_closes_in_time_whose_server_is_silent(address: str, way: Between):
    engine = await PostgresEngine.open(through(address, way, **SOON))
    await asyncio.gather(*(Pen(engine).scan() for _ in range(3)))
    way.is_silent = True
    await engine.close()


async def test_a_server_that_is_away_for_a_moment_is_not_noticed(way: Between, engine: PostgresEngine):
    way.is_down = True
    way.cut()

    async def come_back() -> None:
        await asyncio.sleep(0.3)
        way.is_down = False

    coming = asyncio.create_task(come_back())
    assert len(await Pen(engine).scan()) == 1
    await coming


async def test_a_server_that_stays_away_is_told_and_served_again_when_it_is_back(
    way: Between, engine: PostgresEngine
):
    way.is_down = True
    way.cut()
    for call in (Pen(engine).scan, lambda: Pen(engine).remember("tea")):
        with pytest.raises(Busy, match="cannot be reached"):
            await call()
    way.is_down = False
    await Pen(engine).remember("tea")


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FOR UPDATE", b"INSERT INTO ledger", COMMIT])
async def test_who_gives_up_in_any_phase_leaves_no_transaction_and_no_connection_missing(
    phrase: bytes, address: str, way: Between, administrator: asyncpg.Connection
):
    engine = await PostgresEngine.open(through(address, way, connections=1, **SOON))
    way.wait_for(phrase, Fault.HUSH_BEFORE)
    task = asyncio.create_task(Pen(engine).remember("tea"))
    await way.met.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await Pen(engine).remember("coffee")
    assert await contents(address) == ["coffee"]
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'commonplace' AND state LIKE '%transaction%'"
    assert await administrator.fetchval(open_ones) == 0
    await engine.close()


async def test_who_gives_up_waiting_for_the_way_in_leaves_no_connection_missing(address: str, way: Between):
    engine = await PostgresEngine.open(through(address, way, connections=1, longest_wait=30))
    way.is_silent = True
    way.cut()
    way.asked.clear()
    task = asyncio.create_task(Pen(engine).scan())
    await way.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    way.is_silent = False
    way.cut()
    assert len(await Pen(engine).scan()) == 1
    await engine.close()


async def test_a_client_that_vanishes_within_a_write_does_not_keep_others_out(
    address: str, way: Between, engine: PostgresEngine
):
    way.keeps_far_ends = True
    way.wait_for(COMMIT, Fault.HUSH_BEFORE)
    with pytest.raises(OutcomeUnknown):
        await Pen(engine).remember("tea")
    other = await PostgresEngine.open(address)
    await Pen(other).remember("coffee")
    await other.close()
    assert await contents(address) == ["coffee"]


async def test_a_full_pool_is_waited_for_and_then_told(address: str):
    engine = await PostgresEngine.open(f"{address}&connections=1&longest_wait=0.5")
    is_in, may_end = asyncio.Event(), asyncio.Event()

    async def stay(session: Session) -> None:
        is_in.set()
        await may_end.wait()

    staying = asyncio.create_task(engine.server.read(stay))
    await is_in.wait()
    with pytest.raises(Busy, match="all 1 connections of this book are in use"):
        await Pen(engine).scan()
    waiting = asyncio.create_task(Pen(engine).scan())
    may_end.set()
    await staying
    assert len(await waiting) == 1
    await engine.close()


async def test_a_server_without_room_for_more_connections_is_waited_for(
    own_server: Place, administrator: asyncpg.Connection
):
    await administrator.execute("CREATE ROLE few LOGIN PASSWORD 'x' CONNECTION LIMIT 2")
    await administrator.execute("GRANT CREATE ON DATABASE books TO few")
    address = own_server.new_book().replace("reader_and_writer:secret@", "few:x@")
    engine = await PostgresEngine.open(address)
    await asyncio.gather(*(Pen(engine).remember(str(n)) for n in range(8)))
    assert len(await Pen(engine).scan()) == 8
    await engine.close()


async def sleeping(session: Session) -> None:
    await session.text("SELECT pg_sleep(3)")


async def test_a_statement_that_takes_too_long_is_told_and_upkeep_may_take_longer(address: str):
    engine = await PostgresEngine.open(f"{address}&longest_statement=0.5")
    for call in (engine.server.read, engine.server.write):
        with pytest.raises(Busy, match="took too long"):
            await call(sleeping)
    await engine.server.read(sleeping, long=True)
    await engine.server.write(sleeping, alone=True)
    await engine.server.outside("SELECT pg_sleep(2)")
    assert len(await Pen(engine).scan()) == 1
    await engine.close()


@pytest.mark.parametrize("how", ["read", "write", "outside"])
async def test_upkeep_is_not_waited_for_where_the_server_answers_nobody(
    how: str, way: Between, engine: PostgresEngine
):
    async def long(session: Session) -> None:
        way.is_silent = True
        await session.text("SELECT pg_sleep(600)")

    async def outside() -> None:
        way.wait_for(b"pg_sleep", Fault.HUSH_AFTER)
        calling = asyncio.create_task(engine.server.outside("SELECT pg_sleep(600)"))
        await way.met.wait()
        way.is_silent = True
        await calling

    calls: dict[str, Callable[[], Awaitable[None]]] = {
        "read": lambda: engine.server.read(long, long=True),
        "write": lambda: engine.server.write(long, alone=True),
        "outside": outside,
    }
    with pytest.raises(Busy):
        await calls[how]()
    way.cut()


async def test_a_server_process_that_stands_still_is_told_and_left(
    address: str, administrator: asyncpg.Connection
):
    engine = await PostgresEngine.open(f"{address}&longest_statement=1&longest_wait=1&connections=1")
    ((pid,),) = await engine.server.read(lambda s: s.text("SELECT pg_backend_pid()"))
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(Busy, match="does not answer"):
            await Pen(engine).remember("tea")
        await Pen(engine).remember("coffee")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await contents(address) == ["coffee"]
    await engine.close()


async def test_a_lock_that_others_hold_is_waited_for_and_then_told(
    address: str, administrator: asyncpg.Connection
):
    engine = await PostgresEngine.open(f"{address}&longest_wait=0.5")
    schema = engine.server.schema
    async with administrator.transaction():
        await administrator.execute(f'LOCK TABLE "{schema}".owners')
        with pytest.raises(Busy):
            await Pen(engine).remember("tea")
    await Pen(engine).remember("coffee")
    assert await contents(address) == ["coffee"]
    await engine.close()


async def without_end(pen: Pen) -> None:
    while True:
        await pen.remember("tea")


async def test_a_commit_that_waits_for_a_replica_in_vain_is_not_told_as_kept(
    address: str, administrator: asyncpg.Connection
):
    engine = await PostgresEngine.open(f"{address}&longest_statement=1&longest_wait=1")
    await administrator.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await administrator.execute("SELECT pg_reload_conf()")
    try:
        with pytest.raises(OutcomeUnknown):
            await without_end(Pen(engine))  # the server takes the setting in by and by
    finally:
        await administrator.execute("ALTER SYSTEM RESET synchronous_standby_names")
        await administrator.execute("SELECT pg_reload_conf()")
    await engine.close()


async def test_another_host_serves_where_the_first_is_down_silent_or_a_replica(address: str, way: Between):
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


async def test_a_primary_that_became_a_replica_is_left_for_the_one_that_took_over(address: str, way: Between):
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
    own_server: Place, administrator: asyncpg.Connection
):
    await administrator.execute(
        "CREATE ROLE guest LOGIN PASSWORD 'x'; GRANT CREATE ON DATABASE books TO guest"
    )
    address = own_server.new_book().replace("reader_and_writer:secret@", "guest:x@")
    engine = await PostgresEngine.open(address)
    ledger = f'"{engine.server.schema}".ledger'
    await administrator.execute(f"ALTER TABLE {ledger} OWNER TO postgres; REVOKE ALL ON {ledger} FROM guest")
    with pytest.raises(ReadOnly, match="OWNER TO"):
        await Pen(engine).remember("tea")
    with pytest.raises(StorageError, match="see who owns its tables"):
        await engine.scrub()
    await administrator.execute(f"ALTER TABLE {ledger} OWNER TO guest")
    assert await Pen(engine).scan() == []
    await Pen(engine).remember("coffee")
    assert await engine.scrub()
    await engine.close()


async def test_a_schema_that_a_role_may_not_use_is_told(
    address: str, own_server: Place, administrator: asyncpg.Connection
):
    await administrator.execute("CREATE ROLE stranger LOGIN PASSWORD 'x'")
    with pytest.raises(StorageError):
        await PostgresEngine.open(address.replace("reader_and_writer:secret@", "stranger:x@"))


async def test_a_book_that_is_closed_says_so(address: str):
    engine = await PostgresEngine.open(address)
    await engine.close()
    with pytest.raises(StorageError, match="closed"):
        await engine.get(BEN, Pen(engine).view, [UUID(int=1)])
