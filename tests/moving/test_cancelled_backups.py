"""A backup that is cancelled leaves no file of its name, however late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import memoranda
from memoranda.book.admin import backup_files, erasure_notes
from memoranda.engines.sqlite import maintenance
from memoranda.engines.sqlite.file import sqlite_file
from tests.engines.postgres_server import Place


async def cancelled_at(
    book: memoranda.Book,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    is_step: Callable[..., bool] = lambda *_, **__: True,
) -> None:
    """Cancel a backup when it has done this step in another thread, and goes on only then."""
    loop, reached = asyncio.get_running_loop(), []
    step = getattr(module, name)

    async def cancel() -> None:
        reached.append(target.exists())
        backing_up.cancel()

    def stepping(*given: Any, **named: Any) -> Any:
        done = step(*given, **named)
        if is_step(*given, **named):
            asyncio.run_coroutine_threadsafe(cancel(), loop).result(60)
        return done

    monkeypatch.setattr(module, name, stepping)
    backing_up = asyncio.create_task(book.admin.backup(target))
    with pytest.raises(asyncio.CancelledError):
        await backing_up
    monkeypatch.undo()
    assert reached == [True]


async def test_a_backup_cancelled_while_it_gets_its_name_leaves_no_file_of_it(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cancelled_at(book, tmp_path / "copy.db", monkeypatch, sqlite_file, "name_copy")
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db.erasures"]
    assert (await book.admin.backup(tmp_path / "copy.db")).faults == ()


async def test_a_backup_cancelled_while_it_is_noted_leaves_no_file_of_its_name(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_last(path: str, at: Any, *, made: bool) -> bool:
        return made

    await cancelled_at(book, tmp_path / "copy.db", monkeypatch, maintenance, "note_backup", is_last)
    assert not (tmp_path / "copy.db").exists()
    assert (await book.admin.backup(tmp_path / "copy.db")).faults == ()


async def test_a_cancelled_backup_of_a_server_leaves_no_file_of_its_name(
    postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(postgres.new_book(), worker=False, embed=None) as book:
        await book.remember("ana", "Plays the cello", agent="coach")
        await cancelled_at(book, tmp_path / "copy.db", monkeypatch, backup_files, "_place")
        assert [path.name for path in tmp_path.iterdir()] == ["copy.db.erasures"]
        assert (await book.admin.backup(tmp_path / "copy.db")).faults == ()


async def test_a_cancelled_backup_spares_a_file_of_somebody_else(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = erasure_notes.begin_notes
    target = tmp_path / "copy.db"

    def begin(*given: Any, **named: Any) -> None:
        step(*given, **named)
        target.write_text("mine")

    monkeypatch.setattr(backup_files, "begin_notes", begin)
    await cancelled_at(book, target, monkeypatch, backup_files, "begin_notes")
    assert target.read_text() == "mine"
