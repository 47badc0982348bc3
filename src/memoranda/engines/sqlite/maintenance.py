"""Maintenance of a whole book in SQLite: its counts, checks of its tables, and its backups."""

from __future__ import annotations

import glob
import os
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite.file.connections import Answers, Session, Writes, sql, upkeep
from memoranda.first_use import dataclass
from memoranda.model.values import micros
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of
from memoranda.storage.use_case import Deciding, OwnerBase, Write
from memoranda.storage.use_cases.verify import TABLE_FAULTS
from memoranda.text.terms import RULE

#: Microseconds after which a backup that was begun and has no file is taken for abandoned.
_LONGEST_BACKUP = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class NoteBackup(Write):
    """Store the path of a backup that was made, or is being made."""

    path: str
    at: int
    made: bool


def _find_era(on: Session, question: u.FindEra) -> OwnerBase | None:
    row = on.one("find_era", question.era)
    if row is None:
        return None
    on.no, *names, position, held, items, erased_at = row
    owner = None if erased_at is not None else owner_of(*names)
    on.base = OwnerBase(owner, on.secret(), UUID(bytes=question.era), position, held, on.no, items)
    return on.base


def _counts(on: Session, question: u.Counts) -> u.BookCounts:
    tenant = question.tenant
    if tenant is not None:
        names = ("records_of_tenant", "jobs_of_tenant", "vectors_of_tenant")
        records, jobs, vectors = (dict(_all(on, name, tenant)) for name in names)
        owners, stale = _all(on, "other_counts_of_tenant", tenant, tenant, RULE)[0]
        return u.BookCounts(records, jobs, owners, stale, vectors)
    records, jobs = (dict(_all(on, name)) for name in ("records_by_type", "jobs_by_state"))
    return u.BookCounts(records, jobs, *_all(on, "other_counts", RULE)[0])


def _table_faults(on: Session, _: u.TableFaults) -> list[tuple[str, object]]:
    return [(name, row[0]) for name in upkeep() if name in TABLE_FAULTS for row in _all(on, name)]


def _set_derived(on: Session, write: w.SetDerived) -> None:
    for row in write.rows:
        on.run("set_derived", *row[1:-1], row.id)
        on.run("unlink", row.id)
        for source in row.sources:
            on.run("link", row.id, b"", source)


def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    for name in upkeep():
        if name.startswith("rebuild_"):
            _all(on, name)


def _note_backup(on: Session, write: NoteBackup) -> None:
    on.run("note_backup", write.path, write.at, write.made)


def _all(on: Session, name: str, *values: object) -> list[tuple[Any, ...]]:
    return on.connection.execute(upkeep()[name], values).fetchall()


ANSWERS: Answers = {u.FindEra: _find_era, u.Counts: _counts, u.TableFaults: _table_faults}
WRITES: Writes = {
    w.SetDerived: _set_derived,
    w.RebuildTables: _rebuild_tables,
    NoteBackup: _note_backup,
}


def note_backup(path: str, at: datetime, *, made: bool) -> Deciding[None]:
    """Store the path of a backup that was made, or is being made."""
    yield NoteBackup(path, micros(at), made)


def backups(connection: sqlite3.Connection, now: datetime) -> list[str]:
    """Return the paths of backups that exist, and of those that may be in the making."""
    rows = connection.execute(sql("backups")).fetchall()
    recent = micros(now) - _LONGEST_BACKUP
    return [path for path, at, made in rows if os.path.exists(path) or (not made and at > recent)]


def known_backups(connection: sqlite3.Connection, place: Path, now: datetime) -> tuple[str, ...]:
    """Return the book's backups, including those made before an upgrade, and the partial files of
    killed ones.
    """
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
