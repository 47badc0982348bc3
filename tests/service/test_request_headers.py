"""Headers of requests: versions, headers that are sent twice, encodings of bodies, and clients that
leave.
"""

from __future__ import annotations

import gzip
import json

import pytest

from tests.service.listening import connected, head, listening, read_answer
from tests.service.test_v1 import OWNER, problem, remembered

ITEM = f"{OWNER}/items/x"


async def written(http, value, status=200, **headers):
    """Put the item, check the status, and return the body of the answer."""
    named = {name.replace("_", "-"): one for name, one in headers.items()}
    answer = await http.put(ITEM, json={"namespace": ["a"], "value": value}, headers=named)
    return answer.json() if status == 200 == answer.status_code else problem(answer, status)


@pytest.mark.parametrize("tag", ['"{}"', 'W/"{}"', "{}", ' "{}" '])
async def test_a_version_is_compared_however_its_tag_is_written(http, tag):
    await written(http, 1)
    await written(http, 2, If_Match=tag.format(1))
    late = await written(http, 3, 412, If_Match=tag.format(1))
    assert (late["code"], late["title"]) == ("stale", "It has changed since it was read")


@pytest.mark.parametrize(
    "tag", ["*", "", '"1', '1"', "W/1", '"1", "2"', '"-1"', "'1'", '""', '"' + "1" * 16 + '"']
)
async def test_a_tag_that_names_no_version_is_refused_and_nothing_is_stored(http, tag):
    await written(http, 1)
    refused = await written(http, 2, 422, If_Match=tag)
    assert refused["errors"][0]["field"] == "If-Match" and '"3"' in refused["detail"]
    assert (await http.get(ITEM, params={"namespace": "a"})).json()["value"] == 1


async def test_version_zero_writes_only_what_is_not_there_yet(http):
    await written(http, 1, If_Match='"0"')
    assert (
        await http.put(ITEM, json={"namespace": ["a"], "value": 2}, headers={"If-Match": '"0"'})
    ).is_error
    assert (await http.get(ITEM, params={"namespace": "a"})).json()["value"] == 1


async def test_a_write_never_ignores_a_header_that_it_does_not_compare(http):
    await written(http, 1)
    refused = await written(http, 2, 422, If_None_Match="*")
    assert refused["errors"][0]["field"] == "If-None-Match"
    both = {"namespace": ["a"], "value": 2, "expect": 1}
    problem(await http.put(ITEM, json=both, headers={"If-Match": '"1"'}), 422)
    read = await http.get(ITEM, params={"namespace": "a"}, headers={"If-None-Match": '"1"'})
    assert (read.status_code, read.json()["value"]) == (200, 1)


@pytest.mark.parametrize("by", ["name", "id"])
async def test_the_version_of_a_thread_is_compared_by_its_name_and_by_its_id(http, by):
    await http.post(f"{OWNER}/threads", json={"name": "c1"})
    read = await http.get(f"{OWNER}/threads/c1")
    version, path = read.headers["etag"], f"{OWNER}/threads/{read.json()[by]}"
    turn = {"messages": [{"role": "user", "content": "Hello"}], "state": {"step": 1}}
    first = await http.post(f"{path}/messages", json=turn, headers={"If-Match": version})
    assert first.status_code == 200, first.text
    problem(await http.post(f"{path}/messages", json=turn, headers={"If-Match": version}), 412)
    problem(await http.post(f"{path}/turns", json=turn, headers={"If-Match": version}), 412)
    nobody = await http.post(
        f"{OWNER}/threads/c2/messages", json=turn, headers={"If-Match": version}
    )
    problem(nobody, 404)


async def test_the_document_offers_a_version_where_it_is_compared_alone(http):
    offering = set()
    for path, methods in (await http.get("/openapi.json")).json()["paths"].items():
        for method, one in methods.items():
            if path.startswith("/v1/") and "If-Match" in [
                given["name"] for given in one["parameters"]
            ]:
                offering.add(f"{method} {path.removeprefix('/v1/owners/{owner}/')}")
    assert offering == {
        "put items/{name}",
        "delete items/{name}",
        "patch threads/{thread}",
        "post threads/{thread}/messages",
        "post threads/{thread}/turns",
        "post threads/{thread}/memories",
    }
    several: dict[str, dict[str, object]] = {
        "memories": {"content": "x"},
        "memories/batch": {"statements": [{"content": "x"}]},
        "items": {},
    }
    for path, body in several.items():
        refused = await http.post(f"{OWNER}/{path}", json=body, headers={"If-Match": '"1"'})
        assert "name the versions in expect" in problem(refused, 422)["detail"]


async def test_an_import_refuses_what_it_would_ignore(http):
    await remembered(http)
    lines = (await http.get("/v1/export")).content
    for headers in ({"If-Match": '"1"'}, {"Idempotency-Key": "k"}, {"If-None-Match": "*"}):
        refused = problem(await http.post("/v1/import", content=lines, headers=headers), 422)
        assert [one["field"] for one in refused["errors"]] == list(headers)
    refused = problem(await http.post("/v1/import?owner=bob", content=lines), 422)
    assert refused["errors"][0]["field"] == "owner"
    assert (await http.post("/v1/import", content=lines)).json()["errors"] == []


@pytest.mark.parametrize(
    "name", ["Host", "Authorization", "X-Api-Key", "Idempotency-Key", "If-Match"]
)
async def test_a_header_that_says_one_thing_is_refused_if_it_is_sent_twice(http, name):
    one = "localhost" if name == "Host" else '"1"'
    twice = [(name, one), (name.lower(), one)]
    if name != "Host":
        twice.append(("Host", "localhost"))
    for path in (f"{OWNER}/count", "/livez"):
        refused = problem(await http.get(path, headers=twice), 400)
        assert (refused["code"], name in refused["detail"]) == ("repeated", True)


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, identity"])
async def test_a_compressed_body_is_refused_by_its_cause(http, encoding):
    for path in (f"{OWNER}/memories", "/v1/import"):
        sent = gzip.compress(json.dumps({"content": "I like tea"}).encode())
        refused = await http.post(path, content=sent, headers={"Content-Encoding": encoding})
        assert "send it uncompressed" in problem(refused, 400)["detail"]
    plain = await http.post(
        f"{OWNER}/memories", content=b'{"content": "tea"}', headers={"Content-Encoding": "identity"}
    )
    assert plain.status_code == 200


async def test_a_probe_may_ask_for_the_head_alone(book):
    async with listening(book) as port:
        for path in ("/livez", "/readyz"):
            async with connected(port) as (reader, writer):
                writer.write(head("HEAD", path, Connection="close"))
                answer = (await reader.read()).partition(b"\r\n\r\n")
                assert answer[0].startswith(b"HTTP/1.1 200") and answer[2] == b""


@pytest.mark.parametrize("path", ["/v1/import", f"{OWNER}/memories"])
async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_mistake_of_the_service(
    book, log, path
):
    await book.remember("ann", "I like tea")
    lines = "".join([f"{line.rstrip()}\n" async for line in book.admin.export()]).encode()
    async with listening(book) as port:
        async with connected(port) as (_, writer):
            writer.write(head("POST", path, Content_Length=len(lines)) + lines[: len(lines) // 2])
            await writer.drain()
        while '"POST"' not in log.getvalue():
            async with connected(port) as (reader, writer):
                writer.write(head("GET", "/livez"))
                await read_answer(reader)
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [one["status"] for one in told if one.get("method") == "POST"] == [499]
    assert "ClientDisconnect" not in log.getvalue()
