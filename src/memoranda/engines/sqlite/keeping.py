"""Maintenance of a whole book in SQLite: counts, rebuilding, backups' places, and owners from an import."""

from __future__ import annotations

import glob
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import jobs, laying
from memoranda.engines.sqlite.answers import is_buried
from memoranda.engines.sqlite.secret import secret_of
from memoranda.engines.sqlite.statements import sql
from memoranda.model.moving import (
    OwnerPieces,
    StonePiece,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.owner import Owner
from memoranda.model.values import micros, moment, utc_now
from memoranda.settle import encode
from memoranda.settle.rows import owner_of, record_of
from memoranda.text.terms import RULE

Progress = Callable[[int, int], None]

#: Microseconds after which a backup that was begun and is not there is not waited for any more.
_LONGEST_BACKUP = 24 * 3600 * 1_000_000

#: What ``rebuild`` puts right for the whole book at once. Vectors are made by another, and only kept fitting.
_DERIVED = (
    """UPDATE records SET learnt = coalesce(
    (SELECT recorded_at FROM versions WHERE record = records.no ORDER BY version LIMIT 1), recorded_at)""",
    """DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM terms WHERE record = place & ((1 << 40) - 1))
    OR NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = place >> 40 AND dimension + 4 = length(packed))""",
    """UPDATE vector_sets SET through = 0,
    count = (SELECT count(*) FROM vectors WHERE place > (no << 40) AND place < (no + 1) << 40)""",
)


def rebuild(connection: sqlite3.Connection, secret: bytes, progress: Progress | None) -> Mapping[str, int]:
    """Make columns, links and counts anew from the records' own content; records and ledger stay as they are."""
    done: Counter[str] = Counter()
    total = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    connection.execute("DELETE FROM links")
    # Rule 0 made no terms: upkeep makes all of them anew, and the old ones serve until then.
    connection.execute(
        "INSERT OR IGNORE INTO terms (record, rule, packed) SELECT no, 0, x'' FROM records WHERE mark > 0"
    )
    connection.execute("UPDATE terms SET rule = 0")
    connection.execute("DELETE FROM terms WHERE record NOT IN (SELECT no FROM records WHERE mark > 0)")
    for statement in _DERIVED:
        connection.execute(statement)
    connection.execute("DELETE FROM uses WHERE record NOT IN (SELECT no FROM records)")
    rows = connection.execute(sql("all_of_owner").replace("WHERE o.no = ?", "ORDER BY r.no")).fetchall()
    for row in rows:
        record = record_of(row)
        columns = encode(record, secret)
        connection.execute(
            "UPDATE records SET slot = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ?, facets = ?, "
            "ended = CASE WHEN ? THEN NULL ELSE coalesce(ended, recorded_at) END WHERE id = ?",
            (
                columns.slot,
                columns.kind,
                columns.status,
                columns.at,
                columns.valid_from,
                columns.valid_to,
                columns.facets,
                columns.held,
                columns.id,
            ),
        )
        for source in record.rests_on():
            connection.execute(sql("link"), (columns.id, source.bytes))
            done["links"] += 1
        done["records"] += 1
        if progress is not None and done["records"] % 1000 == 0:
            progress(done["records"], total)
    for (no,) in connection.execute("SELECT no FROM owners WHERE erased_at IS NULL").fetchall():
        connection.execute(sql("recount_held"), (no,))
        done["owners"] += 1
    return done


def counts(connection: sqlite3.Connection) -> dict[str, Any]:
    """How much a book holds."""
    records = connection.execute("SELECT type, count(*) FROM records GROUP BY type ORDER BY type")
    jobs = connection.execute("SELECT state, count(*) FROM jobs GROUP BY state ORDER BY state")
    owners = connection.execute("SELECT count(*) FROM owners WHERE erased_at IS NULL AND position > 0")
    stale = connection.execute("SELECT count(*) FROM terms WHERE rule < ?", (RULE,))
    return {
        "records": dict(records.fetchall()),
        "jobs": dict(jobs.fetchall()),
        "owners": owners.fetchone()[0],
        "stale_terms": stale.fetchone()[0],
        "format": connection.execute("PRAGMA user_version").fetchone()[0],
        "backups": backups(connection, utc_now()),
    }


def owners(connection: sqlite3.Connection, tenant: str) -> list[Owner]:
    """The tenant's owners that have records."""
    return [owner_of(*row) for row in connection.execute(sql("owners_of_tenant"), (tenant,))]


def note_backup(connection: sqlite3.Connection, path: str, at: datetime, *, made: bool) -> None:
    """Remember where a backup lies, or is about to."""
    values = (path, micros(at), int(made))
    connection.execute("INSERT OR REPLACE INTO backups (path, at, made) VALUES (?, ?, ?)", values)


def backups(connection: sqlite3.Connection, now: datetime) -> list[str]:
    """Where the book's backups lie: those that are there, and those that may be under way at this moment."""
    rows = connection.execute("SELECT path, at, made FROM backups ORDER BY at").fetchall()
    recent = micros(now) - _LONGEST_BACKUP
    return [path for path, at, made in rows if os.path.exists(path) or (not made and at > recent)]


def known_backups(connection: sqlite3.Connection, place: Path, now: datetime) -> tuple[str, ...]:
    """The backups of the book at this place, those made before an upgrade and those left half written among them."""
    noted = backups(connection, now)
    pattern = f"{glob.escape(place.name)}.v*.backup"
    upgraded = [str(path.resolve()) for path in sorted(place.parent.glob(pattern))]
    # What a killed backup left half written holds what the book held.
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
    """Take the key, the ended eras and the tombstones of another book; False if this book is not empty."""
    if connection.execute("SELECT 1 FROM owners UNION ALL SELECT 1 FROM tombstones LIMIT 1").fetchone():
        return False
    connection.execute(sql("set_mark_of_book"), ("secret", secret))
    for era in ended:
        laying.lay_frame(connection, era.frame)
        laying.lay(connection, era.frame.era, era.entries)
    laying.lay(connection, b"", tombstones)
    return True


def adopt(connection: sqlite3.Connection, secret: bytes, whole: OwnerPieces) -> bool:
    """Add an owner with all records and the ledger; False if the owner is here."""
    frame = whole.frame
    assert frame.names is not None
    if connection.execute(sql("owner"), frame.names).fetchone() is not None:
        return False
    refuse_other_secret(secret, secret_of(connection))
    stored = connection.execute(sql("era"), (frame.era,)).fetchone()
    if stored is not None:
        raise refused_era(ended=stored[6] is not None)
    for id in (UUID(bytes=piece.key) for piece in whole.records):
        if is_buried(connection, secret, id):
            raise refused_erased(id)
        if connection.execute(sql("where_is"), (id.bytes,)).fetchone() is not None:
            raise refused_record(id)
    for entry in whole.entries:
        if entry.operation and connection.execute(sql("by_operation"), (entry.operation,)).fetchone():
            raise refused_operation(entry.position)
    laying.lay_frame(connection, frame)
    laying.lay(connection, frame.era, [*whole.records, *whole.entries])
    (no, *_) = connection.execute(sql("owner"), frame.names).fetchone()
    connection.execute(sql("recount_held"), (no,))
    if any(piece.terms is not None for piece in whole.records):
        jobs.make_embedding_due(connection, moment(whole.entries[-1].at))
    return True
