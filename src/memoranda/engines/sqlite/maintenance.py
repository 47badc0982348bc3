"""Maintenance of a whole book in SQLite: verification against the ledger, rebuilding, and facts."""

from __future__ import annotations

import glob
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite import book_rows, jobs
from memoranda.engines.sqlite.file.connections import secret_of, sql
from memoranda.errors import Corrupt
from memoranda.model.book_facts import Findings
from memoranda.model.book_rows import (
    OwnerPieces,
    StonePiece,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.records import PASSAGE_TYPES, Owner
from memoranda.model.values import keyed, micros, moment, utc_now
from memoranda.storage import StoredRow, encode
from memoranda.storage.rows import audience_of, load_entry_body, owner_of, record_of
from memoranda.storage.verify import Proof, Written, checked, misplaced
from memoranda.text.terms import RULE

_RECORDS = """
SELECT r.owner, r.id, r.type, r.version, r.recorded_at, r.slot, r.thread, r.seq, r.kind, r.status, r.at, r.valid_from,
    r.valid_to, r.facets, r.body, r.hash, r.position, s.audience, s.agent, s.groups,
    r.mark > 0 AND t.record IS NOT NULL
FROM shelves AS s JOIN records AS r ON r.shelf = s.no LEFT JOIN terms AS t ON t.record = r.no WHERE s.owner = ?
"""

_VERSIONS = """
SELECT r.id, r.type, v.version, v.position, h.audience, h.agent, h.groups, v.body, v.hash, v.version < r.version
FROM shelves AS s JOIN records AS r ON r.shelf = s.no JOIN versions AS v ON v.record = r.no
LEFT JOIN shelves AS h ON h.no = v.shelf AND h.owner = s.owner WHERE s.owner = ?
"""

#: Checks that are not made owner by owner: sums, and rows without a parent.
_SUMS = {
    "owner {0}: its count of held memories is wrong": """
        SELECT no FROM owners AS o WHERE erased_at IS NULL AND held <>
        (SELECT count(*) FROM records WHERE owner = o.no AND type = 'memory' AND status = 'active')""",
    "owner {0}: its ledger has gaps": """
        SELECT no FROM owners AS o WHERE position <> (SELECT count(*) FROM ledger WHERE owner = o.no)
        OR position <> (SELECT coalesce(max(position), 0) FROM ledger WHERE owner = o.no)""",
    "owner {0}: there is a ledger of it, and no owner": """
        SELECT DISTINCT owner FROM ledger AS l WHERE NOT EXISTS (SELECT 1 FROM owners WHERE no = l.owner)""",
    "record number {0}: it stands on no shelf of its owner": """
        SELECT no FROM records AS r WHERE NOT EXISTS (
        SELECT 1 FROM shelves AS s JOIN owners AS o ON o.no = s.owner
        WHERE s.no = r.shelf AND s.owner = r.owner AND o.erased_at IS NULL)""",
    "versions of record number {0}: it is not there": """
        SELECT DISTINCT record FROM versions AS v WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = v.record)""",
    "links of record {0}: it is not there": """
        SELECT DISTINCT hex(record) FROM links AS l WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = l.record)""",
    "terms {0}: their passage is not there": """
        SELECT record FROM terms AS t WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = t.record)""",
    "use {0}: its memory is not there": """
        SELECT record FROM uses AS u WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = u.record AND type = 'memory')""",
    "record number {0}: its first version was not recorded when it is said to have been learnt": """
        SELECT no FROM records AS r WHERE learnt <> coalesce(
        (SELECT recorded_at FROM versions WHERE record = r.no ORDER BY version LIMIT 1), recorded_at)""",
    "record number {0}: when it ceased to be held does not fit its status": """
        SELECT no FROM records WHERE (ended IS NOT NULL) <>
        (coalesce(status, '') IN ('superseded', 'retracted', 'undone', 'evicted', 'withdrawn'))""",
    "vector {0}: its set or its passage is not there": """
        SELECT place FROM vectors AS v WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = v.place >> 40)
        OR NOT EXISTS (SELECT 1 FROM terms WHERE record = v.place & ((1 << 40) - 1))""",
    "vector {0}: its length is not that of its set": """
        SELECT v.place FROM vector_sets AS s
        JOIN vectors AS v ON v.place > (s.no << 40) AND v.place < (s.no + 1) << 40
        WHERE length(v.packed) <> s.dimension + 4""",
    "vectors {0}: they are not as many as their set says": """
        SELECT name FROM vector_sets AS s WHERE count <>
        (SELECT count(*) FROM vectors WHERE place > (s.no << 40) AND place < (s.no + 1) << 40)""",
    "thread number {0}: a message lies behind its tail": """
        SELECT no FROM records AS t WHERE type = 'thread' AND seq <
        (SELECT coalesce(max(seq), 0) FROM records WHERE thread = t.id AND type = 'message')""",
}


def verify(
    connection: sqlite3.Connection, secret: bytes, progress: Callable[[int, int], None] | None
) -> Findings:
    """Compare every version with the ledger line that wrote it, and every line with the versions."""
    total, records, entries = connection.execute(
        "SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM versions), (SELECT count(*) FROM records), "
        "(SELECT count(*) FROM ledger)"
    ).fetchone()
    faults: list[str] = []
    done = 0
    # Owner by owner, so that only one ledger's lines are in memory at a time.
    for no, tenant, kind, id in connection.execute("SELECT no, tenant, kind, id FROM owners").fetchall():
        proving = Proving(connection, secret, no, None if id is None else owner_of(tenant, kind, id))
        for found in proving.run():
            faults += found
            if progress is not None and done % 1000 == 0:
                progress(done, total)
            done += 1
        faults += proving.missing()
    for sentence, query in _SUMS.items():
        faults += (sentence.format(row[0]) for row in connection.execute(query))
    return Findings(records, total - records, entries, tuple(faults))


class Proving:
    """Verifies one owner's records."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, no: int, owner: Owner | None) -> None:
        self._connection = connection
        self._secret = secret
        self._no = no
        self._owner = owner
        self._proof = Proof(secret)
        self._unread: list[str] = []

    def run(self) -> Iterator[list[str]]:
        """Yield a list of faults for each version of a record; most lists are empty."""
        for position, body in self._connection.execute(
            "SELECT position, body FROM ledger WHERE owner = ?", (self._no,)
        ):
            try:
                self._proof.expect(position, load_entry_body(body)[0])
            except Corrupt:
                self._unread.append(f"owner {self._no}: ledger position {position} cannot be read")
        if self._owner is not None:
            for row in self._connection.execute(_RECORDS, (self._no,)):
                yield list(self._record(row, self._owner))
            for row in self._connection.execute(_VERSIONS, (self._no,)):
                yield list(self._version(row))

    def missing(self) -> Iterator[str]:
        """Yield a fault for each version that the ledger lists and ``run`` did not find."""
        yield from self._unread
        yield from self._proof.missing()

    def _record(self, row: tuple[Any, ...], owner: Owner) -> Iterator[str]:
        stored = StoredRow(*row[1:16])
        position, audience, agent, groups, has_terms = row[16:]
        name = f"{stored.type} {UUID(bytes=stored.id)}"
        try:
            readers = audience_of(audience, agent, groups)
            record = checked(
                stored.type,
                UUID(bytes=stored.id),
                owner,
                readers,
                stored.version,
                stored.recorded_at,
                stored.body,
            )
        except (Corrupt, ValueError, TypeError, OverflowError):
            yield f"{name}: what is stored of it cannot be read"
            return
        yield from self._proof.check(
            Written(record.id, stored.type, stored.version, position, readers, stored.body, stored.hash)
        )
        yield from misplaced(stored, record, self._secret)
        links = {each[0] for each in self._connection.execute(sql("links_of"), (stored.id,))}
        if links != {source.bytes for source in record.rests_on()}:
            yield f"{name}: its links are not what it rests on"
        if bool(has_terms) != (record.type in PASSAGE_TYPES):
            yield f"{name}: it has no terms" if not has_terms else f"{name}: it has terms and is no passage"

    def _version(self, row: tuple[Any, ...]) -> Iterator[str]:
        id, type_, version, position, audience, agent, groups, body, digest, earlier = row
        name = f"{type_} {UUID(bytes=id)}, version {version}"
        if not earlier:
            yield f"{name}: it stands behind a version that is older"
        try:
            readers = audience_of(audience, agent, groups)
        except (ValueError, TypeError):
            yield f"{name}: its shelf is not its owner's"
            return
        yield from self._proof.check(Written(UUID(bytes=id), type_, version, position, readers, body, digest))


Progress = Callable[[int, int], None]

#: Microseconds after which a backup that was begun and has no file is taken for abandoned.
_LONGEST_BACKUP = 24 * 3600 * 1_000_000

#: Statements of ``rebuild`` for the whole book. Vectors are not recomputed; those that do not fit are deleted.
_DERIVED = (
    """UPDATE records SET learnt = coalesce(
    (SELECT recorded_at FROM versions WHERE record = records.no ORDER BY version LIMIT 1), recorded_at)""",
    """DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM terms WHERE record = place & ((1 << 40) - 1))
    OR NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = place >> 40 AND dimension + 4 = length(packed))""",
    """UPDATE vector_sets SET through = 0,
    count = (SELECT count(*) FROM vectors WHERE place > (no << 40) AND place < (no + 1) << 40)""",
)


def rebuild(connection: sqlite3.Connection, secret: bytes, progress: Progress | None) -> Mapping[str, int]:
    """Recompute columns, links and counts from the records' content; records and ledger stay unchanged."""
    done: Counter[str] = Counter()
    total = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    connection.execute("DELETE FROM links")
    # No terms have rule 0, so maintenance recomputes all of them; the old ones are used until then.
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
    """Return the counts of a book."""
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
