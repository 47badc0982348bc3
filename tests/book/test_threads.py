"""Threads: their turns by number."""

from __future__ import annotations

from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput
from memoranda.model.messages import Message
from memoranda.model.query import Page


def numbers(page: Page) -> list[int]:
    return [message.seq for message in page if isinstance(message, Message)]


async def test_turns_are_read_by_their_numbers(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append([{"role": "user", "content": f"Turn {place}"} for place in range(1, 31)])
    await book.forget("ana", [(await thread.messages(first=12, last=12))[0].id], view="owner")
    assert numbers(await thread.messages(first=10, last=14)) == [10, 11, 13, 14]
    assert numbers(await thread.messages(first=29)) == [29, 30]
    assert numbers(await thread.messages(last=2)) == [1, 2]
    assert numbers(await thread.messages(first=5, last=4)) == numbers(await thread.messages(first=31)) == []
    # A range that is longer than a page is continued by the page's cursor, up to its end.
    page = await thread.messages(first=8, last=15, limit=3)
    assert numbers(page) == [8, 9, 10] and page.cursor is not None
    page = await thread.messages(first=8, last=15, limit=3, cursor=page.cursor)
    assert numbers(page) == [11, 13, 14] and page.cursor is not None
    page = await thread.messages(first=8, last=15, limit=3, cursor=page.cursor)
    assert (numbers(page), page.cursor) == ([15], None)
    wrong: list[dict[str, Any]] = [{"first": 0}, {"last": 0}, {"first": "1"}, {"last": 2.0}]
    for given in wrong:
        with pytest.raises(InvalidInput, match=next(iter(given))):
            await thread.messages(**given)
