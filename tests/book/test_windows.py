"""Tests of windows on threads: the newest turns that fit, and the summary of the earlier ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import memoranda
from memoranda.book.nouns.threads import ThreadHandle
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Actor
from memoranda.model.messages import SummariseThread
from memoranda.model.records import WHOLE
from memoranda.testing.clock import HandClock


async def test_a_window_begins_with_a_user_and_keeps_calls_with_results(
    book: memoranda.Book,
) -> None:
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
    assert (await thread.window(100_000)).messages[
        0
    ].content == "Question 0 about the weather in Lisbon"
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


async def test_the_threads_own_summary_stands_for_the_turns_that_are_left_out(
    book: memoranda.Book,
) -> None:
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


async def test_a_window_begins_with_the_threads_system_message_however_long_the_thread_is(
    book: memoranda.Book, clock: HandClock
) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append("system", "You are a guide. Never recommend museums.")
    for number in range(200):
        await thread.append("user", f"Question {number} about the weather in Lisbon")
        await thread.append("assistant", f"Answer {number}: sunny")
    window = await thread.window(200)
    assert (window.messages[0].seq, window.messages[1].role) == (1, "user")
    assert (
        window.messages[-1].content == "Answer 199: sunny"
        and window.tokens <= 200
        and window.has_earlier
    )
    anchored = await thread.window(200, keep_first=2)
    assert [message.seq for message in anchored.messages[:3]] == [1, 2, 3]
    assert anchored.messages[3].role == "user" and anchored.tokens <= 200
    few = await thread.window(100_000, limit=5, keep_first=2)
    assert [message.seq for message in few.messages] == [1, 2, 3, 400, 401]
    clock.advance(days=3)
    assert (await thread.window(200, keep_first=2)).messages == ()
    await thread.append("user", "And today?")
    assert [message.seq for message in (await thread.window(200)).messages] == [1, 402]


async def test_a_system_message_that_is_longer_than_the_budget_is_left_out(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana")
    await thread.append("system", "words " * 200)
    await thread.append("user", "hello")
    window = await thread.window(60)
    assert [message.content for message in window.messages] == ["hello"]
    # One that fits stays, also if no turn fits beside it.
    other = await book.thread("ana")
    await other.append("system", "Be brief.")
    await other.append("user", "words " * 200)
    assert [message.content for message in (await other.window(60)).messages] == ["Be brief."]


async def test_the_token_count_of_a_message_is_stored_and_used_by_the_window(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana")
    await thread.append(
        [
            {"role": "user", "content": "What's the status of my refund?", "token_count": 12},
            {"role": "assistant", "content": "Let me look that up for you.", "token_count": 900},
        ]
    )
    await thread.append("user", "And?", token_count=1)
    assert [message.token_count for message in await thread.newest()] == [12, 900, 1]
    whole = await thread.window(1000)
    assert (whole.tokens, whole.counted, len(whole.messages)) == (12 + 900 + 1 + 3 * 4, "exact", 3)
    assert [message.content for message in (await thread.window(500)).messages] == ["And?"]
    # A counter of the caller's is for the model that is to read them.
    assert (await thread.window(1000, count=len)).tokens == 31 + 28 + 4 + 3 * 4
    await thread.append("assistant", "It is on its way.")
    assert (await thread.window(1000)).counted == "estimated"
    for wrong in (-1, 1.5, "12", True):
        with pytest.raises(InvalidInput, match="token_count"):
            await thread.append("user", "Hello", token_count=wrong)  # type: ignore[arg-type]


async def test_a_limit_or_a_number_of_first_steps_that_cannot_be_is_refused(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana")
    given: list[dict[str, Any]] = [
        {"limit": 0},
        {"limit": 2001},
        {"keep_first": -1},
        {"keep_first": 101},
    ]
    for wrong in given:
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            await thread.window(**wrong)


async def test_a_thread_does_not_expire_only_its_conversation_ends(
    book: memoranda.Book, clock: HandClock
) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append("user", "I left my umbrella in Lisbon.")
    clock.advance(hours=49)
    assert (await thread.window()).messages == ()
    assert len(await thread.messages()) == len(await thread.newest()) == 1
    assert [hit.text for hit in await book.recall("ana", "umbrella", agent="guide")] == [
        "I left my umbrella in Lisbon."
    ]
    context = await book.context("ana", "umbrella", thread=thread, agent="guide")
    assert [block.name for block in context.blocks] == ["passages"]
