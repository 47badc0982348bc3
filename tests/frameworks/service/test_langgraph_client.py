"""LangGraph's own client works against our store, as against its server."""

from __future__ import annotations

import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import AuthenticationError, UnprocessableEntityError

from tests.frameworks.service.conftest import Live

VALUE = {"title": "Hello", "body": "World"}


@pytest.mark.asyncio
async def test_an_item_makes_a_round_trip(live: Live) -> None:
    async with get_client(url=live.url, api_key=live.secret) as client:
        await client.store.put_item(
            ["team", "docs"], key="doc-1", value=VALUE, index=["title"], ttl=60
        )
        item = await client.store.get_item(["team", "docs"], key="doc-1", refresh_ttl=True)
        assert (item["namespace"], item["key"], item["value"]) == (["team", "docs"], "doc-1", VALUE)
        await client.store.delete_item(["team", "docs"], key="doc-1")
        assert await client.store.get_item(["team", "docs"], key="doc-1") is None
        await client.store.delete_item(["team", "docs"], key="doc-1")


def test_an_item_makes_a_round_trip_without_an_event_loop(live: Live) -> None:
    with get_sync_client(url=live.url, api_key=live.secret) as client:
        client.store.put_item(["team", "docs"], key="doc-1", value=VALUE)
        item = client.store.get_item(["team", "docs"], key="doc-1")
        assert (item["namespace"], item["key"], item["value"]) == (["team", "docs"], "doc-1", VALUE)
        client.store.delete_item(["team", "docs"], key="doc-1")
        assert client.store.get_item(["team", "docs"], key="doc-1") is None


@pytest.mark.asyncio
async def test_items_and_namespaces_are_found(live: Live) -> None:
    async with get_client(url=live.url, api_key=live.secret) as client:
        for key in ("a", "b"):
            await client.store.put_item(["team", "search"], key=key, value={"kind": key})
        found = await client.store.search_items(["team", "search"], limit=10)
        assert sorted(item["key"] for item in found["items"]) == ["a", "b"]
        assert [
            item["key"]
            for item in (await client.store.search_items(["team"], filter={"kind": "b"}))["items"]
        ] == ["b"]
        listed = await client.store.list_namespaces(prefix=["team"], limit=100)
        assert listed["namespaces"] == [["team", "search"]]


def test_items_and_namespaces_are_found_without_an_event_loop(live: Live) -> None:
    with get_sync_client(url=live.url, api_key=live.secret) as client:
        for key in ("a", "b"):
            client.store.put_item(["team", "search"], key=key, value={"kind": key})
        found = client.store.search_items(["team", "search"], query="b", limit=10)
        assert sorted(item["key"] for item in found["items"]) == ["a", "b"]
        listed = client.store.list_namespaces(suffix=["search"], max_depth=2)
        assert listed["namespaces"] == [["team", "search"]]


@pytest.mark.asyncio
async def test_refusals_are_the_clients_own_errors(live: Live) -> None:
    async with get_client(url=live.url, api_key="wrong") as client:
        with pytest.raises(AuthenticationError):
            await client.store.get_item(["team"], key="k")
    async with get_client(url=live.url, api_key=live.secret) as client:
        with pytest.raises(UnprocessableEntityError, match="unknown"):
            await client.store.search_items(["team"], filter={"n": {"$in": [1]}})
