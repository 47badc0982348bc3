"""EDDI's routes answer as EDDI does, and without its defects."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

import memoranda
from memoranda.access.principal import Principal
from memoranda.compatible.user_memory_entries import NO_AGENT
from memoranda.operations import Role
from tests.compatible.conftest import Clients
from tests.engines.postgres_server import Place

MEMORIES = "/usermemorystore/memories"
PROPERTIES = "/propertiesstore/properties"


async def put(client: httpx2.AsyncClient, **entry: Any) -> str:
    answer = await client.put(MEMORIES, json={"userId": "ann", **entry})
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {"id"}
    return str(answer.json()["id"])


async def listed(client: httpx2.AsyncClient, path: str = "", **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"{MEMORIES}/ann{path}", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


@pytest.fixture
def ann(clients: Clients) -> httpx2.AsyncClient:
    return clients()


async def test_an_entry_is_stored_and_read_with_every_field(ann: httpx2.AsyncClient) -> None:
    entry = {
        "key": "colour",
        "value": {"name": "blue", "shades": [1, 2.5, None, True]},
        "category": "preference",
        "visibility": "group",
        "sourceAgentId": "chef",
        "groupIds": ["kitchen"],
        "sourceConversationId": "c-17",
    }
    id = await put(ann, **entry)
    (found,) = await listed(ann)
    assert {name: found[name] for name in entry} == entry
    assert found["id"] == id and found["userId"] == "ann"
    assert found["conflicted"] is False and found["accessCount"] == 0
    assert found["createdAt"] <= found["updatedAt"] and found["updatedAt"].endswith("Z")


@pytest.mark.parametrize(
    "value", [None, "", "text", 0, 1.5, True, [], [1], {}, {"a": {"b": None}}, "x" * 5000]
)
async def test_a_value_may_be_of_any_json_type_and_longer_than_a_statement(
    ann: httpx2.AsyncClient, value: Any
) -> None:
    await put(ann, key="k", value=value, visibility="global")
    answer = await ann.get(f"{MEMORIES}/ann/key/k")
    assert answer.json()["value"] == value and type(answer.json()["value"]) is type(value)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "Request body is required"),
        (b"null", "Request body is required"),
        (b"[]", "Request body is required"),
        (b"{", "the body is no JSON"),
        (b"\xff", "the body is no JSON"),
        (b'{"key": ""}', "userId is required"),
        (b'{"userId": " ", "key": "k"}', "userId is required"),
        (b'{"userId": "ann"}', "key is required"),
        (b'{"userId": "ann", "key": " "}', "key is required"),
        (
            json.dumps({"userId": "ann", "key": "k" * 256}).encode(),
            "key must not exceed 255 characters",
        ),
        (
            b'{"userId": "ann", "key": "k", "visibility": "all"}',
            "visibility: 'all' is none of self, group, global",
        ),
    ],
)
async def test_a_malformed_entry_is_refused_in_the_order_of_its_checks(
    ann: httpx2.AsyncClient, body: bytes, fault: str
) -> None:
    answer = await ann.put(MEMORIES, content=body)
    assert (answer.status_code, answer.json()) == (400, {"error": fault})


@pytest.mark.parametrize("length", [100, 101, 255])
async def test_a_key_may_have_255_characters(ann: httpx2.AsyncClient, length: int) -> None:
    key = "k" * length
    first = await put(ann, key=key, value=1)
    assert await put(ann, key=key, value=2) == first
    await put(ann, key="k" * (length - 1), value=3)
    found = (await ann.get(f"{MEMORIES}/ann/key/{key}")).json()
    assert (found["key"], found["value"]) == (key, 2)
    assert len(await listed(ann)) == 2


async def test_an_entry_keeps_its_id_and_its_creation_when_it_is_written_again(
    ann: httpx2.AsyncClient,
) -> None:
    ids = {await put(ann, key="k", value=value, sourceAgentId="a") for value in (1, 2, 3)}
    (found,) = await listed(ann)
    assert ids == {found["id"]} and found["value"] == 3
    assert found["createdAt"] < found["updatedAt"]


async def test_a_global_entry_is_one_for_all_agents_and_keeps_its_first(
    ann: httpx2.AsyncClient,
) -> None:
    first = await put(ann, key="k", value=1, visibility="global", sourceAgentId="a")
    assert await put(ann, key="k", value=2, visibility="global", sourceAgentId="b") == first
    (found,) = await listed(ann)
    assert (found["value"], found["sourceAgentId"]) == (2, "a")


async def test_a_self_entry_is_each_agents_own_beside_a_global_one(ann: httpx2.AsyncClient) -> None:
    for agent in ("a", "b"):
        await put(ann, key="k", value=agent, visibility="self", sourceAgentId=agent)
    await put(ann, key="k", value="all", visibility="global", sourceAgentId="a")
    assert sorted(one["value"] for one in await listed(ann)) == ["a", "all", "b"]
    assert sorted(one["value"] for one in await listed(ann, "/visible", agentId="a")) == [
        "a",
        "all",
    ]


async def test_an_entry_may_change_between_self_and_group(ann: httpx2.AsyncClient) -> None:
    id = await put(ann, key="k", value=1, sourceAgentId="a", visibility="group", groupIds=["g"])
    assert [one["value"] for one in await listed(ann, "/visible", agentId="b", groupId="g")] == [1]
    assert await put(ann, key="k", value=2, sourceAgentId="a", visibility="self") == id
    assert await listed(ann, "/visible", agentId="b", groupId="g") == []
    assert (
        await put(ann, key="k", value=3, sourceAgentId="a", visibility="group", groupIds=["g", "h"])
        == id
    )
    assert [
        one["value"] for one in await listed(ann, "/visible", agentId="b", groupId=["x", "h"])
    ] == [3]
    assert len(await listed(ann)) == 1


@pytest.mark.parametrize(
    "entry", [{"visibility": "self"}, {"visibility": "group"}, {"visibility": None}, {}]
)
async def test_an_entry_that_names_no_agent_is_the_persons_and_no_agents(
    ann: httpx2.AsyncClient, entry: dict[str, Any]
) -> None:
    id = await put(ann, key="k", value=1, **entry)
    (found,) = await listed(ann)
    assert (found["sourceAgentId"], found["visibility"]) == (
        None,
        entry.get("visibility") or "self",
    )
    for query in ({}, {"agentId": "a"}, {"agentId": NO_AGENT}, {"groupId": "g"}):
        assert await listed(ann, "/visible", **query) == []
    assert await put(ann, key="k", value=2, **entry) == id


async def test_visible_entries_have_an_order_and_a_limit(ann: httpx2.AsyncClient) -> None:
    for number in range(4):
        await put(ann, key=f"k{number}", value=number, visibility="global")
    newest = await listed(ann, "/visible", agentId="a", limit=2)
    assert [one["value"] for one in newest] == [3, 2]
    assert len(await listed(ann, "/visible", limit=0)) == 4
    for _ in range(2):
        used = await listed(ann, "/visible", order="most_accessed", limit=1)
    assert used[0]["accessCount"] == 1
    answer = await ann.get(f"{MEMORIES}/ann/visible", params={"limit": "many"})
    assert (answer.status_code, answer.json()) == (400, {"error": "limit: give a whole number"})


async def test_a_teams_entries_are_visible_to_its_agents(ann: httpx2.AsyncClient) -> None:
    team = {"userId": "group:g", "visibility": "group", "groupIds": ["g"]}
    await put(ann, key="lesson", value="taste first", **team)
    assert [one["userId"] for one in await listed(ann, "/visible", agentId="a", groupId="g")] == [
        "group:g"
    ]
    assert await listed(ann, "/visible", agentId="a", groupId="h") == []
    assert await listed(ann) == []


async def test_search_finds_a_part_of_a_key_or_a_value_in_any_case(ann: httpx2.AsyncClient) -> None:
    await put(ann, key="Favourite", value="100% GREEN tea")
    await put(ann, key="other", value={"deep": ["Green"]})
    await put(ann, key="last", value="red")
    assert {one["key"] for one in await listed(ann, "/search", q="green")} == {"Favourite", "other"}
    assert {one["key"] for one in await listed(ann, "/search", q="AVOUR")} == {"Favourite"}
    assert {one["key"] for one in await listed(ann, "/search", q="%")} == {"Favourite"}
    assert len(await listed(ann, "/search", q=" ")) == len(await listed(ann, "/search")) == 3


async def test_a_category_is_found_in_its_usual_form_and_an_unknown_one_is_a_fact(
    ann: httpx2.AsyncClient,
) -> None:
    for key, category in (
        ("a", " Preference "),
        ("b", "hobby"),
        ("c", None),
        ("d", "context"),
        ("e", 7),
    ):
        await put(ann, key=key, value=1, category=category)
    assert {one["key"] for one in await listed(ann, "/category/fact")} == {"b", "c", "e"}
    assert {one["key"] for one in await listed(ann, "/category/preference")} == {"a"}
    assert await listed(ann, "/category/hobby") == []


async def test_a_key_that_is_not_there_and_an_entry_that_is_not_there_are_404(
    ann: httpx2.AsyncClient,
) -> None:
    answer = await ann.get(f"{MEMORIES}/ann/key/k")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "No memory with key 'k' found for user: ann"},
    )
    gone = await put(ann, key="k", value=1)
    assert (await ann.delete(f"{MEMORIES}/entry/{gone}")).status_code == 204
    for id in (gone, "no id", "507f1f77bcf86cd799439011", "a.b", "é", gone.partition(".")[0]):
        answer = await ann.delete(f"{MEMORIES}/entry/{id}")
        assert (answer.status_code, answer.json()) == (
            404,
            {"error": f"Memory entry not found: {id}"},
        )


async def test_deleting_an_entry_erases_its_earlier_values_too(
    ann: httpx2.AsyncClient, book: memoranda.Book
) -> None:
    for value in ("first pomelo", "second pomelo", "third pomelo"):
        id = await put(ann, key="k", value=value)
    await put(ann, key="other", value=1)
    assert (await ann.delete(f"{MEMORIES}/entry/{id}")).status_code == 204
    assert "pomelo" not in "".join([line async for line in book.admin.export()])
    assert [one["key"] for one in await listed(ann)] == ["other"]


async def test_deleting_all_entries_leaves_none_and_may_be_repeated(
    ann: httpx2.AsyncClient, book: memoranda.Book
) -> None:
    thread = await book.thread("ann")
    await put(ann, key="a", value="one pomelo", sourceAgentId="x")
    await put(ann, key="a", value="two pomelo", sourceAgentId="x")
    await put(ann, key="b", value=2, visibility="global")
    assert (await ann.get(f"{MEMORIES}/ann/count")).json() == {"userId": "ann", "count": 2}
    for _ in range(2):
        assert (await ann.delete(f"{MEMORIES}/ann")).status_code == 204
    assert (await ann.get(f"{MEMORIES}/ann/count")).json() == {"userId": "ann", "count": 0}
    assert "pomelo" not in "".join([line async for line in book.admin.export()])
    assert await book.records.get("ann", thread.id) is not None


async def test_a_statement_of_an_agent_is_an_entry_too(
    ann: httpx2.AsyncClient, book: memoranda.Book
) -> None:
    await book.remember(
        "ann", "likes tea", key="drink", kind="preference", agent="chef", audience="self"
    )
    await book.remember("ann", "has a cat")
    drink, cat = sorted(await listed(ann), key=lambda one: str(one["value"]), reverse=True)
    assert (drink["key"], drink["value"], drink["sourceAgentId"]) == ("drink", "likes tea", "chef")
    assert cat["value"] == "has a cat"
    assert await put(ann, key="drink", value="coffee", sourceAgentId="chef") == drink["id"]
    assert (await ann.delete(f"{MEMORIES}/entry/{drink['id']}")).status_code == 204
    assert (await ann.delete(f"{MEMORIES}/entry/{cat['id']}")).status_code == 204
    assert await listed(ann) == []


async def test_properties_are_the_global_entries(ann: httpx2.AsyncClient) -> None:
    assert (await ann.get(f"{PROPERTIES}/ann")).json() == {}
    answer = await ann.post(
        f"{PROPERTIES}/ann", json={"a": 1, "b": {"c": [2]}, "_id": "x", "userId": "bob"}
    )
    assert (answer.status_code, answer.content) == (200, b"")
    before = {one["key"]: one["updatedAt"] for one in await listed(ann)}
    await ann.post(f"{PROPERTIES}/ann", json={"a": 1, "b": "new"})
    await put(ann, key="own", value=5, sourceAgentId="x")
    assert (await ann.get(f"{PROPERTIES}/ann")).json() == {"a": 1, "b": "new"}
    after = {one["key"]: one["updatedAt"] for one in await listed(ann)}
    assert after["a"] == before["a"] and after["b"] > before["b"]
    assert {one["category"] for one in await listed(ann) if one["key"] != "own"} == {"property"}
    assert (await ann.delete(f"{PROPERTIES}/ann")).status_code == 200
    assert (await ann.get(f"{PROPERTIES}/ann")).json() == {}
    assert [one["key"] for one in await listed(ann)] == ["own"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"": 1}'])
async def test_malformed_properties_are_refused(ann: httpx2.AsyncClient, body: bytes) -> None:
    assert (await ann.post(f"{PROPERTIES}/ann", content=body)).status_code == 400


async def test_a_person_reaches_their_own_entries_and_nobody_elses(clients: Clients) -> None:
    admin = clients()
    theirs = await put(admin, key="k", value=1)
    bob = clients(Principal("bob", "default", Role.EDITOR, owners=frozenset({"bob"}), person="bob"))
    own = await bob.put(MEMORIES, json={"userId": "bob", "key": "k", "value": 1})
    assert own.status_code == 200
    assert (await bob.delete(f"{MEMORIES}/entry/{own.json()['id']}")).status_code == 204
    for path in ("", "/visible", "/search", "/category/fact", "/key/k", "/key/none", "/count"):
        assert (await bob.get(f"{MEMORIES}/ann{path}")).status_code == 403
    foreign = {"userId": "ann", "key": "k", "value": 2}
    assert (await bob.put(MEMORIES, json=foreign)).status_code == 403
    assert (await bob.put(MEMORIES, json={"userId": "ann"})).json() == {"error": "key is required"}
    for path in (f"{MEMORIES}/ann", f"{MEMORIES}/entry/{theirs}", f"{PROPERTIES}/ann"):
        assert (await bob.delete(path)).status_code == 403
    assert (await bob.get(f"{PROPERTIES}/ann")).status_code == 403
    assert (await bob.post(f"{PROPERTIES}/ann", json={"k": 2})).status_code == 403
    assert [one["value"] for one in await listed(admin)] == [1]


async def test_who_may_only_read_writes_nothing(clients: Clients) -> None:
    await put(clients(), key="k", value=1)
    reader = clients(
        Principal("ann", "default", Role.VIEWER, owners=frozenset({"ann"}), person="ann")
    )
    assert len(await listed(reader)) == 1
    assert (await reader.put(MEMORIES, json={"userId": "ann", "key": "k"})).status_code == 403
    assert (await reader.delete(f"{MEMORIES}/ann")).status_code == 403


async def test_the_routes_work_on_a_server(clients: Clients, postgres: Place) -> None:
    async with memoranda.open(postgres.new_book()) as book:
        client = clients(of=book)
        id = await put(client, key="k" * 200, value={"a": [1]}, sourceAgentId="a")
        assert await put(client, key="k" * 200, value={"a": [2]}, sourceAgentId="a") == id
        assert [one["value"] for one in await listed(client, "/visible", agentId="a")] == [
            {"a": [2]}
        ]
        assert (await client.delete(f"{MEMORIES}/entry/{id}")).status_code == 204
        assert (await client.get(f"{MEMORIES}/ann/count")).json()["count"] == 0


@pytest.mark.parametrize(
    "readers",
    [
        {"visibility": "group", "groupIds": ["a\x1bb"]},
        {"visibility": "self", "sourceAgentId": "a\x1bb"},
    ],
)
async def test_a_reader_whose_name_cannot_be_is_refused(
    clients: Clients, readers: dict[str, Any]
) -> None:
    entry = {"userId": "ann", "key": "k", "value": "v", **readers}
    answer = await clients().put("/usermemorystore/memories/", json=entry)
    assert answer.status_code in (400, 422), answer.text


@pytest.mark.parametrize("team", ["x" * 300, "\u0001"])
async def test_a_team_without_a_usable_name_is_refused(clients: Clients, team: str) -> None:
    told = "userId: a team's name has 1 to 255 characters"
    entry = {"userId": f"group:{team}", "key": "k", "value": 1}
    answer = await clients().put(MEMORIES, json=entry)
    assert answer.status_code == 400 and told in answer.text
    if team.isprintable():
        answer = await clients().get(f"{MEMORIES}/group:{team}")
        assert answer.status_code == 400 and told in answer.text
