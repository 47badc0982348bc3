"""Threads: their turns by number, and feedback on the work in them."""

from __future__ import annotations

from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput, NotFound, Stale
from memoranda.model.messages import Message
from memoranda.model.query import Page


def numbers(page: Page) -> list[int]:
    return [message.seq for message in page if isinstance(message, Message)]


async def test_a_thread_is_printed_as_its_id_and_its_owner(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    assert repr(thread) == f"<{type(thread).__name__} {thread.id} of ana>"


async def test_turns_are_read_by_their_numbers(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append([{"role": "user", "content": f"Turn {place}"} for place in range(1, 31)])
    await book.forget("ana", [(await thread.messages(first=12, last=12))[0].id], as_owner=True)
    assert numbers(await thread.messages(first=10, last=14)) == [10, 11, 13, 14]
    assert numbers(await thread.messages(first=29)) == [29, 30]
    assert numbers(await thread.messages(last=2)) == [1, 2]
    assert (
        numbers(await thread.messages(first=5, last=4))
        == numbers(await thread.messages(first=31))
        == []
    )
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


async def test_feedback_is_stored_with_who_gave_it_and_what_it_is_about(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append("user", "Where do I find good pizza?")
    await thread.append("assistant", "Ask somebody.")
    first = await thread.feedback(
        "Basic answers are not useful.", rating=2, about=2, operation="f1"
    )
    again = await thread.feedback(
        "Basic answers are not useful.", rating=2, about=2, operation="f1"
    )
    assert again.repeated and again.ids() == first.ids()
    await thread.feedback(rating=5, by="Reviewer")
    *_, one, two = await thread.newest()
    assert (one.role, one.content, one.speaker) == ("user", "Basic answers are not useful.", None)
    assert one.feedback is not None and (one.feedback.rating, one.feedback.about) == (2, 2)
    assert (two.content, two.speaker, str(two.feedback)) == (
        "Rating: 5 of 5",
        "Reviewer",
        "feedback 5 of 5",
    )
    context = await book.context("ana", "pizza", thread=thread, agent="guide")
    assert "user, feedback 2 of 5 on turn 2" in context.text
    # Feedback on a task that is done is taken, too.
    await thread.close("completed")
    await thread.feedback("Thank you.")
    assert [message.feedback is None for message in await thread.newest(5)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("text", {}),
        ("text", {"text": " "}),
        ("rating", {"rating": 6}),
        ("rating", {"text": "Well", "rating": True}),
        ("about", {"text": "Well", "about": 99}),
        ("about", {"text": "Well", "about": 0}),
        ("by", {"text": "Well", "by": ""}),
    ]
    for field, given in wrong:
        with pytest.raises(InvalidInput, match=field if field != "by" else "speaker"):
            await thread.feedback(**given)


async def test_a_turn_and_the_state_of_the_work_are_stored_in_one_operation(
    book: memoranda.Book,
) -> None:
    thread, lock = await book.thread("ann", name="task"), await book.thread("ann", name="lock")
    said = [{"role": "user", "content": "Book a table"}]
    await thread.append(
        said, state={"step": 1}, expect={thread.id: 1, lock.id: 1}, operation="first"
    )
    again = await thread.append(
        said, state={"step": 1}, expect={thread.id: 1, lock.id: 1}, operation="first"
    )
    assert again.repeated
    await lock.set(state={"held": True}, expect={lock.id: 1, thread.id: 2})
    for expect in ({thread.id: 1}, {thread.id: 2, lock.id: 1}):
        with pytest.raises(Stale):
            await thread.append("user", "At eight", state={"step": 2}, expect=expect)
        with pytest.raises(Stale):
            await thread.set(state={"step": 2}, expect=expect)
    assert (await thread.get()).state == {"step": 1}
    assert len((await thread.messages()).records) == 1
    with pytest.raises(InvalidInput):
        await thread.append("user", "At eight", expect=2)  # type: ignore[arg-type]


async def test_a_thread_is_opened_by_its_name_in_one_round_trip(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await book.thread("ana", name="talk", agent="guide")
    kind: Any = type(book.engine)
    read, trips = kind.read, []

    async def noted(self: Any, *given: Any, **named: Any) -> Any:
        trips.append(given)
        return await read(self, *given, **named)

    monkeypatch.setattr(kind, "read", noted)
    assert (await book.thread("ana", id="talk", agent="guide")).id == made.id
    assert len(trips) == 1
    with pytest.raises(NotFound, match="talk"):
        await book.thread("ana", id="talk", agent="other")
    with pytest.raises(NotFound, match="talk"):
        await book.thread("bo", id="talk", agent="guide")
