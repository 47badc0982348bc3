"""Search on the server returns the same hits as search in memory."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

import memoranda
from bench.shelves import AGENTS, BEGAN, ROOMY, STEP, Steps, fill_mixed, lend_vectors
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book
from memoranda.model.changes import FOLLOW
from memoranda.model.records import WHOLE, Owner
from memoranda.model.values import utc_now
from memoranda.ports import SearchesLargeShelves
from memoranda.recall.scoring.deviations import expected_deviation
from memoranda.recall.scoring.fields import K1, Field
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402

PASSAGES = 300
#: No shelf of these tests has so many.
NEVER = 10**9

_numbers = itertools.count()


@pytest_asyncio.fixture(params=[0, 3], ids=["whole", "partitions"])
async def large(postgres: Place, request: pytest.FixtureRequest) -> AsyncIterator[Book]:
    """Yield a book whose one shelf is indexed on the server."""
    url = f"{await with_extension(postgres)}&partitions={request.param}"
    clock = Steps()
    async with memoranda.open(
        url, embed=StandIn(1), limits=ROOMY, clock=clock, worker=False
    ) as book:
        await fill_mixed(book, "ann", PASSAGES, Talk(1), clock)
        await lend_vectors(book, StandIn(1))
        await index_shelf(book)
        yield book


async def with_extension(postgres: Place) -> str:
    """Return the address of a new book in a database that has the extension ``vector``."""
    if not postgres.administrator:
        return postgres.new_book()
    connection = await asyncpg.connect(postgres.administrator)
    if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = 'near'"):
        await connection.execute("CREATE DATABASE near OWNER reader_and_writer")
    await connection.close()
    connection = await asyncpg.connect(postgres.administrator.replace("/postgres?", "/near?"))
    await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    await connection.close()
    return f"{postgres.url.replace('/books', '/near')}&schema=large_{next(_numbers)}"


async def index_shelf(book: Book) -> None:
    engine = book.engine
    assert isinstance(engine, PostgresEngine)
    engine.large_shelves.threshold = PASSAGES // 2
    await engine.large_shelves.update()


@pytest.fixture(autouse=True)
def estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memory estimate the deviation of words, too: a server has only how rare each of them
    is.
    """

    def deviation(field: Field, own: Any, weights: Any) -> float:
        return expected_deviation(weights / (K1 + 1), field.living)

    monkeypatch.setattr(Field, "deviation", deviation)


Hits = list[tuple[UUID, Any]]


async def both(book: Book, question: str, agent: str = "helper", **how: Any) -> tuple[Hits, Hits]:
    """Return the hits with their scores, from the server and from memory."""
    engine = book.engine
    assert isinstance(engine, PostgresEngine)
    least = engine.large_shelves.threshold
    assert True in [delta.large for _, delta in await looked(book)]
    found = await book.recall("ann", question, agent=agent, **how)
    engine.large_shelves.threshold = NEVER
    held = await book.recall("ann", question, agent=agent, **how)
    engine.large_shelves.threshold = least
    assert [one.id for one in found.missing] == [one.id for one in held.missing]
    assert [(one.because, one.rank) for one in found.missing] == [
        (one.because, one.rank) for one in held.missing
    ]
    return _told(found), _told(held)


def _told(hits: Sequence[Any]) -> Hits:
    return [(hit.id, pytest.approx(hit.score, rel=1e-9)) for hit in hits]


async def looked(book: Book) -> Sequence[Any]:
    return await book.engine.since(Owner(id="ann"), WHOLE, lambda _: None)


async def asked(book: Book) -> list[str]:
    page = await book.records.list("ann", types="message", limit=50, as_owner=True)
    talk = Talk(7)
    return [talk.question(record.passage_text() or "") for record in page.records[::6]]


@pytest.mark.parametrize("mode", ["hybrid", "words", "meaning", "recent"])
async def test_the_server_finds_what_memory_finds_in_every_mode(large: Book, mode: str):
    assert isinstance(large.engine, SearchesLargeShelves)
    for question in await asked(large):
        found, held = await both(large, question, mode=mode)
        assert found == held


CONDITIONS: dict[str, dict[str, Any]] = {
    "type": {"types": "memory"},
    "kind": {"only": {"kinds": "user"}},
    "status": {"only": {"statuses": ["superseded"]}},
    "subject": {"only": {"subject": "subject 3"}},
    "agent": {"only": {"agent": AGENTS[1]}},
    "tags": {"only": {"tags": ["tag 1", "tag 2"]}},
    "time": {"only": {"since": BEGAN + STEP * 30, "until": BEGAN + STEP * 90}},
    "trust": {"only": {"trust": "assistant"}},
    "as_of": {"only": {"as_of": BEGAN + STEP * 50}},
    "known_at": {"only": {"known_at": BEGAN + STEP * 60}},
    "pinned first": {"pinned_first": True},
}


@pytest.mark.parametrize("name", CONDITIONS)
async def test_the_server_finds_what_memory_finds_under_every_condition(large: Book, name: str):
    for question in (await asked(large))[:3]:
        # Under a condition the best cosine and the best of a thread are those of what meets it.
        found, held = await both(large, question, **CONDITIONS[name])
        same = {id for id, _ in found} & {id for id, _ in held}
        assert len(found) == len(held) and len(same) >= 0.8 * len(held)


async def test_a_forgotten_record_is_not_found_and_a_new_one_is_found_at_once(large: Book):
    question = (await asked(large))[0]
    (first, _), *_ = (await both(large, question))[0]
    await large.forget("ann", first, as_owner=True)
    found, _ = await both(large, question)
    assert first not in [id for id, _ in found]
    said = f"{question} {question}"
    await large.remember("ann", said, agent="helper", audience="global")
    hits = await large.recall("ann", question, agent="helper")
    assert said in [hit.record.passage_text() for hit in hits]
    assert (await large.admin.verify()).faults == ()
    await index_shelf(large)
    assert (await large.admin.verify()).faults == ()


async def test_verify_finds_a_vector_that_the_index_lacks_and_a_rebuild_has_it_indexed_anew(
    large: Book,
):
    engine = large.engine
    assert isinstance(engine, PostgresEngine)
    await engine.server.write(lambda s: s.run_text("DELETE FROM nearness_1"))
    faults = (await large.admin.verify()).faults
    assert len(faults) == PASSAGES and all(
        "does not contain the vector" in fault for fault in faults
    )
    await large.admin.rebuild()
    assert [job.kind for job in await engine.jobs(None, 10)].count(FOLLOW) == 1
    await index_shelf(large)
    assert (await large.admin.verify()).faults == ()


async def test_a_view_of_a_large_shelf_and_a_private_one_finds_both_and_other_agents_do_not(
    large: Book,
):
    for text in ("the private tea", "private coffee", "private water and bread"):
        await large.remember("ann", text, agent="guide", audience="self")
    await lend_vectors(large, StandIn(1))
    await index_shelf(large)
    for question in ["private tea", *(await asked(large))[:4]]:
        found, held = await both(large, question, agent="guide")
        assert found == held
    hits = await large.recall("ann", "the private tea", agent="guide", mode="words")
    assert hits[0].record.passage_text() == "the private tea"
    hits = await large.recall("ann", "the private tea", agent="helper", mode="words")
    assert "the private tea" not in [hit.record.passage_text() for hit in hits]


async def test_the_reason_for_a_missing_hit_is_the_same(large: Book):
    ids = [
        record.id
        for record in (
            await large.records.list("ann", types="memory", limit=3, as_owner=True)
        ).records
    ]
    found, held = await both(large, (await asked(large))[0], explain=ids)
    assert found == held


async def test_an_erased_owner_has_no_rows_left_in_the_indexes(large: Book):
    await large.forget("ann", everything=True, as_owner=True)
    engine = large.engine
    assert isinstance(engine, PostgresEngine)

    async def left(session: Any) -> list[int]:
        tables = [
            row[0]
            for row in await session.text(
                "SELECT relname FROM pg_class WHERE relname ~ '^nearness_[0-9]+$'"
                " AND relnamespace = current_schema()::regnamespace"
            )
        ]
        assert tables
        return [
            (await session.text(f"SELECT count(*) FROM {name}"))[0][0]
            for name in ["findable", *tables]
        ]

    assert set(await engine.server.read(left, whole=True)) == {0}


async def test_a_worker_indexes_a_shelf_that_has_become_large(postgres: Place):
    url = await with_extension(postgres)
    clock = Steps()
    async with memoranda.open(
        url, embed=StandIn(1), limits=ROOMY, clock=clock, worker=False
    ) as book:
        engine = book.engine
        assert isinstance(engine, PostgresEngine)
        engine.large_shelves.threshold = PASSAGES // 2
        await fill_mixed(book, "ann", PASSAGES, Talk(1), clock)
        await lend_vectors(book, StandIn(1))
        assert await engine.large_shelves.is_behind()
        assert [delta.large for _, delta in await looked(book)] == [False]
        assert [job.kind for job in await engine.jobs(None, 100) if job.kind == "follow"] == [
            "follow"
        ]
        clock.now = utc_now() + STEP
        await book.worker.drain()
        assert [delta.large for _, delta in await looked(book)] == [True]
        # From then on, storing vectors updates the index.
        await book.remember("ann", "what came later", agent="helper", audience="global")
        await lend_vectors(book, StandIn(1))
        assert not await engine.large_shelves.is_behind()
        assert (await book.admin.verify()).faults == ()


async def test_without_the_extension_the_shelf_is_read_into_memory(postgres: Place):
    clock = Steps()
    async with memoranda.open(
        postgres.new_book(), embed=StandIn(1), limits=ROOMY, clock=clock, worker=False
    ) as book:
        await fill_mixed(book, "ann", PASSAGES, Talk(1), clock)
        await lend_vectors(book, StandIn(1))
        await index_shelf(book)
        assert [delta.large for _, delta in await looked(book)] == [False]
        assert await book.recall("ann", (await asked(book))[0], agent="helper")
