"""Sets of vectors in the SQLite tables, and the terms and use counts beside records."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import reads
from memoranda.engines.sqlite.file.connections import sql
from memoranda.errors import Corrupt
from memoranda.model.passages import Use
from memoranda.model.records import Owner, Record, View
from memoranda.model.values import micros
from memoranda.model.vectors import EMBED, Embedding, SetState, VectorSet, check_packed
from memoranda.storage.rows import record_of


def note_use(connection: sqlite3.Connection, owner: Owner, view: View, uses: Mapping[UUID, Use]) -> int:
    """Keep how memories have served."""
    shelves = reads.visible(connection, owner, view)
    found = reads.numbers(connection, list(uses), shelves)
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


def listed(connection: sqlite3.Connection) -> list[VectorSet]:
    """All sets, the active one first."""
    return [
        VectorSet(name, dimension, count, SetState.ACTIVE if active else SetState.MAKING)
        for _, name, dimension, count, active in connection.execute(sql("vector_sets"))
    ]


def begin(connection: sqlite3.Connection, embedding: Embedding) -> VectorSet:
    """The embedding's set, made empty where it is not there."""
    connection.execute(sql("add_vector_set"), (embedding.name, embedding.dimension))
    return next(found for found in listed(connection) if found.name == embedding.name)


def _find(connection: sqlite3.Connection, embedding: Embedding) -> tuple[Any, ...] | None:
    """A set's number, whether it is active, and up to where nothing lacks in it."""
    found: tuple[Any, ...] | None = connection.execute(sql("vector_set"), (embedding.name,)).fetchone()
    return found


def lacking(connection: sqlite3.Connection, embedding: Embedding, limit: int) -> list[Record]:
    """Passages without a vector in the set, oldest first; what is damaged cannot have one, and stops nothing."""
    found = _find(connection, embedding)
    records: list[Record] = []
    if found is None:
        return records
    number, _, through = found
    while (left := limit - len(records)) > 0:
        rows = connection.execute(
            sql("lacking"), {"set": number, "through": through, "limit": left}
        ).fetchall()
        for row in rows:
            through = row[-1]
            with contextlib.suppress(Corrupt):
                records.append(record_of(row))
        if len(rows) < left:
            break
    return records


def put(connection: sqlite3.Connection, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
    """Put vectors of passages that still exist into a set that does."""
    check_packed(embedding, vectors.values())
    found = _find(connection, embedding)
    if found is None:
        return 0
    number, active, through = found
    added, touched = 0, []
    for id, packed in vectors.items():
        there = connection.execute(sql("where_passage_is"), (id.bytes,)).fetchone()
        if there is None:
            continue
        if connection.execute(sql("add_vector"), (number, there[0], packed)).rowcount:
            added += 1
        else:
            connection.execute(sql("renew_vector"), (packed, number, there[0]))
        touched.append((id.bytes, there[1]))
    if added:
        through = _through(connection, number, through)
        connection.execute(sql("grow_vector_set"), (added, through, number))
    if active:
        remark(connection, touched)
    return len(touched)


def _through(connection: sqlite3.Connection, number: int, through: int) -> int:
    """Up to which record nothing lacks: passages only come behind it, so what was passed is never looked at again."""
    values = {"set": number, "through": through}
    first = connection.execute(sql("first_lacking"), values).fetchone()[0]
    if first is None:
        first = connection.execute(sql("last_passage")).fetchone()[0]
    return max(through, first or 0)


def switch(connection: sqlite3.Connection, embedding: Embedding) -> bool:
    """Let recall read this set from now on; all others go."""
    found = _find(connection, embedding)
    if found is None:
        return False
    if not found[1]:
        for number, name, *_ in connection.execute(sql("vector_sets")).fetchall():
            if number != found[0]:
                remove(connection, number, name)
        connection.execute(sql("activate_vector_set"), (found[0],))
        connection.execute(sql("renew_shelves"))
    return True


def drop(connection: sqlite3.Connection, embedding: Embedding) -> bool:
    """Give up a set that is being made."""
    found = _find(connection, embedding)
    if found is None or found[1]:
        return False
    remove(connection, found[0], embedding.name)
    return True


def remove(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Take a set away with its vectors and the work on them."""
    connection.execute(sql("delete_vectors_of_set"), {"set": number})
    connection.execute(sql("delete_vector_set"), (number,))
    connection.execute(sql("delete_upkeep"), (EMBED, name))


class Shrinking:
    """Takes erased records' vectors out of every set."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers = [row[0] for row in connection.execute(sql("vector_sets"))]
        self._gone: Counter[int] = Counter()

    def delete(self, record: int) -> int:
        """Delete a record's vectors; returns how many it had."""
        had = 0
        for number in self._numbers:
            gone = self._connection.execute(sql("delete_vector"), (number, record)).rowcount
            self._gone[number] += gone
            had += gone
        return had

    def finish(self) -> None:
        """Count what is left."""
        for number, gone in self._gone.items():
            self._connection.execute(sql("shrink_vector_set"), (gone, number))
