"""A client repeats requests safely after a refusal or a lost answer, and reports a stream that was
cut.
"""

from __future__ import annotations

import httpx2
import pytest

from memoranda.client import open_remote
from memoranda.errors import InvalidInput, OutcomeUnknown, StorageError
from memoranda.service.app import make_app

FORGET = "/forget"


class Network(httpx2.ASGITransport):
    """A network that answers in place of the service, or after it, as a test says."""

    def __init__(self, book, **how) -> None:
        super().__init__(app=make_app(book))
        self.sent: list[httpx2.Request] = []
        self.refusals: list[httpx2.Response] = how.get("refusals", [])
        self.loses: str = how.get("loses", "no path")
        self.cuts: bool = how.get("cuts", False)

    async def handle_async_request(self, request):
        if request.url.path != "/v1":
            self.sent.append(request)
            if self.refusals:
                return self.refusals.pop()
        answer = await super().handle_async_request(request)
        if request.url.path.endswith(self.loses):
            raise httpx2.ReadError("the answer is lost")
        if self.cuts and request.url.path == "/v1/export":
            whole = await answer.aread()
            return httpx2.Response(200, content=whole[: len(whole) // 2])
        return answer


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """The seconds that a client would have waited."""
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        # Long work in the book lets others run, which takes no time.
        if seconds:
            waited.append(seconds)

    monkeypatch.setattr("memoranda.client.transport.asyncio.sleep", wait)
    return waited


async def test_a_refused_write_is_sent_again_with_its_id_after_the_pause_that_is_asked_for(
    own_book, pauses
):
    refusals = [
        httpx2.Response(status, headers={"Retry-After": "7"}, json={}) for status in (503, 429)
    ]
    network = Network(own_book, refusals=refusals)
    async with await open_remote("http://localhost", over=network) as book:
        await book.remember("ann", "tea")
    assert len({request.headers["idempotency-key"] for request in network.sent}) == 1
    assert len(network.sent) == 3 and pauses == [7.0, 7.0]


async def test_what_has_no_operation_id_is_not_sent_twice(own_book, pauses):
    kept = (await own_book.remember("ann", "tea")).id
    network = Network(own_book, loses=FORGET)
    async with await open_remote("http://localhost", over=network) as book:
        with pytest.raises(OutcomeUnknown, match="look before you repeat it"):
            await book.forget("ann", kept, as_owner=True)
    assert len(network.sent) == 1 and pauses == []


async def test_an_export_that_is_cut_off_is_no_export(own_book):
    await own_book.memories.remember_all("ann", [{"content": f"tea {n}"} for n in range(5)])
    async with await open_remote("http://localhost", over=Network(own_book, cuts=True)) as book:
        with pytest.raises(StorageError, match="broke off within line"):
            [line async for line in book.admin.export("ann")]


async def test_an_operation_id_in_any_script_is_the_same_in_the_book_and_over_a_service(
    book, own_book
):
    receipt = await book.remember("ann", "tea", operation="é-1 ✓")
    known = await own_book.records.operation("ann", "é-1 ✓")
    assert known is not None and known.items == receipt.items
    assert (await own_book.remember("ann", "tea", operation="é-1 ✓")).repeated


@pytest.mark.parametrize("operation", [" a", "a\nb", ""])
async def test_an_operation_id_that_no_header_takes_is_refused(book, operation):
    with pytest.raises(InvalidInput, match="operation"):
        await book.remember("ann", "tea", operation=operation)
