"""Places and open files for the tests of the SQLite engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from tests.engines.sqlite.notes import open_notes


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "notes.book"


@pytest.fixture
async def notes(place: Path) -> AsyncIterator[SqliteFile]:
    file = await open_notes(place)
    yield file
    await file.close()
