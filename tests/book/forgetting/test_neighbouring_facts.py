"""Forgetting takes a fact as its owner says it in everyday talk, and leaves the facts beside it."""

from __future__ import annotations

import pytest

import memoranda
from memoranda import Book, Conflict, InvalidInput
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import those_of

#: What is said, by whom; the memory to forget; what is left of the memories, of the messages and of
#: the profile's interests.
TALKS = {
    "one of two things that a verb names": (
        [("user", "I'm allergic to walnuts and penicillin.")],
        "Is allergic to walnuts",
        ["Is allergic to penicillin"],
        ["penicillin."],
        [],
    ),
    "somebody else's fact with the owner's value": (
        [("user", "I am 42. My sister is 42.")],
        "Sister is 42",
        ["Is 42 years old"],
        ["I am 42."],
        [],
    ),
    "somebody else's fact in a message of its own": (
        [("user", "I am 42."), ("user", "My sister is 42.")],
        "Sister is 42",
        ["Is 42 years old"],
        ["I am 42."],
        [],
    ),
    "a value that another one contains": (
        [("user", "I like tea. I like green tea.")],
        "Likes green tea",
        ["Likes tea"],
        ["I like tea."],
        ["tea"],
    ),
    "what somebody does not like": (
        [("user", "I don't like mushrooms."), ("assistant", "You do not like mushrooms.")],
        "Dislikes mushrooms",
        [],
        [],
        [],
    ),
    "the same liking in another word": (
        [("user", "My hobbies are chess and hiking. I love chess.")],
        "Likes chess",
        ["Likes hiking"],
        ["hiking."],
        ["hiking"],
    ),
}


async def memories_of(book: Book) -> list[Memory]:
    return those_of(Memory, await book.records.list("ana", types="memory", as_owner=True))


async def messages_of(book: Book) -> list[str]:
    messages = those_of(Message, await book.records.list("ana", types="message", as_owner=True))
    return [message.content for message in messages]


@pytest.mark.parametrize("name", TALKS)
async def test_a_fact_goes_and_those_beside_it_stay(name: str) -> None:
    said, forgotten, memories, messages, interests = TALKS[name]
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as book:
        thread = await book.thread("ana", agent="coach")
        for role, text in said:
            await thread.append(role, text)
        await thread.form()
        known = {memory.content: memory.id for memory in await memories_of(book)}
        await book.forget("ana", known[forgotten], as_owner=True)
        assert [memory.content for memory in await memories_of(book)] == memories
        assert await messages_of(book) == messages
        profiles = those_of(
            ProfileDocument, await book.records.list("ana", types="profile", as_owner=True)
        )
        assert [item for one in profiles for item in one.body.get("interests", [])] == interests
        assert (await book.admin.verify()).faults == ()


async def test_a_number_in_digits_goes_where_it_is_said_what_it_is() -> None:
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as book:
        thread = await book.thread("ana", agent="coach")
        for text in ("Salary: 1500", "1500 euros, noted.", "Ticket 1500 is open."):
            await thread.append("assistant", text)
        pay = await book.remember("ana", "Earns 1500 euros", key="salary", agent="coach")
        await book.forget("ana", pay.id, as_owner=True)
        assert await messages_of(book) == ["Ticket 1500 is open."]


@pytest.mark.parametrize(
    ("memory", "repeated"),
    [
        ("Is forty-two years old", "You are 42 years old."),
        ("Earns sixty-five thousand euros", "65,000 euros, noted."),
        ("Verdient fünfundsechzig tausend Euro", "Gehalt: 65.000 Euro."),
    ],
)
async def test_a_number_that_the_memory_spells_out_goes_in_digits(
    memory: str, repeated: str
) -> None:
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as book:
        thread = await book.thread("ana", agent="coach")
        for text in (repeated, "Bus 42 costs 65 cents."):
            await thread.append("assistant", text)
        told = await book.remember("ana", memory, agent="coach")
        await book.forget("ana", told.id, as_owner=True)
        assert await messages_of(book) == ["Bus 42 costs 65 cents."]


async def test_a_question_about_somebody_else_is_not_answered_by_a_memory_of_the_owner() -> None:
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as book:
        for content in ("Is 42 years old", "Lives in Rome"):
            await book.remember("ana", content, agent="coach")
        for about in ("my sister's age in years", "where my brother lives"):
            with pytest.raises(
                Conflict, match="may mean several memories, and nothing was forgotten"
            ):
                await book.forget("ana", about=about, as_owner=True)
        own = await book.forget("ana", about="where I live", as_owner=True)
        assert own.state == "complete"
        assert [memory.content for memory in await memories_of(book)] == ["Is 42 years old"]


async def test_only_earlier_values_can_be_kept() -> None:
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as book:
        tea = await book.remember("ana", "Likes tea", agent="coach")
        cake = await book.remember("ana", "Likes cake", agent="coach")
        with pytest.raises(
            InvalidInput, match=f"{cake.id} is no earlier value of what is forgotten"
        ):
            await book.forget("ana", tea.id, keep=[cake.id], as_owner=True)
        assert len(await memories_of(book)) == 2
