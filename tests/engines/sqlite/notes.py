"""A small book of notes for the tests of the file alone: its schema in two versions, and what is
done with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memoranda.engines.sqlite.file.migrations import Migration, Migrations
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile

APPLICATION = 0x4E6F7465

FIRST = Migration(
    1,
    "notes",
    """
    -- A semicolon in a comment; and one in a string must not cut a statement.
    CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL DEFAULT 'a;b') STRICT;
    CREATE TABLE log (at INTEGER);
    CREATE TRIGGER noted AFTER INSERT ON notes BEGIN
        INSERT INTO log VALUES (new.id);
    END;
    """,
)
SECOND = Migration(
    2, "colours", "ALTER TABLE notes ADD COLUMN colour TEXT NOT NULL DEFAULT 'white';"
)

V1 = Migrations([FIRST], application_id=APPLICATION)
V2 = Migrations([FIRST, SECOND], application_id=APPLICATION)


async def open_notes(path: Path, migrations: Migrations = V1, **options: Any) -> SqliteFile:
    return await SqliteFile.open(path, migrations=migrations, **options)


def put(body: str) -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        number = connection.execute("INSERT INTO notes (body) VALUES (?)", (body,)).lastrowid
        assert number is not None
        return number

    return work


def bodies(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT body FROM notes ORDER BY id")]
