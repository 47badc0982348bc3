"""PydanticAI's conversations in a book do what its store in memory does, and last."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryImage,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

import memoranda
from memoranda.errors import InvalidInput
from memoranda.integrations.pydantic_conversations import BookConversationStore
from memoranda.integrations.tools import Scope
from tests.frameworks.agents.results import write_results

ANA = Scope("ana", "coach")
#: Programs of 60 operations for each engine.
SEEDS = 5


class Both(ConversationStore):
    """Each primitive of the book's store beside that of the store in memory; their answers must be
    equal.
    """

    def __init__(self, book: memoranda.Book) -> None:
        self.book = book
        self.oracle = InMemoryConversationStore()
        self.ours = BookConversationStore(book, ANA)

    async def same(self, verb: str, *words: Any, **named: Any) -> Any:
        answers: list[Any] = []
        for store in (self.oracle, self.ours):
            try:
                answers.append(await getattr(store, verb)(*words, **named))
            except (ConversationConflict, KeyError) as exc:
                answers.append(exc)
        expected, given = answers
        if isinstance(expected, Exception):
            assert type(given) is type(expected), (verb, words, given)
            raise given
        assert given == expected, (verb, words, named)
        return given

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        found: ConversationRecord | None = await self.same("read_record", conversation_id)
        return found

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        found: Sequence[ConversationRecord] = await self.same(
            "read_records", scope=scope, limit=limit
        )
        return found

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        named = {"new_entries": new_entries, "expected_revision": expected_revision}
        await self.same("write_record", record, **named)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        await self.same("delete_record", conversation_id, expected_revision=expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        found: ConversationEntry = await self.same("read_entry", entry_id)
        return found

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        found: list[ConversationEntry] = await self.same("read_history", head_id, limit=limit)
        return found

    def restart(self) -> None:
        """Forget what the store has seen."""
        self.ours = BookConversationStore(self.book, ANA)


def turn(number: int, dice: random.Random) -> list[ModelMessage]:
    call = ToolCallPart("look_up", {"what": f"fact {number}"}, tool_call_id=f"call{number}")
    asked = ModelRequest([SystemPromptPart("Be kind."), UserPromptPart(f"Question {number}")])
    answered = ModelResponse([ThinkingPart("hm"), TextPart(f"Answer {number}")], model_name="m")
    if dice.random() < 0.5:
        return [asked, answered]
    return [
        asked,
        ModelResponse([call]),
        ModelRequest([ToolReturnPart("look_up", number, call.tool_call_id)]),
        answered,
    ]


async def step(store: Both, dice: random.Random, number: int, ids: list[str]) -> None:
    """One random operation of an application."""
    id, scope = dice.choice(ids), dice.choice([None, None, "home"])
    what = dice.randrange(12)
    if what < 5:
        conversation = await store.load(id, limit=dice.choice([None, 0, 1, 3])) or Conversation(
            conversation_id=id
        )
        conversation.messages += turn(number, dice)
        await store.save(conversation, scope=scope)
    elif what == 5:
        held = await store.load(id)
        if held is not None:
            kept = held.messages[: dice.randrange(len(held.messages) + 1)] + turn(number, dice)
            await store.save(
                Conversation(messages=kept, conversation_id=id, revision=held.revision)
            )
    elif what == 6:
        stale = Conversation(
            messages=turn(number, dice), conversation_id=id, revision=dice.choice([None, "old"])
        )
        await store.save(stale)
    elif what == 7:
        held = await store.load(id)
        if held is not None:
            await store.branch(
                id, at=dice.randrange(len(held.messages) + 1), expected_revision=held.revision
            )
    elif what == 8:
        record = await store.read_record(id)
        tips = [] if record is None else record.branches
        if record is not None and tips:
            await store.branch(id, from_entry=dice.choice(tips), expected_revision=record.revision)
    elif what == 9:
        held = await store.load(id)
        places = [None] if held is None else [None, *range(len(held.messages) + 1)]
        await store.fork(
            id, at=dice.choice(places), new_conversation_id=dice.choice(ids), scope=scope
        )
    elif what == 10:
        await store.delete(id, scope=scope)
    else:
        store.restart()
        await store.list_conversations(scope=scope, limit=dice.choice([None, 2]))


async def test_random_programs_answer_as_the_store_in_memory_does(
    book: memoranda.Book, request: pytest.FixtureRequest
) -> None:
    for seed in range(SEEDS):
        await program(book, seed)
    engine = request.node.callspec.params["address"]
    results = {
        "framework": "PydanticAI",
        "package": "pydantic-ai-slim",
        "version": version("pydantic-ai-slim"),
        "run": f"random programs, all primitives beside InMemoryConversationStore, {engine}",
        "cases": SEEDS,
        "passed": SEEDS,
        "left_out": [],
    }
    write_results(f"pydantic-conversations-{engine}", results)


async def program(book: memoranda.Book, seed: int) -> None:
    """Run one random program on both stores; at last everything is deleted, and nothing is left."""
    dice = random.Random(seed)
    store = Both(book)
    ids = ["one", "two", "drei/../\u2028", "four\x00"]
    conflicts = 0
    for number in range(60):
        try:
            await step(store, dice, number, ids)
        except (ConversationConflict, UserError):
            conflicts += 1
        store.restart()
        for id in ids:
            await store.load(id)
            await store.load(id, limit=2)
    assert conflicts < 45
    kept = {
        entry.id
        for record in await store.list_conversations()
        for tip in (record.head_id, *record.branches)
        for entry in await store.read_history(tip)
    }
    for id in kept:
        await store.read_entry(id)
    for id in ids:
        await store.delete(id)
    assert await said(book) == []


async def said(book: memoranda.Book) -> list[str]:
    """The texts of all messages in the book that are the owner's."""
    page = await book.records.list("ana", types="message", as_owner=True, limit=1000)
    return [record.passage_text() or "" for record in page.records]


@pytest.mark.parametrize(
    "part",
    [
        UserPromptPart("nothing\x00 to see"),
        UserPromptPart(
            ["look", BinaryImage(data=bytes(range(256)) * 8000, media_type="image/png")]
        ),
        UserPromptPart("long " * 400_000),
        ToolReturnPart(
            "deep",
            {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
            "x",
        ),
    ],
    ids=["nul", "image", "long", "deep"],
)
async def test_no_message_is_too_odd_or_too_large_to_come_back_whole(
    book: memoranda.Book, part: Any
) -> None:
    messages: list[ModelMessage] = [
        ModelRequest([part, UserPromptPart("and this")]),
        ModelResponse([TextPart("ok")]),
    ]
    await BookConversationStore(book, ANA).save(
        Conversation(messages=messages, conversation_id="odd")
    )
    held = await BookConversationStore(book, ANA).load("odd")
    assert held is not None and held.messages == messages


async def test_a_deletion_erases_what_no_fork_and_no_branch_needs(book: memoranda.Book) -> None:
    store = BookConversationStore(book, ANA)
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart(text)]) for text in ("first", "second", "third")
    ]
    conversation = Conversation(messages=messages, conversation_id="one")
    await store.save(conversation)
    await store.fork("one", at=1, new_conversation_id="two")
    branched = await store.branch("one", at=2, expected_revision=conversation.revision)
    branched.messages.append(ModelRequest([UserPromptPart("fourth")]))
    await store.save(branched)
    assert sorted(await said(book)) == ["first", "fourth", "second", "third"]
    await store.delete("one")
    assert await said(book) == ["first"]
    fork = await store.load("two")
    assert fork is not None and fork.messages == messages[:1]
    await store.delete("two")
    assert await said(book) == []
    await store.save(Conversation(messages=messages, conversation_id="one"))
    assert len(await said(book)) == 3


async def test_an_entry_that_a_deletion_freed_cannot_be_forked_to(book: memoranda.Book) -> None:
    store = BookConversationStore(book, ANA)
    await store.save(
        Conversation(messages=[ModelRequest([UserPromptPart("a")])], conversation_id="one")
    )
    record = await store.read_record("one")
    assert record is not None
    await store.delete("one")
    fork = replace(record, conversation_id="two", forked_from="one", forked_at=record.head_id)
    with pytest.raises(ConversationConflict):
        await store.write_record(fork, expected_revision=None)
    assert await store.load("two") is None


async def test_a_save_of_more_messages_than_one_operation_takes_is_whole(tmp_path: Path) -> None:
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart(f"line {number}")]) for number in range(45)
    ]
    async with memoranda.open(tmp_path / "book.db", limits=memoranda.Limits(batch=10)) as book:
        store = BookConversationStore(book, ANA)
        conversation = Conversation(messages=messages, conversation_id="long")
        await store.save(conversation)
        held = await BookConversationStore(book, ANA).load("long")
        assert held is not None
        assert (held.messages, held.revision) == (messages, conversation.revision)


async def test_what_is_forgotten_leaves_the_history(book: memoranda.Book) -> None:
    store = BookConversationStore(book, ANA)
    texts = ["My PIN is 1234", "Thank you", "Anything else?"]
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart(text)]) for text in texts]
    conversation = Conversation(messages=messages, conversation_id="one")
    await store.save(conversation)
    page = await book.records.list("ana", types="message", as_owner=True)
    for text in (texts[0], texts[2]):
        (wanted,) = [record.id for record in page.records if record.passage_text() == text]
        await book.forget("ana", wanted, as_owner=True)
    held = await store.load("one")
    assert held is not None and held.messages == messages[1:2]
    held.messages.append(ModelRequest([UserPromptPart("Good night")]))
    await store.save(held)
    again = await BookConversationStore(book, ANA).load("one")
    assert again is not None and again.messages == held.messages


async def test_a_scope_with_a_thread_is_refused(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match="give it no thread"):
        BookConversationStore(book, replace(ANA, thread="monday"))
