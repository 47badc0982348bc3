"""What others do at the same moment, or set on the server, and what a book makes of it."""

from __future__ import annotations

import asyncio

import pytest

from commonplace.model.changes import ChangeAudience
from commonplace.model.owner import WHOLE
from commonplace.testing.builders import ANN, FOR_A, FOR_B, SMALL, Pen, vectors_of
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from commonplace.engines.postgres import aids  # noqa: E402
from commonplace.engines.postgres.engine import PostgresEngine  # noqa: E402
from commonplace.engines.postgres.session import Session  # noqa: E402


async def test_a_passage_that_comes_to_another_shelf_while_its_vector_is_put_is_met_there(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    await engine.begin_set(SMALL)
    moving = await pen.remember("likes tea", audience=FOR_A)
    for number in range(20):
        await pen.remember(f"likes {number}", audience=FOR_B)
    held = {shelf.number: delta.mark for shelf, delta in await engine.since(ANN, WHOLE, lambda _: None)}

    async def put(session: Session) -> None:
        vectors = vectors_of(SMALL, moving)
        there = await aids.passages(session, vectors)
        await asyncio.wait_for(pen.write(ChangeAudience(moving, FOR_B)), 20)
        assert [shelf.passages for shelf in await aids.remark(session, there)] == [0, 21]

    await engine.server.write(put)
    came = [(shelf.audience, delta) for shelf, delta in await engine.since(ANN, WHOLE, held.get)]
    found = [(audience, row.id) for audience, delta in came for row in delta.rows]
    assert found == [(FOR_B, moving.bytes)]
    await engine.close()
