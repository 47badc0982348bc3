"""Recall ranks on MongoDB as in a file, to the last bit of every score, by words and by meaning."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

import memoranda
from memoranda import Book
from memoranda.testing.embedder import StubEmbedder
from tests.engines.mongo_server import MongoPlace

#: With every change of storage or engines.
pytestmark = pytest.mark.again

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
WORDS = "canary garden kettle Oslo spring blue violin train bread winter lamp river market letter cousin harbour".split()


class Hands:
    """A clock that both books read, a second later each time."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


async def told(book: Book, clock: Hands) -> None:
    rng = random.Random(7)
    thread = await book.thread("ana")
    for n in range(120):
        clock.now = START + timedelta(minutes=n)
        text = " ".join(rng.choices(WORDS, k=rng.randint(3, 14)))
        if n % 3:
            await thread.append(rng.choice(["user", "assistant"]), text)
        else:
            await book.remember(
                "ana", text, key=f"key {n % 30}", tags=(rng.choice(WORDS),), kind="fact"
            )
    await book.admin.embed()


async def ranked(book: Book, question: str, mode: Any) -> list[tuple[Any, ...]]:
    hits = await book.recall("ana", question, mode=mode, limit=20, as_owner=True)
    return [(hit.text, hit.score, hit.cosine, sorted(hit.words), sorted(hit.terms)) for hit in hits]


async def test_recall_ranks_as_in_a_file_also_when_the_book_was_opened_again(
    mongo: MongoPlace, tmp_path: Path
):
    addresses = [str(tmp_path / "book.db"), mongo.new_book()]
    rng = random.Random(11)
    questions = [" ".join(rng.choices(WORDS, k=rng.randint(1, 5))) for _ in range(25)]
    for address in addresses:
        clock = Hands()
        async with memoranda.open(address, clock=clock, worker=False, embed=StubEmbedder()) as book:
            await told(book, clock)
    found: list[list[Any]] = []
    for address in addresses:
        clock = Hands()
        clock.now = START + timedelta(days=1)
        async with memoranda.open(address, clock=clock, worker=False, embed=StubEmbedder()) as book:
            found.append(
                [
                    await ranked(book, one, mode)
                    for one in questions
                    for mode in ("words", "meaning", "hybrid")
                ]
            )
    assert found[0] == found[1]
    assert sum(map(len, found[0])) > 500
