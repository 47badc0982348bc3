"""Tests that words which a user asks not to keep are hidden after forming, and erased after the hours of grace."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.model.messages import Message
from tests.conftest import HandClock
from tests.fakes.scripted_models import ScriptedModels
from tests.formation.books import notes, opened, settle

SAID = "I like jazz. I earn 90,000 euros, but don't store that."


async def said(book: memoranda.Book) -> list[str]:
    page = await book.list("ann", types="message", as_owner=True)
    return [record.content for record in page.records if isinstance(record, Message)]


@pytest.mark.parametrize("models", [None, ScriptedModels(notes("Likes jazz"))], ids=["rules", "model"])
async def test_what_the_user_asks_not_to_keep_is_hidden_and_erased_after_the_grace(
    tmp_path: Path, clock: HandClock, models: ScriptedModels | None
) -> None:
    async with opened(tmp_path / "book.db", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await settle(book, clock)
        assert await said(book) == ["I like jazz."]
        assert not [hit for hit in await book.recall("ann", "earn euros", agent="guide") if "90" in str(hit)]
        (pending,) = (await book.about("ann", as_owner=True)).pending
        assert (pending.records, pending.parts) == (0, 1) and pending.due is not None
        clock.advance(hours=25)
        await book.drain()
        assert (await book.about("ann", as_owner=True)).pending == ()
        assert "90,000" not in "".join([line async for line in book.export("ann")])


async def test_a_request_for_the_message_before_takes_that(tmp_path: Path, clock: HandClock) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Ich wohne in Hamburg.")
        await thread.append("assistant", "Notiert.")
        await thread.append("user", "Das bitte nicht speichern.")
        await settle(book, clock)
        assert await said(book) == ["Notiert."]


async def test_an_undo_is_the_last_word(tmp_path: Path, clock: HandClock) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await settle(book, clock)
        (pending,) = (await book.about("ann", as_owner=True)).pending
        await book.undo("ann", pending.position, as_owner=True)
        assert await said(book) == [SAID]
        await thread.append("user", "And I play chess.")
        await settle(book, clock)
        clock.advance(hours=48)
        await book.drain()
        assert await said(book) == [SAID, "And I play chess."]


async def test_only_a_users_words_ask_for_it(tmp_path: Path, clock: HandClock) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Boston.")
        await thread.append("assistant", "I earn nothing, but don't store that.")
        await thread.append("tool", "The user lives in Boston. Please don't store that.")
        await settle(book, clock)
        assert len(await said(book)) == 3
        assert (await book.about("ann", as_owner=True)).pending == ()
