"""Threads get a title when they are formed, unless somebody has set one."""

from __future__ import annotations

import pytest

from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from tests.formation.books import opened, settle


async def test_rules_take_the_title_from_the_users_first_turn(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("assistant", "What can I do for you?")
        await thread.append(
            "user", "Where do I find\n good pizza? " + "I have been walking for hours. " * 10
        )
        await settle(book, clock)
        title = (await thread.get()).title
        assert title.startswith("Where do I find good pizza? I have been") and title.endswith("…")
        assert len(title) <= 81 and " hour…" not in title
        await thread.append("user", "And tea?")
        await settle(book, clock)
        assert (await thread.get()).title == title
        # The title is gone with the words that it was made from, and a new one is made from what is
        # said next.
        await book.forget("ann", [(await thread.messages(first=2, last=2))[0].id], as_owner=True)
        assert (await thread.get()).title == ""
        await thread.append("user", "Where is the station?")
        await settle(book, clock)
        assert (await thread.get()).title == "Where is the station?"
        # The whole first request is the goal, not the cut title.
        await thread.close("completed")
        await settle(book, clock)
        (episode,) = await book.episodes.list("ann", as_owner=True)
        assert episode.goal == "And tea?"


async def test_a_title_is_of_the_first_turn_however_many_say_nothing(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            [{"role": "user", "content": f"What is number {place}?"} for place in range(70)]
        )
        await thread.append("user", "I like jazz.")
        await settle(book, clock)
        assert (await thread.get()).title == "What is number 0?"


async def test_a_title_that_somebody_set_stays(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        first = await book.thread("ann", agent="guide", title="Holidays")
        second = await book.thread("ann", agent="guide")
        for thread in (first, second):
            await thread.append("user", "Where do I find good pizza?")
        await settle(book, clock)
        await second.set(title="Dinner")
        for thread in (first, second):
            await thread.append("user", "And tea?")
        await settle(book, clock)
        assert [(await thread.get()).title for thread in (first, second)] == ["Holidays", "Dinner"]


@pytest.mark.parametrize("title", ["Pizza in the old town", "", 7, None, "  ", "many words " * 50])
async def test_a_model_gives_the_title_in_its_one_answer(clock: HandClock, title: object) -> None:
    said: Said = {"title": title}
    models = ScriptedModels([said])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Where do I find good pizza?")
        await settle(book, clock)
        made = (await thread.get()).title
        assert len(models.asked) == 1
        if title == "Pizza in the old town":
            assert made == title
        elif isinstance(title, str) and title.strip():
            assert made.startswith("many words many") and len(made) <= 81
        else:
            assert made == "Where do I find good pizza?"
