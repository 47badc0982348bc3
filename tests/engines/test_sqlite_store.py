"""The SQLite engine passes the suite."""

from __future__ import annotations

from pathlib import Path

from commonplace.engines.sqlite.engine import SqliteEngine
from commonplace.testing import StoreSuite


class TestSqlite(StoreSuite):
    async def open_engine(self, folder: Path) -> SqliteEngine:
        return await SqliteEngine.open(folder / "book.db")
