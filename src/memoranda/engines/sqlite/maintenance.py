"""Maintenance of a whole book in SQLite: its counts, checks of its tables, imports of whole owners, and its backups."""

from __future__ import annotations

import glob
import os
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import book_rows, jobs
from memoranda.engines.sqlite.file.connections import secret_of, sql, upkeep
from memoranda.engines.sqlite.file.session import Answers, Session, Writes
from memoranda.model.book_rows import (
    OwnerPieces,
    StonePiece,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.records import Owner
from memoranda.model.values import keyed, micros, moment
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of
from memoranda.storage.verify import TABLE_FAULTS
from memoranda.text.terms import RULE

#: Microseconds after which a backup that was begun and has no file is taken for abandoned.
_LONGEST_BACKUP = 24 * 3600 * 1_000_000


def _find_era(on: Session, question: q.FindEra) -> q.OwnerBase | None:
    row = on.one("find_era", question.era)
    if row is None:
        return None
    on.no, *names, position, held, erased_at = row
    owner = None if erased_at is not None else owner_of(*names)
    on.base = q.OwnerBase(owner, on.secret(), UUID(bytes=question.era), position, held, on.no)
    return on.base


def _counts(on: Session, _: q.Counts) -> q.BookCounts:
    records, jobs = (dict(_all(on, name)) for name in ("records_by_type", "jobs_by_state"))
    return q.BookCounts(records, jobs, *_all(on, "other_counts", RULE)[0])


def _table_faults(on: Session, _: q.TableFaults) -> list[tuple[str, object]]:
    return [(name, row[0]) for name in upkeep() if name in TABLE_FAULTS for row in _all(on, name)]


def _set_derived(on: Session, write: w.SetDerived) -> None:
    for row in write.rows:
        on.run("set_derived", *row[1:-1], row.id)
        on.run("unlink", row.id)
        for source in row.sources:
            on.run("link", row.id, source)


def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    for name in upkeep():
        if name.startswith("rebuild_"):
            _all(on, name)
    on.run("recount_vector_sets")
    on.run("recount_held_of_all")


def _all(on: Session, name: str, *values: object) -> list[tuple[Any, ...]]:
    return on.connection.execute(upkeep()[name], values).fetchall()


ANSWERS: Answers = {q.FindEra: _find_era, q.Counts: _counts, q.TableFaults: _table_faults}
WRITES: Writes = {w.SetDerived: _set_derived, w.RebuildTables: _rebuild_tables}


def owners(connection: sqlite3.Connection, tenant: str) -> list[Owner]:
    """Return the owners of a tenant that have a ledger, also if all their records were forgotten one by one."""
    return [owner_of(*row) for row in connection.execute(sql("owners_of_tenant"), (tenant,))]


def note_backup(connection: sqlite3.Connection, path: str, at: datetime, *, made: bool) -> None:
    """Store the path of a backup that was made, or is being made."""
    values = (path, micros(at), int(made))
    connection.execute("INSERT OR REPLACE INTO backups (path, at, made) VALUES (?, ?, ?)", values)


def backups(connection: sqlite3.Connection, now: datetime) -> list[str]:
    """Return the paths of backups that exist, and of those that may be in the making."""
    rows = connection.execute("SELECT path, at, made FROM backups ORDER BY at").fetchall()
    recent = micros(now) - _LONGEST_BACKUP
    return [path for path, at, made in rows if os.path.exists(path) or (not made and at > recent)]


def known_backups(connection: sqlite3.Connection, place: Path, now: datetime) -> tuple[str, ...]:
    """Return the book's backups, including those made before an upgrade, and the partial files of killed ones."""
    noted = backups(connection, now)
    pattern = f"{glob.escape(place.name)}.v*.backup"
    upgraded = [str(path.resolve()) for path in sorted(place.parent.glob(pattern))]
    # The partial file of a killed backup has content, too.
    halves = [
        str(half)
        for path in noted
        for half in Path(path).parent.glob(f"{glob.escape(Path(path).name)}.*.partial")
    ]
    return tuple(dict.fromkeys([*noted, *upgraded, *halves]))


def adopt_book(
    connection: sqlite3.Connection,
    secret: bytes,
    ended: Sequence[OwnerPieces],
    tombstones: Sequence[StonePiece],
) -> bool:
    """Take over another book's key, ended eras and tombstones of erased records; False if this book is not empty."""
    if connection.execute("SELECT 1 FROM owners UNION ALL SELECT 1 FROM tombstones LIMIT 1").fetchone():
        return False
    connection.execute(sql("set_mark_of_book"), ("secret", secret))
    for era in ended:
        book_rows.lay_frame(connection, era.frame)
        book_rows.lay(connection, era.frame.era, era.entries)
    book_rows.lay(connection, b"", tombstones)
    return True


def adopt(connection: sqlite3.Connection, secret: bytes, whole: OwnerPieces) -> bool:
    """Add an owner from an export, with all records and the ledger; False if this book has the owner already."""
    frame = whole.frame
    assert frame.names is not None
    if connection.execute(sql("owner"), frame.names).fetchone() is not None:
        return False
    refuse_other_secret(secret, secret_of(connection))
    stored = connection.execute(sql("era"), (frame.era,)).fetchone()
    if stored is not None:
        raise refused_era(ended=stored[6] is not None)
    for id in (UUID(bytes=piece.key) for piece in whole.records):
        if connection.execute(sql("buried"), (keyed(secret, "record", id.bytes),)).fetchone():
            raise refused_erased(id)
        if connection.execute(sql("where_is"), (id.bytes,)).fetchone() is not None:
            raise refused_record(id)
    for entry in whole.entries:
        if entry.operation and connection.execute(sql("by_operation"), (entry.operation,)).fetchone():
            raise refused_operation(entry.position)
    book_rows.lay_frame(connection, frame)
    book_rows.lay(connection, frame.era, [*whole.records, *whole.entries])
    (no, *_) = connection.execute(sql("owner"), frame.names).fetchone()
    connection.execute(sql("recount_held"), (no,))
    if any(piece.terms is not None for piece in whole.records):
        jobs.make_embedding_due(connection, moment(whole.entries[-1].at))
    return True
