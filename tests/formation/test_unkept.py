"""Tests that words which a user asks not to keep are hidden after forming, and erased after the
hours of grace.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.model.messages import Message
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import ScriptedModels
from tests.formation.books import notes, opened, settle

SAID = "I like jazz. I earn 90,000 euros, but don't store that."


async def said(book: memoranda.Book) -> list[str]:
    page = await book.records.list("ann", types="message", as_owner=True)
    return [record.content for record in page.records if isinstance(record, Message)]


@pytest.mark.parametrize(
    "models", [None, ScriptedModels(notes("Likes jazz"))], ids=["rules", "model"]
)
async def test_what_the_user_asks_not_to_keep_is_hidden_and_erased_after_the_grace(
    tmp_path: Path, clock: HandClock, models: ScriptedModels | None
) -> None:
    async with opened(tmp_path / "book.db", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", SAID)
        await settle(book, clock)
        assert await said(book) == ["I like jazz."]
        assert not [
            hit for hit in await book.recall("ann", "earn euros", agent="guide") if "90" in str(hit)
        ]
        (pending,) = (await book.about("ann", as_owner=True)).pending
        assert (pending.records, pending.parts) == (0, 1) and pending.due is not None
        clock.advance(hours=25)
        await book.jobs.run()
        assert (await book.about("ann", as_owner=True)).pending == ()
        assert "90,000" not in "".join([line async for line in book.admin.export("ann")])


async def test_a_request_for_the_message_before_takes_that(
    tmp_path: Path, clock: HandClock
) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Ich wohne in Hamburg.")
        await thread.append("assistant", "Notiert.")
        await thread.append("user", "Das bitte nicht speichern.")
        await settle(book, clock)
        assert await said(book) == ["Notiert."]


@pytest.mark.parametrize(
    "wish",
    [
        "Don't write that down.",
        "- don't write it down, please",
        "Please forget what I just said, thanks.",
        "don't remember this",
        "Don't make a note of that in your notes.",
        "Merk dir das bitte nicht.",
        "Vergiss, was ich gerade gesagt habe.",
        "No lo apuntes, por favor.",
        "N'enregistre pas ça.",
        "Oublie ce que je viens de dire.",
    ],
)
@pytest.mark.parametrize("between", [" ", "\n"], ids=["one message", "two messages"])
async def test_nothing_stays_of_a_secret_and_the_wish_not_to_keep_it(
    tmp_path: Path, clock: HandClock, wish: str, between: str
) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for text in f"4539 1488 0343 6467{between}{wish}".split("\n"):
            await thread.append("user", text)
        await settle(book, clock)
        assert await said(book) == []
        assert not list(await book.recall("ann", "card number", agent="guide"))
        assert "hidden" not in (await book.context("ann", "card number", agent="guide")).text
        await thread.append(
            "user", f"I like jazz. My PIN is 4711. {wish.strip('.')}. I play chess."
        )
        await settle(book, clock)
        assert await said(book) == ["I like jazz. I play chess."]


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
        await book.jobs.run()
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
