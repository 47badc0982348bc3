"""A read that loses its server is done again or told in time; so is the way in."""

from __future__ import annotations

import asyncio

import pytest

from memoranda.errors import Busy, StorageError
from memoranda_conformance.builders import Pen
from tests.engines.between import COMMIT, SOON, Between, Fault, through

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FROM owners", COMMIT])
@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
async def test_a_read_whose_connection_is_cut_is_done_again(
    phrase: bytes, fault: Fault, way: Between, engine: PostgresEngine
):
    way.wait_for(phrase, fault)
    assert len(await Pen(engine).scan()) == 1
    assert way.met.is_set()


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FROM owners"])
async def test_a_read_that_meets_silence_is_told_in_time(
    phrase: bytes, way: Between, engine: PostgresEngine
):
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


async def test_a_server_that_is_away_for_a_moment_is_not_noticed(
    way: Between, engine: PostgresEngine
):
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


async def test_who_gives_up_waiting_for_the_way_in_leaves_no_connection_missing(
    address: str, way: Between
):
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
