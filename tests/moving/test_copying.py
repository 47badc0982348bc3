"""A book is copied while it is in use; a copy is no book; what may not be copied is refused with a sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, NotABook, UnfinishedCopy, VersionMismatch
from memoranda.assembly import open_engine
from memoranda.testing.builders import ANN, BEN, Pen
from tests.moving.books import assert_same, make_book, said


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    """A book with a life behind it."""
    await make_book(tmp_path / "book.db")
    return tmp_path / "book.db"


async def test_a_copy_holds_all_that_the_book_holds_and_the_book_goes_on(place: Path, tmp_path: Path) -> None:
    report = await memoranda.copy(place, tmp_path / "copy.db")
    await assert_same(place, tmp_path / "copy.db")
    async with memoranda.open(place, worker=False) as book:
        findings = await book.verify()
        assert (report.records, report.versions) == (findings.records, findings.versions)
        assert (report.switched, report.already, report.owners) == (False, False, 2)
        await book.remember("ann", "goes on")


async def test_progress_is_told_and_comes_to_its_end(place: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    await memoranda.copy(place, tmp_path / "copy.db", switch=True, progress=lambda *at: told.append(at))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] > 0


async def test_a_copy_that_is_run_again_brings_what_came_since(place: Path, tmp_path: Path) -> None:
    await memoranda.copy(place, tmp_path / "copy.db")
    again = await memoranda.copy(place, tmp_path / "copy.db")
    assert again.brought == 0
    engine = await open_engine(place)
    ann, ben = Pen(engine, ANN), Pen(engine, BEN)
    await ann.remember("likes rum", key="drink", agent="a")
    gone = await ann.remember("goes")
    await engine.close()
    brought = (await memoranda.copy(place, tmp_path / "copy.db")).brought
    assert 0 < brought < 15
    await assert_same(place, tmp_path / "copy.db")
    engine = await open_engine(place)
    ann, ben = Pen(engine, ANN), Pen(engine, BEN)
    await ann.erase(gone)
    await ben.erase_all()
    await engine.close()
    await memoranda.copy(place, tmp_path / "copy.db")
    await assert_same(place, tmp_path / "copy.db")


async def test_digests_of_the_same_content_are_the_same(place: Path, tmp_path: Path) -> None:
    one = await memoranda.copy(place, tmp_path / "one.db")
    two = await memoranda.copy(place, tmp_path / "two.db", switch=True)
    assert one.digest == two.digest
    await said(tmp_path / "two.db", "and now another")
    three = await memoranda.copy(tmp_path / "two.db", tmp_path / "three.db")
    assert three.digest != two.digest


async def test_an_unfinished_copy_does_not_open_and_says_what_to_do(place: Path, tmp_path: Path) -> None:
    await memoranda.copy(place, tmp_path / "copy.db")
    for read_only in (False, True):
        with pytest.raises(UnfinishedCopy, match=r"unfinished copy of .*book\.db.*--switch.*delete"):
            await memoranda.open(tmp_path / "copy.db", read_only=read_only)
    with pytest.raises(UnfinishedCopy):
        await memoranda.copy(tmp_path / "copy.db", tmp_path / "third.db")


async def test_who_had_an_empty_book_open_cannot_write_it_once_it_is_a_copy(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(tmp_path / "copy.db", worker=False) as early:
        await memoranda.copy(place, tmp_path / "copy.db")
        with pytest.raises(UnfinishedCopy):
            await early.remember("ann", "in between")
        await memoranda.copy(place, tmp_path / "copy.db", switch=True)
        await early.remember("ann", "afterwards")


async def test_a_book_is_not_copied_to_itself(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(place)
    for same in (str(place), f"sqlite:///{place}", tmp_path / "link.db"):
        with pytest.raises(InvalidInput, match="this very book"):
            await memoranda.copy(place, same)
    await said(place, "goes on")


async def test_a_book_is_not_copied_over_another(place: Path, tmp_path: Path) -> None:
    await said(tmp_path / "other.db", "mine")
    with pytest.raises(InvalidInput, match="a book with content"):
        await memoranda.copy(place, tmp_path / "other.db")
    async with memoranda.open(tmp_path / "other.db") as other:
        assert await other.count("ann", types="memory", view="owner") == 1


async def test_a_copy_of_one_book_is_not_gone_on_with_from_another(place: Path, tmp_path: Path) -> None:
    await memoranda.copy(place, tmp_path / "copy.db")
    await said(tmp_path / "other.db", "another book")
    with pytest.raises(InvalidInput, match=r"a copy of another book.*book\.db"):
        await memoranda.copy(tmp_path / "other.db", tmp_path / "copy.db")


async def test_a_book_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotABook):
        await memoranda.copy(tmp_path / "none.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


async def test_a_newer_format_is_neither_read_nor_written(place: Path, tmp_path: Path) -> None:
    await said(tmp_path / "newer.db", "from the future")
    with closing(sqlite3.connect(tmp_path / "newer.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(VersionMismatch, match="format 99"):
        await memoranda.copy(place, tmp_path / "newer.db")
    with pytest.raises(VersionMismatch, match="format 99"):
        await memoranda.copy(tmp_path / "newer.db", tmp_path / "copy.db")


async def test_an_empty_book_can_move(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", worker=False):
        pass
    report = await memoranda.copy(tmp_path / "book.db", tmp_path / "copy.db", switch=True)
    assert (report.switched, report.owners) == (True, 0)
    await said(tmp_path / "copy.db", "first")
    assert (await memoranda.copy(tmp_path / "book.db", tmp_path / "copy.db", switch=True)).already


def test_programs_without_an_event_loop_copy_too(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    assert memoranda.copy_sync(tmp_path / "book.db", tmp_path / "copy.db", switch=True).switched
    with memoranda.open_sync(tmp_path / "copy.db") as book:
        assert book.count("ann", types="memory", view="owner") == 1
