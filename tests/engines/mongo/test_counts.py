"""How many commands a call costs, whatever its owner's history and however many owners there
are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from memoranda.engines.mongo.engine import MongoEngine
from memoranda.model.records import WHOLE
from memoranda_conformance.builders import ANN, BEN, SMALL, Pen
from tests.engines.mongo.listening import counted
from tests.engines.mongo_server import MongoPlace


@pytest.fixture
async def engine(mongo: MongoPlace) -> AsyncIterator[MongoEngine]:
    opened = await MongoEngine.open(mongo.new_book())
    yield opened
    await opened.close()


async def test_an_append_costs_few_commands_and_no_more_with_a_long_history(engine: MongoEngine):
    pen = Pen(engine)
    thread = await pen.open()
    await pen.say(thread, "first")
    with counted() as names:
        await pen.say(thread, "second")
    assert len(names) <= 8, names
    for n in range(30):
        await pen.say(thread, f"more {n}")
    await Pen(engine, BEN).remember("of somebody else")
    with counted() as later:
        await pen.say(thread, "last")
    assert later == names


async def test_remembering_under_a_key_costs_few_commands(engine: MongoEngine):
    pen = Pen(engine)
    await engine.begin_set(SMALL)
    await pen.remember("likes tea", key="drink")
    with counted() as names:
        await pen.write(pen.remembering("likes coffee", key="drink"), operation="one", request=b"x")
    assert len(names) <= 12, names


async def test_a_get_costs_two_commands(engine: MongoEngine):
    pen = Pen(engine)
    ids = [await pen.remember(f"likes {n}") for n in range(5)]
    with counted() as names:
        await engine.get(ANN, WHOLE, ids)
    assert len(names) <= 2, names


async def test_a_recall_with_a_current_index_costs_three_commands(engine: MongoEngine):
    pen = Pen(engine)
    ids = [await pen.remember(f"likes {n}") for n in range(5)]
    seen = {
        shelf.number: delta.mark for shelf, delta in await engine.since(ANN, WHOLE, lambda _: None)
    }
    with counted() as names:
        await engine.look(ANN, WHOLE, seen.get, lambda _: ids)
    assert len(names) <= 3, names
