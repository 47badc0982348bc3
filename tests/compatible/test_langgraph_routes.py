"""The routes of LangGraph's store answer as its server does, and keep each credential within its
owners.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx2
import pytest

import memoranda
from memoranda.access.principal import Principal
from memoranda.operations import Role
from memoranda.wire import langgraph_store
from tests.compatible.conftest import Clients
from tests.engines.postgres_server import Place

ITEMS = "/store/items"


@pytest.fixture
def admin(clients: Clients) -> httpx2.AsyncClient:
    return clients()


async def put(
    client: httpx2.AsyncClient, namespace: list[str], key: str, value: Any, **more: Any
) -> None:
    answer = await client.put(
        ITEMS, json={"namespace": namespace, "key": key, "value": value, **more}
    )
    assert (answer.status_code, answer.content) == (204, b""), answer.text


async def get(client: httpx2.AsyncClient, namespace: str, key: str) -> Any:
    answer = await client.get(ITEMS, params={"namespace": namespace, "key": key})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def found(
    client: httpx2.AsyncClient, prefix: list[str], **asked: Any
) -> list[dict[str, Any]]:
    answer = await client.post(f"{ITEMS}/search", json={"namespace_prefix": prefix, **asked})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def namespaces(client: httpx2.AsyncClient, **asked: Any) -> list[list[str]]:
    answer = await client.post("/store/namespaces", json=asked)
    assert answer.status_code == 200, answer.text
    listed: list[list[str]] = answer.json()["namespaces"]
    return listed


@pytest.mark.parametrize(
    "index",
    [["{a,b}" * 16], ["{a,b}" * 200_000], ["x" * 1000] * 60, [f"{{{','.join('ab' * 400)}}}"] * 40],
    ids=["choices", "long", "entries", "both"],
)
async def test_an_index_that_stands_for_too_many_paths_is_refused_before_they_are_made(
    admin: httpx2.AsyncClient, index: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    def counted(*options: list[str]) -> Iterator[tuple[str, ...]]:
        nonlocal made
        for parts in product(*options):
            made += 1
            assert made <= 60, "an index makes paths without an end"
            yield parts

    monkeypatch.setattr(langgraph_store, "product", counted)
    body = {"namespace": ["ann"], "key": "k", "value": {}, "index": index}
    answer = await admin.put(ITEMS, json=body)
    assert answer.status_code == 422 and "it stands for too many paths" in answer.text


async def test_an_item_is_stored_read_replaced_and_deleted(admin: httpx2.AsyncClient) -> None:
    await put(admin, ["ann", "notes"], "k", {"text": "tea"})
    first = await get(admin, "ann.notes", "k")
    assert first.keys() == {"namespace", "key", "value", "created_at", "updated_at"}
    assert (first["namespace"], first["key"], first["value"]) == (
        ["ann", "notes"],
        "k",
        {"text": "tea"},
    )
    await put(admin, ["ann", "notes"], "k", {"text": "coffee"}, index=False, ttl=5)
    second = await get(admin, "ann.notes", "k")
    assert second["value"] == {"text": "coffee"} and second["created_at"] == first["created_at"]
    for _ in range(2):
        answer = await admin.request(
            "DELETE", ITEMS, json={"namespace": ["ann", "notes"], "key": "k"}
        )
        assert (answer.status_code, answer.content) == (204, b"")
        assert await get(admin, "ann.notes", "k") is None


async def test_a_missing_item_is_null(admin: httpx2.AsyncClient) -> None:
    assert await get(admin, "ann.notes", "none") is None


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (
            {"namespace": [], "key": "k", "value": {}},
            400,
            '{"detail":"Namespace cannot be empty."}',
        ),
        ({"key": "k", "value": {}}, 400, '{"detail":"Namespace cannot be empty."}'),
        (
            {"namespace": ["a.b"], "key": "k", "value": {}},
            422,
            "Namespace labels cannot contain periods",
        ),
        ({"namespace": ["a"], "key": "k", "value": [1]}, 422, '{"detail":"value: give an object"}'),
        ({"namespace": ["a"], "key": "k"}, 422, '{"detail":"value: give an object"}'),
        ({"namespace": ["a"], "key": 7, "value": {}}, 422, '{"detail":"key: give a text"}'),
        (
            {"namespace": "a", "key": "k", "value": {}},
            422,
            '{"detail":"namespace: give a list of labels"}',
        ),
        (
            {"namespace": ["a"], "key": "k", "value": {}, "ttl": "x"},
            422,
            '{"detail":"ttl: give minutes"}',
        ),
        ({"namespace": ["a"], "key": "k", "value": {}, "ttl": -1}, 422, '{"detail":"ttl:'),
        (
            {"namespace": ["a"], "key": "k", "value": {}, "ttl": 10**400},
            422,
            '{"detail":"ttl: give minutes"}',
        ),
        ({"namespace": ["a"], "key": "k", "value": {}, "index": True}, 422, '{"detail":"index: '),
        ({"namespace": ["a"], "key": "k", "value": {}, "index": [1]}, 422, '{"detail":"index: '),
        ([], 422, '{"detail":"body: give an object"}'),
    ],
)
async def test_a_malformed_item_is_refused(
    admin: httpx2.AsyncClient, body: Any, status: int, text: str
) -> None:
    answer = await admin.put(ITEMS, json=body)
    assert answer.status_code == status and answer.text.startswith(text), answer.text


async def test_other_malformed_requests_are_refused(admin: httpx2.AsyncClient) -> None:
    answer = await admin.get(ITEMS, params={"namespace": "a.b"})
    assert (answer.status_code, answer.json()) == (400, {"error": "Key is required"})
    assert (await admin.get(ITEMS, params={"key": "k"})).json() == {
        "detail": "Namespace cannot be empty."
    }
    assert (await admin.put(ITEMS, content=b"{")).status_code == 400
    for asked in (
        {"limit": 0},
        {"limit": "1"},
        {"offset": -1},
        {"query": 1},
        {"filter": [1]},
        {"filter": {"$x": 1}},
        {"filter": {"a": {"$in": [1]}}},
    ):
        answer = await admin.post(f"{ITEMS}/search", json={"namespace_prefix": ["a"], **asked})
        assert answer.status_code == 422 and answer.json()["detail"], asked
    for listing in ({"max_depth": 0}, {"prefix": "a"}, {"limit": 0}):
        assert (await admin.post("/store/namespaces", json=listing)).status_code == 422


async def test_search_filters_ranks_and_pages(admin: httpx2.AsyncClient) -> None:
    for number in range(5):
        await put(admin, ["ann", "docs"], f"d{number}", {"n": number, "text": f"pear {number}"})
    await put(admin, ["ann", "docs", "deep"], "tea", {"n": 9, "text": "green tea"})
    newest = await found(admin, ["ann"], limit=2)
    assert [one["key"] for one in newest] == ["tea", "d4"]
    assert [one["key"] for one in await found(admin, ["ann"], limit=2, offset=2)] == ["d3", "d2"]
    assert {one["key"] for one in await found(admin, ["ann"], filter={"n": {"$gte": 4}})} == {
        "d4",
        "tea",
    }
    best = (await found(admin, ["ann", "docs"], query="green tea"))[0]
    assert (
        best["key"] == "tea" and best["score"] > 0 and best["namespace"] == ["ann", "docs", "deep"]
    )
    assert await found(admin, ["bob"]) == []


async def test_namespaces_are_listed_by_their_ends_and_depth(admin: httpx2.AsyncClient) -> None:
    for namespace in (["ann", "a", "x"], ["ann", "b", "x"], ["bob", "a", "y"]):
        await put(admin, namespace, "k", {})
    assert await namespaces(admin, prefix=["ann"]) == [["ann", "a", "x"], ["ann", "b", "x"]]
    assert await namespaces(admin, suffix=["x"]) == [["ann", "a", "x"], ["ann", "b", "x"]]
    assert await namespaces(admin, prefix=["*", "a"]) == [["ann", "a", "x"], ["bob", "a", "y"]]
    assert await namespaces(admin, max_depth=1) == [["ann"], ["bob"]]
    assert await namespaces(admin, limit=1, offset=2) == [["bob", "a", "y"]]


async def test_an_administrator_may_search_across_owners(admin: httpx2.AsyncClient) -> None:
    await put(admin, ["ann", "a"], "k", {"n": 1})
    await put(admin, ["bob", "a"], "k", {"n": 2})
    assert [one["namespace"][0] for one in await found(admin, [])] == ["bob", "ann"]


async def test_all_namespaces_of_a_persons_credential_lie_under_that_person(
    clients: Clients, book: memoranda.Book
) -> None:
    bob = clients(Principal("bob", "default", Role.EDITOR, owners=frozenset({"bob"}), person="bob"))
    await put(clients(), ["ann", "notes"], "k", {"of": "ann"})
    await put(bob, ["ann", "notes"], "own", {"of": "bob"})
    item = await book.items.get("bob", ("ann", "notes"), "own")
    assert item is not None and item.value == {"of": "bob"}
    assert await get(bob, "ann.notes", "k") is None
    assert [one["namespace"] for one in await found(bob, [])] == [["ann", "notes"]]
    assert [one["key"] for one in await found(bob, [])] == ["own"]
    assert await namespaces(bob) == [["ann", "notes"]]


async def test_a_credential_of_several_users_names_one_and_reaches_no_other(
    clients: Clients,
) -> None:
    some = clients(Principal("app", "default", Role.EDITOR, owners=frozenset({"bob", "eve"})))
    await put(clients(), ["ann", "notes"], "k", {"of": "ann"})
    await put(some, ["bob", "notes"], "k", {"of": "bob"})
    assert await get(some, "ann.notes", "k") is None
    assert await found(some, ["ann"]) == [] and await namespaces(some, prefix=["ann"]) == []
    gone = {"namespace": ["ann", "notes"], "key": "k"}
    assert (await some.request("DELETE", ITEMS, json=gone)).status_code == 204
    assert (await some.put(ITEMS, json={**gone, "value": {}})).status_code == 404
    answer = await some.post(f"{ITEMS}/search", json={"namespace_prefix": []})
    assert answer.status_code == 403 and "spans owners" in answer.json()["detail"]
    assert await get(clients(), "ann.notes", "k") is not None


async def test_who_may_only_read_stores_nothing(clients: Clients) -> None:
    reader = clients(
        Principal("ann", "default", Role.VIEWER, owners=frozenset({"ann"}), person="ann")
    )
    assert (
        await reader.put(ITEMS, json={"namespace": ["a"], "key": "k", "value": {}})
    ).status_code == 403
    assert await found(reader, []) == []


async def test_the_routes_work_on_a_server(clients: Clients, postgres: Place) -> None:
    async with memoranda.open(postgres.new_book()) as book:
        client = clients(of=book)
        await put(client, ["ann", "notes"], "k", {"n": 1}, ttl=10)
        assert (await get(client, "ann.notes", "k"))["value"] == {"n": 1}
        assert [one["key"] for one in await found(client, [], filter={"n": 1})] == ["k"]
        assert await namespaces(client) == [["ann", "notes"]]
