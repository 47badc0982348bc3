"""Stopping: SIGTERM under load cuts no request, gives jobs back, and ends the program with
success.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys

import memoranda
from memoranda.model.messages import Message
from memoranda.model.records import those_of
from memoranda.service.composition import _rare_collection
from tests.fakes.model_replies import silent
from tests.fakes.model_server import ModelServer
from tests.service.listening import connected, head, read_answer

CLIENTS = 8


async def serving(path, *, before=(), log=asyncio.subprocess.DEVNULL, **settings):
    """Start `memoranda serve` on a free port, and return the process and its port."""
    process = await asyncio.create_subprocess_exec(
        *before,
        sys.executable,
        "-m",
        "memoranda",
        *("serve", "--json", "--port", "0", "--book", str(path)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env={**os.environ, "MEMORANDA_EMBEDDING_USE": "none", **settings},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        told = json.loads(await process.stdout.readline())
    return process, int(told["listening"].rpartition(":")[2])


async def append(port, number, acknowledged, enough):
    """Append messages until the service is gone; an answer that has begun must come whole."""
    thread = f"/v1/owners/ann/threads/t{number}/messages"
    async with connected(port) as (reader, writer):
        for count in range(100_000):
            text = f"{number}-{count}"
            body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
            try:
                writer.write(
                    head("POST", thread, Content_Type="application/json", Content_Length=len(body))
                    + body
                )
                await writer.drain()
                answer = await read_answer(reader)
            except asyncio.IncompleteReadError as exc:
                if exc.partial:
                    raise  # an answer was cut
                return
            except ConnectionError:
                return
            assert answer.status == 200, answer
            acknowledged.append(text)
            if len(acknowledged) >= 10 * CLIENTS:
                enough.set()


async def test_a_service_that_is_stopped_under_load_cuts_no_request_and_ends_well(tmp_path):
    path = tmp_path / "book.db"
    async with memoranda.open(path, worker=False, embed=None) as book:
        for number in range(CLIENTS):
            await book.thread("ann", name=f"t{number}")
    process, port = await serving(path)
    acknowledged: list[str] = []
    enough = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(append(port, number, acknowledged, enough))
        await enough.wait()
        process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        assert await process.wait() == 0
    async with memoranda.open(path, worker=False, embed=None) as book:
        stored = []
        for number in range(CLIENTS):
            thread = await book.thread("ann", name=f"t{number}")
            page = await thread.messages(limit=1000)
            stored += [message.content for message in those_of(Message, page.records)]
        assert sorted(stored) == sorted(acknowledged)
        assert await book.jobs.list(state="leased") == []


async def test_a_job_that_does_not_end_is_given_back_for_another_worker_to_begin_at_once(tmp_path):
    path = tmp_path / "book.db"
    async with memoranda.open(path, worker=False, models=None, embed=None) as book:
        await (await book.thread("ann")).append("user", "I live in Oslo.")
        assert [one.state for one in (await book.form("ann", wait=False)).threads] == ["waiting"]
    with ModelServer([silent()]) as model:
        process, _ = await serving(
            path, **model.environment, MEMORANDA_MODELS_USE="openai-chat:gpt-5-mini"
        )
        assert await asyncio.to_thread(model.until, asked=1)
        async with memoranda.open(path, worker=False, embed=None) as book:
            assert [job.kind for job in await book.jobs.list(state="leased")] == ["form"]
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert await process.wait() == 0
    async with memoranda.open(path, worker=False, models=None, embed=None) as book:
        assert await book.jobs.list(state="leased") == []
        (job,) = [job for job in await book.jobs.list(state="waiting") if job.kind == "form"]
        assert job.tries == 0 and "ended" in (job.error or "")
        await book.worker.drain()
        assert await book.records.count("ann", types="memory", as_owner=True) == 1


async def test_a_request_that_is_sent_slowly_is_answered_whole_after_the_signal(tmp_path):
    path = tmp_path / "book.db"
    process, port = await serving(path)
    body = json.dumps({"content": "I live in Oslo."}).encode()
    async with connected(port) as (reader, writer):
        # This answer shows that the connection was accepted.
        writer.write(head("GET", "/livez"))
        await writer.drain()
        assert (await read_answer(reader)).status == 200
        writer.write(
            head(
                "POST",
                "/v1/owners/ann/memories",
                Content_Type="application/json",
                Content_Length=len(body),
            )
            + body[:5]
        )
        await writer.drain()
        # Answers come in order, so the service has read what was sent before this one.
        async with connected(port) as (other, asking):
            asking.write(head("GET", "/livez"))
            await asking.drain()
            assert (await read_answer(other)).status == 200
        process.send_signal(signal.SIGTERM)
        await refused(port)
        writer.write(body[5:])
        await writer.drain()
        assert (await read_answer(reader)).status == 200
    async with asyncio.timeout(60):
        assert await process.wait() == 0
    async with memoranda.open(path, worker=False, embed=None) as book:
        assert await book.records.count("ann", types="memory", as_owner=True) == 1


async def test_a_second_signal_cuts_what_runs_says_so_and_stores_what_the_audit_noted(tmp_path):
    path, log = tmp_path / "book.db", tmp_path / "log"
    with log.open("wb") as told:
        process, port = await serving(path, log=told)
    async with connected(port) as (reader, writer):
        writer.write(head("GET", "/livez"))
        await writer.drain()
        assert (await read_answer(reader)).status == 200
        writer.write(head("POST", "/v1/owners/ann/memories", Content_Length=100) + b"{")
        await writer.drain()
        async with connected(port) as (other, asking):
            asking.write(head("GET", "/v1/owners/ann/records"))
            await asking.drain()
            assert (await read_answer(other)).status == 200
        process.send_signal(signal.SIGTERM)
        await refused(port)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await process.wait() == 143
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [line["status"] for line in lines] == [200, 200, 499]
    async with memoranda.open(path, worker=False, embed=None) as book:
        (read,) = (await book.admin.reads("ann")).lines
        assert read.verb == "records.list"


async def refused(port):
    """Connect until the service takes no new connection."""
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionError:
                return
            writer.close()


async def test_a_port_that_is_in_use_is_named_with_the_cure(tmp_path):
    process, port = await serving(tmp_path / "book.db")
    try:
        second = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "memoranda",
            *("serve", "--port", str(port), "--book", str(tmp_path / "other.db")),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "MEMORANDA_EMBEDDING_USE": "none"},
        )
        async with asyncio.timeout(60):
            _, told = await second.communicate()
        assert second.returncode == 2
        assert (
            f"another program listens on 127.0.0.1:{port}; stop it, or give another --port"
            in told.decode()
        )
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert await process.wait() == 0


def test_garbage_is_looked_for_rarely_while_the_service_runs_and_as_before_afterwards():
    before = gc.get_threshold()
    with _rare_collection():
        assert gc.get_threshold()[0] > before[0] and gc.get_freeze_count() > 0
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0
