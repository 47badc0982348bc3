"""The MongoDB engine passes the suite on a real server, each book in a database of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from memoranda.engines.mongo.collections import COLLECTIONS
from memoranda.engines.mongo.engine import MongoEngine
from memoranda_conformance import StoreSuite
from tests.engines.mongo_server import MongoPlace


class Reused(MongoEngine):
    """Its database is emptied when it is closed, and another test has it."""

    place: MongoPlace

    async def close(self) -> None:
        db = self.server.db
        for name in COLLECTIONS:
            await db[name].delete_many({})
        self.place.free.append(db.name)
        await super().close()


class TestMongo(StoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, mongo: MongoPlace) -> None:
        self.place = mongo

    async def open_engine(self, folder: Path) -> MongoEngine:
        engine = await Reused.open(self.place.new_book())
        engine.place = self.place  # type: ignore[attr-defined]
        return engine
