"""Upkeep of a whole book in SQLite: proof against the ledger, dumps and adoption, facts."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from commonplace.engines.sqlite.applying import OwnerRow, Storing, add_entry, begin_era, find_owner, is_buried
from commonplace.engines.sqlite.rows import audience_of, entry_of, owner_of, record_of
from commonplace.engines.sqlite.statements import sql
from commonplace.errors import Erased
from commonplace.model.ledger import Entry, Verb, load_entry_body
from commonplace.model.memories import Use
from commonplace.model.owner import Owner
from commonplace.model.records import Record
from commonplace.model.values import micros, moment
from commonplace.ports import Findings, TermsOf
from commonplace.settle import Put, dumps, encode
from commonplace.settle.codec import decode
from commonplace.settle.proof import Proof, Written
from commonplace.text.terms import RULE

Progress = Callable[[int, int], None]

_ALL_VERSIONS = """
SELECT r.owner, r.id, r.type, r.version, s.audience, s.agent, s.groups, r.body, r.hash
FROM records AS r JOIN shelves AS s ON s.no = r.shelf
UNION ALL
SELECT r.owner, r.id, r.type, v.version, s.audience, s.agent, s.groups, v.body, v.hash
FROM versions AS v JOIN records AS r ON r.no = v.record JOIN shelves AS s ON s.no = v.shelf WHERE v.body <> ''
"""


def verify(connection: sqlite3.Connection, secret: bytes, progress: Progress | None) -> Findings:
    """Hold every version against the ledger line that wrote it, and every line against the versions."""
    proof = Proof(secret)
    entries = 0
    for owner, body in connection.execute("SELECT owner, body FROM ledger"):
        entries += 1
        proof.expect(owner, load_entry_body(body)[0])
    total = connection.execute(
        "SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM versions)"
    ).fetchone()[0]
    faults: list[str] = []
    for seen, row in enumerate(connection.execute(_ALL_VERSIONS)):
        if progress is not None and seen % 1000 == 0:
            progress(seen, total)
        owner, id, type_, version, audience, agent, groups, body, digest = row
        readers = audience_of(audience, agent, groups)
        faults += proof.check(Written(owner, UUID(bytes=id), type_, version, readers, body, digest))
    faults += proof.missing()
    faults += _check_sums(connection)
    records = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    return Findings(records, total - records, entries, tuple(faults))


def _check_sums(connection: sqlite3.Connection) -> Iterator[str]:
    checks = {
        "owner {0}: its count of held memories is wrong": """
            SELECT no FROM owners AS o WHERE erased_at IS NULL AND held <>
            (SELECT count(*) FROM records WHERE owner = o.no AND type = 'memory' AND status = 'active')""",
        "owner {0}: its ledger has gaps": """
            SELECT no FROM owners AS o WHERE position <> (SELECT count(*) FROM ledger WHERE owner = o.no)""",
        "passage number {0}: it has no terms": """
            SELECT no FROM records AS r WHERE mark > 0 AND NOT EXISTS (SELECT 1 FROM terms WHERE record = r.no)""",
        "terms {0}: their passage is not there": """
            SELECT record FROM terms AS t WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = t.record)""",
        "thread number {0}: a message lies behind its tail": """
            SELECT no FROM records AS t WHERE type = 'thread' AND seq <
            (SELECT coalesce(max(seq), 0) FROM records WHERE thread = t.id AND type = 'message')""",
    }
    for sentence, query in checks.items():
        for row in connection.execute(query):
            yield sentence.format(row[0])


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
    connection.execute("DELETE FROM uses WHERE record NOT IN (SELECT no FROM records)")
    rows = connection.execute(sql("all_of_owner").replace("WHERE o.no = ?", "ORDER BY r.no")).fetchall()
    for row in rows:
        record = record_of(row)
        columns = encode(record, secret)
        connection.execute(
            "UPDATE records SET slot = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ? WHERE id = ?",
            (
                columns.slot,
                columns.kind,
                columns.status,
                columns.at,
                columns.valid_from,
                columns.valid_to,
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
        "backups": backups(connection),
    }


def owners(connection: sqlite3.Connection, tenant: str) -> list[Owner]:
    """The tenant's owners that have records."""
    return [owner_of(*row) for row in connection.execute(sql("owners_of_tenant"), (tenant,))]


def note_backup(connection: sqlite3.Connection, path: str, at: datetime) -> None:
    """Remember where a backup lies."""
    connection.execute("INSERT OR REPLACE INTO backups (path, at) VALUES (?, ?)", (path, micros(at)))


def backups(connection: sqlite3.Connection) -> list[str]:
    """Where the book's backups were written."""
    return [row[0] for row in connection.execute("SELECT path FROM backups ORDER BY at")]


def dump(connection: sqlite3.Connection, owner: Owner, *, private: bool) -> Iterator[dict[str, Any]]:
    """Everything of an owner: the era, entries, versions oldest first, uses."""
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
                old = decode(found[0], found[1], owner, audience_of(*readers), version, recorded_at, body)
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
    era = UUID(lines[0]["era"])
    if connection.execute(sql("ended_era"), (era.bytes,)).fetchone():
        raise Erased(
            f"owner {owner}: these records were exported before the owner was erased; they do not come back"
        )
    return _Adopting(connection, secret, owner, begin_era(connection, secret, owner, era), terms).take(lines)


class _Adopting:
    """Takes in one owner, line by line."""

    def __init__(
        self, connection: sqlite3.Connection, secret: bytes, owner: Owner, row: OwnerRow, terms: TermsOf
    ) -> None:
        self._connection = connection
        self._secret = secret
        self._owner = owner
        self._row = row
        self._terms = terms
        self._hashes: dict[tuple[UUID, int], bytes] = {}
        self._standing: dict[UUID, Record] = {}
        self._done: Counter[str] = Counter()

    def take(self, lines: Sequence[dict[str, Any]]) -> Mapping[str, int]:
        """Take in all lines; entries last, for they tell of the versions' digests."""
        for line in lines:
            if line["line"] in ("version", "record"):
                self._version(dumps.dumped_version(line, self._owner))
            elif line["line"] == "use":
                self._use(*dumps.dumped_use(line))
        position = 0
        for line in lines:
            if line["line"] == "entry":
                entry = dumps.dumped_entry(line, self._row.era, self._hashes)
                add_entry(self._connection, self._row.no, entry)
                self._blank_versions(entry)
                position = max(position, entry.position)
                self._done["entries"] += 1
        self._connection.execute(sql("move_owner"), (position, 0, self._row.no))
        self._connection.execute(sql("recount_held"), (self._row.no,))
        return self._done

    def _blank_versions(self, entry: Entry) -> None:
        """Give versions that were emptied elsewhere their places here, so that the entries that wrote them are found."""
        for line in entry.lines:
            if not line.erased and line.id in self._standing and (line.id, line.after) not in self._hashes:
                values = {
                    "id": line.id.bytes,
                    "version": line.after,
                    "position": entry.position,
                    "at": micros(entry.at),
                }
                self._connection.execute(sql("add_blank_version"), values)

    def _version(self, dumped: dumps.DumpedVersion) -> None:
        record = dumped.record
        if is_buried(self._connection, self._secret, record.id):
            raise Erased(f"{record.type.value} {record.id}: it was forgotten here, and does not come back")
        storing = Storing(self._connection, self._secret, self._row.no, dumped.position)
        before = self._standing.get(record.id)
        terms = self._terms(record) if before is None else None
        put = Put(record, before, Verb.IMPORT, terms)
        self._hashes[record.id, record.version] = storing.put_all([put], slots=dumped.current)[0]
        self._standing[record.id] = record
        if dumped.tail is not None:
            self._connection.execute(sql("set_tail"), (dumped.tail, record.id.bytes))
        self._done[record.type.value if dumped.current else "versions"] += 1

    def _use(self, id: UUID, use: Use) -> None:
        if id in self._standing:
            no = self._connection.execute(sql("where_is"), (id.bytes,)).fetchone()[0]
            used = None if use.used_at is None else micros(use.used_at)
            self._connection.execute(sql("put_use"), (no, use.strength, used, use.count))
            self._done["uses"] += 1


def dump_book(connection: sqlite3.Connection, secret: bytes) -> dict[str, Any]:
    """What belongs to no owner."""
    eras = connection.execute(
        "SELECT era, digest, erased_at FROM owners WHERE erased_at IS NOT NULL ORDER BY no"
    )
    stones = connection.execute("SELECT digest, at FROM tombstones ORDER BY digest")
    return {
        "line": "book",
        "secret": secret.hex(),
        "erased_eras": [[era.hex(), digest.hex(), at] for era, digest, at in eras],
        "tombstones": [[digest.hex(), at] for digest, at in stones],
    }


def adopt_book(connection: sqlite3.Connection, line: Mapping[str, Any]) -> bool:
    """Take in what belongs to no owner, if the book is empty."""
    if connection.execute("SELECT 1 FROM owners LIMIT 1").fetchone():
        return False
    secret = bytes.fromhex(line["secret"])
    connection.execute("UPDATE book SET value = ? WHERE name = 'secret'", (secret,))
    for era, digest, at in line["erased_eras"]:
        connection.execute(
            "INSERT INTO owners (era, digest, erased_at) VALUES (?, ?, ?)",
            (bytes.fromhex(era), bytes.fromhex(digest), at),
        )
    for digest, at in line["tombstones"]:
        connection.execute(sql("bury"), (bytes.fromhex(digest), at))
    return True
