"""What is found at the target when a copy goes on: another book, an older state of this one, or
marks of earlier versions.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import memoranda
from memoranda import Conflict, InvalidInput, NotABook, StorageError
from memoranda.assembly import open_engine
from memoranda.book.admin.book_copy import CopyRun
from tests.moving.books import assert_same, make_book, marked, said


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    await make_book(tmp_path / "book.db")
    return tmp_path / "book.db"


async def unfinished(place: Path, there: Path) -> str:
    """Begin a copy and fail before its end; returns the id of the copy."""
    source, target = await open_engine(place), await open_engine(there, unfinished=True)

    async def stopped(self: CopyRun) -> None:
        raise StorageError("stopped")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CopyRun, "_compare", stopped)
        with pytest.raises(StorageError, match="stopped"):
            await CopyRun(source, target).run()
    arrival = (await target.whereabouts()).arrival
    assert arrival is not None
    for engine in (source, target):
        await engine.close()
    return arrival.copy


def store(path: Path, name: str, mark: list[object] | str) -> None:
    """Store a mark as another version spelt it."""
    with closing(sqlite3.connect(path)) as connection:
        value = mark.encode() if isinstance(mark, str) else json.dumps(mark).encode()
        connection.execute("INSERT OR REPLACE INTO book (name, value) VALUES (?, ?)", (name, value))
        connection.commit()


async def test_a_copy_that_is_refused_leaves_nothing_behind(place: Path, tmp_path: Path) -> None:
    await marked(place, tmp_path / "there.db")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Conflict, match=r"there\.db"):
        await memoranda.copy(place, tmp_path / "new.db", switch=True)
    (tmp_path / "garbage.db").write_bytes(b"no book at all" * 100)
    with pytest.raises((NotABook, StorageError)):
        await memoranda.copy(tmp_path / "garbage.db", tmp_path / "new.db")
    assert [path for path in sorted(tmp_path.iterdir()) if "garbage" not in path.name] == before


@pytest.mark.parametrize("switch", [False, True])
async def test_a_copy_whose_target_is_lost_is_begun_anew_in_its_place(
    place: Path, tmp_path: Path, switch: bool
) -> None:
    there = tmp_path / "there.db"
    await marked(place, there, copy=await unfinished(place, there))
    there.rename(tmp_path / "aside.db")
    assert (await memoranda.copy(place, there, switch=switch)).switched == switch
    await assert_same(place, there)


@pytest.mark.parametrize("brought", ["backup", "export"])
async def test_an_older_state_of_the_book_in_the_place_of_the_copy_is_not_taken_for_it(
    place: Path, tmp_path: Path, brought: str
) -> None:
    there = tmp_path / "there.db"
    async with memoranda.open(place, worker=False, embed=None) as book:
        await book.admin.backup(tmp_path / "backup.db")
        lines = [line async for line in book.admin.export()]
        since = await book.remember("ann", "likes rum, since the backup")
    if brought == "backup":
        (tmp_path / "backup.db").rename(there)
    else:
        async with memoranda.open(there, worker=False, embed=None) as book:
            await book.admin.import_(lines)
    for switch in (True, False):
        await marked(place, there)
        with pytest.raises(InvalidInput, match="a book with content"):
            await memoranda.copy(place, there, switch=switch)
        await said(place, "goes on")
    async with memoranda.open(place, worker=False, embed=None) as book:
        assert (await book.records.get("ann", since.id)).id == since.id


async def test_which_copy_made_a_book_comes_with_no_copy_and_no_export_of_it(
    place: Path, tmp_path: Path
) -> None:
    one, two, three = (tmp_path / f"{name}.db" for name in ("one", "two", "three"))
    await memoranda.copy(place, one, switch=True)
    await memoranda.copy(one, two)
    async with memoranda.open(one, worker=False, embed=None) as book:
        lines = [line async for line in book.admin.export()]
    async with memoranda.open(three, worker=False, embed=None) as book:
        await book.admin.import_(lines)
    found = []
    for path in (place, one, two, three):
        engine = await open_engine(path)
        found.append(await engine.whereabouts())
        await engine.close()
    assert found[0].departure is not None and found[0].departure.copy == found[1].made_by
    assert found[2].made_by not in (None, found[1].made_by)
    assert found[3].made_by is None
    assert len({each.secret for each in found}) == 1
