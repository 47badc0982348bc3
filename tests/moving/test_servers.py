"""Books move to a server and back, and are there what they were in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, Moved, UnfinishedCopy
from memoranda.assembly import open_engine
from memoranda.book.admin.book_copy import CopyRun
from memoranda.engines.postgres.server.address import parse
from memoranda.errors import Conflict, StorageError
from memoranda.model.book_rows import Arrival
from tests.engines.postgres_server import Place
from tests.moving.books import assert_same, make_book, said


async def test_a_book_moves_to_a_server_and_back_and_stays_what_it_is(
    postgres: Place, tmp_path: Path
) -> None:
    await make_book(tmp_path / "book.db")
    there, back = postgres.new_book(), tmp_path / "back.db"
    told = await said(tmp_path / "book.db", "likes rye", key="bread", operation="rye")
    one = await memoranda.copy(tmp_path / "book.db", there, switch=True)
    await assert_same(tmp_path / "book.db", there)
    two = await memoranda.copy(there, back, switch=True)
    await assert_same(tmp_path / "book.db", back)
    assert (one.digest, one.entries) == (two.digest, two.entries)
    again = await said(back, "likes rye", key="bread", operation="rye")
    assert (again.repeated, again.id) == (True, told.id)
    async with memoranda.open(back, worker=False, embed=None) as book:
        await book.undo("ann", told.position)
        assert (await book.admin.verify()).faults == ()


async def test_a_book_of_several_tenants_moves_from_server_to_server_into_partitions_and_out_of_them(
    postgres: Place,
) -> None:
    one, parted, two = (
        postgres.new_book(),
        f"{postgres.new_book()}&partitions=3",
        postgres.new_book(),
    )
    await make_book(one)
    told = {}
    for tenant in ("default", "other"):
        # The same name in another tenant is somebody else.
        async with memoranda.open(one, tenant=tenant, worker=False, embed=None) as book:
            told[tenant] = await book.remember(
                "ann", f"likes rye, {tenant}", key="bread", operation="rye"
            )
            gone = await book.remember("ben", f"{tenant} passes", operation="gone")
            await book.forget("ben", gone.id, as_owner=True)
    there = await memoranda.copy(one, parted, switch=True)
    await assert_same(one, parted)
    back = await memoranda.copy(parted, two, switch=True)
    await assert_same(parted, two)
    assert (there.digest, there.owners) == (back.digest, back.owners) == (there.digest, 4)
    for tenant, receipt in told.items():
        with pytest.raises(Moved):
            await said(one, "late", tenant=tenant)
        async with memoranda.open(two, tenant=tenant, worker=False, embed=None) as book:
            again = await book.remember("ann", f"likes rye, {tenant}", key="bread", operation="rye")
            assert (again.repeated, again.id) == (True, receipt.id)
            assert (await book.records.get("ann", receipt.id)).content == f"likes rye, {tenant}"  # type: ignore[attr-defined]
            assert not await book.recall("ben", f"{tenant} passes", as_owner=True)
            await book.undo("ann", receipt.position)
            assert (await book.admin.verify()).faults == ()


async def test_a_server_refuses_who_writes_a_book_that_moved_and_lets_it_be_read(
    postgres: Place, tmp_path: Path
) -> None:
    address = postgres.new_book()
    async with memoranda.open(address, worker=False, embed=None) as book:
        told = await book.remember("ann", "before")
        await memoranda.copy(address, tmp_path / "there.db", switch=True)
        with pytest.raises(Moved, match=r"there\.db") as refused:
            await book.remember("ann", "after")
        assert refused.value.address == str(tmp_path / "there.db")
        assert (await book.records.get("ann", told.id)).id == told.id
    async with memoranda.open(address, embed=None) as book:
        assert (await book.records.get("ann", told.id)).id == told.id
    assert (await memoranda.copy(address, tmp_path / "there.db", switch=True)).already


async def test_a_copy_on_a_server_is_no_book_until_it_is_complete_and_is_emptied_if_it_is_begun_anew(
    postgres: Place, tmp_path: Path
) -> None:
    await make_book(tmp_path / "book.db")
    there = postgres.new_book()
    source = await open_engine(tmp_path / "book.db")
    target = await open_engine(there, unfinished=True)
    here = await source.whereabouts()
    assert await target.arrive(Arrival(here.address, "stopped"), here.secret)
    await target.lay_book("stopped", await source.book_frame())
    (era, *_) = await source.eras(b"", 9)
    frame = await source.frame(era)
    assert frame is not None
    await target.lay_frame("stopped", frame._replace(shelves=(), jobs=()))
    for engine in (source, target):
        await engine.close()
    with pytest.raises(UnfinishedCopy, match=r"book\.db"):
        await memoranda.open(there)
    await memoranda.copy(tmp_path / "book.db", there, switch=True)
    await assert_same(tmp_path / "book.db", there)
    await said(there, "goes on")


async def test_where_a_book_went_is_told_without_a_password(
    postgres: Place, tmp_path: Path
) -> None:
    await make_book(tmp_path / "book.db")
    there = postgres.new_book()
    report = await memoranda.copy(tmp_path / "book.db", there, switch=True)
    with pytest.raises(Moved, match="postgresql://") as refused:
        await said(tmp_path / "book.db", "after")
    assert ":secret@" in there
    assert parse(refused.value.address).name == parse(there).name
    assert (await memoranda.copy(tmp_path / "book.db", there)).already
    for text in (str(refused.value), refused.value.address, report.target):
        assert "secret" not in text


async def test_a_book_on_a_server_is_not_copied_to_itself_nor_over_another(
    postgres: Place, tmp_path: Path
) -> None:
    one, two = postgres.new_book(), postgres.new_book()
    for address in (one, two):
        await said(address, "mine")
    with pytest.raises(InvalidInput, match="this very book"):
        await memoranda.copy(one, one)
    with pytest.raises((InvalidInput, Conflict), match="content"):
        await memoranda.copy(one, two)


async def test_a_copy_may_be_spread_over_partitions(postgres: Place, tmp_path: Path) -> None:
    await make_book(tmp_path / "book.db")
    there = f"{postgres.new_book()}&partitions=3"
    await memoranda.copy(tmp_path / "book.db", there, switch=True)
    await assert_same(tmp_path / "book.db", there)


async def test_a_copy_that_failed_on_a_server_is_begun_anew_there(
    postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = postgres.new_book()
    await make_book(tmp_path / "book.db")

    async def stopped(self: CopyRun) -> None:
        raise StorageError("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(CopyRun, "_compare", stopped)
        with pytest.raises(StorageError, match="stopped"):
            await memoranda.copy(tmp_path / "book.db", there)
    await said(tmp_path / "book.db", "written since")
    await memoranda.copy(tmp_path / "book.db", there, switch=True)
    await assert_same(tmp_path / "book.db", there)
