"""The MongoDB engine passes the suite on a real server, and each command that names no owner is in
the documentation's list.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from pymongo.monitoring import CommandStartedEvent

from memoranda.engines.mongo.collections import COLLECTIONS
from memoranda.engines.mongo.engine import MongoEngine
from memoranda_conformance import StoreSuite
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.erasure import ErasureSuite
from memoranda_conformance.suites.operations import OperationSuite
from memoranda_conformance.suites.threads import ThreadSuite
from tests.engines.mongo.listening import listed, listening, without_owner
from tests.engines.mongo_server import MongoPlace

LISTED = listed()
#: The comment of commands by which the tests empty a database.
EMPTYING = "emptied by a test"


class Reused(MongoEngine):
    """Its database is emptied when it is closed, and another test has it."""

    place: MongoPlace

    async def close(self) -> None:
        db = self.server.db
        for name in COLLECTIONS:
            await db[name].delete_many({}, comment=EMPTYING)
        self.place.free.append(db.name)
        await super().close()


class OnMongo(Suite):
    """Opens books on MongoDB, and hears their commands."""

    @pytest.fixture(autouse=True)
    def _at(self, mongo: MongoPlace) -> Iterator[None]:
        self.place = mongo
        unlisted: set[str] = set()

        def hear(event: CommandStartedEvent) -> None:
            if event.command.get("comment") != EMPTYING:
                unlisted.update(set(without_owner(event)) - LISTED)

        with listening(hear):
            yield
        assert not unlisted, (
            "commands that name no owner, and that docs/decisions/mongodb.md does not list"
        )

    async def open_engine(self, folder: Path) -> MongoEngine:
        engine = await Reused.open(self.place.new_book())
        engine.place = self.place  # type: ignore[attr-defined]
        return engine


class TestMongoAlways(OnMongo, ThreadSuite, OperationSuite, ErasureSuite):
    """A part of the suite, which runs with every change."""


@pytest.mark.again
class TestMongo(OnMongo, StoreSuite):
    """The whole suite."""
