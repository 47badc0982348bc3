"""What is full, slow or stands still is waited for, but not for ever; upkeep may take its time."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memoranda.errors import Busy, InvalidInput, OutcomeUnknown
from memoranda_conformance.builders import Pen
from tests.engines.between import Between, Fault, between, contents, through
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server import connector  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402


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
    own_server: Place, administrator: Any
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


async def without_answer(session: Session) -> None:
    await session.text("SELECT pg_sleep(600)")


async def test_a_statement_that_takes_too_long_is_told_and_upkeep_may_take_longer(address: str):
    engine = await PostgresEngine.open(f"{address}&longest_statement=0.5")
    for call in (engine.server.read, engine.server.write):
        with pytest.raises(Busy, match="did not finish a statement in time"):
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


async def test_upkeep_goes_on_where_another_server_answers_in_its_servers_stead(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        connector, "_WHICH", "gen_random_uuid()::text"
    )  # every connection meets a server of its own
    engine = await PostgresEngine.open(f"{address}&longest_statement=0.5")
    await engine.server.read(sleeping, long=True)
    monkeypatch.setattr(connector, "_MOST_MISSED", 2)
    with pytest.raises(Busy):
        await engine.server.read(without_answer, long=True)
    await engine.close()


async def test_upkeep_is_not_waited_for_without_end_where_its_server_cannot_be_asked(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    engine = await PostgresEngine.open(f"{address}&longest_statement=0.5&connections=1")
    assert len(await Pen(engine).scan()) == 1
    monkeypatch.setattr(connector, "_MOST_MISSED", 2)

    async def refused(*_: object) -> None:
        raise InvalidInput("address: its file of passwords is gone", field="address")

    monkeypatch.setattr(connector.Connector, "_to", refused)
    with pytest.raises(InvalidInput):  # it is ended, and cannot be begun again
        await engine.server.read(without_answer, long=True)
    monkeypatch.undo()
    await engine.close()


async def test_upkeep_is_asked_about_where_it_runs_and_nowhere_else(address: str, way: Between):
    async with between(address) as other:
        engine = await PostgresEngine.open(
            through(address, way, other, connections=2, longest_statement=1, longest_wait=4),
            read_only=True,
        )
        is_in = asyncio.Event()

        async def long(session: Session) -> None:
            is_in.set()
            await session.text("SELECT pg_sleep(3.5)")

        running = asyncio.create_task(engine.server.read(long, long=True))
        await is_in.wait()
        way.is_down = True
        assert len(await Pen(engine).scan()) == 1  # from now on the other is asked first
        way.is_down = False
        for one in (way, other):
            one.asked.clear()
        await running
        assert (way.asked.is_set(), other.asked.is_set()) == (True, False)
        await engine.close()


async def test_a_server_process_that_stands_still_is_told_and_left(
    address: str, administrator: Any
):
    engine = await PostgresEngine.open(
        f"{address}&longest_statement=1&longest_wait=1&connections=1"
    )
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
    address: str, administrator: Any
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
    address: str, administrator: Any
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
