"""Tests of find_traces: the memory, its dependents, parts of messages, and other texts that may
contain the fact.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import memoranda
from memoranda import Book, InvalidInput, NotFound
from memoranda.book.forgetting.look import NOT_OWN, SOMEBODY, SOURCE
from memoranda.model.memories import Memory
from memoranda.model.redactions import SOMEBODY_ELSE, Traces
from memoranda.model.values import new_id

OWNER = {"as_owner": True}


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        yield opened


async def said(
    book: Book, *texts: str, agent: str = "guide", audience: str = "global"
) -> list[str]:
    thread = await book.thread("ana", agent=agent, audience=audience)
    roles = ("user", "assistant")
    receipt = await thread.append(
        [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    )
    return [str(id) for id in receipt.ids("message")]


async def remembered(book: Book, content: str, **fields: object) -> str:
    given = {"agent": "guide", "audience": "global", **fields}
    return str((await book.remember("ana", content, **given)).id)  # type: ignore[arg-type]


def words(found: Traces) -> list[str]:
    return [one.text.strip() for one in found.spans]


async def test_the_parts_that_tell_it_are_found_in_everybodys_messages(book: Book) -> None:
    await said(
        book, "Hi! I live in Lisbon.", "So you live in Lisbon. Nice!", "My sister lives in Lisbon."
    )
    home = await remembered(book, "Lives in Lisbon", key="home")
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    assert words(found) == ["I live in Lisbon.", "So you live in Lisbon."]
    assert [(one.text, one.why) for one in found.listed] == [
        ("My sister lives in Lisbon.", SOMEBODY_ELSE)
    ]
    assert [str(one.id) for one in found.goes] == [home]
    assert found.removed["memory"] == 1
    assert len((await book.records.list("ana", as_owner=True)).records) == 5


async def test_a_listed_part_goes_with_the_others_once_it_is_named(book: Book) -> None:
    await said(book, "My sister lives in Lisbon.")
    home = await remembered(book, "Lives in Lisbon")
    (listed,) = (await book.forgetting.find_traces("ana", home, as_owner=True)).listed
    found = await book.forgetting.find_traces("ana", home, take=[listed.name], as_owner=True)
    assert (words(found), found.listed) == (["My sister lives in Lisbon."], ())
    with pytest.raises(InvalidInput, match="take: this view may take no part called 'x'"):
        await book.forgetting.find_traces("ana", home, take=["x"], as_owner=True)


async def test_words_ask_for_the_memory_that_they_clearly_mean(book: Book) -> None:
    await said(book, "I live in Lisbon.")
    home = await remembered(book, "Lives in Lisbon", key="home")
    await remembered(book, "Is allergic to nuts")
    found = await book.forgetting.find_traces("ana", about="where I live", as_owner=True)
    assert [str(memory.id) for memory in found.memories] == [home]
    assert not found.is_ambiguous and found.scores[found.memories[0].id] > 0
    assert words(found) == ["I live in Lisbon."]


async def test_words_that_may_mean_several_memories_list_them_and_nothing_else(book: Book) -> None:
    await said(book, "I like green tea.", "You like black tea.")
    ids = {await remembered(book, "Likes green tea"), await remembered(book, "Likes black tea")}
    found = await book.forgetting.find_traces("ana", about="tea", as_owner=True)
    assert found.is_ambiguous
    assert {str(memory.id) for memory in found.memories} == ids == {str(id) for id in found.scores}
    assert (found.spans, found.goes, found.still_tells, dict(found.removed)) == ((), (), (), {})


async def test_words_that_mean_nothing_find_no_memory(book: Book) -> None:
    await remembered(book, "Lives in Lisbon")
    found = await book.forgetting.find_traces("ana", about="shoe size", as_owner=True)
    assert (found.memories, found.spans) == ((), ())


async def test_a_positional_argument_is_an_id_and_is_never_searched_for(book: Book) -> None:
    await remembered(book, "Lives in Lisbon")
    with pytest.raises(NotFound, match="'Lisbon' is no id of the book"):
        await book.forgetting.find_traces("ana", "Lisbon", as_owner=True)
    with pytest.raises(NotFound, match="this view sees no memory"):
        await book.forgetting.find_traces("ana", new_id(), as_owner=True)
    (message,) = await said(book, "I live in Lisbon.")
    with pytest.raises(NotFound, match="find_traces looks for the fact that a memory states"):
        await book.forgetting.find_traces("ana", message, as_owner=True)
    with pytest.raises(InvalidInput, match="give the id of a memory, or words"):
        await book.forgetting.find_traces("ana", as_owner=True)


async def test_memories_that_say_the_same_go_and_earlier_ones_under_the_key_are_shown_apart(
    book: Book,
) -> None:
    old = await remembered(book, "Lives in Boston", key="home")
    home = await remembered(book, "Lives in Lisbon", key="home")
    same = await remembered(book, "The user lives in Lisbon", agent="other", audience="self")
    await remembered(book, "Lives in Lisbon", subject="Mia", agent="other")
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    assert {str(id) for id in found.ids} == {home, same}
    assert [str(memory.id) for memory in found.earlier] == [old]
    assert {str(trace.id) for trace in found.goes} == {home, same}


async def test_nothing_is_warned_of_by_rule_but_facts_of_others_with_the_same_value_are_named(
    book: Book,
) -> None:
    await said(book, "I earn 65,000 euros.", "Anything else?", "The Tagus is lovely!")
    pay = await remembered(book, "Earns 65,000 euros", key="salary")
    wife = await remembered(book, "Wife Mia earns 65,000 euros")
    await remembered(book, "Has two sisters")
    found = await book.forgetting.find_traces("ana", pay, as_owner=True)
    assert [(str(trace.id), trace.why) for trace in found.still_tells] == [(wife, SOMEBODY)]
    assert words(found) == ["I earn 65,000 euros."]


async def test_a_source_that_says_it_in_other_words_is_named(book: Book) -> None:
    (message,) = await said(book, "Moved south for good, to the seven hills.")
    home = await remembered(book, "Lives in Lisbon", sources=[message])
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    assert [(str(one.id), one.why) for one in found.still_tells] == [(message, SOURCE)]


async def test_episodes_lose_sentences_and_a_profile_items_and_a_title_that_somebody_gave_stays(
    book: Book,
) -> None:
    await book.thread("ana", title="A flat in Lisbon", agent="guide", audience="global")
    receipt = await book.episodes.record(
        "ana",
        goal="Find a flat",
        summary="Rented one. It is in Lisbon.",
        outcome="succeeded",
        as_owner=True,
    )
    await book.profiles.patch("ana", set={"interests": ["walks in Lisbon", "tea"]}, as_owner=True)
    home = await remembered(book, "Lives in Lisbon", key="home")
    await book.forget("ana", home, as_owner=True)
    episode = await book.records.get("ana", receipt.id, as_owner=True)
    assert (episode.goal, episode.summary) == ("Find a flat", "Rented one.")  # type: ignore[attr-defined]
    assert (await book.profiles.get("ana", as_owner=True))["interests"] == ["tea"]
    (thread,) = await book.records.list("ana", types="thread", as_owner=True)
    assert thread.title == "A flat in Lisbon"  # type: ignore[attr-defined]


async def test_an_agent_may_take_only_what_it_may_forget_and_is_told_of_the_rest(
    book: Book,
) -> None:
    await said(book, "I live in Lisbon.", agent="guide")
    await said(book, "Yes, I live in Lisbon!", agent="other")
    await said(book, "Psst, I live in Lisbon.", agent="third", audience="self")
    home = await remembered(book, "Lives in Lisbon")
    theirs = await remembered(book, "Lives in Lisbon", agent="other")
    found = await book.forgetting.find_traces("ana", home, agent="guide")
    assert words(found) == ["I live in Lisbon."]
    not_own = {trace.text.strip() for trace in found.still_tells if trace.why == NOT_OWN}
    assert not_own == {"I live in Lisbon", "Lives in Lisbon"}
    assert [str(id) for id in found.ids] == [home]
    assert not any("Psst" in trace.text for trace in found.still_tells)
    seen = await book.forgetting.find_traces("ana", theirs, agent="guide")
    assert {str(id) for id in seen.ids} == {home}


async def test_a_long_list_is_bounded_and_says_how_much_more_there_is(book: Book) -> None:
    home = await remembered(book, "Lives in Lisbon")
    for at in range(105):
        await remembered(book, f"Cousin number {at} lives in Lisbon")
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    assert (len(found.still_tells), found.more) == (100, 5)


async def test_the_memory_of_another_owner_is_not_found(book: Book) -> None:
    home = await remembered(book, "Lives in Lisbon")
    with pytest.raises(NotFound):
        await book.forgetting.find_traces("ben", home, as_owner=True)
    assert isinstance(await book.records.get("ana", home, as_owner=True), Memory)
