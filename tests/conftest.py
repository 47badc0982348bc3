"""Fixtures that all tests share: a clock that tests set, and a book in a new file for each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import memoranda
from memoranda.assembly import book_setup
from memoranda.testing.clock import HandClock

#: Tests are of words alone, on every machine alike, where they do not ask for an embedder.
os.environ["MEMORANDA_EMBEDDING_USE"] = "none"

#: What lets a book work by itself. Proofs, which some tests import, replace it for their processes.
_STARTS = book_setup.start_working

#: The gate tries the same examples every time; at a desk they are others each time.
settings.register_profile("gate", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("gate")


@pytest.fixture(autouse=True)
def works_when_asked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop books from doing jobs by themselves, because jobs beside a test would change its
    results.
    """
    # Not the fixture: what a test patches with it is restored before the fixtures that the test
    # asked for end.
    with pytest.MonkeyPatch.context() as patch:
        works = "works_by_itself" in request.keywords
        patch.setattr(book_setup, "start_working", _STARTS if works else lambda *_: None)
        yield


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def book(tmp_path: Path, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(tmp_path / "book.db", clock=clock) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()
