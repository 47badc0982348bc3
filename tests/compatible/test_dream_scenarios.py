"""Two agents hold different values, and memories that nobody used: as a person, an agent and an
administrator see it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

import memoranda
from memoranda.access.principal import Principal
from memoranda.operations import Role
from memoranda.testing.clock import HandClock
from tests.compatible.conftest import Clients
from tests.mcp_server.asked_tools import asking

MEMORIES = "/usermemorystore/memories"
DREAMING = {"dream": {"enabled": True, "pruneStaleAfterDays": 90}}


async def languages(client: httpx2.AsyncClient) -> None:
    for agent, value in (("a", "English"), ("b", "German")):
        entry = {"userId": "ann", "key": "language", "value": value, "sourceAgentId": agent}
        assert (await client.put(MEMORIES, json=entry)).status_code == 200


async def conflicts(client: httpx2.AsyncClient, path: str = "", **query: Any) -> dict[str, bool]:
    answer = await client.get(f"{MEMORIES}/ann{path}", params=query)
    return {one["value"]: one["conflicted"] for one in answer.json()}


async def test_two_agents_values_of_one_key_contradict_each_other_for_those_who_read_both(
    clients: Clients, book: memoranda.Book
) -> None:
    admin = clients()
    await languages(admin)
    both = {"English": True, "German": True}
    assert await conflicts(admin) == both
    assert await conflicts(admin, "/search", q="") == both
    # What an agent reads does not tell it that the other one's differs.
    assert await conflicts(admin, "/visible", agentId="a") == {"English": False}
    assert await conflicts(admin, "/visible", agentId="b") == {"German": False}
    (one,) = await book.dreams.contradictions("ann", as_owner=True)
    answer = await admin.get("/v1/owners/ann/contradictions", params={"as_owner": "true"})
    (told,) = answer.json()
    assert told["key"] == "language" and told["ids"] == [str(id) for id in one.ids]
    person = clients(Principal("ann", book.tenant, Role.EDITOR, person="ann"))
    assert (
        await person.get("/v1/owners/ann/contradictions", params={"as_owner": "true"})
    ).json() == [told]
    agents = clients(Principal("a", book.tenant, Role.EDITOR, frozenset({"ann"}), frozenset({"a"})))
    assert (await agents.get("/v1/owners/ann/contradictions")).json() == []
    async with asking(book, admin=True) as tools:
        found = await tools("list_user_memories", userId="ann")
        assert {entry["value"]: entry["conflicted"] for entry in found["memories"]} == both
        seen = await tools("get_visible_memories", userId="ann", agentId="a")
        assert [entry["conflicted"] for entry in seen["memories"]] == [False]
    await book.memories.retract("ann", one.ids[0], as_owner=True)
    assert await conflicts(admin) == {"English": False}


async def test_a_dream_loses_none_of_five_memories_and_can_be_undone(
    clients: Clients, book: memoranda.Book, clock: HandClock
) -> None:
    admin = clients()
    await book.agents.put("a", settings=DREAMING)
    values = [f"likes {what}" for what in ("tea", "jazz", "rowing", "olives", "trains")]
    for number, value in enumerate(values):
        entry = {"userId": "ann", "key": f"k{number}", "value": value, "sourceAgentId": "a"}
        assert (await admin.put(MEMORIES, json=entry)).status_code == 200
    clock.advance(days=91)
    # What an agent was given today was used.
    (
        await admin.get(f"{MEMORIES}/ann/visible", params={"agentId": "a", "limit": 1})
    ).raise_for_status()
    await book.memories.uses.settled()
    answer = await admin.post(f"{MEMORIES}/ann/dream", params={"agentId": "a"})
    result = answer.json()
    assert result.pop("durationMs") >= 0
    assert result == {
        "userId": "ann",
        "entriesPruned": 4,
        "contradictionsFound": 0,
        "entriesSummarized": 0,
        "estimatedCostUsd": 0.0,
        "error": None,
    }
    assert (await admin.get(f"{MEMORIES}/ann/count")).json()["count"] == 1
    for value in values:
        hits = await book.recall("ann", value, agent="a")
        assert value in hits[0].text
    # An archived entry keeps its id where it is set again, and comes back.
    kept = (await admin.get(f"{MEMORIES}/ann/key/k0")).json()
    entry = {"userId": "ann", "key": "k0", "value": "likes green tea", "sourceAgentId": "a"}
    assert (await admin.put(MEMORIES, json=entry)).json()["id"] == kept["id"]
    (last,) = [
        one for one in await book.records.ledger("ann", as_owner=True) if "dream" in one.note
    ]
    undone = (
        await admin.post(f"/v1/owners/ann/ledger/{last.position}/undo", json={"as_owner": True})
    ).json()
    assert [part["code"] for part in undone["ignored"]] == ["changed"]
    assert (await admin.get(f"{MEMORIES}/ann/count")).json()["count"] == 5
    async with asking(book, admin=True) as tools:
        assert (await tools("run_dream", userId="ann", agentId="a"))["entriesPruned"] == 0


async def test_a_dream_over_mcp_loses_none_of_five_memories_and_its_undo_brings_them_back(
    book: memoranda.Book, clock: HandClock
) -> None:
    await book.agents.put("a", settings=DREAMING)
    values = [f"likes {what}" for what in ("tea", "jazz", "rowing", "olives", "trains")]
    async with asking(book, admin=True) as tools:
        for number, value in enumerate(values):
            await tools(
                "upsert_user_memory", userId="ann", key=f"k{number}", value=value, agentId="a"
            )
        clock.advance(days=91)
        (seen,) = (await tools("get_visible_memories", userId="ann", agentId="a", limit=1))[
            "memories"
        ]
        await book.memories.uses.settled()
        result = await tools("run_dream", userId="ann", agentId="a")
        assert (result["entriesPruned"], result["error"]) == (4, None)
        listed = (await tools("list_user_memories", userId="ann"))["memories"]
        assert [one["value"] for one in listed] == [seen["value"]]
        for number, value in enumerate(values):
            assert (await tools("get_memory_by_key", userId="ann", key=f"k{number}"))[
                "value"
            ] == value
        (last,) = [
            one for one in await book.records.ledger("ann", as_owner=True) if "dream" in one.note
        ]
        await book.undo("ann", last.position, as_owner=True)
        assert (await tools("count_user_memories", userId="ann"))["count"] == 5


@pytest.mark.parametrize(
    ("agent", "error"),
    [
        (None, "agentId is required"),
        ("nobody", "Agent not found"),
        ("idle", "disabled"),
        ("a", "restricted"),
    ],
)
async def test_a_dream_that_cannot_be_done_says_why(
    clients: Clients, book: memoranda.Book, agent: str | None, error: str
) -> None:
    await book.agents.put("a", settings=DREAMING)
    await book.agents.put("idle", settings={})
    await book.remember("ann", "likes tea", agent="a")
    await book.admin.restrict("ann")
    query = {} if agent is None else {"agentId": agent}
    answer = await clients().post(f"{MEMORIES}/ann/dream", params=query)
    assert answer.status_code == 200 and error in answer.json()["error"]
    await book.admin.unrestrict("ann")


async def test_an_agent_has_its_own_order_of_what_it_sees(
    clients: Clients, book: memoranda.Book
) -> None:
    admin = clients()
    for number in range(3):
        entry = {"userId": "ann", "key": f"k{number}", "value": number, "sourceAgentId": "a"}
        await admin.put(MEMORIES, json=entry)
    (first, *_) = (await book.records.list("ann", agent="a")).records
    await book.memories.mark_used("ann", [first.id], agent="a")

    async def values() -> list[int]:
        answer = await admin.get(f"{MEMORIES}/ann/visible", params={"agentId": "a", "limit": 2})
        return [one["value"] for one in answer.json()]

    assert await values() == [2, 1]
    await book.agents.put("a", settings={"context": {"order": "most_accessed"}})
    assert await values() == [0, 2]


async def test_who_is_neither_the_person_nor_an_administrator_runs_no_dream(
    clients: Clients, book: memoranda.Book
) -> None:
    await book.agents.put("a", settings=DREAMING)
    await book.remember("ann", "likes tea", agent="a")
    agents = clients(Principal("a", book.tenant, Role.EDITOR, frozenset({"ann"}), frozenset({"a"})))
    assert (await agents.post(f"{MEMORIES}/ann/dream", params={"agentId": "a"})).status_code == 403
    assert (await agents.post("/v1/owners/ann/dream", json={"agent": "a"})).status_code == 403
    assert (await agents.get("/schedulestore/schedules")).status_code == 403
    (one,) = (await clients().get("/schedulestore/schedules")).json()
    assert (one["agentId"], one["fireStatus"], one["failCount"]) == ("a", "PENDING", 0)
    assert one["metadata"] == {"dreamType": "dream_consolidation"}


async def test_erasing_entries_erases_archived_ones(
    clients: Clients, book: memoranda.Book, clock: HandClock, tmp_path: Path
) -> None:
    """Each way to erase, and none of the words is in the file afterwards."""
    admin = clients()
    ids: list[UUID] = []
    await book.agents.put("a", settings=DREAMING)
    ways: dict[str, Any] = {
        "one": lambda id: admin.delete(f"{MEMORIES}/entry/{id}"),
        "all": lambda _: admin.delete(f"{MEMORIES}/ann"),
        "properties": lambda _: admin.delete("/propertiesstore/properties/ann"),
        "person": lambda _: admin.delete("/admin/gdpr/ann"),
        "forget": lambda _: book.forget("ann", [ids[-1]], as_owner=True),
        "forget_all": lambda _: book.forgetting.forget_all("ann", kind="fact", as_owner=True),
    }
    for name, erase in ways.items():
        word = f"zq{name}canaryqz"
        entry = {
            "userId": "ann",
            "key": "drink",
            "value": word,
            "sourceAgentId": "a",
            "visibility": "global",
        }
        made = (await admin.put(MEMORIES, json=entry)).json()["id"]
        clock.advance(days=100)
        (id,) = (await book.dreams.run("ann", agent="a")).archived
        ids.append(id)
        assert word in (await book.recall("ann", word, as_owner=True))[0].text
        exported = (await admin.get("/admin/gdpr/ann/export")).json()
        assert [one["value"] for one in exported["memories"]] == [word]
        assert (await admin.get("/propertiesstore/properties/ann")).json() == {"drink": word}
        await book.memories.uses.settled()
        await erase(made)
        assert list(await book.recall("ann", word, as_owner=True)) == []
        await book.worker.drain()
        held = b"".join(path.read_bytes() for path in tmp_path.glob("book.db*"))
        assert word.encode() not in held, name


async def test_the_four_metrics_tell_what_nights_did(
    clients: Clients, book: memoranda.Book, clock: HandClock
) -> None:
    async def counted() -> dict[str, float]:
        lines = (await clients().get("/metrics")).text.splitlines()
        pairs = [line.split() for line in lines if line.startswith("memoranda_dream_")]
        return {name.removeprefix("memoranda_dream_"): float(value) for name, value in pairs}

    before = await counted()
    await languages(clients())
    clock.advance(days=100)
    await book.dreams.run("ann")
    after = await counted()
    names = ("users_processed_total", "entries_pruned_total", "contradictions_found_total")
    assert [after[name] - before[name] for name in names] == [1, 2, 1]
    assert after["duration_seconds_count"] - before["duration_seconds_count"] == 1
    assert after["duration_seconds_sum"] > before["duration_seconds_sum"]
