"""A damaged byte in a stored text: one line in verify, one record less in an export, and no text in
any error.
"""

from __future__ import annotations

import logging
import sqlite3
import traceback
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

import memoranda
from memoranda import Corrupt, StorageError

SECRET = "qzcanary"


async def damaged(path: Path, *, earlier: bool = False, byte: bytes = b"\xff") -> UUID:
    """Make a book of two owners, and damage a text of one of them; return the record's id."""
    async with memoranda.open(path, worker=False, embed=None) as book:
        await book.remember("ana", "Keeps bees")
        told = await book.remember("ana", f"Has a {SECRET} at home")
        if earlier:
            await book.memories.amend("ana", told.id, {"tags": ["pet"]}, as_owner=True)
        await book.remember("ana", "Drinks tea")
        await book.remember("ben", "Keeps snakes")
    table = "versions" if earlier else "records"
    with closing(sqlite3.connect(path)) as connection:
        (body,) = connection.execute(
            f"SELECT CAST(body AS BLOB) FROM {table} WHERE body LIKE '%{SECRET}%' LIMIT 1"
        ).fetchone()
        torn = body.replace(b"Has a", b"Has" + byte + b"a")
        done = connection.execute(
            f"UPDATE {table} SET body = CAST(? AS TEXT) WHERE CAST(body AS BLOB) = ?",
            (torn, body),
        )
        assert done.rowcount == 1
        connection.commit()
    assert told.id is not None
    return told.id


@pytest.mark.parametrize("earlier", [False, True])
async def test_verify_names_the_record_and_goes_on(tmp_path: Path, earlier: bool) -> None:
    id = await damaged(tmp_path / "book.db", earlier=earlier)
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        faults = (await book.admin.verify()).faults
    assert faults and all(str(id) in fault for fault in faults) and SECRET not in str(faults)


async def test_no_error_quotes_the_text(tmp_path: Path) -> None:
    id = await damaged(tmp_path / "book.db")
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        assert [hit.text for hit in await book.recall("ana", "bees", as_owner=True)] == [
            "Keeps bees"
        ]
        assert [hit.text for hit in await book.recall("ben", "snakes", as_owner=True)] == [
            "Keeps snakes"
        ]
        with pytest.raises(Corrupt, match=f"record {id} cannot be read") as caught:
            await book.records.get("ana", id, as_owner=True)
        assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("whole", [False, True])
async def test_an_export_leaves_out_what_cannot_be_read_says_so_and_can_be_imported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, earlier: bool, whole: bool
) -> None:
    id = await damaged(tmp_path / "book.db", earlier=earlier)
    with caplog.at_level(logging.WARNING, "memoranda.export"):
        async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
            lines = [line async for line in book.admin.export(None if whole else "ana")]
    assert str(id) in caplog.text and "leaves out" in caplog.text and SECRET not in caplog.text
    async with memoranda.open(tmp_path / "new.db", worker=False, embed=None) as book:
        report = await book.admin.import_(lines)
        assert report.errors == []
        page = await book.records.list("ana", types="memory", as_owner=True)
        found = {record.content for record in page.records}  # type: ignore[attr-defined]
        assert found == {"Keeps bees", "Drinks tea"} | (
            {f"Has a {SECRET} at home"} if earlier else set()
        )
        assert (await book.admin.verify()).faults == ()


async def test_a_backup_and_a_rebuild_stop_at_the_record_without_its_text(tmp_path: Path) -> None:
    id = await damaged(tmp_path / "book.db")
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        for stops in (lambda: book.admin.backup(tmp_path / "backup.db"), book.admin.rebuild):
            with pytest.raises(StorageError, match=str(id)) as caught:
                await stops()
            assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert list(tmp_path.glob("backup*")) == []


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("byte", [b"\xff", b'"'])
async def test_a_damaged_record_is_erased_with_its_owner_and_by_its_id(
    tmp_path: Path, everything: bool, earlier: bool, byte: bytes
) -> None:
    id = await damaged(tmp_path / "book.db", earlier=earlier, byte=byte)
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        if everything:
            receipt = await book.forget("ana", everything=True, as_owner=True)
        else:
            receipt = await book.forget("ana", id, as_owner=True)
        assert (id in receipt.ids, receipt.state) == (True, "complete")
        assert (await book.admin.verify(whole=True)).faults == ()
        page = await book.records.list("ana", types="memory", as_owner=True)
        left = {record.content for record in page.records}  # type: ignore[attr-defined]
        assert left == (set() if everything else {"Keeps bees", "Drinks tea"})
        assert await book.records.count("ben", as_owner=True) == 1
    assert SECRET.encode() not in (tmp_path / "book.db").read_bytes()


async def test_a_damaged_message_is_erased_with_its_thread_and_so_is_what_rests_on_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, worker=False, embed=None) as book:
        thread = await book.thread("ana", agent="coach")
        said = (await thread.append("user", f"I have a {SECRET}")).id
        await book.remember("ana", f"Has a {SECRET}", agent="coach", sources=[said])
        await book.remember("ana", "Keeps bees", agent="coach")
    with closing(sqlite3.connect(path)) as connection:
        torn = "UPDATE records SET body = CAST(replace(CAST(body AS BLOB), 'have', x'ff') AS TEXT) WHERE type = ?"
        connection.execute(torn.replace("x'ff'", "CAST(x'ff' AS TEXT)"), ("message",))
        connection.commit()
    async with memoranda.open(path, worker=False, embed=None) as book:
        receipt = await book.forget("ana", thread.id, as_owner=True)
        assert (receipt.removed["message"], receipt.removed["memory"]) == (1, 1)
        assert (await book.admin.verify(whole=True)).faults == ()
    assert SECRET.encode() not in path.read_bytes()
