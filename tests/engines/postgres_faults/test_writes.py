"""Tests of writes whose server fails: each stores all or nothing and reports which, and a cancelled
write stores nothing.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from memoranda.errors import Busy, OutcomeUnknown, StorageError
from memoranda.model.values import new_id
from memoranda_conformance.builders import BEN, Pen
from tests.engines.between import COMMIT, SOON, Between, Fault, contents, through

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402

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


@pytest.mark.parametrize("phrase", [b"BEGIN", b"FOR UPDATE", b"INSERT INTO ledger", COMMIT])
async def test_who_gives_up_in_any_phase_leaves_no_transaction_and_no_connection_missing(
    phrase: bytes, address: str, way: Between, administrator: Any
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
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memoranda' AND state LIKE '%transaction%'"
    assert await administrator.fetchval(open_ones) == 0
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


async def test_what_fails_after_an_erasure_is_committed_is_pending_in_its_receipt(
    address: str, way: Between, engine: PostgresEngine
):
    pen = Pen(engine)
    memory = await pen.remember("tea")
    assert (await pen.erase(memory)).ids == (memory,)
    way.wait_for(b"s.name = 'scrubbed'", Fault.HUSH_BEFORE)
    receipt = await pen.erase(memory)
    assert way.met.is_set()
    assert (receipt.state, receipt.repeated) == ("pending", (memory,))
    assert "does not answer" in receipt.pending_because
    assert await contents(address) == []


async def test_a_write_of_which_a_part_failed_is_not_told_as_kept(
    address: str, engine: PostgresEngine
):
    async def careless(session: Session) -> None:
        await session.run_text("INSERT INTO tombstones (digest, at) VALUES ('x', 1)")
        with suppress(asyncpg.PostgresError):
            await session.text("SELECT 1 / 0")

    with pytest.raises(StorageError, match="stored nothing"):
        await engine.server.write(careless)
    assert await engine.server.read(lambda s: s.text("SELECT 1 FROM tombstones")) == []
