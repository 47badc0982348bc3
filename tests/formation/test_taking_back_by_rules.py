"""A user takes statements back: the rules retract exactly these, without a language model."""

from __future__ import annotations

import pytest

from memoranda.formation.rules import Known, may_take_back, taken_back
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.testing.clock import HandClock
from tests.formation.books import known, opened, settle


@pytest.mark.parametrize(
    ("turns", "held"),
    [
        (["I love sushi.", "I don't like sushi anymore."], []),
        (["I love sushi and tea.", "I can't stand sushi."], ["Dislikes sushi", "Likes tea"]),
        (["I'm allergic to nuts.", "I'm not allergic to nuts after all."], []),
        (["I live in Paris.", "I don't live in Paris anymore."], []),
        (["I work at Google.", "I got laid off from Google."], []),
        (["I'm a vegetarian.", "I eat meat again."], []),
        (["I live in Boston.", "Forget that I live in Boston."], []),
        (["My name is Tom.", "Actually it's Thom, not Tom."], ["Is called Thom"]),
        (["I have a dog called Rex.", "Rex died last night."], []),
        (["My wife Kim loves tea.", "Kim and I split up."], []),
        (["Always answer in French.", "You can answer in English again."], []),
        (["I'm pregnant.", "I gave birth on Sunday!"], []),
        (["Ich mag Sushi.", "Sushi mag ich nicht mehr."], []),
        (
            ["Ich wohne in Kiel.", "Ich wohne nicht mehr in Kiel, sondern in Bonn."],
            ["Wohnt in Bonn"],
        ),
        (["Me gusta el sushi.", "Ya no me gusta el sushi."], []),
        (["Soy vegano.", "He vuelto a comer carne."], []),
        (["J'aime les sushis.", "Je n'aime plus les sushis."], []),
        (["Je suis infirmière.", "J'ai démissionné."], []),
        (["I like sushi.", "Ich mag kein Sushi mehr."], []),
    ],
)
async def test_what_a_user_takes_back_is_held_no_longer(
    clock: HandClock, turns: list[str], held: list[str]
) -> None:
    assert await _held_after(clock, turns) == held
    assert await _held_after(clock, turns, at_once=True) == held


@pytest.mark.parametrize(
    ("turns", "held"),
    [
        (["I'm allergic to nuts.", "I don't live in Rome anymore."], ["Is allergic to nuts"]),
        (["I have asthma.", "I don't have a car."], ["Has asthma"]),
        (["I have asthma.", "I'm done with asthma podcasts."], ["Has asthma"]),
        (["I love tea.", "My father doesn't like tea anymore."], ["Likes tea"]),
        (["I love tea.", 'She wrote "I don\'t like tea anymore".'], ["Likes tea"]),
        (["I love tea.", "If I didn't like tea anymore, what else is there?"], ["Likes tea"]),
        (["I love tea.", "Is tea no longer served in Leeds?"], ["Likes tea"]),
        (["I work at Wegmans.", "I got a week off from Wegmans!"], ["Works at Wegmans"]),
        (["I have a dog called Rex.", "My friend's dog died."], ["Has a dog called Rex"]),
        (
            ["I like jazz.", "Let's play: I'm Rex, you're the DJ.", "I don't like jazz anymore."],
            ["Likes jazz"],
        ),
    ],
)
async def test_nothing_else_goes_with_it(
    clock: HandClock, turns: list[str], held: list[str]
) -> None:
    assert await _held_after(clock, turns) == held


async def _held_after(clock: HandClock, turns: list[str], *, at_once: bool = False) -> list[str]:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for turn in turns:
            await thread.append("user", turn)
            if not at_once:
                await settle(book, clock)
        await settle(book, clock)
        return await known(book)


async def test_a_statement_taken_back_names_its_message_leaves_the_profile_and_returns_by_undo(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Boston and I like jazz.")
        await settle(book, clock)
        await thread.append("user", "Forget that I live in Boston.")
        await settle(book, clock)
        messages = await book.records.list("ann", types="message", as_owner=True)
        told = max(messages.records, key=lambda record: record.recorded_at)
        page = await book.records.list(
            "ann", types="memory", only={"statuses": ["retracted"]}, as_owner=True
        )
        [gone] = [record for record in page.records if isinstance(record, Memory)]
        assert gone.content == "Lives in Boston" and gone.status is MemoryStatus.RETRACTED
        assert str(told.id) in gone.reason
        profile = await book.profiles.get("ann", agent="guide")
        assert profile == {"interests": ["jazz"]}
        steps = await book.records.history("ann", gone.id, as_owner=True)
        await book.undo("ann", max(step.position for step in steps), as_owner=True)
        assert "Lives in Boston" in await known(book)


async def test_what_somebody_pinned_wrote_or_told_an_agent_in_private_stays(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Boston.")
        await settle(book, clock)
        page = await book.records.list("ann", types="memory", as_owner=True)
        await book.memories.amend("ann", page.records[0].id, {"pinned": True}, agent="guide")
        await book.remember("ann", "Likes Boston baked beans", agent="guide")
        other = await book.thread("ann", agent="other", audience="self")
        await other.append("user", "I like Boston.")
        await settle(book, clock)
        await thread.append("user", "Forget that I live in Boston. I don't like Boston anymore.")
        await settle(book, clock)
        assert await known(book) == ["Likes Boston", "Likes Boston baked beans", "Lives in Boston"]


async def test_a_thread_that_is_formed_again_takes_back_the_same(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I love sushi and tea.")
        await settle(book, clock)
        await thread.append("user", "I don't like sushi anymore.")
        await settle(book, clock)
        await thread.form_again()
        await settle(book, clock)
        assert await known(book) == ["Likes tea"]


def test_a_message_without_such_words_takes_nothing_back() -> None:
    assert not may_take_back("I like jazz, and I live in Oslo.")
    assert may_take_back("I don't like jazz anymore.")


@pytest.mark.parametrize(
    "piece", ["I'm not a ", "ya no ", "je ne suis plus ", "nicht mehr ", "not a but ", "I don't x "]
)
def test_a_hundred_thousand_characters_of_denial_end(piece: str) -> None:
    whole = (piece * 100_000)[:100_000]
    old = [Known(place, "likes", f"thing {place}") for place in range(100)]
    for text in (whole, ". ".join([whole[:590]] * 160)):
        assert len(taken_back(text, old)) <= len(old)
