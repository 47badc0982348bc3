"""Where a book may be copied to, what a refused copy leaves there, and the way back when a place is lost for good."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import memoranda
from memoranda import Conflict, InvalidInput, Moved, NotABook, StorageError
from memoranda.assembly import open_engine
from memoranda.book.moving import Moving
from memoranda.model.moving import Departure
from memoranda.ports import Engine
from tests.moving.books import assert_same, begun, said


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    await said(tmp_path / "book.db", "likes tea")
    return tmp_path / "book.db"


async def depart(place: Path, departure: Departure) -> None:
    """Leave the book as a run leaves it that is killed right then."""
    engine = await open_engine(place)
    await engine.depart(departure, None)
    await engine.close()


@pytest.mark.parametrize("switch", [False, True])
async def test_a_book_is_not_copied_into_memory_where_it_would_end_with_the_copy(
    place: Path, switch: bool
) -> None:
    with pytest.raises(InvalidInput, match="memory") as refused:
        await memoranda.copy(place, "memory://", switch=switch)
    assert refused.value.field == "target"
    await said(place, "goes on")


def test_nor_is_it_by_programs_without_an_event_loop(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    with pytest.raises(InvalidInput, match="memory"):
        memoranda.copy_sync(tmp_path / "book.db", "MEMORY://", switch=True)
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "goes on")


async def test_a_copy_that_is_refused_leaves_no_book_behind(place: Path, tmp_path: Path) -> None:
    await depart(place, await begun(place, tmp_path / "there.db"))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Conflict, match=r"there\.db"):
        await memoranda.copy(place, tmp_path / "new.db", switch=True)
    assert sorted(tmp_path.iterdir()) == before
    await memoranda.copy(place, tmp_path / "there.db", switch=True)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Moved, match=r"there\.db"):
        await memoranda.copy(place, tmp_path / "new.db")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "garbage.db").write_bytes(b"no book at all" * 100)
    with pytest.raises((NotABook, StorageError)):
        await memoranda.copy(tmp_path / "garbage.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


async def test_an_empty_book_that_was_there_before_a_refused_copy_stays(place: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    departure = await begun(place, there)
    await depart(place, departure)
    there.unlink()
    async with memoranda.open(there, worker=False, embed=None):
        pass
    with pytest.raises(Conflict, match="not the copy that was begun"):
        await memoranda.copy(place, there)
    await said(there, "is written")


async def test_a_copy_that_fails_once_it_has_begun_stays_and_is_gone_on_with(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: Moving) -> None:
        raise StorageError("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(Moving, "_catch_up_for_long", fails)
        with pytest.raises(StorageError, match="stopped"):
            await memoranda.copy(place, tmp_path / "there.db")
    with pytest.raises(memoranda.UnfinishedCopy):
        await memoranda.open(tmp_path / "there.db")
    await memoranda.copy(place, tmp_path / "there.db", switch=True)
    await assert_same(place, tmp_path / "there.db")


@pytest.mark.parametrize("switch", [False, True])
async def test_a_new_file_where_the_copy_was_is_not_taken_for_it(
    place: Path, tmp_path: Path, switch: bool
) -> None:
    there = tmp_path / "there.db"
    await depart(place, await begun(place, there))
    there.rename(tmp_path / "elsewhere.db")
    with pytest.raises(Conflict, match="--give-up"):
        await memoranda.copy(place, there, switch=switch)
    assert not there.exists()
    with pytest.raises(Moved):
        await said(place, "not now")
    (tmp_path / "elsewhere.db").rename(there)
    await memoranda.copy(place, there, switch=True)
    await assert_same(place, there)


async def test_a_book_is_written_again_when_a_place_that_is_lost_for_good_is_given_up(
    place: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there.db"
    await depart(place, await begun(place, there))
    there.unlink()
    with pytest.raises(Conflict, match=r"there\.db"):
        await memoranda.give_up_copy(place, tmp_path / "elsewhere.db")
    await memoranda.give_up_copy(place, f"sqlite:///{there}")
    assert not there.exists()
    await said(place, "goes on")
    with pytest.raises(InvalidInput, match="not moving"):
        await memoranda.give_up_copy(place, there)
    await memoranda.copy(place, there, switch=True)
    await assert_same(place, there)
    with pytest.raises(Moved, match="has moved"):
        await memoranda.give_up_copy(place, there)


async def test_a_server_that_is_gone_is_given_up_without_asking_it(place: Path) -> None:
    await depart(place, Departure("postgresql://gone.example:5432/books", whole=False, copy="x", run="y"))
    for other in ("postgresql://gone.example:5433/books", "postgresql://gone.example/other"):
        with pytest.raises(Conflict, match=r"gone\.example:5432/books"):
            await memoranda.give_up_copy(place, other)
    await memoranda.give_up_copy(place, "postgresql://ann:hush@GONE.example:5432/books")
    await said(place, "goes on")


def test_programs_without_an_event_loop_give_up_too(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    with pytest.raises(InvalidInput, match="not moving"):
        memoranda.give_up_copy_sync(tmp_path / "book.db", tmp_path / "there.db")


@pytest.mark.parametrize("brought", ["backup", "export"])
async def test_an_older_state_of_the_book_in_the_place_of_the_copy_is_not_taken_for_it(
    place: Path, tmp_path: Path, brought: str
) -> None:
    there = tmp_path / "there.db"
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.backup(tmp_path / "backup.db")
        lines = [line async for line in book.export()]
        since = await book.remember("ann", "likes rum, since the backup")
    await depart(place, await begun(place, there))
    for lost in tmp_path.glob("there.db*"):
        lost.unlink()
    if brought == "backup":
        (tmp_path / "backup.db").rename(there)
    else:
        async with memoranda.open(there, worker=False, embed=None) as book:
            await book.import_(lines)
    for switch in (True, False):
        with pytest.raises(Conflict, match="not the copy that was begun"):
            await memoranda.copy(place, there, switch=switch)
    await memoranda.give_up_copy(place, there)
    await said(place, "goes on")
    async with memoranda.open(place, worker=False, embed=None) as book:
        assert (await book.get("ann", since.id)).id == since.id


async def test_a_copy_that_ends_before_it_began_leaves_the_file_to_whoever_has_opened_it_too(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.db"
    other: list[Engine] = []

    async def cancelled(self: Moving) -> None:
        other.append(await open_engine(there, unfinished=True))
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(Moving, "run", cancelled)
        with pytest.raises(asyncio.CancelledError):
            await memoranda.copy(place, there)
    source = await open_engine(place)
    assert (await Moving(source, other[0], switch=True).run()).switched
    for engine in (source, *other):
        await engine.close()
    await assert_same(place, there)
    await said(there, "goes on")


async def test_a_file_that_is_another_by_now_is_not_made_the_book(place: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    source, target = await open_engine(place), await open_engine(there, unfinished=True)
    await Moving(source, target).run()
    there.rename(tmp_path / "aside.db")
    for missing in (True, False):
        if not missing:
            there.touch()
        with pytest.raises(StorageError, match="moved or replaced"):
            await Moving(source, target, switch=True).run()
        assert (await source.whereabouts()).departure is None
    (tmp_path / "aside.db").replace(there)
    assert (await Moving(source, target, switch=True).run()).switched
    for engine in (source, target):
        await engine.close()
