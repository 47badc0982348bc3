"""A damaged byte in a stored text: one line in verify, one record less in an export, and no text in any error."""

from __future__ import annotations

import logging
import sqlite3
import traceback
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

import memoranda
from memoranda import Corrupt

SECRET = "qzcanary"


async def damaged(path: Path, *, earlier: bool = False, byte: bytes = b"\xff") -> UUID:
    """Make a book of two owners, and damage a text of one of them; return the record's id."""
    async with memoranda.open(path, worker=False, embed=None) as book:
        await book.remember("ana", "Keeps bees")
        told = await book.remember("ana", f"Has a {SECRET} at home")
        if earlier:
            await book.amend("ana", told.id, {"tags": ["pet"]}, view="owner")
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
        faults = (await book.verify()).faults
    assert faults and all(str(id) in fault for fault in faults) and SECRET not in str(faults)


async def test_no_error_quotes_the_text(tmp_path: Path) -> None:
    id = await damaged(tmp_path / "book.db")
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        assert [hit.text for hit in await book.recall("ana", "bees", view="owner")] == ["Keeps bees"]
        assert [hit.text for hit in await book.recall("ben", "snakes", view="owner")] == ["Keeps snakes"]
        with pytest.raises(Corrupt, match=f"record {id} cannot be read") as caught:
            await book.get("ana", id, view="owner")
        assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("whole", [False, True])
async def test_an_export_leaves_out_what_cannot_be_read_says_so_and_can_be_imported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, earlier: bool, whole: bool
) -> None:
    id = await damaged(tmp_path / "book.db", earlier=earlier)
    with caplog.at_level(logging.WARNING, "memoranda.export"):
        async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
            lines = [line async for line in book.export(None if whole else "ana")]
    assert str(id) in caplog.text and "leaves out" in caplog.text and SECRET not in caplog.text
    async with memoranda.open(tmp_path / "new.db", worker=False, embed=None) as book:
        report = await book.import_(lines)
        assert report.errors == []
        found = {record.content for record in (await book.list("ana", types="memory", view="owner")).records}  # type: ignore[attr-defined]
        assert found == {"Keeps bees", "Drinks tea"} | ({f"Has a {SECRET} at home"} if earlier else set())
        assert (await book.verify()).faults == ()
