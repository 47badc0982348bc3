"""Opening the book of a service: by its address alone, with and without an event loop."""

from __future__ import annotations

import asyncio
import threading

import httpx2
import pytest

import memoranda
from memoranda.access.key_check import KeyCheck
from memoranda.client import RemoteBook, open_remote
from memoranda.errors import Busy, InvalidInput, NotAllowed, NotFound, VersionMismatch
from memoranda.service.app import make_app
from tests.client.conftest import served


async def test_an_application_moves_to_a_service_by_its_address(own_book):
    async with served(own_book) as address:
        async with memoranda.open(address) as book:
            assert isinstance(book, RemoteBook)
            thread = await book.thread("ann", agent="chef")
            await thread.append("user", "I moved to Lisbon")
            await book.remember("ann", "likes green tea", agent="chef")
            assert [hit.text for hit in await book.recall("ann", "tea", agent="chef")] == [
                "likes green tea"
            ]
            assert (
                "green tea" in (await book.context("ann", "tea", thread=thread, agent="chef")).text
            )
            lines = [line async for line in book.admin.export("ann")]
        assert lines == [line async for line in own_book.admin.export("ann")]


async def test_everything_about_a_person_comes_over_the_network_as_it_is(own_book):
    tea = (await own_book.remember("ann", "likes tea")).id
    await own_book.experience.add("guide", "heuristics", "Serve tea", evidence={"ann": [tea]})
    await own_book.admin.restrict("ann")
    async with served(own_book) as address, memoranda.open(address) as book:
        told = [line async for line in own_book.admin.export("ann", everything=True)]
        assert sum('"line": "about"' in line for line in told) == 3
        assert [line async for line in book.admin.export("ann", everything=True)] == told
        with pytest.raises(InvalidInput, match="everything: name the owner"):
            [line async for line in book.admin.export(everything=True)]
        async with (
            memoranda.open("memory://") as other,
            served(other) as where,
            memoranda.open(where) as new,
        ):
            assert (await new.admin.import_(told)).ignored == {"about": 3}


def test_a_program_without_an_event_loop_moves_in_the_same_way(tmp_path):
    with memoranda.open_sync(tmp_path / "book.db", worker=False) as own, Served(own) as address:
        with memoranda.open_sync(address) as book:
            receipt = book.remember("ann", "likes green tea")
            book.thread("ann").append("user", "which tea?")
            assert book.recall("ann", "green")[0].id == receipt.items[0].id
            book.profiles.patch("ann", {"city": "Lisbon"})
            assert book.profiles.get("ann") == {"city": "Lisbon"}
            assert book.episodes.search("ann") == []
            assert book.items.put("ann", ("a",), "x", 1).items
            assert list(book.admin.export("ann"))
        assert own.records.count("ann", types="memory") == 1


class Served:
    """A service over a synchronous book, on the book's own event loop."""

    def __init__(self, book: memoranda.SyncBook) -> None:
        self._book = book
        self._up, self._down = threading.Event(), threading.Event()
        self._address = ""

    def __enter__(self) -> str:
        self._thread = threading.Thread(target=lambda: self._book.run(self._serve()))
        self._thread.start()
        assert self._up.wait(20)
        return self._address

    async def _serve(self) -> None:
        async with served(self._book.book) as self._address:
            self._up.set()
            await asyncio.to_thread(self._down.wait)

    def __exit__(self, *of: object) -> None:
        self._down.set()
        self._thread.join()


async def test_the_key_comes_from_the_call_or_the_environment_and_is_never_shown(
    own_book, monkeypatch
):
    secret = (await own_book.keys.create("app", role="editor", owners=["ann"])).secret
    check = KeyCheck(own_book)

    async def authenticate(given):
        return None if given is None else await check.principal_of(given)

    async with served(own_book, authenticate=authenticate) as address:
        with pytest.raises(NotAllowed):
            await memoranda.open(address)
        with pytest.raises(NotAllowed) as refused:
            await memoranda.open(address, key="mem_wrong")
        assert "mem_wrong" not in str(refused.value)
        monkeypatch.setenv("MEMORANDA_KEY", secret)
        async with memoranda.open(address) as book:
            assert isinstance(book, RemoteBook)
            assert secret not in repr(book) + repr(vars(book)) + repr(book._link.transport)
            await book.remember("ann", "tea")
            with pytest.raises(NotFound, match="for this credential"):
                await book.remember("bob", "tea")


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"limits": memoranda.Limits()}, "limits"),
        ({"config": "x.toml"}, "config"),
        ({"audience": "global"}, "audience"),
        ({"secrets": "mask"}, "secrets"),
        ({"embed": "openai:x"}, "embed"),
        ({"models": "openai:x"}, "models"),
        ({"worker": True}, "worker"),
        ({"read_only": True}, "read_only"),
        ({"tenant": "other"}, "tenant"),
    ],
)
async def test_what_the_service_decides_is_refused_by_its_name(own_book, how, field):
    async with served(own_book) as address:
        with pytest.raises(InvalidInput) as refused:
            await memoranda.open(address, **how)
        assert refused.value.field == field


async def test_a_key_is_for_services_and_never_crosses_a_network_in_the_open(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="only the book of a service"):
        await memoranda.open(tmp_path / "book.db", key="mem_x")
    with pytest.raises(InvalidInput, match="use https://"):
        await memoranda.open("http://memory.example.com", key="mem_x")
    monkeypatch.setenv("MEMORANDA_PRIVATE_HOSTS", "other, unreachable.invalid")
    with pytest.raises(InvalidInput, match="use https://"):
        await memoranda.open("http://memory.example.com", key="mem_x")
    with pytest.raises(Busy, match="check the address"):
        await memoranda.open("http://unreachable.invalid", key="mem_x")
    with pytest.raises(InvalidInput, match="give the key as key="):
        await memoranda.open("https://user:word@memory.example.com")


async def test_an_address_without_a_service_says_so(own_book):
    with pytest.raises(Busy, match="check the address"):
        await memoranda.open("http://127.0.0.1:9")

    async def other(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    with pytest.raises(VersionMismatch, match="no service of Memoranda"):
        await open_remote("http://localhost", over=httpx2.ASGITransport(app=other))


async def test_what_cannot_cross_is_refused_with_where_to_do_it(own_book, tmp_path):
    async with served(own_book) as address, memoranda.open(address) as book:
        with pytest.raises(InvalidInput, match="run memoranda backup there"):
            await book.admin.backup(tmp_path / "copy.db")
        with pytest.raises(InvalidInput, match="progress"):
            await book.admin.verify(lambda done, of: None)
        with pytest.raises(InvalidInput, match="tokens"):
            await book.context("ann", "x", count=len)


async def test_a_write_whose_answer_is_lost_is_sent_again_and_done_once(own_book):
    lost: list[str] = []

    class Losing(httpx2.ASGITransport):
        async def handle_async_request(self, request):
            answer = await super().handle_async_request(request)
            if request.method == "POST" and len(lost) < 2:
                lost.append(request.headers["idempotency-key"])
                raise httpx2.ReadError("the answer is lost")
            return answer

    async with await open_remote("http://localhost", over=Losing(app=make_app(own_book))) as book:
        await book.remember("ann", "tea")
    assert len(lost) == 2 and len(set(lost)) == 1
    assert await own_book.records.count("ann") == 1
