"""Upkeep of a whole book on a server: rebuilding, dumps and adoption, facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.answers import OwnerRow, buried_among
from memoranda.engines.postgres.applying import add_entry, begin_era, find_owner, lock_owner
from memoranda.engines.postgres.proving import Proving
from memoranda.engines.postgres.session import Session
from memoranda.engines.postgres.storing import Storing, Writing
from memoranda.errors import Conflict, Erased
from memoranda.model.ledger import Entry, Verb
from memoranda.model.owner import Owner
from memoranda.model.passages import Use
from memoranda.model.records import PASSAGE_TYPES, Record
from memoranda.model.values import micros, moment
from memoranda.ports import TermsOf
from memoranda.settle import Put, dumps, encode
from memoranda.settle.codec import decode
from memoranda.settle.rows import audience_of, entry_of, owner_of, record_of
from memoranda.text.terms import RULE

Progress = Callable[[int, int], None]

#: What ``rebuild`` puts right for the whole book at once. Vectors are made by another, and only kept fitting.
#: Rule 0 made no terms: upkeep makes all of them anew, and the old ones serve until then.
_DERIVED = (
    "DELETE FROM links",
    """INSERT INTO terms (owner, record, rule, packed) SELECT owner, no, 0, '' FROM records WHERE mark > 0
    ON CONFLICT DO NOTHING""",
    "UPDATE terms SET rule = 0",
    """DELETE FROM terms AS t WHERE NOT EXISTS (
    SELECT 1 FROM records AS r WHERE r.owner = t.owner AND r.no = t.record AND r.mark > 0)""",
    """UPDATE records AS r SET learnt = coalesce((SELECT v.recorded_at FROM versions AS v
    WHERE v.owner = r.owner AND v.record = r.no ORDER BY v.version LIMIT 1), r.recorded_at)""",
    """DELETE FROM vectors AS v
    WHERE NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.owner = v.owner AND t.record = v.record)
    OR NOT EXISTS (SELECT 1 FROM vector_sets AS s WHERE s.no = v.set AND s.dimension + 4 = length(v.packed))""",
    """UPDATE shelves AS s SET followed = NULL, passages = (
    SELECT count(*) FROM records AS r WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > 0)""",
    "DELETE FROM unmade",
    """INSERT INTO unmade (set, owner, record) SELECT s.no, t.owner, t.record FROM terms AS t, vector_sets AS s
    WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = s.no)""",
    "UPDATE vector_sets SET count = (SELECT count(*) FROM vectors WHERE set = no)",
    """DELETE FROM uses AS u WHERE NOT EXISTS (
    SELECT 1 FROM records AS r WHERE r.owner = u.owner AND r.no = u.record)""",
)

#: Records that are adopted in one way to the server.
_AT_ONCE = 500

_COLUMNS = (
    "UPDATE records SET slot = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ?, facets = ?, "
    "ended = CASE WHEN ?::boolean THEN NULL ELSE coalesce(ended, recorded_at) END WHERE owner = ? AND id = ?"
)


async def rebuild(session: Session, secret: bytes, progress: Progress | None) -> Mapping[str, int]:
    """Make columns, links and counts anew from the records' own content; records and ledger stay as they are."""
    await session.run("whole_tables")
    done: Counter[str] = Counter()
    ((total,),) = await session.text("SELECT count(*) FROM records")
    for statement in _DERIVED:
        await session.run_text(statement)
    for (no,) in await session.text("SELECT no FROM owners WHERE erased_at IS NULL ORDER BY no"):
        for row in await session.all("all_of_owner", no):
            done["links"] += await _rebuild_record(session, secret, no, record_of(row))
            done["records"] += 1
            if progress is not None and done["records"] % 1000 == 0:
                progress(done["records"], total)
        await session.run("recount_held", no)
        done["owners"] += 1
    return done


async def _rebuild_record(session: Session, secret: bytes, owner_no: int, record: Record) -> int:
    columns = encode(record, secret)
    await session.run_text(
        _COLUMNS,
        columns.slot,
        columns.kind,
        columns.status,
        columns.at,
        columns.valid_from,
        columns.valid_to,
        columns.facets,
        columns.held,
        owner_no,
        columns.id,
    )
    sources = [source.bytes for source in record.rests_on()]
    if sources:
        await session.run("link", owner_no, columns.id, sources)
    return len(sources)


async def counts(session: Session) -> dict[str, Any]:
    """How much a book holds."""
    records = await session.text("SELECT type, count(*) FROM records GROUP BY type ORDER BY type")
    waiting = await session.text("SELECT state, count(*) FROM jobs GROUP BY state ORDER BY state")
    ((owners_, stale, size),) = await session.text(
        "SELECT (SELECT count(*) FROM owners WHERE erased_at IS NULL AND position > 0), "
        "(SELECT count(*) FROM terms WHERE rule < ?), "
        "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r')",
        RULE,
    )
    return {
        "records": {row[0]: row[1] for row in records},
        "jobs": {row[0]: row[1] for row in waiting},
        "owners": owners_,
        "stale_terms": stale,
        "bytes": size,
    }


async def owners(session: Session, tenant: str) -> list[Owner]:
    """The tenant's owners that have records."""
    return [owner_of(*row) for row in await session.all("owners_of_tenant", tenant)]


async def dump(session: Session, owner: Owner, *, private: bool) -> list[dict[str, Any]]:
    """Everything of an owner: the era, entries, versions oldest first, uses, and the count of all these."""
    return list(dumps.ended([line async for line in _dumped(session, owner, private=private)]))


async def _dumped(session: Session, owner: Owner, *, private: bool) -> AsyncIterator[dict[str, Any]]:
    row = await find_owner(session, owner)
    if row is None:
        return
    yield dumps.owner_line(owner, row.era)
    for found in await session.all("ledger_of_owner", row.no):
        yield dumps.entry_line(entry_of(found, owner), private=private)
    tails = {found[0]: found[1] for found in await session.all("tails_of_owner", row.no)}
    for found in await session.all("all_of_owner", row.no):
        type_, raw, now = found[0], found[1], record_of(found)
        for version, position, recorded_at, body, *readers in (
            await session.all("versions_of", row.no, raw) if now.version > 1 else ()
        ):
            if body:
                old = decode(type_, UUID(bytes=raw), owner, audience_of(*readers), version, recorded_at, body)
                yield dumps.version_line(old, position, current=False)
        yield dumps.version_line(now, found[11], current=True, tail=tails.get(raw))
    for id, strength, used_at, count in await session.all("uses_of_owner", row.no):
        used = None if used_at is None else moment(used_at)
        yield dumps.use_line(UUID(bytes=id), Use(strength=strength, used_at=used, count=count))


async def adopt(
    session: Session, owner: Owner, lines: Sequence[dict[str, Any]], terms: TermsOf
) -> Mapping[str, int] | None:
    """Take in an owner as dumped; None where the owner has records here already."""
    secret, there = await lock_owner(session, owner)
    if there is not None:
        return None
    dump = dumps.parse(owner, lines)
    if await session.all("ended_eras", [dump.era.bytes]):
        raise Erased(
            f"owner {owner}: these records were exported before the owner was erased; they do not come back"
        )
    row = await begin_era(session, secret, owner, dump.era)
    done = await _Adopting(session, secret, row, terms).take(dump)
    proving = Proving(session, secret, row.no, owner)
    faults = [fault async for found in proving.run() for fault in found] + list(proving.missing())
    if faults:
        raise dumps.broken(0, f"the part does not hold against its own ledger: {faults[0]}")
    return done


class _Adopting:
    """Takes in the records of one owner, in the order in which they were written."""

    def __init__(self, session: Session, secret: bytes, row: OwnerRow, terms: TermsOf) -> None:
        self._session = session
        self._secret = secret
        self._row = row
        self._terms = terms
        self._digests: dict[tuple[UUID, int], bytes] = {}
        self._standing: dict[UUID, Record] = {}
        self._done: Counter[str] = Counter()
        self._storing = Storing(session, secret, row.no)
        self._pending: dict[UUID, Writing] = {}

    async def take(self, dump: dumps.OwnerDump) -> Mapping[str, int]:
        """Take in everything; entries last, for they tell of the versions' digests."""
        current, no = dump.current, self._row.no
        buried = await buried_among(self._session, self._secret, list(current))
        for version in dump.versions:
            if version.record.id in buried:
                what = f"{version.record.type.value} {version.record.id}"
                raise Erased(f"{what}: it was forgotten here, and does not come back")
            await self._version(version, current[version.record.id])
        await self._flush()
        for thread, tail in dump.tails.items():
            await self._session.run("set_tail", tail, no, thread.bytes)
        for blank in dump.blanks:
            at, id = micros(blank.at), blank.id.bytes
            await self._session.run(
                "add_blank_version", owner=no, id=id, version=blank.version, position=blank.position, at=at
            )
            await self._session.run("learnt_by", at, no, id)
        for id_, use in dump.uses.items():
            await self._use(id_, use)
        for entry in dump.entries:
            await self._entry(entry)
        await self._session.run("move_owner", len(dump.entries), 0, no)
        await self._session.run("recount_held", no)
        if any(record.type in PASSAGE_TYPES for record in current.values()):
            await jobs.make_embedding_due(self._session, dump.entries[-1].at)
        return self._done

    async def _version(self, version: dumps.DumpedVersion, current: Record) -> None:
        record = version.record
        if record.id in self._pending or len(self._pending) == _AT_ONCE:
            await self._flush()
        before = self._standing.get(record.id)
        put = Put(record, before, Verb.IMPORT, self._terms(current) if before is None else None)
        writing = self._storing.writing(put, version.position, slots=version.current)
        self._pending[record.id] = writing
        self._digests[record.id, record.version] = writing.row.hash
        self._standing[record.id] = record
        self._done[record.type.value if version.current else "versions"] += 1

    async def _flush(self) -> None:
        """Store what waits, each record once."""
        if self._pending:
            await self._storing.store(list(self._pending.values()))
            self._pending = {}

    async def _use(self, id: UUID, use: Use) -> None:
        found = await self._session.one("where_is", id.bytes)
        assert found is not None
        used = None if use.used_at is None else micros(use.used_at)
        await self._session.run("put_use", self._row.no, found[0], use.strength, used, use.count)
        self._done["uses"] += 1

    async def _entry(self, entry: Entry) -> None:
        if entry.operation is not None and await self._session.one("by_operation", entry.operation):
            raise Conflict(f"position {entry.position}: its operation was applied in this book already")
        await add_entry(self._session, self._row.no, dumps.with_digests(entry, self._digests))
        self._done["entries"] += 1


async def dump_book(session: Session, secret: bytes) -> dict[str, Any]:
    """What belongs to no owner."""
    eras = await session.text(
        "SELECT no, era, digest, erased_at FROM owners WHERE erased_at IS NOT NULL ORDER BY no"
    )
    stones = await session.text("SELECT digest, at FROM tombstones ORDER BY digest")
    ended = []
    for no, era, digest, at in eras:
        operations = tuple((row[0], row[1]) for row in await session.all("operations_of_owner", no))
        ended.append(dumps.EndedEra(UUID(bytes=era), digest, at, operations))
    return dumps.book_line(dumps.BookDump(secret, tuple(ended), tuple((row[0], row[1]) for row in stones)))


async def adopt_book(session: Session, line: Mapping[str, Any]) -> bool:
    """Take in what belongs to no owner, if the book is empty; the caller has the book alone."""
    book = dumps.parse_book(line)
    if await session.text("SELECT 1 FROM owners UNION ALL SELECT 1 FROM tombstones LIMIT 1"):
        return False
    await session.run_text("UPDATE properties SET value = ? WHERE name = 'secret'", book.secret)
    for ended in book.eras:
        ((no,),) = await session.text(
            "INSERT INTO owners (era, digest, erased_at, position) VALUES (?, ?, ?, ?) RETURNING no",
            ended.era.bytes,
            ended.digest,
            ended.at,
            len(ended.operations),
        )
        for entry in ended.entries():
            await add_entry(session, no, entry)
    for digest, at in book.tombstones:
        await session.run("bury", digest, at)
    return True
