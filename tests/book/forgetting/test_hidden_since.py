"""Tests of the fact that a caller says was hidden before: what newer messages tell of it is hidden."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

import memoranda
from memoranda.book.forgetting import hidden_facts
from memoranda.book.forgetting.hidden_facts import Hidden
from memoranda.errors import InvalidInput


@pytest.fixture
async def since(book: memoranda.Book) -> Hidden:
    memory = await book.remember("ana", "Ana lives in Oslo", agent="coach")
    return await book.forgetting.hide("ana", memory.id, agent="coach")


def forged(since: Hidden, number: int, words: int) -> Hidden:
    """Return a fact as a caller may make it up."""
    assert since.traces is not None
    (memory,) = since.traces.memories
    made = memory.changed(content="likes tea " * words)
    return replace(since, traces=replace(since.traces, memories=(made,) * number))


@pytest.mark.parametrize(
    ("number", "words", "refused"),
    [
        (1001, 1, "since: it has 1001 memories; at most 1000 are allowed"),
        (1, 5000, "since: it has 50000 characters in a memory; at most 1000 are allowed"),
    ],
)
async def test_more_than_a_call_could_have_hidden_is_refused(
    book: memoranda.Book, since: Hidden, number: int, words: int, refused: str
) -> None:
    with pytest.raises(InvalidInput, match=refused):
        await book.forgetting.hide("ana", since=forged(since, number, words), agent="coach")


async def test_others_are_answered_while_messages_are_compared_with_it(
    book: memoranda.Book, since: Hidden, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await book.thread("ana", agent="coach")
    await thread.append("user", "I live in Oslo. I like tea.")
    places = []
    for name in ("fact_of", "tellings_of"):
        made = getattr(hidden_facts, name)

        def noted(*given: Any, _made: Any = made) -> Any:
            places.append(threading.current_thread() is threading.main_thread())
            return _made(*given)

        monkeypatch.setattr(hidden_facts, name, noted)
    assert (await book.forgetting.hide("ana", since=since, agent="coach")).traces is not None
    assert places == [False, False]
