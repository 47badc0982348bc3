"""Tests that a second conversation in a book on a server knows the first, before and after it is
formed.
"""

from __future__ import annotations

import memoranda
from tests.engines.postgres_server import Place


async def test_a_second_conversation_knows_the_first_before_and_after_it_is_formed(
    postgres: Place,
) -> None:
    address = postgres.new_book()
    async with memoranda.open(address, models=None, embed=None, worker=False) as book:
        thread = await book.thread("ana", name="monday", agent="coach")
        await thread.append("user", "I'm allergic to walnuts.")
    async with memoranda.open(address, models=None, embed=None, worker=True) as book:
        thread = await book.thread("ana", name="friday", agent="coach")
        await thread.append("user", "What may I not eat?")
        text = (await book.context("ana", thread=thread, agent="coach")).text
        assert "<other_conversations>" in text and "walnuts" in text
        assert (await book.about("ana", agent="coach")).waiting == 2
        made = await book.form("ana", agent="coach")
        assert [one.state for one in made.threads] == ["formed", "formed"]
        assert [memory.key for memory in made.memories if "walnuts" in memory.content] == [None]
        text = (await book.context("ana", thread=thread, agent="coach")).text
        assert "<other_conversations>" not in text and "walnuts" in text
