"""The ground of every suite: an engine of the tester's own making, proven against its ledger after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memoranda.ports import Engine


@pytest.mark.asyncio
class Suite:
    """Override ``open_engine``; everything else is given."""

    async def open_engine(self, folder: Path) -> Engine:
        """An empty book, which may keep its files in an existing folder."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def engine(self, tmp_path: Path) -> AsyncIterator[Engine]:
        """An empty book."""
        async for engine in self._proven(tmp_path / "one"):
            yield engine

    @pytest_asyncio.fixture
    async def another(self, tmp_path: Path) -> AsyncIterator[Engine]:
        """Another empty book."""
        async for engine in self._proven(tmp_path / "two"):
            yield engine

    async def _proven(self, folder: Path) -> AsyncIterator[Engine]:
        folder.mkdir()
        engine = await self.open_engine(folder)
        yield engine
        findings = await engine.verify()
        await engine.close()
        assert findings.faults == ()
