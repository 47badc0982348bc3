"""Real books: one in a file, one in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import memoranda


@pytest.fixture(params=["sqlite", "memory"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[memoranda.Book]:
    address = tmp_path / "book.db" if request.param == "sqlite" else "memory://"
    async with memoranda.open(address) as opened:
        yield opened
        assert (await opened.admin.verify()).faults == ()
