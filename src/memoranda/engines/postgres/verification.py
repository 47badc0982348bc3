"""Verifies a book on a server: every version against the ledger, and every derived row against its record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from uuid import UUID

from memoranda.engines.postgres.server.session import Row, Session
from memoranda.errors import Corrupt
from memoranda.model.book_facts import Findings
from memoranda.model.records import PASSAGE_TYPES, Owner
from memoranda.storage import StoredRow
from memoranda.storage.rows import audience_of, load_entry_body, owner_of
from memoranda.storage.verify import Proof, Written, checked, misplaced

_RECORDS = """
SELECT r.owner, r.id, r.type, r.version, r.recorded_at, r.slot, r.thread, r.seq, r.kind, r.status, r.at, r.valid_from,
    r.valid_to, r.facets, r.body, r.hash, r.position, s.audience, s.agent, s.groups,
    r.mark > 0 AND EXISTS (SELECT 1 FROM terms AS t WHERE t.owner = r.owner AND t.record = r.no),
    ARRAY(SELECT l.source FROM links AS l WHERE l.owner = r.owner AND l.record = r.id)
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf WHERE r.owner = ?
"""

_VERSIONS = """
SELECT r.id, r.type, v.version, v.position, s.audience, s.agent, s.groups, v.body, v.hash, v.version < r.version
FROM records AS r JOIN versions AS v ON v.owner = r.owner AND v.record = r.no
LEFT JOIN shelves AS s ON s.owner = v.owner AND s.no = v.shelf WHERE r.owner = ?
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
    "record number {0}: its id is said to be another owner's": """
        SELECT no FROM records AS r WHERE NOT EXISTS (SELECT 1 FROM ids AS i WHERE i.id = r.id AND i.owner = r.owner)""",
    "id {0}: its record is not there": """
        SELECT encode(id, 'hex') FROM ids AS i
        WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.owner = i.owner AND r.id = i.id)""",
    "versions of record number {0}: it is not there": """
        SELECT DISTINCT record FROM versions AS v
        WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = v.owner AND no = v.record)""",
    "links of record {0}: it is not there": """
        SELECT DISTINCT encode(record, 'hex') FROM links AS l
        WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = l.owner AND id = l.record)""",
    "terms {0}: their passage is not there": """
        SELECT record FROM terms AS t WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = t.owner AND no = t.record)""",
    "use {0}: its memory is not there": """
        SELECT record FROM uses AS u
        WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = u.owner AND no = u.record AND type = 'memory')""",
    "record number {0}: its first version was not recorded when it is said to have been learnt": """
        SELECT no FROM records AS r WHERE learnt <> coalesce(
        (SELECT v.recorded_at FROM versions AS v WHERE v.owner = r.owner AND v.record = r.no ORDER BY v.version LIMIT 1),
        r.recorded_at)""",
    "record number {0}: when it ceased to be held does not fit its status": """
        SELECT no FROM records WHERE (ended IS NOT NULL) <>
        (coalesce(status, '') IN ('superseded', 'retracted', 'undone', 'evicted', 'withdrawn'))""",
    "vector of record number {0}: its set or its passage is not there": """
        SELECT record FROM vectors AS v WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = v.set)
        OR NOT EXISTS (SELECT 1 FROM terms WHERE owner = v.owner AND record = v.record)""",
    "vector of record number {0}: its length is not that of its set": """
        SELECT v.record FROM vector_sets AS s JOIN vectors AS v ON v.set = s.no
        WHERE length(v.packed) <> s.dimension + 4""",
    "record number {0}: a set has no vector of it, and does not know that it lacks one": """
        SELECT t.record FROM terms AS t, vector_sets AS s
        WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = s.no)
        AND NOT EXISTS (SELECT 1 FROM unmade AS u WHERE u.set = s.no AND u.record = t.record AND u.owner = t.owner)""",
    "record number {0}: it is said to lack a vector, and has it, or can have none": """
        SELECT u.record FROM unmade AS u WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = u.set)
        OR NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.owner = u.owner AND t.record = u.record)
        OR EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = u.owner AND v.record = u.record AND v.set = u.set)""",
    "vectors {0}: they are not as many as their set says": """
        SELECT name FROM vector_sets AS s WHERE count <> (SELECT count(*) FROM vectors WHERE set = s.no)""",
    "shelf number {0}: its passages are not as many as it says": """
        SELECT no FROM shelves AS s WHERE passages <>
        (SELECT count(*) FROM records AS r WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > 0)""",
    "thread number {0}: a message lies behind its tail": """
        SELECT no FROM records AS t WHERE type = 'thread' AND seq < (
        SELECT coalesce(max(seq), 0) FROM records AS m WHERE m.owner = t.owner AND m.thread = t.id AND m.type = 'message')""",
}


async def verify(
    session: Session,
    secret: bytes,
    also: Callable[[Session], Awaitable[list[str]]],
    progress: Callable[[int, int], None] | None,
) -> Findings:
    """Compare every version with the ledger line that wrote it, and every line with the versions."""
    await session.run("whole_tables")
    ((records, versions, entries),) = await session.text(
        "SELECT (SELECT count(*) FROM records), (SELECT count(*) FROM versions), (SELECT count(*) FROM ledger)"
    )
    faults: list[str] = []
    done = 0
    faults += await also(session)
    # Owner by owner, so that only one ledger's lines are in memory at a time.
    for no, tenant, kind, id in await session.text("SELECT no, tenant, kind, id FROM owners ORDER BY no"):
        proving = Proving(session, secret, no, None if id is None else owner_of(tenant, kind, id))
        async for found in proving.run():
            faults += found
            if progress is not None and done % 1000 == 0:
                progress(done, records + versions)
            done += 1
        faults += proving.missing()
    for sentence, query in _SUMS.items():
        faults += [sentence.format(row[0]) for row in await session.text(query)]
    return Findings(records, versions, entries, tuple(faults))


class Proving:
    """Verifies one owner's records."""

    def __init__(self, session: Session, secret: bytes, no: int, owner: Owner | None) -> None:
        self._session = session
        self._secret = secret
        self._no = no
        self._owner = owner
        self._proof = Proof(secret)
        self._unread: list[str] = []

    async def run(self) -> AsyncIterator[list[str]]:
        """Yield a list of faults for each version of a record; most lists are empty."""
        ledger = "SELECT position, body FROM ledger WHERE owner = ? ORDER BY position"
        async for rows in self._session.walk(ledger, self._no):
            for position, body in rows:
                try:
                    self._proof.expect(position, load_entry_body(body)[0])
                except Corrupt:
                    self._unread.append(f"owner {self._no}: ledger position {position} cannot be read")
        if self._owner is not None:
            async for rows in self._session.walk(_RECORDS, self._no):
                for row in rows:
                    yield list(self._record(row, self._owner))
            async for rows in self._session.walk(_VERSIONS, self._no):
                for row in rows:
                    yield list(self._version(row))

    def missing(self) -> Iterator[str]:
        """Yield a fault for each version in the ledger that ``run`` did not find, and for each entry that cannot be read."""
        yield from self._unread
        yield from self._proof.missing()

    def _record(self, row: Row, owner: Owner) -> Iterator[str]:
        stored = StoredRow(*row[1:16])
        position, audience, agent, groups, has_terms, links = row[16:]
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
        if set(links) != {source.bytes for source in record.rests_on()}:
            yield f"{name}: its links are not what it rests on"
        if bool(has_terms) != (record.type in PASSAGE_TYPES):
            yield f"{name}: it has no terms" if not has_terms else f"{name}: it has terms and is no passage"

    def _version(self, row: Row) -> Iterator[str]:
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
