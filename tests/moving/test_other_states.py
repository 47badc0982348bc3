"""A copy goes on with the book that it was begun from, and nothing that was erased comes back with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import Conflict
from memoranda.assembly import open_engine
from memoranda.testing.builders import ANN, BEN, Pen
from tests.moving.books import said


async def restored(backup: Path, place: Path) -> None:
    """The backup as it was, in the book's place: whoever puts it there by hand takes no erasures out of it."""
    for old in place.parent.glob(f"{place.name}*"):
        old.unlink()
    place.write_bytes(backup.read_bytes())


async def refused(place: Path, target: Path) -> None:
    """Neither copied nor moved, and the book goes on where it is."""
    for switch in (False, True):
        with pytest.raises(Conflict, match="delete the copy"):
            await memoranda.copy(place, target, switch=switch)
    await said(place, "goes on", owner="ben")


async def test_an_owner_whom_a_restored_book_does_not_know_does_not_come_back(tmp_path: Path) -> None:
    place, target = tmp_path / "book.db", tmp_path / "there.db"
    await said(place, "likes tea")
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.backup(tmp_path / "backup.db")
    await said(place, "has a blue canary", owner="zoe")
    await memoranda.copy(place, target)
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.forget("zoe", everything=True, view="owner")
    await restored(tmp_path / "backup.db", place)
    await refused(place, target)
    target.unlink()
    await memoranda.copy(place, target, switch=True)
    async with memoranda.open(target, worker=False, embed=None) as book:
        assert await book.count("zoe", view="owner") == 0


async def test_an_owner_of_one_book_does_not_come_into_another_that_took_in_its_export(
    tmp_path: Path,
) -> None:
    one, two, target = (tmp_path / name for name in ("one.db", "two.db", "there.db"))
    await said(one, "likes tea")
    async with memoranda.open(one, worker=False, embed=None) as book:
        lines = [line async for line in book.export()]
    async with memoranda.open(two, worker=False, embed=None) as book:
        await book.import_(lines)
    await said(one, "has a blue canary", owner="zoe")
    await memoranda.copy(one, target)
    await refused(two, target)


@pytest.mark.parametrize("everything", [False, True])
async def test_what_the_copy_knows_as_erased_does_not_come_back(tmp_path: Path, everything: bool) -> None:
    place, target = tmp_path / "book.db", tmp_path / "there.db"
    await said(place, "has a blue canary", owner="zoe")
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.backup(tmp_path / "backup.db")
        told = (await book.list("zoe", view="owner")).records[0]
        if everything:
            await book.forget("zoe", everything=True, view="owner")
        else:
            await book.forget("zoe", told.id, view="owner")
    await memoranda.copy(place, target)
    await restored(tmp_path / "backup.db", place)
    await refused(place, target)


async def test_owners_who_come_while_the_book_is_copied_are_known_to_it(tmp_path: Path) -> None:
    place, target = tmp_path / "book.db", tmp_path / "there.db"
    await said(place, "likes tea")
    await memoranda.copy(place, target)
    engine = await open_engine(place)
    for owner in (ANN, BEN):
        await Pen(engine, owner).remember("likes tea")
        await Pen(engine, owner).erase_all()
        await Pen(engine, owner).remember("is back")
    await engine.close()
    assert (await memoranda.copy(place, target, switch=True)).owners == 2
