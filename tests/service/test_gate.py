"""The gate: hosts, pages of other origins, credentials, rates, what every answer has, and what the
log tells.
"""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

import memoranda
from memoranda.access.key_check import KeyCheck
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.errors import InvalidInput
from memoranda.operations import Role
from memoranda.service.answers import Refused
from memoranda.service.doorkeeper import Doorkeeper, is_loopback, refuse_open_address
from memoranda.service.gate import Rates
from tests.service.conftest import asking
from tests.service.test_v1 import OWNER, problem

PAGE = {"Origin": "https://app.example.com"}
NAMED = ServiceSettings(cors_origins=("https://app.example.com",))
WORD = "canaryquince"


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "[::2]", ""]
)
async def test_a_request_for_another_host_is_refused(http, host):
    body = problem(await http.get("/livez", headers={"Host": host}), 421)
    assert "service.allowed_hosts" in body["detail"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7411", "127.0.0.1:1", "[::1]:7411"])
async def test_a_request_for_this_machine_is_answered(http, host):
    assert (await http.get("/livez", headers={"Host": host})).status_code == 200


async def test_hosts_of_the_settings_are_answered(book):
    async with asking(book, ServiceSettings(allowed_hosts=("Memory.example.com",))) as http:
        assert (
            await http.get("/livez", headers={"Host": "memory.example.com:443"})
        ).status_code == 200
        problem(await http.get("/livez", headers={"Host": "example.com"}), 421)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "https://app.example.com.evil.example",
        "http://localhost:3000",
        "http://localhost.",
    ],
)
async def test_pages_of_other_origins_are_refused(book, origin):
    async with asking(book, NAMED) as http:
        for method in ("GET", "OPTIONS", "POST"):
            answer = await http.request(method, f"{OWNER}/memories", headers={"Origin": origin})
            assert "service.cors_origins" in problem(answer, 403)["detail"]
            assert "access-control-allow-origin" not in answer.headers


async def test_a_page_of_a_named_origin_may_ask_and_read_the_answer(book):
    async with asking(book, NAMED, authenticate=Doorkeeper(book, KeyCheck(book), None)) as http:
        await book.keys.create("app", role="editor")
        asked = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        before = await http.options(f"{OWNER}/memories", headers=PAGE | asked)
        assert before.status_code == 204 and before.content == b""
        assert before.headers["access-control-allow-origin"] == PAGE["Origin"]
        assert "Authorization" in before.headers["access-control-allow-headers"]
        assert "POST" in before.headers["access-control-allow-methods"]
        assert before.headers["vary"] == "Origin"
        refused = await http.get(f"{OWNER}/count", headers=PAGE)
        assert (
            problem(refused, 401)
            and refused.headers["access-control-allow-origin"] == PAGE["Origin"]
        )


async def test_pages_of_the_service_itself_may_ask(http):
    assert (await http.get("/livez", headers={"Origin": "http://localhost"})).status_code == 200


async def test_every_answer_has_the_safe_headers_and_an_id(book):
    async def nobody(_):
        return None

    paths = [
        "/livez",
        "/readyz",
        "/health",
        "/metrics",
        "/openapi.json",
        "/v1",
        "/v1/nothing",
        "/nothing",
    ]
    async with asking(book) as open_, asking(book, authenticate=nobody) as closed:
        answers = [await http.get(path) for http in (open_, closed) for path in paths]
        answers += [await open_.put("/v1/owners"), await open_.get("/livez", headers={"Host": "x"})]
    assert {one.status_code for one in answers} == {200, 401, 404, 405, 421}
    for one in answers:
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in one.headers["content-security-policy"]
        assert one.headers["referrer-policy"] == "no-referrer"
    assert len({one.headers["x-request-id"] for one in answers}) == len(answers)


async def test_the_id_of_a_request_may_be_given_if_a_log_can_hold_it(http):
    assert (await http.get("/livez", headers={"X-Request-Id": "abc-1"})).headers[
        "x-request-id"
    ] == "abc-1"
    for bad in ("x" * 65, 'a"b', "a b"):
        assert (await http.get("/livez", headers={"X-Request-Id": bad})).headers[
            "x-request-id"
        ] != bad


async def test_wrong_expired_revoked_and_missing_keys_are_answered_alike(tmp_path, clock):
    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:
        good = await book.keys.create("good", role="editor")
        ends = clock.now + timedelta(minutes=1)
        late = await book.keys.create("late", role="admin", expires_at=ends)
        gone = await book.keys.create("gone", role="admin")
        await book.keys.revoke(gone.key.id)
        clock.advance(minutes=2)
        async with asking(book, authenticate=Doorkeeper(book, KeyCheck(book), None)) as http:
            assert (await http.get(f"{OWNER}/count", headers=bearer(good.secret))).json() == 0
            assert (
                await http.get(f"{OWNER}/count", headers={"X-Api-Key": good.secret})
            ).json() == 0
            wrong = [
                good.secret[:-1],
                good.secret + "x",
                "",
                "mem_0_0",
                "a.b.c",
                "ü",
                late.secret,
                gone.secret,
            ]
            answers = [
                await http.get(f"{OWNER}/count", headers=bearer(one).items())
                for one in wrong
                if one.isascii()
            ]
            answers += [
                await http.get(f"{OWNER}/count"),
                await http.get(f"{OWNER}/count", headers={"Authorization": "Basic YTpi"}),
            ]
            raw = [(b"Authorization", "Bearer ü".encode())]
            answers.append(await http.get(f"{OWNER}/count", headers=raw))
            bodies = [{**problem(one, 401), "request_id": ""} for one in answers]
            assert all(body == bodies[0] for body in bodies)
            assert all(one.headers["www-authenticate"].startswith("Bearer") for one in answers)


async def test_a_credential_of_another_tenant_finds_nothing(book):
    other = Principal("other", "elsewhere", Role.ADMIN, binding="other")

    async def authenticate(_):
        return other

    id = (await book.remember("ann", "I like tea")).items[0].id
    async with asking(book, authenticate=authenticate) as http:
        for path in (f"/records/{id}", "/count", "/records", f"/records/{id}/why"):
            assert "ann" not in problem(await http.get(f"{OWNER}{path}"), 404)["detail"]


async def test_a_credential_that_asks_too_often_is_told_when_to_come_back(book):
    async with asking(book, ServiceSettings(requests_per_minute=2)) as http:
        answers = [await http.get(f"{OWNER}/count") for _ in range(3)]
        assert [one.status_code for one in answers[:2]] == [200, 200]
        assert problem(answers[2], 429) and 1 <= int(answers[2].headers["retry-after"]) <= 30
        assert (await http.get("/livez")).status_code == 200


def test_a_rate_fills_up_again_and_is_that_of_one_credential():
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    for _ in range(60):
        rates.take("ann")
    with pytest.raises(Refused) as refused:
        rates.take("ann")
    rates.take("bob")
    now[0] = float(refused.value.headers["Retry-After"])
    rates.take("ann")


async def test_too_many_requests_at_once_are_refused_in_order(book, monkeypatch):
    held, entered = asyncio.Event(), asyncio.Event()

    async def count(*_, **__):
        entered.set()
        await held.wait()
        return 0

    monkeypatch.setattr(book.records, "count", count)
    async with asking(book, ServiceSettings(max_concurrent=1)) as http:
        first = asyncio.ensure_future(http.get(f"{OWNER}/count"))
        await entered.wait()
        second = await http.get(f"{OWNER}/count")
        assert problem(second, 503)["code"] == "busy" and second.headers["retry-after"] == "1"
        held.set()
        assert (await first).status_code == 200


async def test_numbers_of_the_whole_service_are_for_admins_and_keys_of_metrics(book):
    boss = await book.keys.create("boss", role="admin")
    monitor = await book.keys.create("monitor", role="viewer", person="nobody", metrics=True)
    app = await book.keys.create("app", role="editor")
    own = await book.keys.create("phone", role="editor", person="ann")
    async with asking(book, authenticate=Doorkeeper(book, KeyCheck(book), None)) as http:
        for key in (boss, monitor):
            assert (await http.get("/health", headers=bearer(key.secret))).json()["jobs"][
                "dead"
            ] == 0
            assert "memoranda_up 1" in (await http.get("/metrics", headers=bearer(key.secret))).text
        for key in (app, own):
            assert (await http.get("/health", headers=bearer(key.secret))).json() == {
                "status": "ok"
            }
            refused = problem(await http.get("/metrics", headers=bearer(key.secret)), 403)
            assert "a key made with --metrics" in refused["detail"]
        # The flag opens nothing else, and a rotation keeps it.
        assert problem(await http.get(f"{OWNER}/count", headers=bearer(monitor.secret)), 404)
        problem(await http.get("/v1/jobs", headers=bearer(monitor.secret)), 403)
        rotated = await book.keys.rotate("monitor")
        assert (await http.get("/metrics", headers=bearer(rotated.secret))).status_code == 200
        for path in ("/livez", "/readyz"):
            assert (await http.get(path)).text == "ok"


async def test_no_request_makes_a_key_while_none_is_needed_and_an_admins_does_later(book):
    doorkeeper = Doorkeeper(book, KeyCheck(book), None, lambda: 0.0)
    async with asking(book, authenticate=doorkeeper) as http:
        asked = [
            ("POST", "/v1/keys", {"name": "mine", "role": "admin"}),
            ("PUT", "/v1/keys/mine", {"digest": "0" * 64, "role": "admin"}),
        ]
        for method, path, body in asked:
            detail = problem(await http.request(method, path, json=body), 403)["detail"]
            assert "memoranda keys create NAME --role admin" in detail
        assert (
            await book.keys.list() == [] and (await http.get(f"{OWNER}/count")).status_code == 200
        )
        boss = await book.keys.create("boss", role="admin")
        # Its own memory of a book without keys lasts for a moment.
        assert (await http.get(f"{OWNER}/count")).status_code == 200
        problem(await http.post("/v1/keys/boss/rotate", json={}), 403)
        made = await http.post(
            "/v1/keys", json={"name": "app", "role": "editor"}, headers=bearer(boss.secret)
        )
        assert made.status_code == 200 and made.json()["secret"]


async def test_no_import_brings_a_key_in_while_none_is_needed_and_an_admins_does_later(book):
    async with memoranda.open("memory://", worker=False, embed=None) as other:
        await other.keys.create("evil", role="admin")
        await other.remember("ann", "likes tea")
        lines = "\n".join([line async for line in other.admin.export()])
    doorkeeper = Doorkeeper(book, KeyCheck(book), None, lambda: 0.0)
    async with asking(book, authenticate=doorkeeper) as http:
        report = (await http.post("/v1/import", content=lines)).json()
        assert "without a credential brings no key in" in str(report["errors"])
        assert await book.keys.list() == [] and report["records"]["memory"] == 1
        headers = bearer((await book.keys.create("boss", role="admin")).secret)
        report = (await http.post("/v1/import", content=lines, headers=headers)).json()
        assert report["errors"] == [] and len(await book.keys.list()) == 2


async def test_the_log_tells_each_request_in_one_line_of_json_without_content_owners_and_secrets(
    book, log
):
    key = await book.keys.create("app", role="editor", metrics=True)
    async with asking(book, authenticate=Doorkeeper(book, KeyCheck(book), None)) as http:
        own = f"/v1/owners/{WORD}"
        headers = bearer(key.secret)
        await http.post(f"{own}/memories", json={"content": f"I like {WORD}"}, headers=headers)
        await http.post(f"{own}/recall", json={"query": WORD}, headers=headers)
        await http.post(f"{own}/memories", json={WORD: 1}, headers=headers)
        await http.post(f"{own}/memories", content=WORD.encode(), headers=headers)
        await http.get(f"{own}/records", params={"cursor": WORD}, headers=headers)
        await http.get(f"/{WORD}/x", headers=headers)
        await http.get(f"{own}/count", headers=bearer(WORD))
        metrics = (await http.get("/metrics", headers=headers)).text
    text = log.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["status"] for line in lines] == [200, 200, 422, 400, 422, 404, 401, 200]
    assert (
        lines[0]["verb"] == "remember" and lines[0]["principal"] == "app" and lines[0]["request_id"]
    )
    for told in (text, metrics):
        assert WORD not in told and key.secret not in told and key.secret[4:20] not in told


async def test_a_mistake_is_logged_with_its_place_and_answered_without_its_text(
    book, monkeypatch, log
):
    async def broken(*_, **__):
        raise RuntimeError(f"what was said: {WORD}")

    monkeypatch.setattr(book.records, "count", broken)
    async with asking(book) as http:
        answer = await http.get(f"{OWNER}/count")
    body = problem(answer, 500)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    mistake = next(line for line in lines if "error" in line)
    assert (
        mistake["error"] == "RuntimeError"
        and mistake["trace"]
        and body["request_id"] in mistake["message"]
    )
    assert WORD not in log.getvalue() + answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_address_that_others_reach_needs_a_key():
    for host in ("127.0.0.1", "localhost", "::1", "127.9.9.9"):
        refuse_open_address(host, is_locked=False)
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.com"):
        assert not is_loopback(host)
        refuse_open_address(host, is_locked=True)
        with pytest.raises(InvalidInput, match="memoranda keys create"):
            refuse_open_address(host, is_locked=False)


async def test_who_asks_if_it_is_ready_has_no_record_counted(book, monkeypatch):
    async def facts(_):
        raise AssertionError("all records were counted")

    monkeypatch.setattr(book.engine, "facts", facts)
    async with asking(book) as http:
        assert (await http.get("/readyz")).text == "ok"
