"""Retracting a faulty source retracts statements without another source; one undo restores all of
them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.errors import Busy, InvalidInput, NotFound
from memoranda.model.memories import Memory


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path):
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        yield opened


async def remembered(book, content, *sources):
    return (await book.remember("ana", content, sources=list(sources), as_owner=True)).id


async def held(book):
    page = await book.records.list("ana", types="memory", as_owner=True)
    return {
        memory.content for memory in page.records if isinstance(memory, Memory) and memory.active
    }


async def test_what_rests_on_a_faulty_message_alone_falls_and_comes_back_with_one_undo(book):
    thread = await book.thread("ana", agent="guide", audience="global")
    wrong = (await thread.append("tool", "Ana moved to Oslo")).id
    right = (await thread.append("user", "I like fish")).id
    oslo = await remembered(book, "Lives in Oslo", wrong)
    await remembered(book, "Lives in Norway", oslo)
    both = await remembered(book, "Likes fish from Oslo", wrong, right)
    await remembered(book, "Buys fish", both, oslo)
    await remembered(book, "Said freely")
    receipt = await book.memories.retract_source(
        "ana", wrong, reason="the tool was broken", as_owner=True
    )
    assert await held(book) == {"Likes fish from Oslo", "Buys fish", "Said freely"}
    assert (await book.records.get("ana", oslo, as_owner=True)).reason == "the tool was broken"
    assert {part.code for part in receipt.ignored} == {"grounded"} and len(receipt.ignored) == 2
    undone = await book.undo("ana", receipt.position, as_owner=True)
    assert len(await held(book)) == 5
    await book.undo("ana", undone.position, as_owner=True)
    assert len(await held(book)) == 3
    assert (await book.admin.verify()).faults == ()


async def test_an_episode_stays_and_what_was_concluded_from_it_falls(book):
    thread = await book.thread("ana", agent="guide", audience="global")
    wrong = (await thread.append("tool", "Refunded")).id
    done = await book.episodes.record(
        "ana", goal="Refund", outcome="succeeded", sources=[wrong], as_owner=True
    )
    await remembered(book, "Was refunded", done.id)
    receipt = await book.memories.retract_source("ana", wrong, as_owner=True)
    assert [(part.code, part.id) for part in receipt.ignored] == [("immutable", done.id)]
    assert await held(book) == set()
    await remembered(book, "Was refunded in cash", done.id)
    await book.memories.retract_source("ana", done.id, as_owner=True)
    assert await held(book) == set()


async def test_what_two_faulty_sources_bear_falls_with_the_second(book):
    thread = await book.thread("ana", agent="guide", audience="global")
    one, two = [(await thread.append("tool", text)).id for text in ("a", "b")]
    first = await remembered(book, "From the first", one)
    await remembered(book, "From both", first, two)
    await book.memories.retract_source("ana", one, as_owner=True)
    assert await held(book) == {"From both"}
    await book.memories.retract_source("ana", two, as_owner=True)
    assert await held(book) == set()


async def test_what_an_agent_learnt_of_it_alone_serves_no_more_until_it_is_undone(book):
    thread = await book.thread("ana", agent="guide", audience="global")
    wrong = (await thread.append("user", "Be brief")).id
    line = (
        await book.experience.add("guide", "heuristics", "Keep it short", evidence={"ana": [wrong]})
    ).id

    async def serving():
        return [each.id for each in await book.experience.list("guide", for_user="ana")]

    assert await serving() == [line]
    receipt = await book.memories.retract_source("ana", wrong, as_owner=True)
    assert receipt.items == () and receipt.position > 0
    assert await serving() == [] and len(await book.experience.list("guide")) == 1
    undone = await book.undo("ana", receipt.position, as_owner=True)
    assert await serving() == [line]
    again = await book.undo("ana", undone.position, as_owner=True)
    assert await serving() == []
    await book.undo("ana", again.position, as_owner=True)
    assert await serving() == [line]
    await book.memories.retract_source("ana", wrong, as_owner=True)
    await book.forget("ana", wrong, as_owner=True)
    assert await book.experience.list("guide") == []


async def test_only_a_message_or_an_episode_that_is_seen_is_doubted(book):
    thread = await book.thread("ana", agent="guide")
    said = (await thread.append("user", "mine")).id
    memory = (await book.remember("ana", "Mine too", sources=[said], agent="guide")).id
    for source in (memory, thread.id):
        with pytest.raises(InvalidInput, match="source"):
            await book.memories.retract_source("ana", source, as_owner=True)
    for owner, who in (("ana", {"agent": "other"}), ("ben", {"as_owner": True})):
        with pytest.raises(NotFound):
            await book.memories.retract_source(owner, said, **who)
    assert await held(book) == {"Mine too"}


async def test_a_repeated_request_is_applied_once(book):
    thread = await book.thread("ana", agent="guide", audience="global")
    wrong = (await thread.append("tool", "Ana moved")).id
    await remembered(book, "Moved", wrong)
    first = await book.memories.retract_source("ana", wrong, operation="x", as_owner=True)
    again = await book.memories.retract_source("ana", wrong, operation="x", as_owner=True)
    assert (again.position, again.items, again.repeated) == (first.position, first.items, True)


async def test_what_fails_after_the_commit_is_left_to_do_and_the_same_call_does_it(
    book, monkeypatch
):
    thread = await book.thread("ana", agent="guide", audience="global")
    wrong = (await thread.append("user", "Be brief")).id
    line = (
        await book.experience.add("guide", "heuristics", "Keep it short", evidence={"ana": [wrong]})
    ).id
    busy = True
    owners = book.engine.owners

    async def busy_then_not(tenant):
        if busy:
            raise Busy("the book is held by another process")
        return await owners(tenant)

    monkeypatch.setattr(book.engine, "owners", busy_then_not)

    async def serving():
        return [each.id for each in await book.experience.list("guide", for_user="ana")]

    receipt = await book.memories.retract_source("ana", wrong, as_owner=True)
    assert receipt.position > 0 and "held by another process" in receipt.left_to_do
    assert await serving() == [line]
    busy = False
    operation = receipt.left_to_do.split("operation=")[1].strip("'")
    again = await book.memories.retract_source("ana", wrong, as_owner=True, operation=operation)
    assert (again.repeated, again.left_to_do, await serving()) == (True, "", [])
    busy = True
    undone = await book.undo("ana", receipt.position, as_owner=True)
    assert undone.left_to_do and await serving() == []
    busy = False
    operation = undone.left_to_do.split("operation=")[1].strip("'")
    assert (
        await book.undo("ana", receipt.position, as_owner=True, operation=operation)
    ).left_to_do == ""
    assert await serving() == [line]


async def test_a_faulty_message_takes_the_fields_of_the_profile_that_came_from_it_alone(
    book: memoranda.Book,
) -> None:
    who = {"agent": "coach"}
    thread = await book.thread("ana", agent="coach")
    await thread.append("user", "I like tea.")
    await thread.form()
    wrong = await thread.append("user", "I like chess. I like tea.")
    await thread.form()
    assert (await book.profiles.get("ana", **who))["interests"] == ["tea", "chess"]  # type: ignore[arg-type]
    receipt = await book.memories.retract_source("ana", wrong.id, agent="coach")
    # Tea was said in another message, too.
    assert (await book.profiles.get("ana", **who))["interests"] == ["tea"]  # type: ignore[arg-type]
    assert "chess" not in (await book.context("ana", agent="coach", types=["profile"])).text
    await book.undo("ana", receipt.position, agent="coach")
    assert (await book.profiles.get("ana", **who))["interests"] == ["tea", "chess"]  # type: ignore[arg-type]


async def test_a_field_that_comes_from_a_faulty_message_alone_is_gone_and_an_edit_stays(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="coach")
    wrong = await thread.append("user", "I like chess.")
    await thread.form()
    await book.profiles.patch("ana", {"town": "Bonn"}, agent="coach")
    await book.memories.retract_source("ana", wrong.id, agent="coach")
    assert await book.profiles.get("ana", agent="coach") == {"town": "Bonn"}
    assert (await book.admin.verify()).faults == ()
