"""The routes over users, agents and tasks answer as an agent's own service with PydanticAI and
MongoDB does, each with a credential.
"""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

import memoranda
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.operations import Role
from memoranda.testing import ScriptedModels
from tests.compatible.conftest import Clients

TEA = {"context": "at breakfast", "category": "preference", "content": "Ann drinks green tea"}


async def ok(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(answer: httpx2.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"detail"}
    return str(answer.json()["detail"])


@pytest.fixture
def api(clients: Clients) -> httpx2.AsyncClient:
    return clients()


async def an_agent(api: httpx2.AsyncClient, name: str = "guide") -> Any:
    given = {"name": name, "model": "openai:gpt", "system_prompt": "Help."}
    return await ok(await api.post("/api/agents/", json=given))


async def a_task(api: httpx2.AsyncClient, user: str) -> Any:
    return await ok(await api.post("/api/tasks/", params={"user_id": user, "agent_name": "guide"}))


async def test_a_user_is_begun_read_and_changed(api: httpx2.AsyncClient) -> None:
    made = await ok(await api.post("/api/users/", json={"name": "Ann", "interests": ["tea"]}))
    user = f"/api/users/{made['_id']}"
    assert made["profile"]["name"] == "Ann" and made["memories"] == []
    assert await ok(await api.get(user)) == made
    changed = await ok(await api.put(user, json={"interests": ["films"]}))
    assert changed["profile"]["interests"] == ["films"] and changed["profile"]["name"] == ""
    assert (await ok(await api.post("/api/users/")))["_id"] != made["_id"]
    assert await refused(await api.get("/api/users/nobody"), 404) == "User not found"
    assert "interests" in await refused(await api.put(user, json={"interests": 5}), 422)


@pytest.mark.parametrize(
    "experience", [["x"], "x", {"wisdom": ["x"]}, {"heuristics": 5}, {"heuristics": [5]}]
)
async def test_an_agent_with_an_experience_of_another_form_is_refused_whole(
    api: httpx2.AsyncClient, experience: Any
) -> None:
    given = {"name": "guide", "experience": experience}
    assert "experience" in await refused(await api.post("/api/agents/", json=given), 422)
    assert await refused(await api.get("/api/agents/guide"), 404) == "Agent not found"
    given["experience"] = {"heuristics": ["Be brief", ""], "procedural_knowledge": "Ask first"}
    made = await ok(await api.post("/api/agents/", json=given))
    assert made["experience"]["heuristics"] == ["Be brief"]


async def test_a_collection_is_served_with_and_without_a_slash_at_its_end(
    api: httpx2.AsyncClient,
) -> None:
    user = (await ok(await api.post("/api/users", json={"name": "Ann"})))["_id"]
    await ok(await api.post("/api/agents", json={"name": "guide"}))
    of = {"user_id": user, "agent_name": "guide"}
    assert (await ok(await api.post("/api/tasks", params=of)))["user"]["id"] == user


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"content": "Hello", "role": ["user"]}, "role"),
        ({"content": {"kind": "request", "parts": 5}}, "parts"),
        ({"content": {"kind": "request", "parts": ["Hello"]}}, "parts"),
        ({"content": {"kind": "request", "parts": [{"part_kind": [], "content": []}]}}, None),
    ],
)
async def test_a_message_of_another_form_is_refused_or_kept_and_never_a_fault(
    api: httpx2.AsyncClient, message: Any, field: str | None
) -> None:
    user = (await ok(await api.post("/api/users/")))["_id"]
    await an_agent(api)
    task = f"/api/tasks/{(await a_task(api, user))['_id']}"
    answer = await api.post(f"{task}/message", json=message)
    if field:
        assert field in await refused(answer, 422)
    else:
        assert (await ok(answer))["message_history"] == [message["content"]]


async def test_a_memory_supersedes_those_it_names_and_unknown_ids_are_left(
    api: httpx2.AsyncClient,
) -> None:
    user = f"/api/users/{(await ok(await api.post('/api/users/')))['_id']}/memories"
    (first,) = (await ok(await api.post(user, json=TEA)))["memories"]
    assert {name: first[name] for name in TEA} == TEA and first["created_at"].endswith("Z")
    newer = {**TEA, "content": "Ann drinks mate", "category": "habit"}
    newer["superseded_ids"] = [first["id"], "hallucinated"]  # type: ignore[assignment]
    (left,) = (await ok(await api.post(user, json=newer)))["memories"]
    assert (left["content"], left["category"]) == ("Ann drinks mate", "habit")
    assert "content" in await refused(await api.post(user, json={**TEA, "content": None}), 422)


async def test_an_agent_has_its_experience_in_eight_fields(api: httpx2.AsyncClient) -> None:
    made = await an_agent(api)
    assert made["model"] == "openai:gpt" and len(made["experience"]) == 8
    lesson = {"field": "heuristics", "value": "Be brief"}
    learnt = await ok(await api.post("/api/agents/guide/experience", json=lesson))
    assert learnt["experience"]["heuristics"] == ["Be brief"]
    assert await ok(await api.get("/api/agents/guide")) == learnt
    again = {"name": "guide", "model": "m"}
    assert "guide" in await refused(await api.post("/api/agents/", json=again), 409)
    unknown = {"field": "wisdom", "value": "x"}
    assert "field" in await refused(
        await api.post("/api/agents/guide/experience", json=unknown), 422
    )
    assert await refused(await api.get("/api/agents/none"), 404) == "Agent not found"
    given = {"procedural_knowledge": "Ask first", "known_pitfalls": ["Mondays"]}
    other = await ok(await api.post("/api/agents/", json={"name": "two", "experience": given}))
    assert {name: other["experience"][name] for name in given} == given


async def test_a_task_keeps_its_messages_and_is_formed_when_it_ends(
    api: httpx2.AsyncClient, book: memoranda.Book
) -> None:
    user = (await ok(await api.post("/api/users/")))["_id"]
    await an_agent(api)
    task = await a_task(api, user)
    at = f"/api/tasks/{task['_id']}"
    assert (task["status"], task["message_history"], task["result"]) == ("created", [], None)
    assert (task["user"]["id"], task["agent"]["id"]) == (user, "guide")
    await ok(await api.post(f"{at}/message", json={"content": "I prefer action films."}))
    native = {"kind": "response", "parts": [{"part_kind": "text", "content": "Noted"}]}
    await ok(await api.post(f"{at}/message", json={"content": native, "role": "ai"}))
    feedback = {"ai_content": "A comedy?", "user_feedback": "No", "ai_response": "A thriller"}
    said = (await ok(await api.post(f"{at}/feedback", json=feedback)))["message_history"]
    kinds = [(one["kind"], one["parts"][0]["part_kind"]) for one in said]
    request, response = ("request", "user-prompt"), ("response", "text")
    assert kinds == [request, response, response, request, response] and said[1] == native
    assert (await ok(await api.get(f"{at}/summary"))) == ""
    assert "role" in await refused(
        await api.post(f"{at}/message", json={"content": "x", "role": "boss"}), 422
    )
    assert "status" in await refused(await api.put(f"{at}/status", params={"status": "lost"}), 422)
    done = await ok(await api.put(f"{at}/status", params={"status": "completed"}))
    assert done["status"] == "completed" and len(done["message_history"]) == 5
    assert [job.kind for job in await book.jobs.list()] == ["form"]
    for query, what in (({"user_id": "no"}, "User"), ({"agent_name": "no"}, "Agent")):
        asked = {"user_id": user, "agent_name": "guide", **query}
        assert (
            await refused(await api.post("/api/tasks/", params=asked), 404) == f"{what} not found"
        )


async def test_without_a_model_a_history_is_formed_by_rules_and_the_answer_says_so(
    api: httpx2.AsyncClient,
) -> None:
    user = (await ok(await api.post("/api/users/")))["_id"]
    await an_agent(api)
    history: list[Any] = [
        {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "Help."}]},
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "I live in Lyon."}]},
        "I prefer action films.",
    ]
    body = {"agent_name": "guide", "message_history": history}
    made = await ok(await api.post(f"/api/users/{user}/experience/generate", json=body))
    assert made["generated_by"] == "rules" and made["profile"]["home"] == "Lyon"
    assert ["action films" in one["content"] for one in made["memories"]] == [True]
    # The same history again is the same conversation.
    assert await ok(await api.post(f"/api/users/{user}/experience/generate", json=body)) == made
    learnt = await ok(await api.post("/api/agents/guide/experience/generate", json=body))
    assert learnt["generated_by"] == "rules" and learnt["experience"]["heuristics"] == []
    empty = await ok(
        await api.post(f"/api/users/{user}/experience/generate", json={"message_history": []})
    )
    assert empty == made
    assert "message_history" in await refused(
        await api.post(f"/api/users/{user}/experience/generate", json={}), 422
    )


async def test_with_a_model_a_history_teaches_the_user_and_the_agent(clients: Clients) -> None:
    said = "I prefer action films."
    note = {"content": "Ann prefers action films", "sources": [{"message": "m1", "quote": said}]}
    line = {
        "field": "heuristics",
        "line": "Ask for the genre first",
        "sources": [{"message": "m1"}],
    }
    models = ScriptedModels([{"notes": [note], "experience": [line]}])
    async with memoranda.open("memory://", worker=False, embed=None, models=models) as book:
        api = clients(of=book)
        user = (await ok(await api.post("/api/users/")))["_id"]
        await an_agent(api)
        body = {"message_history": [said]}
        made = await ok(await api.post(f"/api/users/{user}/experience/generate", json=body))
        assert made["generated_by"] == "model"
        assert [one["content"] for one in made["memories"]] == ["Ann prefers action films"]
        learnt = await ok(await api.post("/api/agents/guide/experience/generate", json=body))
        assert learnt["generated_by"] == "model"
        assert learnt["experience"]["heuristics"] == ["Ask for the genre first"]


async def test_a_tasks_id_is_of_the_credential_that_began_it(
    clients: Clients, book: memoranda.Book
) -> None:
    await book.remember("ann", "tea", audience="global")
    await book.agents.put("guide", model="m")
    agents = frozenset({"guide"})
    one, two = (
        clients(Principal(name, "default", Role.EDITOR, frozenset({"ann"}), agents, binding=name))
        for name in ("one", "two")
    )
    task = await a_task(one, "ann")
    assert (await ok(await one.get(f"/api/tasks/{task['_id']}")))["status"] == "created"
    for client in (two, clients()):
        for id in (task["_id"], task["_id"][:-2], "x", "%C3%A9"):
            asked = (
                client.get(f"/api/tasks/{id}"),
                client.get(f"/api/tasks/{id}/summary"),
                client.put(f"/api/tasks/{id}/status", params={"status": "failed"}),
                client.post(f"/api/tasks/{id}/message", json={"content": "x"}),
            )
            for answer in asked:
                assert await refused(await answer, 404) == "Task not found"


async def test_a_credential_opens_its_users_and_agents_alone(
    clients: Clients, book: memoranda.Book
) -> None:
    await book.remember("ann", "tea", audience="global")
    await book.remember("eve", "mate", audience="global")
    await book.remember("eve", "secret", agent="boss")
    for name in ("guide", "boss"):
        await book.agents.put(name, model="m", system_prompt="hidden")
    eve = clients(
        Principal("eve", "default", Role.EDITOR, frozenset({"eve"}), frozenset({"guide"}))
    )
    before = await ok(await eve.get("/api/users/eve"))
    assert [one["content"] for one in before["memories"]] == ["mate"]
    assert (await ok(await eve.post("/api/users/", json={"interests": ["x"]})))["_id"] == "eve"
    history = {"message_history": ["I live in Lyon."]}
    for method, path, body in (
        ("GET", "users/ann", None),
        ("PUT", "users/ann", {"name": "Eve"}),
        ("POST", "users/ann/memories", TEA),
        ("POST", "users/ann/experience/generate", history),
        ("POST", "tasks/?user_id=ann&agent_name=guide", None),
    ):
        there = await refused(await eve.request(method, f"/api/{path}", json=body), 404)
        nowhere = path.replace("ann", "bub")
        assert there.replace("ann", "bub") == await refused(
            await eve.request(method, f"/api/{nowhere}", json=body), 404
        )
    for method, path, body, status in (
        ("POST", "tasks/?user_id=eve&agent_name=boss", None, 404),
        ("GET", "agents/boss", None, 404),
        ("GET", "agents/guide", None, 403),
        ("POST", "agents/", {"name": "new", "model": "m"}, 403),
        ("POST", "agents/guide/experience", {"field": "heuristics", "value": "x"}, 403),
        ("POST", "agents/guide/experience/generate", history, 404),
    ):
        await refused(await eve.request(method, f"/api/{path}", json=body), status)
    viewer = clients(Principal("reader", "default", Role.VIEWER))
    await ok(await viewer.get("/api/users/eve"))
    await refused(await viewer.post("/api/users/eve/memories", json=TEA), 403)
    assert await book.experience.list("guide") == [] == await book.experience.list("boss")


async def test_they_are_served_only_where_the_settings_name_them(clients: Clients) -> None:
    default = clients(settings=ServiceSettings())
    assert (await default.get("/api/users/ann")).status_code == 404
    assert not any("/api/" in path for path in (await default.get("/openapi.json")).json()["paths"])
    assert (await default.get("/usermemorystore/memories/ann")).status_code == 200
    alone = clients(settings=ServiceSettings(compatible=("knowledge",)))
    assert (await alone.post("/api/users/")).status_code == 200
    assert (await alone.get("/usermemorystore/memories/ann")).status_code == 404


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'"x"'])
async def test_a_body_that_is_no_object_is_refused(api: httpx2.AsyncClient, body: bytes) -> None:
    assert "body" in await refused(await api.post("/api/users/", content=body), 422)


async def test_an_agent_is_made_whatever_its_body_calls_new(api: httpx2.AsyncClient) -> None:
    made = await ok(await api.post("/api/agents/", json={"name": "guide", "new": False}))
    assert made["name"] == "guide"
    again = await api.post("/api/agents/", json={"name": "guide", "new": False})
    assert again.status_code == 409
