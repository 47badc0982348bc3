"""LangGraph's store works over the book of a service as over one in this process."""

from __future__ import annotations

import pytest

import memoranda
from memoranda.integrations.langgraph import MemorandaStore
from tests.frameworks.service.conftest import Live

NAMES = ("users", "ann", "memories")


def owner_of(namespace: tuple[str, ...]) -> str:
    return namespace[1]


@pytest.mark.asyncio
async def test_items_are_put_found_listed_and_deleted(live: Live) -> None:
    async with memoranda.open(live.url, key=live.secret) as book:
        store = MemorandaStore(book, owner_of=owner_of)
        await store.aput(NAMES, "tea", {"text": "likes green tea", "rank": 3}, ttl=60)
        await store.aput(NAMES, "city", {"text": "lives in Lisbon", "rank": 1})
        item = await store.aget(NAMES, "tea")
        assert item is not None and (item.namespace, item.value["rank"]) == (NAMES, 3)
        found = await store.asearch(NAMES, query="green tea", filter={"rank": {"$gte": 2}})
        assert [one.key for one in found] == ["tea"]
        assert await store.alist_namespaces(prefix=("users", "ann")) == [NAMES]
        await store.adelete(NAMES, "tea")
        assert await store.aget(NAMES, "tea") is None


def test_items_are_put_and_found_without_an_event_loop(live: Live) -> None:
    with memoranda.open_sync(live.url, key=live.secret) as book:
        store = MemorandaStore(book, owner_of=owner_of)
        store.put(NAMES, "tea", {"text": "likes green tea"})
        item = store.get(NAMES, "tea")
        assert item is not None and item.value == {"text": "likes green tea"}
        assert [one.key for one in store.search(NAMES)] == ["tea"]
