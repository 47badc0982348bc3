"""Bad input is refused by name: bodies, ids, repeated requests; clients may leave and engines may
fail.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3

import pytest

import memoranda
from memoranda.access.service_settings import ServiceSettings
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import Busy, MemorandaError, StorageError
from memoranda.wire.problems import PROBLEM, status_of
from memoranda.wire.routes import path_of
from tests.service.conftest import asking
from tests.service.listening import connected, head, listening, read_answer
from tests.service.test_v1 import OWNER, problem, remembered

#: Names and ids that no engine and no path may trip over.
ODD = [
    "nope",
    "01a206bd-0000-7000-8000-000000000000",
    "a\0b",
    "x" * 3000,
    "../../etc",
    "%",
    "\u202e",
    "-1",
    "💥",
]
SMALL = ServiceSettings(body_bytes=2048, body_seconds=0.2)
MEMORIES = f"{OWNER}/memories"


async def refused_on_the_wire(port, status, *pieces):
    """Send a request in pieces over a socket and check the answer."""
    async with connected(port) as (reader, writer):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        answer = await read_answer(reader)
    assert (answer.status, answer.headers["content-type"]) == (status, PROBLEM), answer
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    return answer


@pytest.mark.parametrize("verb", OPERATIONS.values(), ids=lambda verb: verb.name)
async def test_odd_names_and_ids_in_a_path_never_make_a_mistake(http, verb):
    for odd in ODD if verb.in_path else []:
        for name in verb.in_path:
            path = path_of(verb, dict.fromkeys(verb.in_path, "ann") | {name: odd})
            answer = await http.request(
                verb.method, path, content=b"" if verb.method == "GET" else b"{}"
            )
            assert answer.status_code < 500, (name, odd, answer.text)


@pytest.mark.parametrize(
    "verb",
    [one for one in OPERATIONS.values() if one.method != "GET" and one.name != "admin.import_"],
    ids=lambda verb: verb.name,
)
async def test_no_verb_takes_a_body_that_is_no_json_or_has_an_unknown_field(http, verb):
    path = path_of(verb, dict.fromkeys(verb.in_path, "ann"))
    for content, status in (
        (b"{", 400),
        (b"[]", 400),
        (b'{"\xff": 1}', 400),
        (b'{"zzz_unknown": 1}', 422),
    ):
        problem(await http.request(verb.method, path, content=content), status)


@pytest.mark.parametrize(
    "verb", [one for one in OPERATIONS.values() if one.method == "GET"], ids=lambda verb: verb.name
)
async def test_no_verb_takes_an_unknown_parameter(http, verb):
    path = path_of(verb, dict.fromkeys(verb.in_path, "ann"))
    body = problem(await http.get(path, params={"zzz_unknown": "1"}), 422)
    assert "zzz_unknown" in [one["field"] for one in body["errors"]]


@pytest.mark.parametrize("id", ["nope", "01a206bd-0000-7000-8000-000000000000", "x" * 200])
async def test_ids_that_are_none_and_ids_that_are_not_there_are_not_found(http, id):
    for path in (f"/records/{id}", f"/records/{id}/why", f"/records/{id}/history"):
        problem(await http.get(OWNER + path), 404)
    problem(await http.delete(f"{MEMORIES}/{id}"), 404)
    problem(await http.patch(f"{MEMORIES}/{id}", json={"fields": {"kind": "fact"}}), 404)


async def test_another_owners_id_is_answered_as_one_that_is_not_there(book, http):
    there = (await book.remember("bob", "I like tea")).items[0].id
    nowhere = "01a206bd-0000-7000-8000-000000000000"
    for method, path in (
        ("GET", "/records/{}"),
        ("GET", "/records/{}/why"),
        ("DELETE", "/memories/{}"),
    ):
        answers = [await http.request(method, OWNER + path.format(id)) for id in (there, nowhere)]
        texts = [json.dumps({**problem(one, 404), "request_id": ""}) for one in answers]
        assert texts[0].replace(str(there), nowhere) == texts[1]


async def test_a_nul_is_refused_wherever_it_stands(http):
    for body in (
        {"content": "a\0b"},
        {"content": "x", "key": "a\0"},
        {"content": "x", "agent": "\0"},
    ):
        problem(await http.post(MEMORIES, json=body), 422)
    problem(await http.post(f"{OWNER}/recall", json={"query": "a\0b"}), 422)
    problem(await http.get("/v1/owners/a%00b/count"), 422)
    assert (await http.get(f"{OWNER}/count")).json() == 0


async def test_a_repetition_with_another_body_is_refused_while_the_first_runs(http):
    bodies = [{"content": "one"}, {"content": "two"}]
    headers = {"Idempotency-Key": "k"}
    answers = await asyncio.gather(
        *[http.post(MEMORIES, json=body, headers=headers) for body in bodies]
    )
    assert sorted(one.status_code for one in answers) == [200, 409]
    assert (await http.get(f"{OWNER}/count")).json() == 1


# ── over the wire ─────────────────────────────────────────────────────────────────────────────────


async def test_a_body_that_is_too_large_is_refused_by_its_length_before_it_is_sent(book):
    async with listening(book, SMALL) as port:
        await refused_on_the_wire(port, 413, head("POST", MEMORIES, Content_Length=10**12))


async def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_large(book):
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    async with listening(book, SMALL) as port:
        start = head("POST", MEMORIES, Transfer_Encoding="chunked")
        await refused_on_the_wire(port, 413, start, chunk, chunk, chunk)


async def test_a_body_that_does_not_arrive_in_time_is_refused(book):
    async with listening(book, SMALL) as port:
        answer = await refused_on_the_wire(
            port, 408, head("POST", MEMORIES, Content_Length=20), b'{"con'
        )
        assert answer.headers["connection"] == "close"
    assert await book.records.count("ann") == 0


async def test_what_is_no_http_ends_the_connection_and_nothing_else(book):
    async with listening(book) as port:
        for start in (
            b"\x16\x03\x01\x02\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n",
            b"GET / HTTP/9\r\n\r\n",
        ):
            async with connected(port) as (reader, writer):
                writer.write(start)
                assert b" 200 " not in await asyncio.wait_for(reader.read(), 20)
        async with connected(port) as (reader, writer):
            writer.write(head("GET", "/livez"))
            assert (await read_answer(reader)).body == b"ok"


async def test_a_client_that_goes_away_in_the_middle_of_its_body_stores_nothing(book):
    whole = json.dumps({"content": "I like tea"}).encode()
    async with listening(book) as port:
        async with connected(port) as (_, writer):
            writer.write(head("POST", MEMORIES, Content_Length=len(whole)) + whole[:9])
            await writer.drain()
        async with connected(port) as (reader, writer):
            writer.write(head("POST", MEMORIES, Content_Length=len(whole)) + whole)
            assert (await read_answer(reader)).status == 200
    assert await book.records.count("ann") == 1


async def test_a_write_whose_client_goes_away_is_stored_once_when_it_is_repeated(book, monkeypatch):
    entered, left, remember = asyncio.Event(), asyncio.Event(), book.remember

    async def slow(*args, **how):
        entered.set()
        await left.wait()
        return await remember(*args, **how)

    monkeypatch.setattr(book, "remember", slow)
    body = json.dumps({"content": "I like tea"}).encode()
    sent = head("POST", MEMORIES, Content_Length=len(body), Idempotency_Key="k") + body
    async with listening(book) as port:
        async with connected(port) as (_, writer):
            writer.write(sent)
            await entered.wait()
        left.set()
        async with connected(port) as (reader, writer):
            writer.write(sent)
            assert (await read_answer(reader)).status == 200
    assert await book.records.count("ann") == 1


async def test_a_client_that_leaves_a_stream_ends_it(book):
    thread = await book.thread("ann", name="chat")
    await thread.append([{"role": "user", "content": "x" * 5000} for _ in range(200)])
    async with listening(book) as port:
        async with connected(port) as (reader, writer):
            writer.write(head("GET", "/v1/export"))
            await reader.readuntil(b"\r\n\r\n")
        async with connected(port) as (reader, writer):
            writer.write(head("GET", f"{OWNER}/count"))
            assert (await read_answer(reader)).json() == 201


# ── engines that fail ─────────────────────────────────────────────────────────────────────────────


async def test_a_full_disk_is_told_as_one_and_stores_nothing(tmp_path):
    async with (
        memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book,
        asking(book) as http,
    ):
        await remembered(http)
        file = book.engine.file  # type: ignore[attr-defined]

        def limit(connection: sqlite3.Connection) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")

        await file.write(limit)
        await http.post(f"{OWNER}/threads", json={"name": "chat"})
        messages = [{"role": "user", "content": "x" * 5000} for _ in range(20)]
        sending = {"json": {"messages": messages}, "headers": {"Idempotency-Key": "k"}}
        answer = await http.post(f"{OWNER}/threads/chat/messages", **sending)
        assert problem(answer, 507)["code"] == "full"
        assert await book.records.count("ann", types="message") == 0
        await file.write(
            lambda connection: connection.execute(f"PRAGMA max_page_count = {2**30}") and None
        )
        assert (await http.post(f"{OWNER}/threads/chat/messages", **sending)).status_code == 200
        assert await book.records.count("ann", types="message") == 20


@pytest.mark.parametrize(
    "error",
    [
        StorageError("the connection was lost\nto postgresql://secret@host"),
        Busy("secret@host is away"),
    ],
)
async def test_a_lost_database_is_told_with_a_time_to_come_back(book, monkeypatch, error):
    async def lost(*_, **__) -> None:
        raise error

    async with asking(book) as http:
        with monkeypatch.context() as patch:
            for name in ("apply", "count", "scan", "facts", "whereabouts"):
                patch.setattr(book.engine, name, lost)
            for method, path, body in (
                ("POST", MEMORIES, {"content": "x"}),
                ("GET", f"{OWNER}/count", None),
            ):
                answer = await http.request(
                    method, path, json=body, headers={"Idempotency-Key": "k"} if body else {}
                )
                assert problem(answer, 503) and answer.headers["retry-after"] == "1"
                assert "secret@host" not in answer.text
            assert problem(await http.get("/readyz"), 503)
            assert (await http.get("/health")).json()["status"] == "down"
            assert "memoranda_up 0" in (await http.get("/metrics")).text
            assert (await http.get("/livez")).status_code == 200
        assert (await http.get("/readyz")).status_code == 200
        await remembered(http, "x", **{"Idempotency-Key": "k"})
        assert (await http.get(f"{OWNER}/count")).json() == 1


async def test_a_request_that_takes_too_long_is_given_up_with_a_time_to_come_back(
    book, monkeypatch
):
    async def endless(*_, **__) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(book.records, "count", endless)
    async with asking(book, ServiceSettings(request_seconds=0.05)) as http:
        answer = await http.get(f"{OWNER}/count")
        assert problem(answer, 503)["code"] == "timeout" and answer.headers["retry-after"] == "1"


def test_every_error_of_the_library_has_a_status_of_its_own_kind():
    def below(kind):
        return {kind} | {one for child in kind.__subclasses__() for one in below(child)}

    unknown = [
        kind.__name__
        for kind in below(MemorandaError)
        if kind is not MemorandaError and status_of(kind.__new__(kind)) == 500
    ]
    assert unknown == []
