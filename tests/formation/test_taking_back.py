"""What a user takes back in a conversation is held no longer."""

from __future__ import annotations

import pytest

from memoranda.model.language_models import ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import TALK, known, notes, opened, settle


@pytest.mark.parametrize(
    ("role", "text", "held"),
    [
        ("user", "Forget that I like jazz.", []),
        ("assistant", "Forget that you like jazz.", ["Likes jazz"]),
        ("user", "Forget the weather.", ["Likes jazz"]),
    ],
)
async def test_what_a_user_takes_back_is_held_no_longer_and_may_be_said_again(
    clock: HandClock, role: str, text: str, held: list[str]
):
    def say(request: ModelRequest) -> Said:
        if "Forget" not in request.content or "Anew" in request.content:
            return notes("Likes jazz")(request)
        return {
            "retracts": [
                {
                    "memory": handle(request, "Likes jazz"),
                    "sources": [{"message": handle(request, "Forget")}],
                }
            ]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
        await thread.append(role, text)
        await settle(book, clock)
        assert await known(book) == held
        await thread.append("user", "Anew: I like jazz.")
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
