"""Upkeep of a whole book in SQLite: rebuilding, dumps and adoption, facts."""

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

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.answers import OwnerRow, is_buried
from memoranda.engines.sqlite.applying import Storing, add_entry, begin_era, find_owner
from memoranda.engines.sqlite.proving import Proving
from memoranda.engines.sqlite.statements import sql
from memoranda.errors import Conflict, Erased
from memoranda.model.ledger import Entry, Verb
from memoranda.model.owner import Owner
from memoranda.model.passages import Use
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.model.values import micros, moment, utc_now
from memoranda.ports import TermsOf
from memoranda.settle import Put, dumps, encode
from memoranda.settle.codec import decode
from memoranda.settle.rows import audience_of, entry_of, owner_of, record_of
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


def dump(connection: sqlite3.Connection, owner: Owner, *, private: bool) -> Iterator[dict[str, Any]]:
    """Everything of an owner: the era, entries, versions oldest first, uses, and the count of all these."""
    return dumps.ended(_dumped(connection, owner, private=private))


def _dumped(connection: sqlite3.Connection, owner: Owner, *, private: bool) -> Iterator[dict[str, Any]]:
    row = find_owner(connection, owner)
    if row is None:
        return
    yield dumps.owner_line(owner, row.era)
    for found in connection.execute(sql("ledger_of_owner"), (row.no,)):
        yield dumps.entry_line(entry_of(found, owner), private=private)
    tails = dict(connection.execute(sql("tails_of_owner"), (row.no,)))
    for found in connection.execute(sql("all_of_owner") + " ORDER BY r.no", (row.no,)):
        for version, position, recorded_at, body, *readers in connection.execute(
            sql("versions_of"), (found[1],)
        ):
            if body:
                old = decode(
                    found[0], UUID(bytes=found[1]), owner, audience_of(*readers), version, recorded_at, body
                )
                yield dumps.version_line(old, position, current=False)
        position = connection.execute(sql("record_position"), (found[1],)).fetchone()[1]
        yield dumps.version_line(record_of(found), position, current=True, tail=tails.get(found[1]))
    for id, strength, used_at, count in connection.execute(sql("uses_of_owner"), (row.no,)):
        used = None if used_at is None else moment(used_at)
        yield dumps.use_line(UUID(bytes=id), Use(strength=strength, used_at=used, count=count))


def adopt(
    connection: sqlite3.Connection,
    secret: bytes,
    owner: Owner,
    lines: Sequence[dict[str, Any]],
    terms: TermsOf,
) -> Mapping[str, int] | None:
    """Take in an owner as dumped; None where the owner has records here already."""
    if find_owner(connection, owner) is not None:
        return None
    dump = dumps.parse(owner, lines)
    if connection.execute(sql("ended_era"), (dump.era.bytes,)).fetchone():
        raise Erased(
            f"owner {owner}: these records were exported before the owner was erased; they do not come back"
        )
    row = begin_era(connection, secret, owner, dump.era)
    done = _Adopting(connection, secret, row, terms).take(dump)
    proving = Proving(connection, secret, row.no, owner)
    faults = [fault for found in proving.run() for fault in found] + list(proving.missing())
    if faults:
        raise dumps.broken(0, f"the part does not hold against its own ledger: {faults[0]}")
    return done


class _Adopting:
    """Takes in one owner, version by version."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, row: OwnerRow, terms: TermsOf) -> None:
        self._connection = connection
        self._secret = secret
        self._row = row
        self._terms = terms
        self._digests: dict[tuple[UUID, int], bytes] = {}
        self._standing: dict[UUID, Record] = {}
        self._done: Counter[str] = Counter()

    def take(self, dump: dumps.OwnerDump) -> Mapping[str, int]:
        """Take in everything; entries last, for they tell of the versions' digests."""
        current = dump.current
        for version in dump.versions:
            self._version(version, current[version.record.id])
        for thread, tail in dump.tails.items():
            self._connection.execute(sql("set_tail"), (tail, thread.bytes))
        for blank in dump.blanks:
            values = {"id": blank.id.bytes, "version": blank.version, "position": blank.position}
            self._connection.execute(sql("add_blank_version"), {**values, "at": micros(blank.at)})
            self._connection.execute(sql("learnt_by"), (micros(blank.at), blank.id.bytes))
        for id, use in dump.uses.items():
            self._use(id, use)
        for entry in dump.entries:
            self._entry(entry)
        self._connection.execute(sql("move_owner"), (len(dump.entries), 0, self._row.no))
        self._connection.execute(sql("recount_held"), (self._row.no,))
        if any(record.type in PASSAGE_TYPES for record in current.values()):
            jobs.make_embedding_due(self._connection, dump.entries[-1].at)
        return self._done

    def _version(self, version: dumps.DumpedVersion, current: Record) -> None:
        record = version.record
        before = self._standing.get(record.id)
        if before is None and is_buried(self._connection, self._secret, record.id):
            raise Erased(f"{record.type.value} {record.id}: it was forgotten here, and does not come back")
        storing = Storing(self._connection, self._secret, self._row.no, version.position)
        put = Put(record, before, Verb.IMPORT, self._terms(current) if before is None else None)
        self._digests[record.id, record.version] = storing.put_all([put], slots=version.current)[0]
        self._standing[record.id] = record
        self._done[record.type.value if version.current else "versions"] += 1

    def _use(self, id: UUID, use: Use) -> None:
        no = self._connection.execute(sql("where_is"), (id.bytes,)).fetchone()[0]
        used = None if use.used_at is None else micros(use.used_at)
        self._connection.execute(sql("put_use"), (no, use.strength, used, use.count))
        self._done["uses"] += 1

    def _entry(self, entry: Entry) -> None:
        if entry.operation is not None:
            known = self._connection.execute(sql("by_operation"), (entry.operation,)).fetchone()
            if known is not None:
                raise Conflict(f"position {entry.position}: its operation was applied in this book already")
        add_entry(self._connection, self._row.no, dumps.with_digests(entry, self._digests))
        self._done["entries"] += 1


def dump_book(connection: sqlite3.Connection, secret: bytes) -> dict[str, Any]:
    """What belongs to no owner."""
    eras = connection.execute(
        "SELECT no, era, digest, erased_at FROM owners WHERE erased_at IS NOT NULL ORDER BY no"
    ).fetchall()
    stones = connection.execute("SELECT digest, at FROM tombstones ORDER BY digest")
    ended = (
        dumps.EndedEra(
            UUID(bytes=era), digest, at, tuple(connection.execute(sql("operations_of_owner"), (no,)))
        )
        for no, era, digest, at in eras
    )
    return dumps.book_line(dumps.BookDump(secret, tuple(ended), tuple(stones)))


def adopt_book(connection: sqlite3.Connection, line: Mapping[str, Any]) -> bool:
    """Take in what belongs to no owner, if the book is empty."""
    book = dumps.parse_book(line)
    if connection.execute("SELECT 1 FROM owners UNION ALL SELECT 1 FROM tombstones LIMIT 1").fetchone():
        return False
    connection.execute("UPDATE book SET value = ? WHERE name = 'secret'", (book.secret,))
    for ended in book.eras:
        no = connection.execute(
            "INSERT INTO owners (era, digest, erased_at, position) VALUES (?, ?, ?, ?) RETURNING no",
            (ended.era.bytes, ended.digest, ended.at, len(ended.operations)),
        ).fetchone()[0]
        for entry in ended.entries():
            add_entry(connection, no, entry)
    for digest, at in book.tombstones:
        connection.execute(sql("bury"), (digest, at))
    return True
