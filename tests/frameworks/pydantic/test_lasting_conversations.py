"""PydanticAI's conversations in a book last: over restarts, kills, writers at once, and for their
owner only.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel

import memoranda
from memoranda.integrations import pydantic_conversations
from memoranda.integrations.pydantic_conversations import BookConversationStore
from memoranda.integrations.tools import Scope
from tests.frameworks.killing import killed_after

ANA = Scope("ana", "coach")


async def said(book: memoranda.Book) -> list[str]:
    """The texts of all messages in the book that are the owner's."""
    page = await book.records.list("ana", types="message", as_owner=True, limit=1000)
    return [record.passage_text() or "" for record in page.records]


async def test_an_agent_goes_on_after_a_restart_and_its_history_forms_memories(
    tmp_path: Path,
) -> None:
    agent = Agent(TestModel(custom_output_text="Noted."))
    for question in ("I am allergic to walnuts.", "My name is Ana."):
        async with memoranda.open(tmp_path / "book.db") as book:
            store = BookConversationStore(book, ANA)
            conversation = await store.load("monday") or Conversation(conversation_id="monday")
            result = await agent.run(question, conversation=conversation)
            await store.save(result, scope="web")
    async with memoranda.open(tmp_path / "book.db") as book:
        store = BookConversationStore(book, ANA)
        held = await store.load("monday", scope="web")
        assert held is not None
        assert held.messages == result.all_messages()
        assert held.usage == result.conversation.usage
        await book.form("ana", agent="coach")
        await book.jobs.run()
        assert "walnuts" in str(await book.records.list("ana", types="memory", agent="coach"))


async def test_of_two_instances_that_save_at_once_one_is_told_of_the_conflict(
    tmp_path: Path,
) -> None:
    async def add(store: BookConversationStore, text: str) -> int:
        lost = 0
        while True:
            held = await store.load("shared") or Conversation(conversation_id="shared")
            held.messages.append(ModelRequest([UserPromptPart(text)]))
            try:
                await store.save(held)
                return lost
            except ConversationConflict:
                lost += 1

    async with (
        memoranda.open(tmp_path / "book.db") as one,
        memoranda.open(tmp_path / "book.db") as two,
    ):
        stores = [BookConversationStore(one, ANA), BookConversationStore(two, ANA)]
        lost = await asyncio.gather(
            *(add(stores[number % 2], f"line {number}") for number in range(12))
        )
        held = await stores[0].load("shared")
        assert held is not None
        texts = [
            message.parts[0].content  # type: ignore[union-attr]
            for message in held.messages
            if isinstance(message, ModelRequest)
        ]
        assert sorted(texts, key=str) == sorted((f"line {number}" for number in range(12)), key=str)
        assert sum(lost) > 0


async def test_owners_agents_and_tenants_see_their_own_conversations_only(tmp_path: Path) -> None:
    place = tmp_path / "book.db"
    async with memoranda.open(place) as book, memoranda.open(place, tenant="other") as other:
        theirs = [
            BookConversationStore(book, Scope("ben", "coach")),
            BookConversationStore(book, Scope("ana", "cook")),
            BookConversationStore(book, Scope("ana", "coach", audience="global")),
            BookConversationStore(other, ANA),
        ]
        own = BookConversationStore(book, ANA)
        for id in ("x", "../x", "x' or 1=1 --", "", "\x00", "0" * 5000):
            (entry,) = await own.save(
                Conversation(messages=[ModelRequest([UserPromptPart("mine")])], conversation_id=id)
            )
            for store in theirs:
                assert await store.load(id) is None
                assert await store.list_conversations() == []
                with pytest.raises(KeyError):
                    await store.read_entry(entry.id)
                with pytest.raises(UserError):
                    await store.fork(id)
                await store.delete(id)
            assert await own.load(id) is not None
        assert len(await own.list_conversations()) == 6


async def test_other_groups_have_other_conversations(book: memoranda.Book) -> None:
    stores = [
        BookConversationStore(book, Scope("ana", "coach", groups=groups, audience="group"))
        for groups in (["blue"], ["red"], ["red", "blue"], ["blue", "red"])
    ]
    for place, store in enumerate(stores[:3]):
        assert await store.load("x") is None
        messages: list[ModelMessage] = [ModelRequest([UserPromptPart(f"of {place}")])]
        await store.save(Conversation(messages=messages, conversation_id="x"))
    for store in stores:
        assert len(await store.list_conversations()) == 1
    same = [await store.load("x") for store in stores[2:]]
    assert same[0] is not None and same[1] is not None
    assert same[0].messages == same[1].messages


async def test_a_deletion_that_was_killed_is_finished_by_the_next_reader(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BookConversationStore(book, ANA)
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("gone soon")])]
    await store.save(Conversation(messages=messages, conversation_id="one"))

    async def killed(*_: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(pydantic_conversations, "_erase", killed)
        with pytest.raises(asyncio.CancelledError):
            await store.delete("one")
    after = BookConversationStore(book, ANA)
    assert await after.load("one") is None
    assert await after.list_conversations() == []
    assert await said(book) == []


#: Saves turns of two messages, and prints the number of each that was acknowledged.
SAVING = """
import asyncio, sys
import memoranda
from memoranda.integrations.pydantic_conversations import BookConversationStore
from memoranda.integrations.tools import Scope
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

async def main():
    async with memoranda.open(sys.argv[1], embed=None) as book:
        store = BookConversationStore(book, Scope("ana", "coach"))
        conversation = Conversation(conversation_id="long")
        for number in range(1000):
            conversation.messages += [ModelRequest([UserPromptPart(f"q{number}")]), ModelResponse([TextPart(f"a{number}")])]
            await store.save(conversation)
            print(number, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledged", [1, 3, 6])
async def test_a_killed_process_loses_no_save_that_was_acknowledged_and_leaves_no_half(
    tmp_path: Path, acknowledged: int
) -> None:
    with killed_after(SAVING, tmp_path / "book.db", acknowledged) as lines:
        last = max(map(int, lines))
    async with memoranda.open(tmp_path / "book.db") as book:
        held = await BookConversationStore(book, ANA).load("long")
        assert held is not None
        turns, half = divmod(len(held.messages), 2)
        assert half == 0 and turns in (last + 1, last + 2)
        assert (await book.admin.verify(whole=True)).faults == ()


async def test_a_book_that_is_down_is_an_error_and_not_an_empty_store(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        store = BookConversationStore(book, ANA)
        conversation = Conversation(
            messages=[ModelRequest([UserPromptPart("a")])], conversation_id="one"
        )
        await store.save(conversation)
    for asked in (
        store.load("one"),
        store.list_conversations(),
        store.delete("one"),
        store.save(conversation),
    ):
        with pytest.raises(memoranda.MemorandaError):
            await asked
