"""Forgetting a fact: the memory, those that say the same and the parts of messages that tell it;
dry runs and plans.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Book, Conflict, InvalidInput, NotAllowed, NotFound, Stale, SyncBook, open_sync
from memoranda.model.messages import Message
from memoranda.model.records import Owner
from memoranda.model.values import new_id


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


async def said(book: Book, *texts: str, agent: str = "guide", **fields: Any) -> list[str]:
    thread = await book.thread("ana", agent=agent, audience="global")
    roles = ("user", "assistant")
    drafts = [{"role": roles[at % 2], "content": text, **fields} for at, text in enumerate(texts)]
    return [str(id) for id in (await thread.append(drafts)).ids("message")]


async def remembered(book: Book, content: str, **fields: Any) -> str:
    return str(
        (
            await book.remember(
                "ana", content, **{"agent": "guide", "audience": "global", **fields}
            )
        ).id
    )


async def told(book: Book) -> set[str]:
    """Return the texts of all messages and memories."""
    page = await book.records.list("ana", types=["message", "memory"], as_owner=True)
    return {record.content for record in page.records}  # type: ignore[attr-defined]


async def test_forgetting_a_memory_takes_the_words_that_tell_it_out_of_all_messages(
    book: Book,
) -> None:
    await said(
        book, "Hi! I live in Lisbon.", "So you live in Lisbon. Nice!", "My sister lives in Lisbon."
    )
    home = await remembered(book, "Lives in Lisbon", key="home")
    same = await remembered(book, "The user lives in Lisbon", agent="other", audience="self")
    receipt = await book.forget("ana", home, as_owner=True)
    assert await told(book) == {"Hi!", "Nice!", "My sister lives in Lisbon."}
    assert {str(id) for id in receipt.ids} == {home, same}
    assert len(receipt.redacted) == 2
    assert [trace.text for trace in receipt.still_tells] == ["My sister lives in Lisbon."]
    assert "may still be told by 1" in repr(receipt)
    found = [hit.text for hit in await book.recall("ana", "live in Lisbon", as_owner=True)]
    assert found[0] == "My sister lives in Lisbon." and not any("I live" in text for text in found)


async def test_a_message_that_says_nothing_else_goes_whole(book: Book) -> None:
    (message,) = await said(book, "I live in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", home, as_owner=True)
    assert {str(id) for id in receipt.ids} == {home, message}
    assert await told(book) == set()


async def test_a_call_of_a_tool_loses_the_fact_and_stays_a_pair_with_its_result(book: Book) -> None:
    call = {"part_kind": "tool-call", "tool_name": "remember", "tool_call_id": "c1"}
    args = {"content": "Lives in Lisbon", "key": "home"}
    result = {
        "part_kind": "tool-return",
        "tool_name": "remember",
        "tool_call_id": "c1",
        "content": "Kept: home",
    }
    (first,) = await said(book, "(…)", native=[{**call, "args": args}])
    (second,) = await said(book, "(…)", native=[result])
    home = await remembered(book, "Lives in Lisbon", key="home")
    await book.forget("ana", home, as_owner=True)
    left = await book.records.get("ana", first, as_owner=True)
    assert isinstance(left, Message)
    assert left.native == [{**call, "args": {"content": "", "key": "home"}}]
    assert (await book.records.get("ana", second, as_owner=True)).native == [result]  # type: ignore[attr-defined]


async def test_the_record_alone_goes_where_that_is_asked_for(book: Book) -> None:
    await said(book, "I live in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", home, what="record", as_owner=True)
    assert await told(book) == {"I live in Lisbon."}
    assert (receipt.redacted, receipt.still_tells) == ((), ())
    with pytest.raises(InvalidInput, match="what: 'all' is none of fact, record"):
        await book.forget("ana", home, what="all", as_owner=True)  # type: ignore[arg-type]


async def test_messages_and_memories_are_forgotten_in_one_call_each_as_what_it_is(
    book: Book,
) -> None:
    gone, _ = await said(book, "I like tea. I live in Lisbon.", "You live in Lisbon. Fine.")
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", [home, gone], as_owner=True)
    assert await told(book) == {"Fine."}
    assert {str(id) for id in receipt.ids} == {home, gone}


async def test_a_dry_run_changes_nothing_and_its_plan_does_what_it_showed(book: Book) -> None:
    await said(book, "Hi! I live in Lisbon.", "My brother lives in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    before = await told(book)
    planned = await book.forget("ana", home, dry_run=True, as_owner=True)
    assert planned.state == "planned" and planned.plan is not None
    assert planned.removed["memory"] == 1
    assert await told(book) == before
    assert [one.text.strip() for one in planned.plan.spans] == ["I live in Lisbon."]
    done = await book.forget("ana", plan=planned, as_owner=True)
    assert (done.state, done.plan) == ("complete", None)
    assert done.ids == planned.ids
    assert await told(book) == {"Hi!", "My brother lives in Lisbon."}


async def test_what_find_traces_shows_is_a_plan_too_with_the_parts_that_were_named(
    book: Book,
) -> None:
    await said(book, "Hi! My brother lives in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    (listed,) = (await book.forgetting.find_traces("ana", home, as_owner=True)).listed
    plan = await book.forgetting.find_traces("ana", home, take=[listed.name], as_owner=True)
    await book.forget("ana", plan=plan, as_owner=True)
    assert await told(book) == {"Hi!"}


async def test_a_plan_is_refused_if_something_changed_in_between_and_says_what(book: Book) -> None:
    (first,) = await said(book, "Hi! I live in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    plan = await book.forgetting.find_traces("ana", home, as_owner=True)
    (later,) = await said(book, "Yes! I live in Lisbon.")
    with pytest.raises(Stale, match=f"these records tell it as well: {later}"):
        await book.forget("ana", plan=plan, as_owner=True)
    plan = await book.forgetting.find_traces("ana", home, as_owner=True)
    await book.forgetting.redact("ana", first, 0, 4, as_owner=True)
    with pytest.raises(Stale, match=f"parts of these records are not as they were: {first}"):
        await book.forget("ana", plan=plan, as_owner=True)
    plan = await book.forgetting.find_traces("ana", home, as_owner=True)
    same = await remembered(book, "Lives in Lisbon", agent="other", audience="self")
    with pytest.raises(Stale, match=f"these records say the same, or did: {same}"):
        await book.forget("ana", plan=plan, as_owner=True)
    plan = await book.forgetting.find_traces("ana", home, as_owner=True)
    await book.forget("ana", home, what="record", as_owner=True)
    with pytest.raises(Stale, match=f"the records are gone: {home}"):
        await book.forget("ana", plan=plan, as_owner=True)
    assert len(await told(book)) == 3


async def test_words_forget_the_one_memory_that_they_mean(book: Book) -> None:
    await said(book, "I live in Lisbon.")
    await remembered(book, "Lives in Lisbon", key="home")
    await remembered(book, "Likes green tea")
    await remembered(book, "Likes black tea")
    with pytest.raises(
        Conflict, match="'tea' may mean several memories, and nothing was forgotten"
    ):
        await book.forget("ana", about="tea", as_owner=True)
    with pytest.raises(NotFound, match="no memory that this view sees answers 'shoe size'"):
        await book.forget("ana", about="shoe size", as_owner=True)
    await book.forget("ana", about="where I live", as_owner=True)
    assert await told(book) == {"Likes green tea", "Likes black tea"}


async def test_a_former_value_read_in_the_same_forming_goes_with_the_fact(book: Book) -> None:
    await said(book, "I live in Lisbon.", "Nice!", "I've moved, I live in Porto now.")
    await book.form("ana")
    await book.forget("ana", about="where I live", as_owner=True)
    assert await told(book) == {"Nice!"}


async def test_one_call_names_what_to_forget_in_one_way(book: Book) -> None:
    home = await remembered(book, "Lives in Lisbon")
    with pytest.raises(InvalidInput, match="give only one of ids, about"):
        await book.forget("ana", home, about="home", as_owner=True)
    with pytest.raises(NotFound, match="'where I live' is no id of the book"):
        await book.forget("ana", "where I live", as_owner=True)
    plan = await book.forgetting.find_traces("ana", home, as_owner=True)
    with pytest.raises(InvalidInput, match="made for another owner or view"):
        await book.forget("ana", plan=plan, agent="guide")
    with pytest.raises(InvalidInput, match="pass what find_traces or a dry run"):
        await book.forget("ana", plan=7, as_owner=True)  # type: ignore[arg-type]


async def test_an_agent_forgets_its_own_part_and_is_told_what_still_tells_of_it(book: Book) -> None:
    await said(book, "Hi! I live in Lisbon.", agent="guide")
    await said(book, "Yes! I live in Lisbon.", agent="other")
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", home, agent="guide")
    assert await told(book) == {"Hi!", "Yes! I live in Lisbon."}
    assert [trace.text for trace in receipt.still_tells] == ["I live in Lisbon."]
    theirs = await remembered(book, "Lives in Lisbon", agent="other")
    with pytest.raises(NotAllowed):
        await book.forget("ana", theirs, agent="guide")


async def test_another_fact_in_the_same_sentence_keeps_its_memory(book: Book) -> None:
    (message,) = await said(book, "I live in Lisbon and I am allergic to nuts.")
    home = await remembered(book, "Lives in Lisbon", sources=[message])
    await remembered(book, "Is allergic to nuts", sources=[message])
    await book.forget("ana", home, as_owner=True)
    assert await told(book) == {"I am allergic to nuts.", "Is allergic to nuts"}


async def test_memories_and_episodes_with_a_sentence_that_tells_it_go_and_others_stay(
    book: Book,
) -> None:
    home = await remembered(book, "Lives in Lisbon", key="home")
    await remembered(book, "Has lived in Lisbon with two cats")
    await remembered(book, "Sister Mia lives in Lisbon", subject="Mia")
    await remembered(
        book, "Lived in Lisbon before Porto", key="home", agent="other", audience="self"
    )
    for summary in ("Rented a flat. The user lives in Lisbon now.", "Bought tea."):
        await book.episodes.record(
            "ana", goal="Help", summary=summary, outcome="succeeded", as_owner=True
        )
    await book.forget("ana", home, as_owner=True)
    assert await told(book) == {"Sister Mia lives in Lisbon", "Lived in Lisbon before Porto"}
    episodes = await book.records.list("ana", types="episode", as_owner=True)
    left = [record.summary for record in episodes.records]  # type: ignore[attr-defined]
    assert sorted(left) == ["Bought tea.", "Rented a flat."]


async def test_a_part_of_a_message_is_taken_out_by_its_place(book: Book) -> None:
    (message,) = await said(book, "Hi! I live in Lisbon. Bye.")
    receipt = await book.forgetting.redact("ana", message, 4, 22, as_owner=True)
    assert await told(book) == {"Hi! Bye."}
    assert [str(one.message) for one in receipt.redacted] == [message]
    with pytest.raises(InvalidInput, match="end: it lies before start"):
        await book.forgetting.redact("ana", message, 4, 4, as_owner=True)
    with pytest.raises(InvalidInput, match="has no characters 4 to 99"):
        await book.forgetting.redact("ana", message, 4, 99, as_owner=True)
    with pytest.raises(NotFound, match="this view sees no message"):
        await book.forgetting.redact("ana", new_id(), 0, 1, as_owner=True)
    with pytest.raises(NotAllowed):
        await book.forgetting.redact("ana", message, 0, 2, agent="other")


async def test_a_dry_run_of_everything_counts_what_would_go(book: Book) -> None:
    await said(book, "Hi!", "Hello!")
    planned = await book.forget("ana", everything=True, dry_run=True, as_owner=True)
    assert (planned.state, planned.removed["message"]) == ("planned", 2)
    assert len(await told(book)) == 2
    nobody = await book.forget(Owner(id="ben"), everything=True, dry_run=True, as_owner=True)
    assert (nobody.state, dict(nobody.removed)) == ("planned", {})


def test_the_synchronous_book_forgets_facts_too(tmp_path: Path) -> None:
    with open_sync(tmp_path / "book.db", embed=None) as opened:
        assert isinstance(opened, SyncBook)
        thread = opened.thread("ana", agent="guide", audience="global")
        thread.append("user", "Hi! I live in Lisbon.")
        home = opened.remember("ana", "Lives in Lisbon", agent="guide", audience="global").id
        assert len(opened.forgetting.find_traces("ana", home, as_owner=True).spans) == 1
        opened.forget("ana", home, as_owner=True)
        (left,) = thread.messages()
        assert left.content == "Hi!"  # type: ignore[attr-defined]
        opened.forgetting.redact("ana", left.id, 2, 3, as_owner=True)
        assert [message.content for message in thread.messages()] == ["Hi"]  # type: ignore[attr-defined]


async def test_others_are_answered_while_thousands_of_texts_are_compared(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await said(book, *[f"In Lisbon I met friend {at}." for at in range(100)])
    home = await remembered(book, "Lives in Lisbon", key="home")
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    # On this clock a second passes at each look at it.
    monkeypatch.setattr("memoranda.tasks.monotonic", count().__next__)
    beside = asyncio.create_task(others())
    await book.forget("ana", home, as_owner=True, dry_run=True)
    beside.cancel()
    assert turns > len(ids)


async def test_earlier_versions_of_profiles_and_threads_keep_nothing_of_it(book: Book) -> None:
    doctor = await remembered(book, "Her doctor is Quillfeather")
    await book.profiles.patch("ana", {"doctor": "Quillfeather", "town": "Bonn"}, agent="a")
    unset = await book.profiles.patch("ana", unset=["doctor"], agent="a")
    thread = await book.thread("ana", name="chat", agent="a")
    await thread.set(title="Her doctor is Quillfeather", state={"next": "a visit"})
    await thread.set(title="A visit")
    await book.forget("ana", doctor, as_owner=True)
    lines = [line async for line in book.admin.export("ana")]
    assert not any("Quillfeather" in line for line in lines)
    with pytest.raises((Conflict, NotAllowed, NotFound)):
        await book.undo("ana", unset.position, agent="a")
    assert await book.profiles.get("ana", agent="a") == {"town": "Bonn"}
    got = await thread.get()
    assert (got.title, got.state) == ("A visit", {"next": "a visit"})


async def test_what_a_program_says_of_a_thread_and_a_condition_go_where_they_tell_it(
    book: Book,
) -> None:
    doctor = await remembered(book, "Her doctor is Quillfeather")
    thread = await book.thread("ana", name="chat", agent="a")
    await thread.set(
        title="Her doctor is Quillfeather. A visit",
        state={"known": ["her doctor is Quillfeather", "she is ill"], "n": 4},
        result="Her doctor is Quillfeather. She went.",
        tags=["visit"],
    )
    for condition in ("Her doctor is Quillfeather", "it rains"):
        await remembered(book, "Needs time to park", applies_when=condition)
    await book.forget("ana", doctor, as_owner=True)
    got = await thread.get()
    assert (got.title, got.state) == ("A visit", {"known": ["she is ill"], "n": 4})
    assert (got.result, got.tags) == ("She went.", ("visit",))
    page = await book.records.list("ana", types="memory", as_owner=True)
    assert [one.applies_when for one in page.records] == ["it rains"]  # type: ignore[attr-defined]


async def test_calls_with_a_field_of_content_are_looked_through(book: Book) -> None:
    doctor = await remembered(book, "Her doctor is Quillfeather")
    call = {"tool": "say", "inputs": {"content": "hello"}, "output": {"text": "Quillfeather"}}
    episode = await book.episodes.record(
        "ana", goal="Say hello", outcome="succeeded", tool_calls=[call], as_owner=True
    )
    await book.episodes.record("ana", goal="Go", outcome="succeeded", as_owner=True)
    await book.forget("ana", doctor, as_owner=True)
    left = await book.records.get("ana", episode.id, as_owner=True)
    assert "Quillfeather" not in repr(left.model_dump())
