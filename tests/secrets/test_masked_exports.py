"""A masked export is for reading: it says so, holds no secret, and cannot be imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import memoranda
from memoranda.cli.program import program
from memoranda.errors import InvalidInput
from tests.secrets.test_modes import CARD, PASSWORD, SHOWN, filled


async def test_a_masked_export_says_that_it_is_for_reading_and_holds_no_secret(
    book: memoranda.Book,
) -> None:
    await filled(book)
    lines = [line async for line in book.admin.export(masked=True)]
    head = json.loads(lines[0])
    assert head["masked"] is True and "for reading only" in head["note"] and "key" not in head
    assert all(PASSWORD not in line and CARD not in line for line in lines)
    records = [json.loads(line).get("record", {}) for line in lines]
    assert SHOWN in [record.get("content") for record in records]
    # The key of the book's digests is for the program alone.
    assert all(json.loads(line)["line"] != "book" for line in lines)


async def test_a_masked_export_is_refused_by_an_import_with_the_reason(
    book: memoranda.Book,
) -> None:
    await filled(book)
    lines = [line async for line in book.admin.export("ana", masked=True)]
    async with memoranda.open("memory://") as other:
        with pytest.raises(InvalidInput, match=r"for reading only.*made without --masked"):
            await other.admin.import_(lines)


def test_the_command_writes_a_masked_export_and_the_synchronous_book_too(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    with memoranda.open_sync(path, worker=False, embed=None) as book:
        assert book.secrets == "hide"
        book.remember("ana", f"Wifi password: {PASSWORD}")
        assert not any(PASSWORD in line for line in book.admin.export(masked=True))
        assert any(PASSWORD in line for line in book.admin.export())
    run = CliRunner().invoke(program, ["--book", str(path), "export", "--masked"])
    assert run.exit_code == 0 and PASSWORD not in run.output and '"masked": true' in run.output
