"""A copy without a switch is a second book; while it is made, the source is read and not
written.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, Moved, NotABook, UnfinishedCopy, VersionMismatch
from memoranda.assembly import open_engine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.book_rows import Arrival, Departure
from memoranda_conformance.builders import ANN, Pen
from tests.moving.books import assert_same, make_book, marked, said


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    """A book with a life behind it."""
    await make_book(tmp_path / "book.db")
    return tmp_path / "book.db"


async def test_a_copy_is_a_second_book_with_all_that_the_first_one_holds(
    place: Path, tmp_path: Path
) -> None:
    report = await memoranda.copy(place, tmp_path / "copy.db")
    await assert_same(place, tmp_path / "copy.db")
    async with memoranda.open(place, worker=False) as book:
        findings = await book.admin.verify()
        assert (report.records, report.versions) == (findings.records, findings.versions)
        assert (report.switched, report.already, report.owners) == (False, False, 2)
        await book.remember("ann", "goes on")
    await said(tmp_path / "copy.db", "goes on as well")


async def test_the_source_is_read_and_not_written_while_it_is_copied(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    lay_book = SqliteEngine.lay_book

    async def between(self: SqliteEngine, *given: object) -> None:
        async with memoranda.open(place, worker=False, embed=None) as book:
            seen.append(await book.records.count("ann", types="memory", as_owner=True))
            with pytest.raises(Moved, match=r"being copied to .*copy\.db.*--cancel") as refused:
                await book.remember("ann", "in between")
            assert refused.value.address == str(tmp_path / "copy.db")
        with pytest.raises(UnfinishedCopy, match=r"unfinished copy of .*book\.db"):
            await memoranda.open(tmp_path / "copy.db", read_only=bool(seen))
        await lay_book(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(SqliteEngine, "lay_book", between)
        await memoranda.copy(place, tmp_path / "copy.db")
    assert seen and all(seen)
    await said(place, "afterwards")


async def test_progress_is_reported_and_comes_to_its_end(place: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    await memoranda.copy(place, tmp_path / "copy.db", progress=lambda *at: told.append(at))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] > 0


async def test_digests_of_the_same_content_are_the_same(place: Path, tmp_path: Path) -> None:
    one = await memoranda.copy(place, tmp_path / "one.db")
    two = await memoranda.copy(place, tmp_path / "two.db", switch=True)
    assert one.digest == two.digest
    await said(tmp_path / "two.db", "and now another")
    three = await memoranda.copy(tmp_path / "two.db", tmp_path / "three.db")
    assert three.digest != two.digest


async def test_who_had_an_empty_book_open_cannot_write_it_while_it_is_a_copy(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(tmp_path / "copy.db", worker=False) as early:
        engine = await open_engine(tmp_path / "copy.db")
        assert await engine.arrive(Arrival("book.db", "stopped"), b"s" * 32)
        with pytest.raises(UnfinishedCopy):
            await early.remember("ann", "in between")
        await engine.end_arrival("stopped")
        await engine.close()
        await early.remember("ann", "afterwards")


async def test_a_book_is_not_copied_to_itself_nor_to_a_complete_copy(
    place: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.db").symlink_to(place)
    await memoranda.copy(place, tmp_path / "copy.db")
    for same in (str(place), f"sqlite:///{place}", tmp_path / "link.db", tmp_path / "copy.db"):
        with pytest.raises(InvalidInput, match="this very book, or a book that came from it"):
            await memoranda.copy(place, same, switch=True)
    await said(place, "goes on")


async def test_a_book_is_not_copied_over_another_nor_over_its_unfinished_copy(
    place: Path, tmp_path: Path
) -> None:
    await said(tmp_path / "other.db", "mine")
    with pytest.raises(InvalidInput, match="a book with content"):
        await memoranda.copy(place, tmp_path / "other.db")
    engine = await open_engine(tmp_path / "third.db")
    assert await engine.arrive(Arrival("elsewhere.db", "other"), b"s" * 32)
    await engine.close()
    with pytest.raises(InvalidInput, match=r"unfinished copy of another book, elsewhere\.db"):
        await memoranda.copy(place, tmp_path / "third.db")
    await said(tmp_path / "other.db", "goes on")
    await said(place, "goes on")


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


@pytest.mark.parametrize("switch", [False, True])
async def test_a_book_is_not_copied_into_memory_where_it_would_end_with_the_copy(
    place: Path, switch: bool
) -> None:
    with pytest.raises(InvalidInput, match="memory") as refused:
        await memoranda.copy(place, "memory://", switch=switch)
    assert refused.value.field == "target"
    await said(place, "goes on")


async def test_a_stopped_copy_is_cancelled_and_the_book_is_written_again(
    place: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copy.db"
    with pytest.raises(InvalidInput, match="nothing to cancel"):
        await memoranda.cancel_copy(place, target)
    await marked(place, target)
    with pytest.raises(Moved, match="--cancel"):
        await said(place, "not now")
    for other in (tmp_path / "elsewhere.db", "postgresql://gone.example/books"):
        with pytest.raises(memoranda.Conflict, match=r"being copied to .*copy\.db"):
            await memoranda.cancel_copy(place, other)
        with pytest.raises(memoranda.Conflict, match=r"being copied to .*copy\.db"):
            await memoranda.copy(place, other)
    await memoranda.cancel_copy(place, f"sqlite:///{target}")
    assert not target.exists()
    await said(place, "goes on")
    await memoranda.copy(place, target, switch=True)
    with pytest.raises(Moved, match="has moved"):
        await memoranda.cancel_copy(place, target)


async def test_a_server_that_is_gone_is_not_asked_when_a_copy_to_it_is_cancelled(
    place: Path,
) -> None:
    engine = await open_engine(place)
    await engine.depart(
        Departure("postgresql://gone.example:5432/books", whole=False, copy="x"), None
    )
    await engine.close()
    for other in ("postgresql://gone.example:5433/books", "postgresql://gone.example/other"):
        with pytest.raises(memoranda.Conflict, match=r"gone\.example:5432/books"):
            await memoranda.cancel_copy(place, other)
    await memoranda.cancel_copy(place, "postgresql://ann:hush@GONE.example:5432/books")
    await said(place, "goes on")


async def test_a_copy_that_is_begun_anew_is_cleared_of_what_was_forgotten_since(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    engine = await open_engine(place)
    canary = await Pen(engine, ANN).remember("has a blue canary")
    await engine.close()

    async def full(self: SqliteEngine, copy: str) -> None:
        raise memoranda.StorageError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteEngine, "end_arrival", full)
        with pytest.raises(memoranda.StorageError, match="no room"):
            await memoranda.copy(place, target)
    assert b"blue canary" in _bytes(target)
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.forget("ann", canary, as_owner=True)
    await memoranda.copy(place, target)
    assert b"blue canary" not in _bytes(target)
    await assert_same(place, target)


def _bytes(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def test_programs_without_an_event_loop_copy_and_cancel_too(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.remember("ann", "likes tea")
    with pytest.raises(InvalidInput, match="memory"):
        memoranda.copy_sync(tmp_path / "book.db", "MEMORY://")
    asyncio.run(marked(tmp_path / "book.db", tmp_path / "copy.db"))
    memoranda.cancel_copy_sync(tmp_path / "book.db", tmp_path / "copy.db")
    assert memoranda.copy_sync(tmp_path / "book.db", tmp_path / "copy.db", switch=True).switched
    with memoranda.open_sync(tmp_path / "copy.db") as book:
        assert book.records.count("ann", types="memory", as_owner=True) == 1
