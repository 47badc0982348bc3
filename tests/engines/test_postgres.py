"""The PostgreSQL engine passes the suite on a real server, as an ordinary role, each book in a
schema of its own.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from memoranda.errors import Busy, NotABook, ReadOnly, StorageError
from memoranda.model.changes import JobDraft, JobState, Retract
from memoranda.model.records import WHOLE
from memoranda.model.values import utc_now
from memoranda.model.vectors import EMBED
from memoranda_conformance import StoreSuite
from memoranda_conformance.builders import ANN, BEN, SMALL, Pen, vectors_of
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres import reads  # noqa: E402
from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.session import Row, Session  # noqa: E402


class TestPostgres(StoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, postgres: Place) -> None:
        self.place = postgres

    async def open_engine(self, folder: Path) -> PostgresEngine:
        return await PostgresEngine.open(self.place.new_book())


@pytest.mark.again
class TestPostgresInPartitions(StoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, postgres: Place) -> None:
        self.place = postgres

    async def open_engine(self, folder: Path) -> PostgresEngine:
        return await PostgresEngine.open(f"{self.place.new_book()}&partitions=3")


def with_password(url: str, password: str) -> str:
    return url.replace(":secret@", f":{password}@")


@pytest.fixture
def own_server(postgres: Place) -> Place:
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    return postgres


async def test_a_read_of_one_owner_meets_nothing_of_another_whatever_it_asks(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    for owner in (ANN, BEN):
        pen = Pen(engine, owner)
        draft = JobDraft("form", owner.id, {"about": f"{owner.id} likes tea"})
        await pen.write(pen.remembering(f"{owner.id} likes tea"), jobs=(draft,))
        job = await engine.lease(["form"], "one", pen.now, 60)
        assert job is not None and await engine.keep(job, {"text": f"{owner.id} likes tea"}, ())

    for asked in ("body FROM records", "payload FROM jobs", "payload FROM kept"):

        async def walled(session: Session, asked: str = asked) -> list[list[Row]]:
            before = await session.text(f"SELECT {asked}")
            await reads.visible(session, ANN, WHOLE)
            return [before, await session.text(f"SELECT {asked}")]

        before, faced = await engine.server.read(walled)
        assert (before, ["ann likes tea" in row[0] for row in faced]) == ([], [True])
    await engine.close()


async def test_books_in_one_database_know_nothing_of_each_other(postgres: Place):
    one, two = [await PostgresEngine.open(postgres.new_book()) for _ in range(2)]
    await Pen(one).remember("tea")
    assert await Pen(two).scan() == []
    for engine in (one, two):
        await engine.close()


async def test_many_may_make_the_same_book_at_once(postgres: Place):
    address = postgres.new_book()
    engines = await asyncio.gather(*(PostgresEngine.open(address, connections=1) for _ in range(6)))
    await asyncio.gather(*(Pen(engine).remember(str(n)) for n, engine in enumerate(engines)))
    assert len(await Pen(engines[0]).scan()) == 6
    for engine in engines:
        await engine.close()


async def test_one_operation_that_many_connections_bring_is_applied_once(postgres: Place):
    address = postgres.new_book()
    engines = [await PostgresEngine.open(address, connections=4) for _ in range(4)]
    pens = [Pen(engine) for engine in engines]
    id = UUID(int=7)
    at_once = [
        pen.write(pen.remembering("tea", id=id), operation="one", request=b"x") for pen in pens * 4
    ]
    receipts = await asyncio.gather(*at_once)
    assert [receipt.repeated for receipt in receipts].count(False) == 1
    assert len(await pens[0].ledger()) == 1
    for engine in engines:
        await engine.close()


async def test_an_owners_jobs_are_leased_one_at_a_time_by_workers_that_ask_at_once(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    now = utc_now()
    for owner in (ANN, BEN):
        drafts = tuple(JobDraft(kind="form", key=str(n)) for n in range(3))
        await Pen(engine, owner).write(jobs=drafts)
    leased = await asyncio.gather(
        *(engine.lease(["form"], f"worker {n}", now, 60) for n in range(8))
    )
    assert sorted(job.owner.id for job in leased if job is not None and job.owner) == ["ann", "ben"]
    await engine.close()


async def test_a_wrong_password_is_told_and_not_shown(own_server: Place):
    url = with_password(own_server.new_book(), "hush").replace("/books", "/guarded")
    with pytest.raises(StorageError) as refused:
        await PostgresEngine.open(url)
    assert "hush" not in str(refused.value)


async def test_a_server_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(Busy, match="cannot be reached"):
        await PostgresEngine.open(f"postgresql://ann@/books?host={tmp_path}")


async def test_a_database_that_does_not_permit_a_schema_is_told(own_server: Place):
    url = own_server.new_book().replace("/books", "/postgres")
    with pytest.raises(ReadOnly, match="permit"):
        await PostgresEngine.open(url)


async def test_a_book_that_is_only_read_refuses_writes(postgres: Place):
    address = postgres.new_book()
    with pytest.raises(NotABook):
        await PostgresEngine.open(address, create=False)
    engine = await PostgresEngine.open(address)
    await Pen(engine).remember("tea")
    await engine.close()
    engine = await PostgresEngine.open(address, read_only=True)
    assert len(await Pen(engine).scan()) == 1
    with pytest.raises(ReadOnly):
        await Pen(engine).remember("coffee")
    await engine.close()


async def test_a_schema_of_another_program_is_left_alone(own_server: Place):
    connection = await asyncpg.connect(own_server.url)
    await connection.execute("CREATE SCHEMA theirs CREATE TABLE records (id bigint)")
    with pytest.raises(NotABook, match="another program"):
        await PostgresEngine.open(own_server.at_schema("theirs"))
    await connection.execute("DROP SCHEMA theirs CASCADE")
    await connection.close()


async def test_a_connection_that_the_server_ends_is_told_and_the_next_call_has_another(
    own_server: Place,
):
    engine = await PostgresEngine.open(own_server.new_book(), connections=1)
    pen = Pen(engine)
    await pen.remember("tea")
    administrator = await asyncpg.connect(own_server.administrator)

    async def cut_off(session: Session) -> None:
        ((own,),) = await session.text("SELECT pg_backend_pid()")
        await administrator.execute("SELECT pg_terminate_backend($1)", own)
        await session.text("SELECT 1")

    with pytest.raises(Busy):
        await engine.server.write(cut_off)
    await pen.remember("coffee")
    assert len(await pen.scan()) == 2
    await administrator.close()
    await engine.close()


async def test_connections_that_the_server_ended_while_they_were_idle_are_not_noticed(
    own_server: Place,
):
    engine = await PostgresEngine.open(own_server.new_book(), connections=3)
    pen = Pen(engine)
    await asyncio.gather(*(pen.remember(str(n)) for n in range(6)))
    administrator = await asyncpg.connect(own_server.administrator)
    await administrator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'memoranda'"
    )
    await asyncio.gather(*(pen.remember(str(n)) for n in range(6)))
    assert len(await pen.scan()) == 12
    await administrator.close()
    await engine.close()


async def test_a_write_that_is_given_up_leaves_nothing_and_no_transaction_open(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book(), connections=1)
    reached = asyncio.Event()

    async def slow(session: Session) -> None:
        await session.run_text("INSERT INTO tombstones (digest, at) VALUES ('x', 1)")
        reached.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(engine.server.write(slow))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await engine.server.read(lambda s: s.text("SELECT 1 FROM tombstones")) == []
    await engine.close()


async def test_nothing_that_names_or_tells_is_left_of_an_ended_era(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    memory = await pen.remember("likes tea", key="drink")
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    await pen.write(Retract(memory), operation="one", request=b"x")
    receipt = await pen.erase_all()
    assert "dead rows" in receipt.pending_because
    assert "dead rows" not in (await engine.scrub()).pending_because

    async def left(session: Session) -> None:
        names = await session.text("SELECT tenant, kind, id FROM owners")
        assert [tuple(row) for row in names] == [(None, None, None)]
        assert [row[0] for row in await session.text("SELECT actor FROM ledger")] == [None] * 3
        waiting = await session.text("SELECT owner, payload FROM jobs")
        assert not [row for row in waiting if row[0] or "ann" in row[1] or "tea" in row[1]]
        for (
            table
        ) in "records versions links terms vectors uses shelves shelf_groups gone ids".split():
            assert (await session.text(f"SELECT count(*) FROM {table}"))[0][0] == 0, table

    await engine.server.read(left, whole=True)
    await engine.close()


async def test_a_server_tells_of_itself_what_a_books_safety_hangs_on(own_server: Place):
    engine = await PostgresEngine.open(own_server.new_book())
    facts = await engine.examine()
    # The tests' own server does not sync, and its ordinary role passes no wall.
    assert (facts.syncs, facts.passes_walls, facts.replica) == (False, False, False)
    assert facts.connections >= 1
    assert facts.version.startswith(str(facts.release // 10_000))
    await engine.close()
    administered = own_server.administrator
    engine = await PostgresEngine.open(
        f"{administered}{'&' if '?' in administered else '?'}schema=examined"
    )
    assert (await engine.examine()).passes_walls
    await engine.close()


async def test_a_server_that_acknowledges_early_is_not_followed_in_that(own_server: Place):
    engine = await PostgresEngine.open(own_server.new_book())
    administrator = await asyncpg.connect(own_server.administrator)
    await administrator.execute("ALTER ROLE reader_and_writer SET synchronous_commit = off")
    try:
        beside = await PostgresEngine.open(own_server.new_book())

        async def setting(session: Session) -> str:
            ((found,),) = await session.text("SELECT current_setting('synchronous_commit')")
            return str(found)

        assert (await beside.server.read(setting), await beside.server.write(setting)) == (
            "off",
            "on",
        )
        await beside.close()
    finally:
        await administrator.execute("ALTER ROLE reader_and_writer RESET synchronous_commit")
        await administrator.close()
    await engine.close()


async def test_who_leases_the_making_of_vectors_sees_all_that_relied_on_the_job(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    await engine.begin_set(SMALL)
    pen = Pen(engine)
    await pen.remember("tea")
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(session: Session) -> None:
        reached.set()
        await go_on.wait()

    # A write that is under way found the job waiting, and left it as it was.
    writing = asyncio.create_task(engine.server.write(slow))
    await reached.wait()
    due = utc_now() + timedelta(hours=1)
    assert await engine.lease([EMBED], "worker", due, 60) is None
    go_on.set()
    await writing
    job = await engine.lease([EMBED], "worker", due, 60)
    assert job is not None
    assert job.kind == EMBED
    # What is written while it is leased makes it due once more.
    await pen.remember("cake")
    assert await engine.finish(job)
    assert [left.kind for left in await engine.jobs(JobState.WAITING, 10)] == [EMBED]
    await engine.close()
