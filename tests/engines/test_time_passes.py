"""What has ended or expired is out of a book's reads at that moment, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

import memoranda
from memoranda import Book
from memoranda.book.input import Only
from memoranda.model.memories import Memory
from tests.engines.postgres_server import Place

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


class Hands:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Hands:
    """The clock of the book."""
    return Hands()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The address of a new book, of each engine."""
    if request.param == "postgres":
        pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")
        place: Place = request.getfixturevalue("postgres")
        return place.new_book()
    return "memory://" if request.param == "memory" else str(tmp_path / "book.db")


@pytest_asyncio.fixture
async def book(address: str, clock: Hands) -> AsyncIterator[Book]:
    """A book on each engine."""
    async with memoranda.open(address, clock=clock, worker=False, embed=None) as book:
        yield book
        assert (await book.verify()).faults == ()


async def recalled(book: Book, question: str, **only: Any) -> list[str]:
    """Return the texts of the hits, in order of the alphabet."""
    return sorted(hit.text for hit in await book.recall("ana", question, only=cast(Only, only)))


async def test_a_memory_is_recalled_until_it_ends_and_then_only_if_asked_for(book: Book, clock: Hands):
    trip = await book.remember("ana", "Ana is in Rome", kind="context", valid_to=START + DAY)
    await book.remember("ana", "Ana lives in Bonn")
    await book.remember("ana", "Ana will bring maps of Rome", kind="commitment", valid_to=START + DAY)
    owed, rome, bonn = "Ana will bring maps of Rome", "Ana is in Rome", "Ana lives in Bonn"
    clock.now = START + DAY - MOMENT
    assert await recalled(book, "Ana Rome Bonn") == [rome, bonn, owed]
    clock.now = START + DAY
    assert await recalled(book, "Ana Rome Bonn") == [bonn, owed]
    assert rome not in (await book.context("ana", "Ana Rome Bonn")).text
    assert await recalled(book, "Ana Rome", as_of=START) == [rome, bonn, owed]
    assert await recalled(book, "Ana Rome", include_ended=True) == [rome, bonn, owed]
    for mode in ("recent", "most_used"):
        assert rome not in [hit.text for hit in await book.recall("ana", "Ana", mode=mode)]
    found = await book.recall("ana", "Ana Rome", explain=trip.id)
    assert "include_ended" in found.missing[0].reason
    # Reads that name records, or list them, still show it.
    assert isinstance(await book.get("ana", trip.id), Memory)
    assert len((await book.list("ana", types="memory")).records) == 3 == await book.count("ana")
    assert (await book.why("ana", trip.id)).record.id == trip.id
    assert len(await book.history("ana", trip.id)) == 1


async def test_a_superseded_memory_is_recalled_by_its_status_although_its_time_has_ended(
    book: Book, clock: Hands
):
    await book.remember("ana", "Ana lives in Bonn", key="town")
    clock.now += DAY
    await book.remember("ana", "Ana lives in Rome", key="town")
    assert await recalled(book, "where does Ana live") == ["town: Ana lives in Rome"]
    assert await recalled(book, "where does Ana live", statuses=["superseded"]) == ["town: Ana lives in Bonn"]
