"""Terms and use in the SQLite tables: beside the records, and no part of their versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from uuid import UUID

from memoranda.engines.sqlite import reading
from memoranda.engines.sqlite.statements import sql
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Use
from memoranda.model.values import micros


def note_use(connection: sqlite3.Connection, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    """Keep how memories have served."""
    shelves = reading.visible(connection, owner, view)
    found = reading.numbers(connection, list(uses), shelves)
    for id, no, _ in found:
        use = uses[UUID(bytes=id)]
        used = None if use.used_at is None else micros(use.used_at)
        connection.execute(sql("put_use"), (no, use.strength, used, use.count))
    return len(found)


def put_terms(connection: sqlite3.Connection, rule: int, terms: Mapping[UUID, bytes]) -> int:
    """Put terms made anew for passages that still exist."""
    touched: list[tuple[bytes, int]] = []
    for id, packed in terms.items():
        found = connection.execute(sql("where_passage_is"), (id.bytes,)).fetchone()
        if found is not None:
            connection.execute(sql("put_terms"), (found[0], rule, packed))
            touched.append((id.bytes, found[1]))
    remark(connection, touched)
    return len(touched)


def remark(connection: sqlite3.Connection, touched: list[tuple[bytes, int]]) -> None:
    """Move the marks of shelves whose passages' aids changed, so that indexes fetch them again."""
    marks = {
        shelf: connection.execute(sql("move_mark"), (shelf,)).fetchone()[0]
        for shelf in dict.fromkeys(shelf for _, shelf in touched)
    }
    connection.executemany(sql("mark_record"), [(marks[shelf], id) for id, shelf in touched])
