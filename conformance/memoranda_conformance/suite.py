"""The base of every conformance suite: it opens the engine to test, and verifies the ledger after
each test.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import pytest_asyncio

from memoranda.ports import Engine


@pytest.mark.asyncio
class Suite:
    """The base class of conformance suites: override ``open_engine``."""

    async def open_engine(self, folder: Path) -> Engine:
        """Return an engine with an empty book, which may store its files in ``folder``."""
        raise NotImplementedError

    def read_elsewhere(self, engine: Engine) -> AbstractContextManager[object]:
        """Return a context in which another program reads the book's files, so that they cannot be
        cleared.

        Override it if a reader prevents clearing.
        """
        return nullcontext()

    @pytest_asyncio.fixture
    async def engine(self, tmp_path: Path) -> AsyncIterator[Engine]:
        """An engine with an empty book."""
        async for engine in self._proven(tmp_path / "one"):
            yield engine

    @pytest_asyncio.fixture
    async def another(self, tmp_path: Path) -> AsyncIterator[Engine]:
        """A second engine with an empty book."""
        async for engine in self._proven(tmp_path / "two"):
            yield engine

    async def _proven(self, folder: Path) -> AsyncIterator[Engine]:
        folder.mkdir()
        engine = await self.open_engine(folder)
        yield engine
        findings = await engine.verify()
        await engine.close()
        assert findings.faults == ()
