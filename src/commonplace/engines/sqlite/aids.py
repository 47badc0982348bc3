"""Keeps what stands beside records, use and terms, and lets the indexes of their shelves know."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from uuid import UUID

from commonplace.engines.sqlite import reading
from commonplace.engines.sqlite.rows import chunks
from commonplace.engines.sqlite.statements import sql
from commonplace.model.memories import Use
from commonplace.model.owner import Owner, View
from commonplace.model.values import micros


def note_use(connection: sqlite3.Connection, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    shelves = reading.visible(connection, owner, view)
    noted, touched = 0, set()
    for id, no, shelf in reading.numbers(connection, list(uses), shelves):
        use = uses[UUID(bytes=id)]
        used = None if use.used_at is None else micros(use.used_at)
        connection.execute(sql("put_use"), (no, use.strength, used, use.count))
        touched.add((id, shelf))
        noted += 1
    _remark(connection, touched)
    return noted


def put_terms(connection: sqlite3.Connection, rule: int, terms: Mapping[UUID, bytes]) -> int:
    put, touched = 0, set()
    for piece in chunks([id.bytes for id in terms]):
        for id in piece:
            found = connection.execute(sql("where_passage_is"), (id,)).fetchone()
            if found is not None:
                connection.execute(sql("put_terms"), (found[0], rule, terms[UUID(bytes=id)]))
                touched.add((id, found[1]))
                put += 1
    _remark(connection, touched)
    return put


def _remark(connection: sqlite3.Connection, touched: set[tuple[bytes, int]]) -> None:
    """Move the marks of shelves whose passages' aids changed, so that indexes fetch them again."""
    marks = {
        shelf: connection.execute(sql("move_mark"), (shelf,)).fetchone()[0]
        for shelf in {s for _, s in touched}
    }
    for id, shelf in touched:
        connection.execute(sql("mark_record"), (marks[shelf], id))
