"""Books move to MongoDB and away from it, and a backup of one is a book in a file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

import memoranda
from memoranda import Moved
from memoranda.assembly import engine_addresses
from memoranda.engines.mongo.engine import _Moment
from tests.engines.mongo_server import MongoPlace
from tests.engines.postgres_server import Place
from tests.moving.books import assert_same, make_book, said

#: With every change of storage or engines.
pytestmark = pytest.mark.again


async def test_a_book_moves_from_a_file_over_mongodb_and_postgresql_and_back_and_stays_what_it_is(
    mongo: MongoPlace, postgres: Place, tmp_path: Path
):
    await make_book(tmp_path / "book.db")
    told = await said(tmp_path / "book.db", "likes rye", key="bread", operation="rye")
    places: list[str | Path] = [
        tmp_path / "book.db",
        mongo.new_book(),
        postgres.new_book(),
        mongo.new_book(),
        tmp_path / "back.db",
    ]
    digests = set()
    for one, two in pairwise(places):
        copied = await memoranda.copy(one, two, switch=True)
        digests.add((copied.digest, copied.owners, copied.entries))
        await assert_same(one, two)
        with pytest.raises(Moved):
            await said(one, "late")
    assert len(digests) == 1
    again = await said(places[-1], "likes rye", key="bread", operation="rye")
    assert (again.repeated, again.id) == (True, told.id)


async def test_where_a_book_went_is_told_without_a_password(mongo: MongoPlace, tmp_path: Path):
    await make_book(tmp_path / "book.db")
    there = mongo.new_book()
    await memoranda.copy(tmp_path / "book.db", there, switch=True)
    with pytest.raises(Moved, match="mongodb://") as refused:
        await said(tmp_path / "book.db", "late")
    assert engine_addresses.name_of(there) in str(refused.value)


async def test_a_backup_is_the_book_in_a_file_and_opens_at_once(mongo: MongoPlace, tmp_path: Path):
    there, backup = mongo.new_book(), tmp_path / "backup.db"
    await make_book(there)
    async with memoranda.open(there, worker=False, embed=None) as book:
        found = await book.admin.backup(backup)
        assert (found, found.faults) == (await book.admin.verify(whole=True), ())
    await assert_same(there, backup)
    async with memoranda.open(backup, worker=False, embed=None) as book:
        await book.remember("ann", "is a book like any other")


async def test_a_backup_beside_erasures_is_whole_and_has_nothing_of_what_was_erased(
    mongo: MongoPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    there, backup = mongo.new_book(), tmp_path / "backup.db"
    names = [f"owner{number}" for number in range(8)]
    async with memoranda.open(there, worker=False, embed=None) as book:
        kept: dict[str, list[Any]] = {}
        for name in names:
            told = [await book.remember(name, f"canary{place} of {name}") for place in range(8)]
            kept[name] = [one.id for one in told]
        frame = _Moment.frame
        walked = 0

        async def while_others_write(self: Any, era: bytes) -> Any:
            # Of each owner, copied or not, something goes; one goes whole, and one who was copied
            # teaches an agent.
            nonlocal walked
            for name in names[1:]:
                if kept[name]:
                    await book.forget(name, ids=[kept[name].pop()], what="record", as_owner=True)
            new = await book.remember(names[1], f"came at {walked}")
            await book.experience.add(
                "chef", "heuristics", f"line {walked}", evidence={names[1]: [new.id]}
            )
            if walked == 4:
                await book.forget(names[0], everything=True, as_owner=True)
                kept[names[0]].clear()
            walked += 1
            return await frame(self, era)

        monkeypatch.setattr(_Moment, "frame", while_others_write)
        assert (await book.admin.backup(backup)).faults == () and walked >= 8
        monkeypatch.undo()
    text = backup.read_bytes()
    async with memoranda.open(backup, worker=False, embed=None) as book:
        for name in names:
            held = {
                one.id
                for one in (await book.records.list(name, types="memory", as_owner=True)).records
            }
            assert set(kept[name]) <= held
            # What came later may be there, too.
            assert len(held - set(kept[name])) <= (walked if name == names[1] else 0)
        assert (await book.admin.verify(whole=True)).faults == ()
    assert b"of owner0" not in text
    assert b"canary7 of" not in text
