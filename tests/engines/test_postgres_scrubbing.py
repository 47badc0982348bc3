"""Tests that forgotten content disappears from a server's files, or that the receipt says why
not.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memoranda_conformance.builders import BEN, Pen
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres import scrub  # noqa: E402
from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.server import Server  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402

#: Columns of text and bytes that tell of nobody: names of the book's own, ids made by it, keyed
#: digests.
OWN = {
    *(
        "book.name",
        "book.value",
        "formats.name",
        "owners.kind",
        "owners.era",
        "owners.digest",
        "shelves.audience",
    ),
    *(
        "ids.id",
        "records.id",
        "records.type",
        "records.slot",
        "records.thread",
        "records.status",
        "records.run",
    ),
    *("records.hash", "versions.hash", "links.record", "links.source", "links.part", "gone.id"),
    *("ledger.actor_kind", "ledger.operation", "ledger.request", "tombstones.digest"),
    *(
        "jobs.id",
        "jobs.kind",
        "jobs.records",
        "jobs.state",
        "jobs.worker",
        "kept.job",
        "kept.records",
    ),
    *("vector_sets.name", "spent.day", "spent.task", "spent.model"),
    *("restrictions.digest", "restrictions.mode", "key_uses.id"),
    *("read_audit.id", "read_audit.owner", "read_audit.verb", "read_audit.surface"),
    # A tenant stays when its owners go.
    *("owners.tenant", "spent.tenant", "read_audit.tenant"),
}


@pytest.mark.parametrize("partitions", [0, 3])
async def test_the_server_samples_no_column_that_tells_of_people(postgres: Place, partitions: int):
    engine = await PostgresEngine.open(f"{postgres.new_book()}&partitions={partitions}")

    async def sampled(session: Session) -> set[str]:
        rows = await session.text(
            "SELECT c.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
            "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 "
            "AND coalesce(a.attstattarget, -1) <> 0 "
            "AND a.atttypid <> ALL('{bigint,boolean,double precision,timestamptz}'::regtype[])"
        )
        parts = {f"{table}_{number}": table for table, _ in rows for number in range(partitions)}
        return {f"{parts.get(table, table)}.{column}" for table, column in rows}

    assert await engine.server.read(sampled) - OWN == set()
    await engine.close()


async def test_whoever_may_still_read_what_was_removed_is_said_and_waited_for(
    postgres: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scrub, "_LOOKS", 2)
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    memory = await pen.remember("tea")
    reader = await asyncpg.connect(postgres.url)
    await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await reader.fetch("SELECT 1")
    await pen.erase(memory)
    assert "an older transaction" in (await engine.scrub()).pending_because
    await reader.execute("COMMIT")
    assert "dead rows" not in (await engine.scrub()).pending_because
    await reader.close()
    await engine.close()


async def test_a_table_that_upkeep_takes_away_meanwhile_keeps_no_other_from_being_cleared(
    postgres: Place, monkeypatch: pytest.MonkeyPatch
):
    engine = await PostgresEngine.open(postgres.new_book())
    await engine.server.outside("CREATE TABLE nearness_7 (owner bigint)")
    outside, cleared = Server.outside, []

    async def meanwhile(server: Server, *statements: str, **how: Any) -> None:
        if "nearness_7" in statements[0]:
            await outside(server, "DROP TABLE nearness_7")
        await outside(server, *statements, **how)
        cleared.append(statements[0])

    monkeypatch.setattr(Server, "outside", meanwhile)
    assert "dead rows" not in (await engine.scrub()).pending_because
    assert any("vectors" in statement for statement in cleared)
    await engine.close()


async def test_others_who_write_meanwhile_are_not_taken_for_somebody_who_may_still_read(
    postgres: Place,
):
    engine = await PostgresEngine.open(postgres.new_book())
    pen, other = Pen(engine), Pen(engine, BEN)
    memory = await pen.remember("tea")
    await pen.erase(memory)
    done = asyncio.Event()

    async def write() -> None:
        while not done.is_set():
            await other.remember("cake")

    writing = asyncio.create_task(write())
    assert "dead rows" not in (await engine.scrub()).pending_because
    done.set()
    await writing
    await engine.close()


async def test_a_user_who_may_ask_for_a_checkpoint_completes_it(postgres: Place):
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    engine = await PostgresEngine.open(f"{postgres.new_book()}&partitions=2")
    await Pen(engine).remember("tea")
    await Pen(engine, BEN).remember("cake")
    await Pen(engine).erase_all()
    assert "pg_checkpoint" in (await engine.scrub()).pending_because
    administrator = await asyncpg.connect(postgres.administrator)
    await administrator.execute("GRANT pg_checkpoint TO reader_and_writer")
    assert (await engine.scrub()).complete
    await administrator.execute("REVOKE pg_checkpoint FROM reader_and_writer")
    await administrator.close()
    assert len(await Pen(engine, BEN).scan()) == 1
    await engine.close()


async def test_forgetting_again_is_pending_until_a_scrub_that_began_after_it_is_complete(
    postgres: Place, monkeypatch: pytest.MonkeyPatch
):
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    administrator = await asyncpg.connect(postgres.administrator)
    await administrator.execute("GRANT pg_checkpoint TO reader_and_writer")
    place = postgres.new_book()
    engine, second = await PostgresEngine.open(place), await PostgresEngine.open(place)
    pen, other = Pen(engine), Pen(second, BEN)
    memory, theirs = await pen.remember("tea"), await other.remember("cake")
    assert (await pen.erase(memory)).state == "pending"
    rewrite = scrub._Scrubbing._rewrite

    async def meanwhile(self: scrub._Scrubbing, tables: Any) -> None:
        await rewrite(self, tables)
        if "records" in tables:
            await other.erase(theirs)

    with monkeypatch.context() as patch:
        patch.setattr(scrub._Scrubbing, "_rewrite", meanwhile)
        assert (await engine.scrub()).complete
    # The other erasure came after the beginning of that scrub.
    assert "dead rows" in (await other.erase(theirs)).pending_because
    assert (await engine.scrub()).complete
    assert [(await p.erase(id)).state for p, id in ((pen, memory), (other, theirs))] == [
        "complete"
    ] * 2
    await administrator.execute("REVOKE pg_checkpoint FROM reader_and_writer")
    await administrator.close()
    await engine.close()
    await second.close()
