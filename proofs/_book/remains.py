"""Check that a book's tables contain nothing of the forgotten data."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from proofs._book.person import Part


class Remains(Exception):
    """Forgotten data is still there or came back, or too much was removed."""


def check_tables(path: Path, part: Part) -> None:
    """Check that no table has anything of a forgotten part, and that records with other sources are
    still there.
    """
    connection = sqlite3.connect(path)
    try:
        for id in (*part.ids, *part.derived):
            _expect_none(connection, "SELECT 1 FROM records WHERE id = ?", id.bytes, f"{id} stands")
            link = "SELECT 1 FROM links WHERE ? IN (record, source)"
            _expect_none(connection, link, id.bytes, f"a link names {id}")
            for table in ("records", "versions"):
                text = f"SELECT 1 FROM {table} WHERE instr(body, ?)"  # noqa: S608 - our own names
                _expect_none(connection, text, str(id), f"{table} name {id}")
            for table in ("jobs", "kept"):
                about = f"SELECT 1 FROM {table} WHERE instr(records, ?)"  # noqa: S608 - our own names
                _expect_none(connection, about, id.hex, f"{table} are about {id}")
        for table in ("terms", "uses", "versions"):
            orphan = f"SELECT 1 FROM {table} WHERE record NOT IN (SELECT no FROM records) AND 1 = ?"  # noqa: S608
            _expect_none(connection, orphan, 1, f"{table} of no record are left")
        orphan = "SELECT 1 FROM kept WHERE job NOT IN (SELECT id FROM jobs) AND 1 = ?"
        _expect_none(connection, orphan, 1, "what was kept with a job outlives it")
        orphan = "SELECT 1 FROM vectors WHERE place & 1099511627775 NOT IN (SELECT no FROM records) AND 1 = ?"
        _expect_none(connection, orphan, 1, "vectors of no record are left")
        count = """SELECT 1 FROM vector_sets AS s WHERE 1 = ? AND count <> (
            SELECT count(*) FROM vectors WHERE place >> 40 = s.no)"""
        _expect_none(connection, count, 1, "a set counts other vectors than it has")
        for id in part.kept:
            if (
                connection.execute("SELECT 1 FROM records WHERE id = ?", (id.bytes,)).fetchone()
                is None
            ):
                raise Remains(f"{id} rested on something else as well, and went")
    finally:
        connection.close()


def _expect_none(connection: sqlite3.Connection, query: str, value: object, fault: str) -> None:
    if connection.execute(query, (value,)).fetchone() is not None:
        raise Remains(fault)
