"""Facts that are named by words or by a key: several at once, each looked for by itself and all
forgotten in one operation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Book, Conflict, InvalidInput, NotFound
from memoranda.cli.commands.forget_commands import plan_lines
from memoranda.model.redactions import Traces

BOTH = "my salary and my address"


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


async def filled(book: Book, *texts: str) -> None:
    thread = await book.thread("ana", agent="guide", audience="global")
    await thread.append([{"role": "user", "content": text} for text in texts])
    await remembered(book, "Earns 65,000 euros", key="salary")
    await remembered(book, "Lives in Lisbon", key="address")
    await remembered(book, "Is 42 years old", key="age")


async def remembered(book: Book, content: str, **fields: Any) -> str:
    return str(
        (
            await book.remember(
                "ana", content, **{"agent": "guide", "audience": "global", **fields}
            )
        ).id
    )


async def told(book: Book) -> set[str]:
    page = await book.records.list("ana", types=["message", "memory"], as_owner=True)
    return {record.content for record in page.records}  # type: ignore[attr-defined]


def named(found: Traces) -> set[str]:
    return {memory.content for memory in found.memories}


async def test_words_for_two_facts_forget_both_and_nothing_else(book: Book) -> None:
    await filled(
        book, "I live in Lisbon and I like tea. My pay is 65k.", "I'm 42 and my dog is called Rex."
    )
    found = await book.forgetting.find_traces("ana", about=BOTH, as_owner=True)
    assert named(found) == {"Earns 65,000 euros", "Lives in Lisbon"}
    await book.forget("ana", about=BOTH, as_owner=True)
    assert await told(book) == {
        "I like tea.",
        "I'm 42 and my dog is called Rex.",
        "Is 42 years old",
    }


async def test_each_of_several_facts_is_found_as_if_it_were_alone(book: Book) -> None:
    await filled(book, "My age: 42.", "I make 65k.", "I live in Lisbon.")
    await book.forget("ana", about="my age, my salary and my address", as_owner=True)
    assert await told(book) == set()


async def test_a_sentence_that_two_facts_leave_without_a_word_of_its_own_goes_whole(
    book: Book,
) -> None:
    await filled(
        book, "I'm 42 and I earn 65,000 euros as usual.", "I'm 42, live in Lisbon and earn 65k."
    )
    await book.forget("ana", about="my age and my salary", as_owner=True)
    assert await told(book) == {"live in Lisbon.", "Lives in Lisbon"}


async def test_a_memory_with_a_word_of_each_part_is_one_fact(book: Book) -> None:
    await remembered(book, "Likes salt and pepper")
    await remembered(book, "Owns a pepper mill")
    assert named(
        await book.forgetting.find_traces("ana", about="salt and pepper", as_owner=True)
    ) == {"Likes salt and pepper"}


async def test_a_part_that_no_memory_answers_is_named_and_nothing_is_forgotten(book: Book) -> None:
    await filled(book, "I live in Lisbon.")
    with pytest.raises(
        NotFound, match="about: no memory that this view sees answers 'my shoe size'"
    ):
        await book.forget("ana", about="my salary and my shoe size", as_owner=True)
    assert len(await told(book)) == 4


async def test_a_key_names_its_memory_and_the_earlier_values(book: Book) -> None:
    await filled(book, "I live in Porto. Tea is fine.", "I live in Lisbon.")
    await remembered(book, "Lives in Porto", key="home")
    home = await remembered(book, "Lives in Faro", key="home")
    found = await book.forgetting.find_traces("ana", key="home", as_owner=True)
    assert [str(memory.id) for memory in found.memories] == [home]
    await book.forget("ana", key="home", as_owner=True)
    left = await told(book)
    assert {"Tea is fine.", "I live in Lisbon.", "Lives in Lisbon"} <= left
    assert not any("Porto" in text or "Faro" in text for text in left)


async def test_a_key_of_different_statements_names_none(book: Book) -> None:
    await remembered(book, "Lives in Faro", key="home")
    await remembered(book, "Likes the dark theme", key="home", agent="other", audience="self")
    assert (await book.forgetting.find_traces("ana", key="home", as_owner=True)).is_ambiguous
    with pytest.raises(Conflict, match="key: 'home' may mean several memories"):
        await book.forget("ana", key="home", as_owner=True)
    with pytest.raises(NotFound, match="key: no memory that this view sees has the key 'car'"):
        await book.forget("ana", key="car", as_owner=True)
    with pytest.raises(InvalidInput, match="give only one of about, key"):
        await book.forget("ana", about="home", key="home", as_owner=True)


async def test_a_plan_takes_what_goes_with_the_named_memory_and_looks_for_no_other_fact(
    book: Book,
) -> None:
    await filled(book, "I moved from Rome to Oslo.", "My flat in Oslo is small.")
    rome = await remembered(book, "Lives in Rome", key="home")
    moved = await remembered(book, "Moved from Rome to Oslo")
    await remembered(book, "Lives in Oslo", key="home")
    found = await book.forgetting.find_traces("ana", rome, as_owner=True)
    assert {str(one) for one in found.ids} == {rome, moved}
    await book.forget("ana", plan=found, as_owner=True)
    left = await told(book)
    assert {"My flat in Oslo is small.", "Lives in Oslo"} <= left and not {"Lives in Rome"} & left


async def test_a_plan_of_many_facts_has_twelve_lines_and_quotes_nothing_twice(book: Book) -> None:
    towns = ["Lisbon", "Oslo", "Bonn", "Kiel", "Lyon"]
    await filled(
        book, *(f"In {town} I earned 65,000 euros, as is known in {town}." for town in towns)
    )
    await remembered(book, "Wife earns 65,000 euros")
    await remembered(book, "Lives in Oslo", key="address")
    found = await book.forgetting.find_traces(
        "ana", about="my age, my salary and my address", as_owner=True
    )
    lines = plan_lines(found)
    assert len(lines) <= 12 and len(lines) == len(set(lines))
    assert [line for line in lines if line.startswith("forget: ")] == [
        "forget: “Is 42 years old”",
        "forget: “Earns 65,000 euros”",
        "forget: “Lives in Oslo”",
    ]
    quoted = [line.split("“")[1].split("”")[0] for line in lines if "“" in line]
    assert len(quoted) == len(set(quoted))


async def test_a_plan_counts_the_places_that_it_quotes(book: Book) -> None:
    await filled(book, "Hi! I live in Lisbon.", "I live in Lisbon.")
    lines = plan_lines(await book.forgetting.find_traces("ana", key="address", as_owner=True))
    assert lines[1:3] == ["2 places tell it:", "  “I live in Lisbon.” (message, message, whole)"]
