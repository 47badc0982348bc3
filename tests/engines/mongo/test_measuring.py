"""The bench and the evaluations measure books on MongoDB, and leave no database there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pymongo import MongoClient

from bench.__main__ import measure
from bench.figures import TINY, Place
from evals.places import new_book
from tests.engines.mongo_server import MongoPlace


def _databases(mongo: MongoPlace) -> set[str]:
    with MongoClient[Any](mongo.url) as client:
        return set(client.list_database_names())


def test_a_measurement_uses_databases_of_its_own_and_drops_them(mongo: MongoPlace, tmp_path: Path):
    before = _databases(mongo)
    said: list[str] = []
    found = measure(["append", "size"], Place(tmp_path, TINY, engine=mongo.url), said.append)
    rows = {row.name.strip(): row.value for name in found for row in found[name]}
    assert rows["append, a multiple of it"] and rows["of these, ledger with its indexes"]
    assert _databases(mongo) == before


async def test_an_evaluation_fills_a_database_of_its_own_and_drops_it(mongo: MongoPlace):
    before = _databases(mongo)
    async with new_book(mongo.url, embed=None) as book:
        await book.remember("ann", "Ann likes tea")
        assert _databases(mongo) > before
    assert _databases(mongo) == before
