"""Bringing a book forward: with a verified copy beside it, all or nothing, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.migrations import Migration, Migrations
from memoranda.errors import Corrupt, StorageError, VersionMismatch
from tests.engines.sqlite.notes import APPLICATION, FIRST, SECOND, V1, V2, bodies, open_notes, put


def backups(place: Path) -> list[Path]:
    return sorted(place.parent.glob(f"{place.name}.v*.backup"))


def colours(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT body, colour FROM notes ORDER BY id").fetchall()


async def written(place: Path, *texts: str) -> None:
    file = await open_notes(place, V1)
    for text in texts:
        await file.write(put(text))
    await file.close()


async def test_a_new_book_gets_every_step_and_no_backup(place: Path):
    file = await open_notes(place, V2)
    await file.write(put("one"))
    assert await file.read(colours) == [("one", "white")]
    await file.close()
    assert backups(place) == []


async def test_an_older_book_is_brought_forward_with_a_backup_beside_it(place: Path):
    await written(place, "one", "two")
    file = await open_notes(place, V2)
    assert await file.read(colours) == [("one", "white"), ("two", "white")]
    await file.close()

    (backup,) = backups(place)
    assert backup.name.startswith("notes.book.v1-")
    assert backup.stat().st_mode & 0o777 == 0o600
    old = await open_notes(backup, V1)
    assert await old.read(bodies) == ["one", "two"]
    await old.close()


async def test_what_the_log_still_holds_is_in_the_backup_too(place: Path):
    older = await open_notes(place, V1)
    await older.write(put("only in the log"))
    newer = await open_notes(place, V2)
    (backup,) = backups(place)
    with closing(sqlite3.connect(backup)) as connection:
        assert bodies(connection) == ["only in the log"]
    await newer.close()
    await older.close()


async def test_a_step_that_fails_leaves_the_book_as_it_was(place: Path):
    await written(place, "one")
    broken = Migration(3, "broken", "CREATE TABLE more (id); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(StorageError, match="no such table: nowhere"):
        await open_notes(place, Migrations([FIRST, SECOND, broken], application_id=APPLICATION))
    assert backups(place) == []
    file = await open_notes(place, V1)
    assert await file.read(bodies) == ["one"]
    await file.close()


async def test_a_step_that_orphans_a_row_is_refused(place: Path):
    orphaning = Migration(
        3,
        "orphans",
        "CREATE TABLE tags (note INTEGER REFERENCES notes); INSERT INTO tags VALUES (99);",
    )
    with pytest.raises(Corrupt, match="a row of tags would have no parent"):
        await open_notes(place, Migrations([FIRST, SECOND, orphaning], application_id=APPLICATION))


async def test_a_book_whose_copy_does_not_check_out_is_not_brought_forward(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    await written(place, "one")
    stale = iter([2, 1])
    real = sqlite3.connect

    class Miscounting(sqlite3.Connection):
        def execute(self, sql, *parameters):
            return super().execute(
                f"SELECT {next(stale)}" if 'count(*) FROM "notes"' in sql else sql, *parameters
            )

    def connect(*given, **options):
        return real(*given, factory=Miscounting, **options)

    with pytest.raises(StorageError, match="differs from the book"):
        await open_notes(place, V2, connect=connect)
    assert [path.name for path in place.parent.iterdir() if "backup" in path.name] == []
    file = await open_notes(place, V1)
    assert await file.read(bodies) == ["one"]
    await file.close()


async def test_a_program_of_the_older_version_is_refused_from_then_on(place: Path):
    older = await open_notes(place, V1)
    await older.write(put("one"))
    newer = await open_notes(place, V2)
    with pytest.raises(VersionMismatch, match="from format 1 to 2 while it was open"):
        await older.write(put("two"))
    with pytest.raises(VersionMismatch, match="from format 1 to 2 while it was open"):
        await older.read(bodies)
    assert await newer.read(colours) == [("one", "white")]
    await older.close()
    await newer.close()


async def test_an_older_book_is_not_brought_forward_by_a_reader(place: Path):
    await written(place, "one")
    content = place.read_bytes()
    with pytest.raises(VersionMismatch, match="open it once without read_only"):
        await open_notes(place, V2, read_only=True)
    assert place.read_bytes() == content
    assert backups(place) == []


@pytest.mark.parametrize("numbers", [[], [2], [1, 3], [1, 1], [0, 1]])
def test_steps_without_an_unbroken_count_are_refused(numbers: list[int]):
    with pytest.raises(ValueError, match="numbered 1, 2, 3"):
        Migrations(
            [Migration(number, "step", "") for number in numbers], application_id=APPLICATION
        )
