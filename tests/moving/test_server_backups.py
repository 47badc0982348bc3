"""A backup of a book on a server is a book in a file, of one moment, that opens at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, Moved
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import Restored, restore
from memoranda.model.book_rows import Departure
from memoranda.model.values import utc_now
from memoranda.ports import Engine
from tests.engines.postgres_server import Place
from tests.moving.books import assert_same, make_book


async def opened(path: Path) -> Engine:
    return await open_engine(path, create=False)


async def test_a_backup_of_a_server_is_the_book_and_opens_at_once(
    postgres: Place, tmp_path: Path
) -> None:
    there, backup = postgres.new_book(), tmp_path / "backup.db"
    await make_book(there)
    async with memoranda.open(there, worker=False, embed=None) as book:
        found = await book.admin.backup(backup)
        assert (found, found.faults) == (await book.admin.verify(whole=True), ())
        with pytest.raises(InvalidInput, match="is there already"):
            await book.admin.backup(backup)
        with pytest.raises(InvalidInput, match="no folder"):
            await book.admin.backup(tmp_path / "nowhere" / "backup.db")
    await assert_same(there, backup)
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("backup.db-")} == {
        "backup.db",
        "backup.db.erasures",
    }
    assert backup.stat().st_mode & 0o077 == 0
    async with memoranda.open(backup, worker=False, embed=None) as book:
        await book.remember("ann", "is a book like any other")


async def test_a_backup_of_a_server_is_of_one_moment_while_others_write(
    postgres: Place, tmp_path: Path
) -> None:
    there, begun, done = postgres.new_book(), asyncio.Event(), asyncio.Event()
    owners = [f"owner {number}" for number in range(6)]
    written = 0

    async def write(first: int) -> None:
        nonlocal written
        number = first
        async with memoranda.open(there, worker=False, embed=None) as book:
            while not done.is_set():
                # One after the other: at each moment, no owner has more than the one before.
                for owner in owners:
                    await book.remember(owner, f"fact {number}", agent=f"a{first}")
                    written += 1
                begun.set()
                number += 2

    async with memoranda.open(there, worker=False, embed=None) as book:
        for owner in owners:
            await book.memories.remember_all(
                owner, [{"content": f"before {n}"} for n in range(10)], agent="b"
            )
        writers = [asyncio.ensure_future(write(first)) for first in (0, 1)]
        await begun.wait()
        before = written
        found = await book.admin.backup(tmp_path / "backup.db")
        done.set()
        await asyncio.gather(*writers)
    assert (found.faults, written > before) == ((), True)
    async with memoranda.open(tmp_path / "backup.db", worker=False, embed=None) as copy:
        for agent in ("a0", "a1"):
            counts = [await copy.records.count(owner, agent=agent) for owner in owners]
            assert counts == sorted(counts, reverse=True)
            assert counts[0] - counts[-1] <= 1
        assert (await copy.admin.verify(whole=True)).faults == ()


async def test_what_the_server_forgot_since_is_asked_of_the_server(
    postgres: Place, tmp_path: Path
) -> None:
    there, backup = postgres.new_book(), tmp_path / "backup.db"
    async with memoranda.open(there, worker=False, embed=None) as book:
        told = await book.remember("ann", "Has a blue canary", agent="coach")
        await book.admin.backup(backup)
        await book.forget("ann", told.id, agent="coach")
        with pytest.raises(InvalidInput, match="notes no erasures"):
            await restore(opened, backup, tmp_path / "restored.db", at=utc_now())
        restored = await restore(
            opened, backup, tmp_path / "restored.db", books=[book.engine], at=utc_now()
        )
    assert restored == Restored(1, "")
    accepted = await restore(
        opened, backup, tmp_path / "old.db", without_erasures=True, at=utc_now()
    )
    assert (accepted.removed, "notes no erasures" in accepted.warning) == (0, True)


async def test_a_book_that_has_moved_from_its_server_is_not_backed_up_there(
    postgres: Place, tmp_path: Path
) -> None:
    there = postgres.new_book()
    async with memoranda.open(there, worker=False, embed=None) as book:
        await book.remember("ann", "likes tea")
        await book.engine.depart(Departure("elsewhere", whole=True), None)
        with pytest.raises(Moved):
            await book.admin.backup(tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []
