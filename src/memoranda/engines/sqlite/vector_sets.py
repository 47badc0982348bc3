"""Sets of vectors in the SQLite tables, and the search terms and uses that are stored beside records."""

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
    """Store the use of memories: how often and when each was placed in a prompt."""
    shelves = reads.visible(connection, owner, view)
    found = reads.numbers(connection, list(uses), shelves)
    for id, no, _ in found:
        use = uses[UUID(bytes=id)]
        used = None if use.used_at is None else micros(use.used_at)
        connection.execute(sql("put_use"), (no, use.strength, used, use.count))
    return len(found)


def put_terms(connection: sqlite3.Connection, rule: int, terms: Mapping[UUID, bytes]) -> int:
    """Store recomputed search terms of the passages that still exist."""
    touched: list[tuple[bytes, int]] = []
    for id, packed in terms.items():
        found = connection.execute(sql("where_passage_is"), (id.bytes,)).fetchone()
        if found is not None:
            connection.execute(sql("put_terms"), (found[0], rule, packed))
            touched.append((id.bytes, found[1]))
    remark(connection, touched)
    return len(touched)


def remark(connection: sqlite3.Connection, touched: list[tuple[bytes, int]]) -> None:
    """Increase the revisions of shelves whose passages' terms or vectors changed, so that indexes fetch them again."""
    marks = {
        shelf: connection.execute(sql("move_mark"), (shelf,)).fetchone()[0]
        for shelf in dict.fromkeys(shelf for _, shelf in touched)
    }
    connection.executemany(sql("mark_record"), [(marks[shelf], id) for id, shelf in touched])


def listed(connection: sqlite3.Connection) -> list[VectorSet]:
    """Return all sets of vectors, the active one first."""
    return [
        VectorSet(name, dimension, count, SetState.ACTIVE if active else SetState.MAKING)
        for _, name, dimension, count, active in connection.execute(sql("vector_sets"))
    ]


def begin(connection: sqlite3.Connection, embedding: Embedding) -> VectorSet:
    """Return the embedding's set; make an empty one if there is none."""
    connection.execute(sql("add_vector_set"), (embedding.name, embedding.dimension))
    return next(found for found in listed(connection) if found.name == embedding.name)


def _find(connection: sqlite3.Connection, embedding: Embedding) -> tuple[Any, ...] | None:
    """Return a set's number, True if it is active, and the record number up to which it has all vectors; or None."""
    found: tuple[Any, ...] | None = connection.execute(sql("vector_set"), (embedding.name,)).fetchone()
    return found


def lacking(connection: sqlite3.Connection, embedding: Embedding, limit: int) -> list[Record]:
    """Return passages without a vector in the set, oldest first; damaged records are skipped."""
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
    """Store vectors whose passages and set still exist; returns how many were stored."""
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
    """Return the record number up to which no vector is missing; it never decreases."""
    values = {"set": number, "through": through}
    first = connection.execute(sql("first_lacking"), values).fetchone()[0]
    if first is None:
        first = connection.execute(sql("last_passage")).fetchone()[0]
    return max(through, first or 0)


def switch(connection: sqlite3.Connection, embedding: Embedding) -> bool:
    """Make this set of vectors the active one, which recall uses, and delete all others."""
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
    """Delete a set of vectors that is not active."""
    found = _find(connection, embedding)
    if found is None or found[1]:
        return False
    remove(connection, found[0], embedding.name)
    return True


def remove(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Delete a set with its vectors and its jobs."""
    connection.execute(sql("delete_vectors_of_set"), {"set": number})
    connection.execute(sql("delete_vector_set"), (number,))
    connection.execute(sql("delete_upkeep"), (EMBED, name))


class Shrinking:
    """Removes the vectors of erased records from every set."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers = [row[0] for row in connection.execute(sql("vector_sets"))]
        self._gone: Counter[int] = Counter()

    def delete(self, record: int) -> int:
        """Delete a record's vectors; returns how many there were."""
        had = 0
        for number in self._numbers:
            gone = self._connection.execute(sql("delete_vector"), (number, record)).rowcount
            self._gone[number] += gone
            had += gone
        return had

    def finish(self) -> None:
        """Update the counts of the sets."""
        for number, gone in self._gone.items():
            self._connection.execute(sql("shrink_vector_set"), (gone, number))
