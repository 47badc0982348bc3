"""Proof of a book in SQLite: every version against the ledger, and every derived row against what it stands beside."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from memoranda.engines.sqlite.statements import sql
from memoranda.errors import Corrupt
from memoranda.model.facts import Findings
from memoranda.model.owner import Owner
from memoranda.model.records import PASSAGE_TYPES
from memoranda.settle import StoredRow
from memoranda.settle.proof import Proof, Written, checked, misplaced
from memoranda.settle.rows import audience_of, load_entry_body, owner_of

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

#: What is not proven owner by owner: sums, and rows that belong to nothing.
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
    """Hold every version against the ledger line that wrote it, and every line against the versions."""
    total, records, entries = connection.execute(
        "SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM versions), (SELECT count(*) FROM records), "
        "(SELECT count(*) FROM ledger)"
    ).fetchone()
    faults: list[str] = []
    done = 0
    # Owner by owner: only one ledger's lines are held at a time.
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
    """The proof of one owner's records."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes, no: int, owner: Owner | None) -> None:
        self._connection = connection
        self._secret = secret
        self._no = no
        self._owner = owner
        self._proof = Proof(secret)
        self._unread: list[str] = []

    def run(self) -> Iterator[list[str]]:
        """The faults of each version, of most of them none."""
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
        """What the ledger tells of and ``run`` did not meet."""
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
