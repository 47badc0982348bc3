"""A sentence that tells two facts: forgetting one leaves the memory of the other, wherever the book
is read or moved to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import memoranda
from memoranda import Book
from memoranda.model.changes import Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import Message
from memoranda.model.records import EVERYONE, WHOLE, Owner
from memoranda.model.values import new_id, utc_now

ANA = Owner(id="ana")
BOTH = "As a nurse of 42 I earn 65,000 euros."


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


async def said(book: Book, content: str, role: str = "user") -> Message:
    thread = await book.thread("ana")
    (id,) = (await thread.append(role, content)).ids("message")
    return await book.records.get("ana", id, as_owner=True)  # type: ignore[return-value]


async def formed(book: Book, content: str, *sources: Message) -> Memory:
    """Store a memory that quotes the whole text of each source."""
    cited = [Cited(message=one.id, quote=one.content) for one in sources]
    memory = Memory(
        id=new_id(), owner=ANA, audience=EVERYONE, content=content, observed_at=utc_now(),
        sources=tuple(one.id for one in sources), quotes=tuple(cited),
    )  # fmt: skip
    await book.door.write(
        ANA, WHOLE, Actor("application"), [Remember(memory, audience=EVERYONE)], request=None
    )
    return memory


async def left_of(book: Book, memory: Memory) -> Memory:
    return await book.records.get("ana", memory.id, as_owner=True)  # type: ignore[return-value]


async def test_the_other_memory_lives_on_and_why_says_that_its_words_are_gone(book: Book) -> None:
    message = await said(book, BOTH)
    pay, age = (
        await formed(book, "Earns 65,000 euros", message),
        await formed(book, "Is 42 years old", message),
    )
    await book.forget("ana", pay.id, as_owner=True)
    left = await left_of(book, age)
    gone = Cited(message=message.id, forgotten=message.observed_at.date())
    assert (left.content, left.quotes) == ("Is 42 years old", (gone,))
    why = await book.why("ana", age.id, as_owner=True)
    assert [(one.id, one.quote, one.gone) for one in why.sources] == [(message.id, "", True)]
    assert "65,000" not in "".join([line async for line in book.admin.export()])


async def test_its_quote_stays_gone_through_an_export_and_an_import(
    book: Book, tmp_path: Path
) -> None:
    message = await said(book, BOTH)
    pay, age = (
        await formed(book, "Earns 65,000 euros", message),
        await formed(book, "Is 42 years old", message),
    )
    whole = [line async for line in book.admin.export()]
    await book.forget("ana", pay.id, as_owner=True)
    left, lines = await left_of(book, age), [line async for line in book.admin.export()]
    async with memoranda.open("memory://", embed=None) as other:
        await other.admin.import_(lines)
        assert (await left_of(other, age)).quotes == left.quotes
    # What was exported before does not bring the words back.
    await book.admin.import_(whole)
    assert (await left_of(book, age)).quotes == left.quotes
    assert "65,000" not in "".join([line async for line in book.admin.export()])
