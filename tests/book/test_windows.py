"""Windows on threads: the newest turns that fit, and what stands for the earlier ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

import memoranda
from memoranda.book.verbs.thread_handle import ThreadHandle
from memoranda.errors import InvalidInput
from memoranda.model.changes import SummariseThread
from memoranda.model.ledger import Actor
from memoranda.model.records import WHOLE
from tests.conftest import HandClock


async def test_a_window_begins_with_a_user_and_keeps_calls_with_results(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    call = {"role": "assistant", "tool_calls": [{"id": "c1"}]}
    result = {"role": "tool", "tool_call_id": "c1"}
    for number in range(30):
        await thread.append("user", f"Question {number} about the weather in Lisbon")
        await thread.append("assistant", "I look it up", native=call)
        await thread.append("tool", "sunny", native=result)
        await thread.append("assistant", f"Answer {number}: sunny")
    window = await thread.window(400)
    assert window.messages[0].role == "user" and window.messages[-1].content == "Answer 29: sunny"
    assert window.has_earlier and window.tokens <= 400 and len(window.messages) % 4 == 0
    assert (await thread.window(100_000)).messages[0].content == "Question 0 about the weather in Lisbon"
    assert not (await thread.window(100_000)).has_earlier
    shorter = await thread.window(400, summary="They spoke about the weather. " * 20)
    assert shorter.summary and shorter.tokens <= 400
    assert len(shorter.messages) < len(window.messages)
    counted = await thread.window(400, count=lambda text: len(text.split()))
    assert counted.counted == "exact" and counted.tokens <= 400


async def test_a_summary_that_does_not_fit_is_left_out(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    await thread.append("user", "hello")
    window = await thread.window(20, summary="words " * 100)
    assert (window.summary, [message.content for message in window.messages]) == ("", ["hello"])


async def test_the_newest_turn_goes_before_the_summary(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    await thread.append("user", "hello " * 10)
    window = await thread.window(25, summary="words " * 15)
    assert (window.summary, len(window.messages)) == ("", 1)


async def test_a_message_that_is_too_long_leaves_the_window_empty(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    await thread.append("user", "words " * 1000)
    window = await thread.window(50)
    assert window.messages == () and window.has_earlier


async def summed_up(thread: ThreadHandle, summary: str, through: int) -> None:
    """A summary as formation stores it."""
    change = SummariseThread(thread.id, summary, through)
    door = thread._services.door
    await door.write(thread.owner, WHOLE, Actor("system"), [change], request=[summary])


async def test_the_threads_own_summary_stands_for_the_turns_that_are_left_out(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    for place in range(20):
        await thread.append("user", f"Turn {place} is about the weather and the garden.")
    await summed_up(thread, "They spoke about the weather.", 10)
    window = await thread.window(150)
    assert window.summary == "They spoke about the weather."
    assert window.messages[-1].seq == 20 and window.tokens <= 150
    assert (await thread.window(5000)).summary == ""
    assert (await thread.window(150, summary="")).summary == ""
    assert (await thread.window(150, summary="The caller's.")).summary == "The caller's."
    tight = await book.context("ana", thread=thread.id, budget=300, mark_used=False)
    assert "[summary of earlier turns] They spoke about the weather." in tight.text
    roomy = await book.context("ana", thread=thread.id, budget=5000, mark_used=False)
    assert "They spoke about the weather." not in roomy.text
    assert thread.id not in {one.id for one in roomy.left_out}


async def test_a_long_silence_ends_the_window_and_nothing_else(
    book: memoranda.Book, clock: HandClock
) -> None:
    thread = await book.thread("ana")
    await thread.append("user", "I drink tea.")
    clock.advance(minutes=50)
    await thread.append("assistant", "Noted.")
    await summed_up(thread, "They spoke of tea.", 2)
    hour = timedelta(hours=1)
    clock.advance(minutes=50)
    assert len((await thread.window(max_gap=hour)).messages) == 2
    clock.advance(minutes=50)
    ended = await thread.window(max_gap=hour)
    assert (ended.messages, ended.summary, ended.has_earlier) == ((), "They spoke of tea.", True)
    assert len((await thread.window()).messages) == len(await thread.newest()) == 2
    await thread.append("user", "And now?")
    begun = await thread.window(max_gap=hour)
    assert [message.content for message in begun.messages] == ["And now?"]
    assert (begun.summary, begun.has_earlier) == ("They spoke of tea.", True)
    with pytest.raises(InvalidInput):
        await thread.window(max_gap=timedelta())
