"""Tests that an export has the operation ids, so the importing book does not repeat an
operation.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import Erased, OperationReused
from memoranda.model.ledger import NO_REQUEST


@pytest.mark.parametrize("whose", ["ana", None])
@pytest.mark.parametrize("tenant", ["default", "other"])
async def test_a_request_repeated_in_the_book_that_an_owner_came_to_is_answered_repeated(
    book: memoranda.Book, tmp_path: Path, whose: str | None, tenant: str
) -> None:
    first = await book.remember("ana", "Plays the cello", agent="coach", operation="one")
    told = await book.remember("ana", "Has a blue canary", agent="coach", operation="two")
    await book.forget("ana", told.id, agent="coach")
    lines = [line async for line in book.admin.export(whose)]
    async with memoranda.open(tmp_path / "other.db", tenant=tenant) as other:
        # A book in use has a key of its own for its digests.
        await other.remember("ben", "Plays the horn", agent="coach", operation="one")
        assert (await other.admin.import_(lines)).errors == []
        again = await other.remember("ana", "Plays the cello", agent="coach", operation="one")
        assert (again.repeated, again.id, again.position) == (True, first.id, first.position)
        with pytest.raises(OperationReused):
            await other.remember("ana", "Plays the viola", agent="coach", operation="one")
        # Another agent's id is another operation.
        assert not (
            await other.remember("ana", "Plays chess", agent="tutor", operation="one")
        ).repeated
        with pytest.raises(Erased):
            await other.remember("ana", "Has a blue canary", agent="coach", operation="two")
        assert await other.records.count("ana", as_owner=True) == 2
        assert (await other.admin.verify()).faults == ()


async def test_an_export_of_one_owner_tells_neither_operation_ids_nor_requests(
    book: memoranda.Book,
) -> None:
    await book.remember("ana", "Plays the cello", agent="coach", operation="order of the harp")
    lines = "".join([line async for line in book.admin.export("ana")])
    assert "harp" not in lines
    assert (await book.engine.whereabouts()).secret.hex() not in lines


async def test_a_request_of_which_a_part_was_forgotten_leaves_no_digest_and_is_refused_in_another_book(
    book: memoranda.Book, tmp_path: Path
) -> None:
    thread = await book.thread("ana", agent="coach")
    said = ["Plays the cello", "Has a blue canary"]

    async def append(there: memoranda.Book) -> memoranda.Receipt:
        again = await there.thread("ana", id=thread.id, agent="coach")
        return await again.append(
            [{"role": "user", "content": text} for text in said], operation="one"
        )

    told = await append(book)
    whole = [line async for line in book.admin.export("ana")]
    await book.forget("ana", ids=told.ids()[1:], as_owner=True)
    assert NO_REQUEST not in "".join(whole)
    lines = [line async for line in book.admin.export("ana")]
    assert sum(NO_REQUEST in line for line in lines) == 1
    async with memoranda.open(tmp_path / "other.db", worker=False) as other:
        await other.remember("ben", "Plays the horn", agent="coach")
        assert (await other.admin.import_(lines)).errors == []
        with pytest.raises(Erased):
            await append(other)
        # Nor is another request taken for it.
        said[1] = "Has a green canary"
        with pytest.raises(Erased):
            await append(other)
        assert (await other.admin.verify()).faults == ()
