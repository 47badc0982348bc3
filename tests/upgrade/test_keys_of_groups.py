"""A book that stores group keys under the digests of older versions can be used, verified and rebuilt."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import memoranda
from memoranda import Conflict
from memoranda.model.memories import Memory
from memoranda.model.records import RecordType, slot_of

BLUE: dict[str, Any] = {"agent": "pm", "groups": ["blue"]}
RED: dict[str, Any] = {"agent": "pm", "groups": ["red"]}


async def say(book: memoranda.Book, content: str, who: dict[str, Any]) -> memoranda.Receipt:
    return await book.remember("bea", content, key="meeting", audience="group", **who)


async def status(book: memoranda.Book, id: UUID) -> str:
    memory = await book.get("bea", id, view="owner")
    assert isinstance(memory, Memory)
    return memory.status.value


def as_before(path: Path, id: UUID) -> None:
    """Store a memory's key as versions before this one did: without the names of the groups."""
    slot = slot_of(RecordType.MEMORY, "meeting", "group", "pm")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE records SET slot = ? WHERE id = ?", (slot, id.bytes))
    plain.close()


@pytest.fixture
async def blue(tmp_path: Path) -> memoranda.Receipt:
    path = tmp_path / "book.db"
    async with memoranda.open(path, embed=None, worker=False) as book:
        receipt = await say(book, "Blue meets on Monday", BLUE)
    as_before(path, receipt.id)
    return receipt


async def test_a_group_replaces_what_it_kept_under_a_key_in_an_older_book(
    tmp_path: Path, blue: memoranda.Receipt
) -> None:
    async with memoranda.open(tmp_path / "book.db", embed=None, worker=False) as book:
        assert (await book.verify()).faults == ()
        receipt = await say(book, "Blue meets on Tuesday", BLUE)
        assert receipt.ids() == (receipt.id, blue.id)
        assert await status(book, blue.id) == "superseded"
        await book.undo("bea", receipt.position, **BLUE)
        assert (await status(book, blue.id), await status(book, receipt.id)) == ("active", "undone")
        assert (await book.verify()).faults == ()


async def test_another_group_does_not_replace_it(tmp_path: Path, blue: memoranda.Receipt) -> None:
    async with memoranda.open(tmp_path / "book.db", embed=None, worker=False) as book:
        red = await say(book, "Red meets on Friday", RED)
        assert red.ids() == (red.id,)
        assert (await status(book, blue.id), await status(book, red.id)) == ("active", "active")
        assert (await book.verify()).faults == ()


async def test_a_rebuild_stores_the_key_with_the_groups(tmp_path: Path, blue: memoranda.Receipt) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, embed=None, worker=False) as book:
        await book.rebuild()
        assert (await book.verify()).faults == ()
        memory = await book.get("bea", blue.id, view="owner")
    with sqlite3.connect(path) as plain:
        ((stored,),) = plain.execute("SELECT slot FROM records WHERE id = ?", (blue.id.bytes,))
    plain.close()
    assert memory is not None and stored == memory.slot()


async def test_an_undo_does_not_bring_back_a_second_holder_of_the_key(
    tmp_path: Path, blue: memoranda.Receipt
) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, embed=None, worker=False) as book:
        gone = await book.retract("bea", blue.id, **BLUE)
        later = await say(book, "Blue meets on Tuesday", BLUE)
    as_before(path, later.id)
    async with memoranda.open(path, embed=None, worker=False) as book:
        with pytest.raises(Conflict, match="has the same key now"):
            await book.undo("bea", gone.position, **BLUE)
