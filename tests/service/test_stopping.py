"""Stopping: SIGTERM under load cuts no request, gives jobs back, and ends the program with success."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

import memoranda
from memoranda.model.messages import Message
from memoranda.model.records import those_of
from tests.service.listening import connected, head, read_answer

CLIENTS = 8


async def serving(path):
    """Start `memoranda serve` on a free port, and return the process and its port."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "memoranda",
        *("serve", "--json", "--port", "0", "--book", str(path)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "MEMORANDA_EMBEDDING_USE": "none"},
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
                    head("POST", thread, Content_Type="application/json", Content_Length=len(body)) + body
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
