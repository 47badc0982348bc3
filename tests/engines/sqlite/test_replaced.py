"""A file that is moved, replaced or removed while its book is open: no write is confirmed that
would be lost.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import memoranda
from memoranda import StorageError


def _move(path: Path) -> None:
    path.rename(path.with_name("aside.db"))


def _replace(path: Path) -> None:
    other = path.with_name("other.db")
    shutil.copy(path, other)
    os.replace(other, path)


def _remove(path: Path) -> None:
    for file in path.parent.glob("book.db*"):
        file.unlink()


def _remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def _put_a_file_for_the_folder(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("no folder", "utf-8")


@pytest.mark.parametrize(
    "change", [_move, _replace, _remove, _remove_folder, _put_a_file_for_the_folder]
)
async def test_a_write_to_a_file_that_is_not_the_book_s_any_more_is_refused(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "folder" / "book.db"
    path.parent.mkdir()
    async with memoranda.open(path, worker=False, embed=None) as book:
        thread = await book.thread("ana")
        kept = await book.remember("ana", "Keeps bees")
        change(path)
        writes: list[Callable[[], object]] = [
            lambda: book.remember("ana", "Drinks tea"),
            lambda: thread.append("user", "Hello"),
            lambda: book.forget("ana", kept.id, as_owner=True),
        ]
        for write in writes:
            with pytest.raises(
                StorageError, match="was moved, replaced or removed while it was open"
            ):
                await write()  # type: ignore[misc]
        assert await book.records.count("ana", types="memory", as_owner=True) == 1


async def test_a_file_that_comes_back_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, worker=False, embed=None) as book:
        await book.remember("ana", "Keeps bees")
        _move(path)
        with pytest.raises(StorageError, match="put the right file there"):
            await book.remember("ana", "Drinks tea")
        path.with_name("aside.db").rename(path)
        await book.remember("ana", "Drinks coffee")
    async with memoranda.open(path, worker=False, embed=None) as book:
        page = await book.records.list("ana", types="memory", as_owner=True)
        assert {record.content for record in page.records} == {"Keeps bees", "Drinks coffee"}  # type: ignore[attr-defined]
        assert (await book.admin.verify()).faults == ()


async def test_the_file_is_looked_at_once_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    look = os.stat

    def counted(path: Path, **more: bool) -> os.stat_result:
        looks.append(path)
        return look(path, **more)

    monkeypatch.setattr(os, "stat", counted)
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        await book.remember("ana", "Keeps bees")
        looks.clear()
        await book.remember("ana", "Drinks tea")
    assert [path for path in looks if path == tmp_path / "book.db"] == [tmp_path / "book.db"]
