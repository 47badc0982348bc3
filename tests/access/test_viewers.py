"""A credential that only reads changes nothing, and spends no money, by what a reader may call."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal
from memoranda.errors import NotAllowed
from memoranda.operations import Role
from memoranda.testing import ScriptedModels
from memoranda.testing.clock import HandClock

VIEWER = Principal("reader", "default", Role.VIEWER)


@pytest.fixture
async def book() -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(
        "memory://", worker=False, embed=None, clock=HandClock(), models=ScriptedModels([])
    ) as opened:
        yield opened


@pytest.fixture
def viewer(book: memoranda.Book) -> Guard:
    return Guard(book, VIEWER)


async def uses(book: memoranda.Book) -> list[int]:
    await book.memories.uses.settled()
    return [hit.uses for hit in await book.recall("ann", "", mode="most_used", types="memory")]


async def test_a_viewers_context_counts_no_memory_as_used(
    book: memoranda.Book, viewer: Guard
) -> None:
    await book.remember("ann", "likes green tea")
    assert "green tea" in (await viewer.call("context", owner="ann", query="tea")).text
    assert await uses(book) == [0]
    await Guard(book, Principal("writer", "default", Role.EDITOR)).call(
        "context", owner="ann", query="tea"
    )
    assert await uses(book) == [1]


async def test_a_viewers_read_renews_no_item(book: memoranda.Book, viewer: Guard) -> None:
    await book.items.put("ann", ["notes"], "one", {"a": 1}, ttl=100)
    before = await book.items.get("ann", ["notes"], "one")
    assert isinstance(book.door.clock, HandClock)
    book.door.clock.advance(seconds=50)
    asked = {"owner": "ann", "namespace": ["notes"], "name": "one", "renew": True}
    assert await viewer.call("items.get", **asked) == before
    assert await book.items.get("ann", ["notes"], "one") == before
    after = await Guard(book, Principal("writer", "default", Role.EDITOR)).call(
        "items.get", **asked
    )
    assert after == before
    renewed = await book.items.get("ann", ["notes"], "one")
    assert renewed is not None and before is not None
    assert renewed.expires_at is not None and before.expires_at is not None
    assert renewed.expires_at > before.expires_at


async def test_a_viewer_asks_no_language_model(book: memoranda.Book, viewer: Guard) -> None:
    kept = (await book.remember("ann", "Lives in Oslo")).items[0].id
    with pytest.raises(NotAllowed, match="it costs money, and needs the role editor"):
        await viewer.call("forgetting.find_traces", owner="ann", id=kept, ask_model=True)
    found = await viewer.call("forgetting.find_traces", owner="ann", id=kept)
    assert [one.id for one in found.memories] == [kept]
