"""Copying a book, and opening one during a copy, survives obstacles or fails with a typed error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Moved, StorageError, UnfinishedCopy
from memoranda.assembly import open_engine
from memoranda.book.admin import book_copy
from memoranda.book.admin.erasure_notes import read_notes
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.book_rows import Departure
from memoranda.model.changes import JobDraft
from memoranda_conformance.builders import ANN, START, Pen
from tests.moving.books import make_book, said


async def move(source: Path, target: Path) -> memoranda.CopyReport:
    return await memoranda.copy(source, target, switch=True)


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    """Return the path of a book that has records of every type."""
    await make_book(tmp_path / "book.db")
    return tmp_path / "book.db"


async def test_an_erasure_that_cannot_be_noted_beside_a_backup_leaves_the_book_where_it_is(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(place, worker=False) as book:
        told = await book.remember("ann", "has a blue canary")
        await book.admin.backup(tmp_path / "backup.db")
    engine = await open_engine(place)
    await Pen(engine, ANN).erase(told.id)
    await engine.close()
    # A folder in the place of the notes: they cannot be opened.
    (tmp_path / "backup.db.erasures").unlink()
    (tmp_path / "backup.db.erasures").mkdir()
    monkeypatch.setattr(book_copy, "_MANY_JOBS", 1)
    with pytest.raises(StorageError, match=r"backup\.db\.erasures"):
        await move(place, tmp_path / "there.db")
    await said(place, "goes on")
    (tmp_path / "backup.db.erasures").rmdir()
    await move(place, tmp_path / "there.db")
    assert told.id in read_notes(tmp_path / "backup.db").erasures.records


async def test_a_book_that_begins_to_move_while_it_is_opened_is_opened_to_be_read(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    departure = Departure(str(tmp_path / "there.db"), whole=False, copy="stopped")
    lacking = SqliteEngine.stale_terms

    async def just_in_time(self: SqliteEngine, rule: int, limit: int) -> Any:
        await self.depart(departure, None)
        await self.put(JobDraft("terms", "x"), START)
        return await lacking(self, rule, limit)

    monkeypatch.setattr(SqliteEngine, "stale_terms", just_in_time)
    async with memoranda.open(place, worker=True, embed=None) as book:
        assert await book.records.count("ann", types="memory", as_owner=True)
        with pytest.raises(Moved):
            await book.remember("ann", "after")


async def test_where_a_book_is_is_asked_once_when_it_is_opened(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SqliteEngine] = []
    whereabouts = SqliteEngine.whereabouts

    async def counted(self: SqliteEngine) -> Any:
        asked.append(self)
        return await whereabouts(self)

    monkeypatch.setattr(SqliteEngine, "whereabouts", counted)
    await said(place, "goes on")
    assert len(asked) == 1


async def test_a_target_that_fails_at_the_very_end_is_finished_by_the_next_run(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.db"

    async def full(self: SqliteEngine, copy: str) -> None:
        raise StorageError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteEngine, "end_arrival", full)
        with pytest.raises(StorageError, match=r"copy at .*there\.db is complete.*no room"):
            await move(place, there)
    with pytest.raises(Moved, match="has moved"):
        await said(place, "not here any more")
    with pytest.raises(UnfinishedCopy):
        await memoranda.open(there)
    report = await move(place, there)
    assert (report.switched, report.already) == (True, True)
    await said(there, "but there")


async def test_where_the_book_has_moved_nothing_is_made_in_the_place_of_a_target_that_is_lost(
    place: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there.db"
    await move(place, there)
    there.rename(tmp_path / "aside.db")
    with pytest.raises(Moved, match="has moved"):
        await move(place, there)
    assert not there.exists()
    await said(there, "another book")
    with pytest.raises(Moved, match="has moved"):
        await move(place, there)
