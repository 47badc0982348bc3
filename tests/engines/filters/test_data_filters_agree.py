"""Filters over data choose the same records on every engine as an evaluator that shares no code
with them.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.ports import Engine
from memoranda.recall.arrays import data_columns
from tests.engines.filters.random_filters import Disagreement, Library, compare
from tests.engines.mongo_server import MongoPlace
from tests.engines.postgres_server import Place


async def test_random_filters_choose_in_memory_and_in_sqlite_what_a_naive_evaluator_chooses(
    tmp_path: Path,
):
    library = Library(random.Random(1), 120)
    engines: list[Engine] = [InMemoryEngine(), await SqliteEngine.open(tmp_path / "book.db")]
    shelves = [await library.fill(engine) for engine in engines]
    some, _ = await compare(library, shelves, 150)
    assert some > 50
    for engine in engines:
        await engine.close()


@pytest.mark.parametrize("large", [False, True], ids=["cached", "large"])
async def test_random_filters_choose_on_a_server_what_a_naive_evaluator_chooses(
    postgres: Place, large: bool
):
    postgres_engine = pytest.importorskip("memoranda.engines.postgres.engine")
    library = Library(random.Random(2), 120)
    engine = await postgres_engine.PostgresEngine.open(postgres.new_book())
    shelves = await library.fill(engine)
    if large:
        # Every shelf is then searched on the server, and no index is kept.
        engine.large_shelves.threshold = 1
        await engine.large_shelves.update()
        shelves.forget()
    some, _ = await compare(library, [shelves], 100)
    assert some > 30 and (shelves.index.shelves == 0) == large
    await engine.close()


async def test_random_filters_choose_on_mongodb_what_a_naive_evaluator_chooses(mongo: MongoPlace):
    mongo_engine = pytest.importorskip("memoranda.engines.mongo.engine")
    library = Library(random.Random(4), 120)
    engine = await mongo_engine.MongoEngine.open(mongo.new_book())
    some, _ = await compare(library, [await library.fill(engine)], 100)
    assert some > 30
    await engine.close()


async def test_a_wrong_comparison_is_noticed(monkeypatch: pytest.MonkeyPatch):
    library, engine = Library(random.Random(3), 120), InMemoryEngine()
    shelves = await library.fill(engine)
    noticed: Counter[str] = Counter()
    for name, wrong in (
        ("number_key", float),
        ("json_key", repr),
        ("is_number", lambda one: isinstance(one, (int, float))),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(data_columns, name, wrong)
            shelves.forget()
            with pytest.raises((Disagreement, OverflowError, TypeError)):
                await compare(library, [shelves], 400)
            noticed[name] += 1
    assert len(noticed) == 3
