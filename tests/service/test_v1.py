"""The API under /v1: requests, answers, errors, batches, cursors and streams."""

from __future__ import annotations

import asyncio
import json

import pytest

import memoranda
from memoranda.access.principal import Principal
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import Busy
from memoranda.operations import Role
from memoranda.wire.routes import match, path_of
from tests.service.conftest import asking

OWNER = "/v1/owners/ann"


def problem(answer, status):
    """Check that an answer is this problem, and return it."""
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    ), answer.text
    body = answer.json()
    assert (
        body["status"] == status
        and body["detail"]
        and body["request_id"] == answer.headers["x-request-id"]
    )
    return body


async def remembered(http, content="I like tea", **headers):
    answer = await http.post(f"{OWNER}/memories", json={"content": content}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"][0]["id"]


async def test_what_is_remembered_is_recalled_explained_corrected_and_forgotten(http):
    id = await remembered(http)
    hits = (await http.post(f"{OWNER}/recall", json={"query": "tea"})).json()["hits"]
    assert [hit["id"] for hit in hits] == [id]
    why = (await http.get(f"{OWNER}/records/{id}/why")).json()
    assert why["record"]["content"] == "I like tea"
    newer = (await http.put(f"{OWNER}/memories/{id}", json={"content": "I like coffee"})).json()[
        "items"
    ][0]["id"]
    listed = (
        await http.get(f"{OWNER}/records", params={"only": json.dumps({"statuses": ["active"]})})
    ).json()
    assert [one["content"] for one in listed["records"]] == ["I like coffee"]
    done = await http.post(f"{OWNER}/forget", json={"ids": [newer], "as_owner": True})
    assert done.status_code == 200
    assert (await http.post(f"{OWNER}/recall", json={"query": "coffee"})).json()["hits"] == []


async def test_a_hit_says_what_who_and_when_and_all_its_fields_where_they_are_asked_for(http):
    id = await remembered(http)
    await http.post(
        f"{OWNER}/items",
        json={"puts": [{"namespace": ["a"], "name": "n", "value": {"drink": "tea"}}]},
    )
    asked = {"query": "tea", "types": ["memory", "item"]}
    short = (await http.post(f"{OWNER}/recall", json=asked)).json()
    of = {hit["type"]: hit for hit in short["hits"]}
    assert of["memory"].keys() == {
        "id",
        "type",
        "text",
        "who",
        "when",
        "trust",
        "score",
        "confidence",
        "past",
    }
    assert (of["memory"]["id"], of["memory"]["text"], of["memory"]["trust"]) == (
        id,
        "I like tea",
        "user",
    )
    assert of["item"]["value"] == {"drink": "tea"} and of["item"]["name"] == "n"
    whole = await http.post(f"{OWNER}/recall?fields=all", json=asked)
    assert [hit["record"]["id"] for hit in whole.json()["hits"]] == [
        hit["id"] for hit in short["hits"]
    ]
    assert "cosine" in whole.json()["hits"][0] and len(whole.content) > 2 * len(json.dumps(short))
    wrong = await http.post(f"{OWNER}/recall?fields=some", json=asked)
    assert problem(wrong, 422)["errors"][0]["field"] == "fields"
    elsewhere = await http.post(f"{OWNER}/memories?fields=all", json={"content": "x"})
    assert problem(elsewhere, 422)["errors"][0]["field"] == "fields"


async def test_one_request_appends_a_turn_and_returns_the_next_context(http):
    await remembered(http, "Ann likes green tea")
    await http.post(f"{OWNER}/threads", json={"name": "c1"})
    turn = {
        "messages": [{"role": "user", "content": "what tea do I like?"}],
        "query": "tea",
        "budget": 200,
    }
    answer = (await http.post(f"{OWNER}/threads/c1/turns", json=turn)).json()
    assert answer["receipt"]["items"][0]["type"] == "message"
    assert "green tea" in answer["context"]["text"]


async def test_a_repeated_request_with_its_key_is_done_once(http):
    first = await remembered(http, **{"Idempotency-Key": "k"})
    assert await remembered(http, **{"Idempotency-Key": "k"}) == first
    other = await http.post(
        f"{OWNER}/memories", json={"content": "x"}, headers={"Idempotency-Key": "k"}
    )
    assert problem(other, 409)["code"] == "operation_reused"


async def test_a_deletion_takes_a_key_too(http):
    id = await remembered(http)
    answers = [
        await http.delete(f"{OWNER}/memories/{id}", headers={"Idempotency-Key": "d"})
        for _ in range(2)
    ]
    assert [one.json()["repeated"] for one in answers] == [False, True]
    assert answers[0].json()["items"] == answers[1].json()["items"]


async def test_two_requests_with_one_key_at_once_are_one_operation(http):
    both = await asyncio.gather(*[remembered(http, **{"Idempotency-Key": "k"}) for _ in range(2)])
    assert both[0] == both[1]
    assert (await http.get(f"{OWNER}/count")).json() == 1


async def test_a_version_that_has_changed_fails_the_precondition(http):
    item = f"{OWNER}/items/x"
    await http.put(item, json={"namespace": ["a"], "value": 1})
    params = {"namespace": "a"}
    read = await http.get(item, params=params)
    await http.put(item, json={"namespace": ["a"], "value": 2}, headers={"If-Match": '"1"'})
    late = await http.put(
        item,
        json={"namespace": ["a"], "value": 3},
        headers={"If-Match": read.headers.get("etag", '"1"')},
    )
    assert problem(late, 412)["code"] == "stale"


async def test_a_misspelt_name_is_told_first_and_beside_it_what_is_missing(http):
    refused = problem(await http.post(f"{OWNER}/memories", json={"contents": "x"}), 422)
    assert "did you mean content?" in refused["detail"]
    assert [one["detail"] for one in refused["errors"]][1:] == ["content: it is missing"]


async def test_outcomes_of_a_batch_have_no_words_of_the_engine(http, book, monkeypatch):
    async def lost(*_, **__):
        raise Busy("postgresql://svc@10.0.0.5: connection refused")

    monkeypatch.setattr(book.engine, "apply", lost)
    batch = {"statements": [{"content": "I like tea"}]}
    answer = await http.post(f"{OWNER}/memories/batch?each=true", json=batch)
    (outcome,) = answer.json()["outcomes"]
    assert outcome["status"] == 503 and "10.0.0.5" not in answer.text
    assert outcome["detail"].startswith("the book is busy, or its server cannot be reached")


async def test_a_batch_is_stored_whole_or_not_at_all(http):
    batch = {"statements": [{"content": "good"}, {"content": ""}]}
    assert (
        problem(await http.post(f"{OWNER}/memories/batch", json=batch), 422)["errors"][0]["item"]
        == 1
    )
    assert (await http.get(f"{OWNER}/count")).json() == 0


async def test_each_item_of_a_batch_can_be_its_own_operation(http):
    batch = {"statements": [{"content": "good"}, {"content": ""}, {"content": "also good"}]}
    headers = {"Idempotency-Key": "b"}
    first, again = [
        (await http.post(f"{OWNER}/memories/batch?each=true", json=batch, headers=headers)).json()[
            "outcomes"
        ]
        for _ in range(2)
    ]
    assert [one["status"] for one in first] == [200, 422, 200]
    assert first[0]["result"]["items"] == again[0]["result"]["items"]
    assert (await http.get(f"{OWNER}/operations/b:2")).json()["items"] == first[2]["result"][
        "items"
    ]


async def test_pages_continue_by_their_cursor_for_the_same_credential_and_request_alone(book):
    for number in range(5):
        await book.remember("ann", f"statement {number}")
    people = {
        "one": Principal("one", "default", Role.VIEWER, binding="1"),
        "two": Principal("two", "default", Role.VIEWER, binding="2"),
    }

    async def authenticate(secret):
        return people.get(secret)

    async with asking(book, authenticate=authenticate) as http:

        async def page(who, cursor=None, owner="ann", **more):
            params = {"limit": 2, **more} | ({} if cursor is None else {"cursor": cursor})
            return await http.get(
                f"/v1/owners/{owner}/records",
                params=params,
                headers={"Authorization": f"Bearer {who}"},
            )

        found, cursor = [], None
        while True:
            body = (await page("one", cursor)).json()
            found += [one["content"] for one in body["records"]]
            cursor = body["cursor"]
            if cursor is None:
                break
            last = cursor
        assert found == [f"statement {number}" for number in range(5)]
        assert problem(await page("two", last), 422)["errors"][0]["field"] == "cursor"
        assert problem(await page("one", last, "bob"), 422)["errors"][0]["field"] == "cursor"
        assert problem(await page("one", "AAAA"), 422)["errors"][0]["field"] == "cursor"


async def test_an_export_is_streamed_and_read_again_elsewhere(book, http):
    await remembered(http)
    lines = (await http.get("/v1/export")).text
    async with (
        memoranda.open("memory://", worker=False, embed=None) as other,
        asking(other) as there,
    ):
        answer = await there.post("/v1/import", content=lines.encode())
        assert answer.status_code == 200, answer.text
        assert (await there.get(f"{OWNER}/count")).json() == 1


async def test_a_fact_is_shown_and_forgotten_by_its_key(http):
    for content, key in (("I like green tea", "drink"), ("I live in Porto", "home")):
        await http.post(f"{OWNER}/memories", json={"content": content, "key": key})
    found = (await http.post(f"{OWNER}/traces", json={"key": "drink", "as_owner": True})).json()
    assert [one["content"] for one in found["memories"]] == ["I like green tea"]
    done = await http.post(f"{OWNER}/forget", json={"key": "drink", "as_owner": True})
    assert done.status_code == 200, done.text
    left = (
        await http.get(f"{OWNER}/records", params={"types": "memory", "as_owner": "true"})
    ).json()["records"]
    assert [one["content"] for one in left] == ["I live in Porto"]


async def test_an_owner_may_have_any_name(http):
    for name in ("a/b", "a%2Fb", "..", "ü", "a b?c#d"):
        path = path_of(OPERATIONS["remember"], {"owner": name})
        assert (await http.post(path, json={"content": "x"})).status_code == 200
    owners = [one["id"] for one in (await http.get("/v1/owners")).json()]
    assert sorted(owners) == sorted(["a/b", "a%2Fb", "..", "ü", "a b?c#d"])


async def test_a_group_is_named_by_its_kind(http):
    await http.post(
        "/v1/owners/team/memories", params={"owner_kind": "group"}, json={"content": "ours"}
    )
    assert (await http.get("/v1/owners/team/count")).json() == 0
    assert (await http.get("/v1/owners/team/count", params={"owner_kind": "group"})).json() == 1


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b'{"content": "\xff"}', 400),
        (b'{"content": NaN}', 400),
        (b'{"content": "\\ud800"}', 400),
        (b'{"content": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (b'{"content": 5}', 422),
        (b'{"content": "a\\u0000b"}', 422),
        (b'{"content": "x", "unknown": 1}', 422),
        (b'{"content": "x", "kind": {"a": 1}}', 422),
        (b'{"content": "x", "expires_at": "yesterday"}', 422),
        (b"{}", 422),
    ],
)
async def test_malformed_bodies_are_named_and_store_nothing(http, content, status):
    body = problem(await http.post(f"{OWNER}/memories", content=content), status)
    assert status == 400 or body["errors"][0]["field"]
    assert (await http.get(f"{OWNER}/count")).json() == 0


@pytest.mark.parametrize("id", ["nope", "01a206bd-0000-7000-8000-000000000000", "a%00b", "x" * 300])
async def test_an_id_that_is_not_there_is_not_found(http, id):
    assert (await http.get(f"{OWNER}/records/{id}")).status_code in (404, 422)
    assert (await http.get(f"{OWNER}/records/{id}/why")).status_code in (404, 422)


async def test_numbers_beyond_every_engine_are_refused(http):
    problem(await http.get(f"{OWNER}/ledger", params={"after": 10**30}), 422)
    problem(await http.post(f"{OWNER}/ledger/{10**30}/undo", json={}), 422)


async def test_an_unknown_path_and_an_unknown_method_are_named(http):
    problem(await http.get("/v1/nothing"), 404)
    answer = await http.put("/v1/owners")
    assert problem(answer, 405) and answer.headers["allow"] == "GET"


def test_every_verb_is_found_by_its_path():
    for verb in OPERATIONS.values():
        given = {name: f"the/{name}" for name in verb.in_path}
        found = match(verb.method, path_of(verb, given).encode())
        assert found is not None and (found.verb, found.given) == (verb, given)


async def test_a_credential_of_one_owner_sees_no_difference_between_anothers_and_nobody(book):
    id = (await book.remember("bob", "a secret")).items[0].id
    ann = Principal("app", "default", Role.EDITOR, owners=frozenset({"ann"}), binding="x")

    async def authenticate(_):
        return ann

    async with asking(book, authenticate=authenticate) as http:
        paths = [f"/records/{id}", "/count", "/records"]
        for path in paths:
            there, nowhere = [await http.get(f"/v1/owners/{name}{path}") for name in ("bob", "cid")]
            bodies = [{**problem(one, 404), "request_id": ""} for one in (there, nowhere)]
            assert json.dumps(bodies[0]).replace("bob", "cid") == json.dumps(bodies[1])
            own = await http.get(f"{OWNER}{path}")
            assert own.status_code == (404 if "records/" in path else 200)


async def test_the_document_is_whole_whatever_was_asked_before(http):
    assert (await http.post("/usermemorystore/memories/ann/count")).status_code == 405
    assert "/v1/owners/{owner}/recall" in (await http.get("/openapi.json")).json()["paths"]


async def test_the_document_names_every_status_and_operation_once(http):
    document = (await http.get("/openapi.json")).json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    ids = [one["operationId"] for one in operations]
    assert len(ids) == len(set(ids)) >= len(OPERATIONS)
    for one in operations:
        assert {"200", "400", "401", "404", "422", "429", "500", "503"} <= one[
            "responses"
        ].keys() or "2" not in one["responses"]


@pytest.mark.parametrize(
    "path",
    [
        f"{OWNER}/items/missing?namespace=notes",
        f"{OWNER}/operations/missing",
        f"{OWNER}/restriction",
        f"{OWNER}/threads/c1/schedule",
        "/v1/agents/missing",
        "/v1/schemas/missing",
        "/v1/keys/missing",
    ],
)
async def test_a_get_of_one_thing_that_is_not_there_is_not_found(http, path):
    await http.post(f"{OWNER}/threads", json={"name": "c1"})
    problem(await http.get(path), 404)


async def test_no_get_is_described_as_answering_null(http):
    paths = (await http.get("/openapi.json")).json()["paths"]
    for path, methods in paths.items():
        if path.startswith("/v1/") and "get" in methods:
            for content in methods["get"]["responses"]["200"].get("content", {}).values():
                schema = content["schema"]
                assert {"type": "null"} not in schema.get("anyOf", [schema]), path


async def test_a_version_is_refused_where_none_is_compared(http):
    headers = {"If-Match": '"1"'}
    refused = await http.post(f"{OWNER}/memories", json={"content": "I like tea"}, headers=headers)
    assert problem(refused, 422)["errors"][0]["field"] == "If-Match"
    id = await remembered(http)
    for version in ("*", '"x"', '""'):
        refused = await http.put(
            f"{OWNER}/memories/{id}",
            json={"content": "I like coffee"},
            headers={"If-Match": version},
        )
        problem(refused, 422)
