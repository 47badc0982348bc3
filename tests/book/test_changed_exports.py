"""A line of an export that was changed is noticed where the key of its digests is known, and
otherwise said to be unchecked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput

CHANGES: dict[str, Any] = {
    "content": "Lives in Rome",
    "audience": {"kind": "global"},
    "trust": "operator",
}


async def lines_of(book: memoranda.Book, owner: str | None) -> list[str]:
    await book.remember("ana", "Lives in Bonn", agent="coach", trust="web", audience="self")
    await book.remember("ben", "Plays the horn", agent="coach")
    return [line async for line in book.admin.export(owner)]


def changed(lines: list[str], field: str) -> tuple[list[str], int]:
    """Change one field of ana's memory; return the lines and the number of the changed one."""
    place = next(n for n, line in enumerate(lines) if "Lives in Bonn" in line)
    line = json.loads(lines[place])
    line["record"][field] = CHANGES[field]
    return [*lines[:place], json.dumps(line), *lines[place + 1 :]], place + 1


@pytest.mark.parametrize("owner", ["ana", None])
@pytest.mark.parametrize("field", CHANGES)
async def test_a_changed_line_is_left_out_and_reported_where_the_key_is_known(
    book: memoranda.Book, tmp_path: Path, owner: str | None, field: str
) -> None:
    lines, number = changed(await lines_of(book, owner), field)
    async with memoranda.open(tmp_path / "new.db") as new:
        if owner is not None:
            # The key comes with an export of the whole book.
            await new.admin.import_([line async for line in book.admin.export()])
            await new.forget("ana", everything=True, as_owner=True)
        report = await new.admin.import_(lines)
        assert [(line, "was changed" in why) for line, why in report.errors] == [(number, True)]
        assert report.unchecked == 0
        assert await new.records.count("ana", as_owner=True) == 0
        assert (await new.records.count("ben", as_owner=True)) == 1
    # Nor does the book that wrote it take it.
    assert [line for line, _ in (await book.admin.import_(lines)).errors] == [number]


async def test_a_line_of_another_owner_or_without_its_digest_is_a_changed_line(
    book: memoranda.Book, tmp_path: Path
) -> None:
    lines = await lines_of(book, None)
    place = next(n for n, line in enumerate(lines) if "Lives in Bonn" in line)
    bare = json.loads(lines[place])
    del bare["digest"]
    ben = next(n for n, line in enumerate(lines) if json.loads(line).get("id") == "ben")
    renamed = {**json.loads(lines[ben]), "id": "carl"}
    lines = [
        *lines[:place],
        json.dumps(bare),
        *lines[place + 1 : ben],
        json.dumps(renamed),
        *lines[ben + 1 :],
    ]
    async with memoranda.open(tmp_path / "new.db") as new:
        report = await new.admin.import_(lines)
        assert [line for line, _ in report.errors] == [place + 1, ben + 1]
        assert await new.admin.owners() == []


async def test_an_import_says_that_it_could_not_check_lines(
    book: memoranda.Book, tmp_path: Path
) -> None:
    lines, _ = changed(await lines_of(book, "ana"), "content")
    async with memoranda.open(tmp_path / "new.db") as new:
        report = await new.admin.import_(lines)
        assert (report.adopted, report.unchecked, report.errors) == (1, 1, [])
        assert (await new.admin.verify()).faults == ()


@pytest.mark.parametrize("former", ["memoranda", "commonplace"])
async def test_an_export_of_a_development_build_is_refused(
    book: memoranda.Book, tmp_path: Path, former: str
) -> None:
    head, *lines = await lines_of(book, None)
    old = json.dumps(json.loads(head) | {"format": former, "version": 2})
    async with memoranda.open(tmp_path / "new.db") as new:
        with pytest.raises(InvalidInput, match="a development build"):
            await new.admin.import_([old, *lines])
        assert (await new.admin.facts()).owners == 0
