"""Upkeep of large shelves and of vectors blocks no reader and no writer, and is always
completed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

import memoranda
from bench.shelves import ROOMY, Steps, fill_mixed, lend_vectors
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book
from memoranda.book.admin.book_copy import CopyRun
from memoranda.errors import StorageError
from memoranda.model.changes import FOLLOW, JobDraft
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner
from memoranda.model.values import utc_now
from memoranda.model.vectors import EMBED
from memoranda.ports import CandidateQuery
from memoranda_conformance.builders import BEN, LARGE, SMALL, Pen, vectors_of
from tests.engines.between import nothing_hangs
from tests.engines.postgres_server import Place
from tests.engines.test_postgres_large import with_extension

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.large import search, shelves, tables  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402

PASSAGES = 40
SOON = "&longest_wait=1&longest_statement=1"


@pytest_asyncio.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with nothing_hangs():
        yield


@pytest_asyncio.fixture
async def book(postgres: Place) -> AsyncIterator[Book]:
    """Yield a book with one large shelf that is not indexed yet."""
    url = f"{await with_extension(postgres)}{SOON}"
    clock = Steps()
    async with memoranda.open(
        url, embed=StandIn(1), limits=ROOMY, clock=clock, worker=False
    ) as opened:
        engine = engine_of(opened)
        await fill_mixed(opened, "ann", PASSAGES, Talk(1), clock)
        await lend_vectors(opened, StandIn(1))
        engine.large_shelves.threshold = PASSAGES // 2
        yield opened
        assert (await opened.admin.verify()).faults == ()


def engine_of(book: Book) -> PostgresEngine:
    assert isinstance(book.engine, PostgresEngine)
    return book.engine


async def is_large(book: Book) -> bool:
    found = await book.engine.since(Owner(id="ann"), WHOLE, lambda _: None)
    return [delta.large for _, delta in found] == [True]


async def waiting(engine: PostgresEngine) -> list[str]:
    return [job.kind for job in await engine.jobs(None, 100)]


async def finished(engine: PostgresEngine, kind: str) -> None:
    """Lease and finish a waiting job."""
    job = await engine.lease([kind], "one", utc_now() + timedelta(hours=1), 60)
    assert job is not None
    assert await engine.finish(job)


@asynccontextmanager
async def open_meanwhile(
    call: Callable[..., Coroutine[Any, Any, None]],
    before: Callable[[Session], Awaitable[Any]],
    **how: Any,
) -> AsyncIterator[None]:
    """Keep a transaction open after it did something."""
    is_in, may_end = asyncio.Event(), asyncio.Event()

    async def stay(session: Session) -> None:
        await before(session)
        is_in.set()
        await may_end.wait()

    staying = asyncio.create_task(call(stay, **how))
    await is_in.wait()
    try:
        yield
    finally:
        may_end.set()
        await staying


async def until(engine: PostgresEngine, look: Callable[[Session], Awaitable[Any]]) -> None:
    """Wait until a statement returns something."""
    while not await engine.server.read(look):  # noqa: ASYNC110 - the server wakes nobody
        await asyncio.sleep(0.05)


async def nothing(_: Session) -> None:
    pass


async def test_building_an_index_of_vectors_has_no_time_limit_and_blocks_nobody(book: Book):
    engine = engine_of(book)
    name = "nearness_1_index"

    async def is_running(session: Session) -> bool:
        rows = await session.text(
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%'"
            " AND query_start < clock_timestamp() - interval '1.5 seconds'"
        )
        return bool(rows)

    # Building an index waits for transactions that read vectors before, for longer than a statement
    # may take.
    async with open_meanwhile(
        engine.server.read, lambda s: s.text("SELECT 1 FROM vectors"), long=True
    ):
        updating = asyncio.create_task(engine.large_shelves.update())
        await until(engine, is_running)
        said = await book.remember("ann", "said in between", agent="helper", audience="global")
        await lend_vectors(book, StandIn(1))
        assert await book.recall("ann", "said in between", agent="helper")
        await book.forget("ann", said.id, as_owner=True)
        assert not updating.done()
    assert await updating == 1
    assert await engine.server.read(lambda s: s.value("index_that_serves", name))
    assert await is_large(book)


async def test_an_index_whose_building_was_interrupted_is_built_again(book: Book):
    engine = engine_of(book)
    name = "nearness_1_index"
    await engine.large_shelves.update()
    await engine.server.outside(f"DROP INDEX {name}")
    assert await engine.large_shelves.is_behind()
    with pytest.raises(StorageError):
        # Two equal rows make it fail, and an invalid index of this name is left.
        await engine.server.outside(
            f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON nearness_1 (owner)"
        )
    assert await engine.server.read(lambda s: s.value("relation", name))
    assert await engine.large_shelves.is_behind()
    assert not await is_large(book)
    await asyncio.gather(engine.large_shelves.update(), engine.large_shelves.update())
    assert not await engine.large_shelves.is_behind() and await is_large(book)


async def test_vectors_are_stored_though_their_shelf_cannot_be_indexed_now(book: Book):
    engine = engine_of(book)
    await engine.large_shelves.update()
    said = await book.remember("ann", "said later", agent="helper", audience="global")
    records = await engine.lacking(StandIn(1).embedding, 10)
    assert [record.id for record in records] == [said.id]
    async with open_meanwhile(
        engine.server.write, lambda s: s.run_text("LOCK TABLE findable IN ACCESS EXCLUSIVE MODE")
    ):
        await lend_vectors(book, StandIn(1))
        assert await engine.lacking(StandIn(1).embedding, 10) == []
    # The next worker that asks for work notices it.
    engine.large_shelves._checked_at = float("-inf")
    assert await engine.lease([FOLLOW], "one", utc_now(), 60) is not None
    await engine.large_shelves.update()
    assert not await engine.large_shelves.is_behind()


async def test_leasing_the_job_that_makes_vectors_blocks_no_writer_while_another_writes_for_long(
    postgres: Place,
):
    engine = await PostgresEngine.open(postgres.new_book())
    await engine.begin_set(SMALL)
    await Pen(engine).remember("tea")
    now = utc_now() + timedelta(hours=1)
    await engine.put(JobDraft(kind="form", key="x"), utc_now())
    order = []
    async with open_meanwhile(engine.server.write, nothing, long=True):
        leasing = asyncio.create_task(engine.lease([EMBED], "one", now, 60))
        await Pen(engine, BEN).remember("cake")
        assert await leasing is None
        await Pen(engine, BEN).remember("more cake")
        order.append("others wrote")
        # A job that can be leased is not delayed by one that cannot.
        job = await engine.lease([EMBED, "form"], "one", now, 60)
        assert job is not None
        assert job.kind == "form"
        order.append("others were leased")
    order.append("the long one ended")
    assert order == ["others wrote", "others were leased", "the long one ended"]
    job = await engine.lease([EMBED], "one", now, 60)
    assert job is not None
    assert job.kind == EMBED
    await engine.close()


async def test_a_lock_that_is_held_for_long_is_noticed(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    async with open_meanwhile(engine.server.write, nothing, long=True):
        await until(engine, lambda s: s.one("book_is_held", 0.3))
    assert await engine.server.read(lambda s: s.one("book_is_held", 0.3)) is None
    await engine.close()


async def test_a_set_is_switched_while_a_transaction_reads_vectors_for_long(book: Book):
    engine = engine_of(book)
    await engine.large_shelves.update()
    ids = [
        record.id for record in (await book.records.list("ann", limit=100, as_owner=True)).records
    ]
    await engine.begin_set(LARGE)
    await engine.put_vectors(LARGE, vectors_of(LARGE, *ids))
    async with open_meanwhile(
        engine.server.read,
        lambda s: s.text("SELECT 1 FROM vectors, nearness_1"),
        whole=True,
        long=True,
    ):
        assert await engine.switch_set(LARGE)
        # A job was put, and the table of the old set is dropped later.
        assert FOLLOW in await waiting(engine)
        await engine.server.write(tables.make_table)
        assert await engine.server.read(tables.unused_tables) == ["nearness_1"]
    assert await engine.large_shelves.update() == 1
    assert await is_large(book)
    assert await engine.server.read(tables.unused_tables) == []
    assert not await engine.large_shelves.is_behind()


async def test_a_search_during_a_switch_is_repeated(book: Book, monkeypatch: pytest.MonkeyPatch):
    engine = engine_of(book)
    await engine.large_shelves.update()
    await engine.begin_set(LARGE)
    known = tables.vectors_of

    async def overtaken(session: Session) -> tables.Vectors | None:
        found = await known(session)
        monkeypatch.setattr(search, "vectors_of", known)
        await engine.switch_set(LARGE)
        await engine.server.outside("DROP TABLE nearness_1")
        return found

    monkeypatch.setattr(search, "vectors_of", overtaken)
    vector = await StandIn(1).query("anything")
    query = CandidateQuery(Owner(id="ann"), WHOLE, (1,), Filter(), None, 10)
    assert await engine.large_shelves.find_by_vector(query, StandIn(1).embedding.name, vector) == []


async def test_a_shelf_is_not_behind_once_an_erasure_is_indexed(book: Book):
    engine = engine_of(book)
    await engine.large_shelves.update()
    last = (await book.records.list("ann", limit=1, as_owner=True, newest_first=True)).records[0]
    await book.forget("ann", last.id, as_owner=True)
    assert await engine.large_shelves.is_behind()
    await engine.large_shelves.update()
    assert not await engine.large_shelves.is_behind()


async def test_a_rebuild_puts_the_job_that_indexes_large_shelves(book: Book):
    engine = engine_of(book)
    await engine.large_shelves.update()
    await engine.rebuild()
    assert FOLLOW in await waiting(engine)


async def test_a_move_puts_the_job_that_indexes_large_shelves(book: Book, postgres: Place):
    engine = engine_of(book)
    there = await PostgresEngine.open(f"{await with_extension(postgres)}{SOON}")
    there.large_shelves.threshold = engine.large_shelves.threshold
    report = await CopyRun(engine, there, switch=True).run()
    assert report.switched
    assert FOLLOW in await waiting(there)
    await there.large_shelves.update()
    assert not await there.large_shelves.is_behind()
    assert (await there.verify()).faults == ()
    await there.close()


async def test_a_worker_indexes_a_shelf_without_vectors_that_a_read_found_behind(
    postgres: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tables, "MOST_WAITING", 4)
    monkeypatch.setattr(shelves, "_SOON_SECONDS", 0)
    clock = Steps()
    async with memoranda.open(
        postgres.new_book(), embed=None, limits=ROOMY, clock=clock, worker=False
    ) as book:
        engine = engine_of(book)
        engine.large_shelves.threshold = 2
        await fill_mixed(book, "ann", 20, Talk(1), clock)
        clock.now = utc_now() + timedelta(seconds=10)
        await book.worker.drain()
        assert await is_large(book)
        for number in range(10):
            await book.remember("ann", f"statement {number}", agent="helper", audience="global")
        await book.worker.drain()
        assert not await is_large(book)
        clock.now += timedelta(seconds=10)
        await book.worker.drain()
        assert await is_large(book)
        assert not await engine.large_shelves.is_behind()
