"""The PostgreSQL engine passes the suite on a real server, as an ordinary role, each book in a schema of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.testing import StoreSuite
from tests.engines.postgres_server import Place

pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from commonplace.engines.postgres.engine import PostgresEngine  # noqa: E402


class TestPostgres(StoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, postgres: Place) -> None:
        self.place = postgres

    async def open_engine(self, folder: Path) -> PostgresEngine:
        return await PostgresEngine.open(self.place.new_book())
