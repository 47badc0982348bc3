"""The template of a memory service on a book of its own, with a model that has a script."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
#: Whoever copies the template installs it; its tests run it from where it is.
sys.path.insert(0, str(ROOT / "templates/memory_service/src"))

from tests.frameworks.langgraph.memory_service.scripted_service import Service  # noqa: E402


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    monkeypatch.setenv("MEMORANDA_BOOK", str(tmp_path / "book.db"))
    async with Service.opened(monkeypatch) as opened:
        yield opened
