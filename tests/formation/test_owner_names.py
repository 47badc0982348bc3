"""Tests of the owner's names: the only display name of a thread and the name in the profile mean
the owner.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.book import Book
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries, handle
from tests.formation.books import opened, settle


async def about(book: Book, owner: str = "user-8842") -> dict[str, tuple[str | None, str | None]]:
    page = await book.records.list(
        owner, types="memory", only={"statuses": ["active"]}, as_owner=True
    )
    return {one.content: (one.subject, one.key) for one in page.records if isinstance(one, Memory)}


def answer(request: ModelRequest, text: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "sources": [{"message": handle(request, text)}], **fields}


async def test_a_lone_display_name_is_the_owner(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        text = "I live in Berlin"
        operations = [{"op": "add", "path": "/home", "value": "Berlin"}]
        source = [{"message": handle(request, text)}]
        return {
            "notes": [
                answer(request, text, "Caroline lives in Berlin", subject="Caroline", key="home")
            ],
            "patches": [{"schema": "Profile", "operations": operations, "sources": source}],
        }

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "I live in Berlin.", speaker="Caroline")
        await thread.append("assistant", "How nice!", speaker="Melanie")
        await settle(book, clock)
        assert await about(book) == {"Caroline lives in Berlin": (None, "home")}
        assert await book.profiles.get("user-8842", agent="guide") == {"home": "Berlin"}
        assert [label for label, _ in entries(models.asked[0]).values()] != []
        assert "user Caroline" in models.asked[0].content
        said = [one for one in await thread.messages() if isinstance(one, Message)]
        (message,) = [one for one in said if one.role == "user"]
        assert message.speaker == "Caroline"


async def test_rules_take_a_lone_display_name_for_the_owner_as_well(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "I live in Berlin.", speaker="Caroline")
        await settle(book, clock)
        assert await about(book) == {"Lives in Berlin": (None, "home")}
        assert await book.profiles.get("user-8842", agent="guide") == {"home": "Berlin"}


@pytest.mark.parametrize("first", ["Ben", None, "user-8842"])
async def test_a_display_name_beside_another_speaker_is_not_the_owner(
    clock: HandClock, first: str | None
):
    async with opened("memory://", clock) as book:
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "Good morning.", speaker=first)
        for number in range(8):
            await thread.append("assistant", f"Hello {number}.")
        await settle(book, clock)
        # The first speaker is neither new nor in the turns before the new ones.
        await thread.append("user", "I live in Berlin.", speaker="Caroline")
        await settle(book, clock)
        assert await about(book) == {"Lives in Berlin": ("Caroline", "Caroline: home")}
        assert await book.profiles.get("user-8842", agent="guide") == {}


async def test_who_is_named_in_the_profile_stays_the_owner_when_others_join(clock: HandClock):
    async with opened("memory://", clock) as book:
        await book.profiles.patch("user-8842", {"name": "Caroline Weber"}, agent="guide")
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "I live in Lisbon.", speaker="Ben")
        await thread.append("user", "I live in Berlin.", speaker="Caroline")
        await settle(book, clock)
        assert await about(book) == {
            "Name: Caroline Weber": (None, "name"),
            "Lives in Berlin": (None, "home"),
            "Lives in Lisbon": ("Ben", "Ben: home"),
        }


async def test_a_lone_speaker_whom_the_profile_names_otherwise_is_somebody_else(clock: HandClock):
    async with opened("memory://", clock) as book:
        await book.profiles.patch("user-8842", {"name": "Caroline"}, agent="guide")
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "I live in Lisbon.", speaker="Ben")
        await settle(book, clock)
        assert await about(book) == {
            "Name: Caroline": (None, "name"),
            "Lives in Lisbon": ("Ben", "Ben: home"),
        }


@pytest.mark.parametrize("known", [True, False], ids=["in the profile", "in the same answer"])
async def test_the_name_in_the_profile_is_the_owner(clock: HandClock, known: bool):
    def say(request: ModelRequest) -> Said:
        text = "I'm Dana Okafor"
        patched = {
            "schema": "Profile",
            "operations": [{"op": "add", "path": "/name", "value": "Dana Okafor"}],
            "sources": [{"message": handle(request, text)}],
        }
        return {
            "notes": [
                answer(request, text, "Dana lives in Utrecht", subject="Dana", key="home"),
                answer(request, text, "Piotr owns billing", subject="Piotr", key="role"),
            ],
            "patches": [] if known else [patched],
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        if known:
            await book.profiles.patch("user-8842", {"name": "Dana Okafor"}, agent="guide")
        thread = await book.thread("user-8842", agent="guide")
        await thread.append("user", "I'm Dana Okafor. I live in Utrecht. Piotr owns billing.")
        await settle(book, clock)
        assert await about(book) == {
            "Name: Dana Okafor": (None, "name"),
            "Dana lives in Utrecht": (None, "home"),
            "Piotr owns billing": ("Piotr", "Piotr: role"),
        }
