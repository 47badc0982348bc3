"""The six ways in which a memory can go, as the quick start's table tells them."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from memoranda import Limits, NotFound, SyncBook, open_sync


def seen(book: SyncBook, status: str) -> list[UUID]:
    return [
        record.id
        for record in book.records.list(
            "ana", types="memory", only={"statuses": [status]}, agent="h"
        )
    ]


def test_a_memory_goes_in_five_ways_that_come_back_and_one_that_does_not(tmp_path: Path) -> None:
    with open_sync(
        tmp_path / "book.db", limits=Limits(memories_per_owner=2, at_capacity="evict_oldest")
    ) as book:
        old = book.remember("ana", "Prefers tea", key="drink", agent="h")
        new = book.remember("ana", "Prefers coffee", key="drink", agent="h")
        assert seen(book, "superseded") == [old.id]
        undone = book.undo("ana", new.position, agent="h")
        assert (seen(book, "undone"), seen(book, "active")) == ([new.id], [old.id])
        book.undo("ana", undone.position, agent="h")
        assert (seen(book, "superseded"), seen(book, "active")) == ([old.id], [new.id])

        retracted = book.memories.retract("ana", new.id, agent="h")
        assert (seen(book, "retracted"), seen(book, "active")) == ([new.id], [])
        book.undo("ana", retracted.position, agent="h")

        book.remember("ana", "Keeps bees", agent="h")
        third = book.remember("ana", "Rides a bicycle", agent="h")
        assert seen(book, "archived") == [new.id]
        book.undo("ana", third.position, agent="h")
        assert seen(book, "archived") == [] and new.id in seen(book, "active")

        done = book.episodes.record("ana", goal="book a table", outcome="succeeded", agent="h")
        withdrawn = book.undo("ana", done.position, agent="h")
        assert len(book.records.list("ana", types="episode", agent="h")) == 0
        assert len(book.records.history("ana", done.id, agent="h")) == 2
        book.undo("ana", withdrawn.position, agent="h")
        assert len(book.records.list("ana", types="episode", agent="h")) == 1

        book.forget("ana", new.id, agent="h")
        with pytest.raises(NotFound):
            book.records.history("ana", new.id, agent="h")
