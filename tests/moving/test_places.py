"""Where a book may be copied to, what a refused copy leaves there, and the way back when a place is lost for good."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonplace
from commonplace import Conflict, InvalidInput, Moved, NotABook, StorageError
from commonplace.assembly import copying, open_engine
from commonplace.book.moving import Moving
from commonplace.model.moving import Departure
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
        await commonplace.copy(place, "memory://", switch=switch)
    assert refused.value.field == "target"
    await said(place, "goes on")


def test_nor_is_it_by_programs_without_an_event_loop(tmp_path: Path) -> None:
    with commonplace.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    with pytest.raises(InvalidInput, match="memory"):
        commonplace.copy_sync(tmp_path / "book.db", "MEMORY://", switch=True)
    with commonplace.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "goes on")


async def test_a_copy_that_is_refused_leaves_no_book_behind(place: Path, tmp_path: Path) -> None:
    await depart(place, await begun(place, tmp_path / "there.db"))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Conflict, match=r"there\.db"):
        await commonplace.copy(place, tmp_path / "new.db", switch=True)
    assert sorted(tmp_path.iterdir()) == before
    await commonplace.copy(place, tmp_path / "there.db", switch=True)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Moved, match=r"there\.db"):
        await commonplace.copy(place, tmp_path / "new.db")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "garbage.db").write_bytes(b"no book at all" * 100)
    with pytest.raises((NotABook, StorageError)):
        await commonplace.copy(tmp_path / "garbage.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


async def test_an_empty_book_that_was_there_before_a_refused_copy_stays(place: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    departure = await begun(place, there)
    await depart(place, departure)
    there.unlink()
    async with commonplace.open(there, worker=False, embed=None):
        pass
    with pytest.raises(Conflict, match="not the copy that was begun"):
        await commonplace.copy(place, there)
    await said(there, "is written")


async def test_a_copy_that_fails_once_it_has_begun_stays_and_is_gone_on_with(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: Moving) -> None:
        raise StorageError("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(Moving, "_catch_up_for_long", fails)
        with pytest.raises(StorageError, match="stopped"):
            await commonplace.copy(place, tmp_path / "there.db")
    with pytest.raises(commonplace.Unfinished):
        await commonplace.open(tmp_path / "there.db")
    await commonplace.copy(place, tmp_path / "there.db", switch=True)
    await assert_same(place, tmp_path / "there.db")


@pytest.mark.parametrize("switch", [False, True])
async def test_a_new_file_where_the_copy_was_is_not_taken_for_it(
    place: Path, tmp_path: Path, switch: bool
) -> None:
    there = tmp_path / "there.db"
    await depart(place, await begun(place, there))
    there.rename(tmp_path / "elsewhere.db")
    with pytest.raises(Conflict, match="--give-up"):
        await commonplace.copy(place, there, switch=switch)
    assert not there.exists()
    with pytest.raises(Moved):
        await said(place, "not now")
    (tmp_path / "elsewhere.db").rename(there)
    await commonplace.copy(place, there, switch=True)
    await assert_same(place, there)


async def test_a_book_is_written_again_when_a_place_that_is_lost_for_good_is_given_up(
    place: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there.db"
    await depart(place, await begun(place, there))
    there.unlink()
    with pytest.raises(Conflict, match=r"there\.db"):
        await commonplace.give_up_copy(place, tmp_path / "elsewhere.db")
    await commonplace.give_up_copy(place, f"sqlite:///{there}")
    assert not there.exists()
    await said(place, "goes on")
    with pytest.raises(InvalidInput, match="not moving"):
        await commonplace.give_up_copy(place, there)
    await commonplace.copy(place, there, switch=True)
    await assert_same(place, there)
    with pytest.raises(Moved, match="has moved"):
        await commonplace.give_up_copy(place, there)


async def test_a_server_that_is_gone_is_given_up_without_asking_it(place: Path) -> None:
    await depart(place, Departure("postgresql://gone.example:5432/books", whole=False, copy="x", run="y"))
    for other in ("postgresql://gone.example:5433/books", "postgresql://gone.example/other"):
        with pytest.raises(Conflict, match=r"gone\.example:5432/books"):
            await commonplace.give_up_copy(place, other)
    await commonplace.give_up_copy(place, "postgresql://ann:hush@GONE.example:5432/books")
    await said(place, "goes on")


def test_programs_without_an_event_loop_give_up_too(tmp_path: Path) -> None:
    with commonplace.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    with pytest.raises(InvalidInput, match="not moving"):
        commonplace.give_up_copy_sync(tmp_path / "book.db", tmp_path / "there.db")


def test_all_that_is_kept_beside_a_file_is_known() -> None:
    assert set(copying._BESIDE) >= {"", "-wal", "-shm"}
