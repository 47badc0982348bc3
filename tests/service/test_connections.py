"""Connections: a header has a time, and connections without a whole one give way to everybody
else.
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memoranda.access.service_settings import ServiceSettings
from tests.service.listening import connected, head, listening, read_answer
from tests.service.test_stopping import serving

BEGUN = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: "
FLOOD = 3000


async def ended(reader):
    """Wait until the service closes a connection; return what it sent before."""
    async with asyncio.timeout(60):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


async def test_a_header_that_does_not_end_is_cut_off_and_so_is_a_connection_that_sends_nothing(
    book,
):
    settings = ServiceSettings(header_seconds=0.2)
    async with (
        listening(book, settings) as port,
        connected(port) as (reader, writer),
        connected(port) as (silent, _),
    ):
        writer.write(BEGUN)
        assert await ended(reader) == b""
        assert await ended(silent) == b""


@pytest.mark.parametrize("rest", [BEGUN, b"\r\n"])
async def test_a_later_header_has_its_own_time_and_what_is_no_header_has_none(book, rest):
    settings = ServiceSettings(header_seconds=0.2)
    async with listening(book, settings) as port, connected(port) as (reader, writer):
        writer.write(head("GET", "/livez"))
        assert (await read_answer(reader)).status == 200
        writer.write(rest)
        assert await ended(reader) == b""


async def test_an_idle_connection_outlives_the_time_of_a_header(book):
    settings = ServiceSettings(header_seconds=0.2)
    async with listening(book, settings) as port, connected(port) as (idle, writer):
        writer.write(head("GET", "/livez"))
        assert (await read_answer(idle)).status == 200
        async with connected(port) as (silent, _):
            await ended(silent)  # it came later, and had the time of a header
        writer.write(head("GET", "/livez"))
        assert (await read_answer(idle)).status == 200


async def test_a_header_that_begins_before_the_last_answer_ends_has_its_time_from_then(book):
    settings = ServiceSettings(header_seconds=0.2)
    async with listening(book, settings) as port, connected(port) as (reader, writer):
        writer.write(head("GET", "/livez") + BEGUN)
        assert (await read_answer(reader)).status == 200
        assert await ended(reader) == b""
        async with connected(port) as (again, asking):
            asking.write(head("GET", "/livez") + BEGUN + b"b\r\n\r\n")
            assert [(await read_answer(again)).status for _ in range(2)] == [200, 200]


async def test_a_client_that_does_not_read_its_answers_is_cut_off(book):
    settings = ServiceSettings(request_seconds=0.2)
    async with listening(book, settings) as port, connected(port) as (reader, writer):
        assert await ask(reader, writer) == 200
        before = descriptors()
        with socket.create_connection(("127.0.0.1", port)) as deaf:
            deaf.sendall(head("GET", "/openapi.json") * 100)
            assert await ask(reader, writer) == 200
            # Its own end stays open.
            await until_at_most(before + 1)


ASKED = b'{"query": "Which tea?"}'


async def ask(reader, writer, path="/livez"):
    """Ask, and return the status."""
    writer.write(head("GET", path))
    return (await read_answer(reader)).status


async def begin_request(writer, *other):
    """Send a request without its body; another one, answered afterwards, shows that the service has
    read it.
    """
    writer.write(head("POST", "/v1/owners/ann/recall", Content_Length=len(ASKED)) + ASKED[:1])
    assert await ask(*other) == 200


async def test_an_unfinished_connection_gives_way_before_an_idle_one_and_one_that_is_answered_never(
    book,
):
    async with (
        listening(book, ServiceSettings(connections=3)) as port,
        connected(port) as (first, sending),
        connected(port) as (idle, asking),
    ):
        await begin_request(sending, idle, asking)
        async with connected(port) as (unfinished, beginning):
            beginning.write(BEGUN)
            async with connected(port) as (second, seconds):
                assert await ended(unfinished) == b""
                assert await ask(idle, asking) == 200
                assert await ask(second, seconds) == 200
                async with connected(port) as (third, thirds):
                    assert await ended(idle) == b""
                    await begin_request(seconds, third, thirds)
                    thirds.write(
                        head("POST", "/v1/owners/ann/recall", Content_Length=len(ASKED)) + ASKED[:1]
                    )
                    # All three wait for an answer.
                    async with connected(port) as (fourth, _):
                        refusal = await ended(fourth)
                        assert (
                            refusal.startswith(b"HTTP/1.1 503")
                            and b"too many connections" in refusal
                        )
                    for reader, writer in ((first, sending), (second, seconds), (third, thirds)):
                        writer.write(ASKED[1:])
                        assert (await read_answer(reader)).status == 200


def own_address():
    """Return an address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address besides loopback")
        return asking.getsockname()[0]


@pytest.mark.parametrize("exempt", [False, True])
async def test_an_address_has_its_number_of_connections_unless_it_is_a_proxy_or_this_machine(
    book, exempt
):
    address = own_address()
    settings = ServiceSettings(
        connections_per_address=2, proxies=(f"{address}/32",) if exempt else ()
    )
    async with listening(book, settings, listen="0.0.0.0") as port, AsyncExitStack() as stack:
        for host in (address, "127.0.0.1"):
            found = [await stack.enter_async_context(connected(port, host)) for _ in range(3)]
            third = found.pop()
            assert [await ask(*one) for one in found] == [200, 200]
            if exempt or host == "127.0.0.1":
                assert await ask(*third) == 200
                continue
            assert b"503" in await ended(third[0])
            found[0][1].close()
            await until_answered(port, host, stack)


async def until_answered(port, host, stack):
    """Connect again until there is a place."""
    async with asyncio.timeout(60):
        while True:
            again = await stack.enter_async_context(connected(port, host))
            try:
                assert await ask(*again) == 200
            except (AssertionError, asyncio.IncompleteReadError, ConnectionError):
                continue
            return


@pytest.mark.parametrize("given", ["10.0.0.1/8", "proxy.example.com"])
def test_a_proxy_is_an_address_or_a_network(given):
    with pytest.raises(ValueError, match="give an address, or a network"):
        ServiceSettings(proxies=(given,))


async def test_thousands_of_unfinished_headers_leave_the_service_to_everybody_else(tmp_path):
    wanted = FLOOD + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"the test needs {wanted} descriptors, and may have {hard}")
    few = ("sh", "-c", 'ulimit -n 1024 && exec "$@"', "sh")
    process, port = await serving(tmp_path / "book.db", before=few)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    flood: list[socket.socket] = []
    try:
        async with connected(port) as (reader, writer):
            assert await ask(reader, writer, "/readyz") == 200
        before = descriptors(process.pid)
        flood += [await unfinished(port) for _ in range(FLOOD // 2)]
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(ask_all(port))
            while len(flood) < FLOOD or not asking.done():
                flood.append(await unfinished(port))
                if len(flood) > FLOOD:
                    flood.pop(0).close()
        for one in flood:
            one.close()
        await until_at_most(before + 8, process.pid)
    finally:
        for one in flood:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        process.terminate()
        await process.wait()


def descriptors(process="self"):
    """Return how many descriptors a process has."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


async def until_at_most(number, process="self"):
    """Wait until a process has no more descriptors than this."""
    async with asyncio.timeout(60):
        while descriptors(process) > number:  # noqa: ASYNC110 - nothing tells of them
            await asyncio.sleep(0.05)


async def unfinished(port):
    """Return a connection from another address of this machine, which has sent the beginning of a
    header.
    """
    one = socket.socket()
    one.setblocking(False)
    one.bind(("127.0.0.2", 0))
    loop = asyncio.get_running_loop()
    await loop.sock_connect(one, ("127.0.0.1", port))
    await loop.sock_sendall(one, BEGUN)
    return one


async def ask_all(port):
    """Ask two hundred times, on new connections and by writes, too; each answer must come."""
    for number in range(200):
        async with connected(port) as (reader, writer):
            if number % 2:
                assert await ask(reader, writer) == 200
                continue
            body = json.dumps({"content": f"I have {number} kinds of tea."}).encode()
            writer.write(head("POST", "/v1/owners/ann/memories", Content_Length=len(body)) + body)
            assert (await read_answer(reader)).status == 200
