"""Maintenance of a whole book on a server: rebuilding, facts, and the server's settings that matter for safety."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.engines.postgres import book_rows, jobs
from memoranda.engines.postgres.batches import buried_among, lock_owner
from memoranda.engines.postgres.server.session import Session
from memoranda.model.book_facts import ServerFacts
from memoranda.model.book_rows import (
    OwnerPieces,
    StonePiece,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.records import Owner, Record
from memoranda.model.values import moment
from memoranda.storage import encode
from memoranda.storage.rows import owner_of, record_of
from memoranda.text.terms import RULE


async def examine(session: Session) -> ServerFacts:
    """Return the server's version, settings and present connections."""
    began = time.perf_counter()
    row = await session.one("server_facts")
    took = time.perf_counter() - began
    assert row is not None
    version, release, syncs, whole_pages, passes_walls, replica, most, used, vectors = row
    return ServerFacts(
        version=version,
        release=release,
        syncs=syncs,
        whole_pages=whole_pages,
        passes_walls=passes_walls,
        replica=replica,
        most_connections=most,
        connections=used,
        vectors=vectors,
        answer_seconds=took,
    )


Progress = Callable[[int, int], None]

#: Statements of ``rebuild`` for the whole book. Vectors are not recomputed; those that do not fit are deleted.
#: No terms have rule 0, so maintenance recomputes all of them; the old ones are used until then.
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

#: Records of an import that are sent to the server at a time.
_AT_ONCE = 500

_COLUMNS = (
    "UPDATE records SET slot = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ?, facets = ?, "
    "ended = CASE WHEN ?::boolean THEN NULL ELSE coalesce(ended, recorded_at) END WHERE owner = ? AND id = ?"
)


async def rebuild(session: Session, secret: bytes, progress: Progress | None) -> Mapping[str, int]:
    """Recompute columns, links and counts from the records' content; records and ledger stay unchanged."""
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
    """Return the counts of a book."""
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
    """Return the owners of a tenant that have a ledger, also if all their records were forgotten one by one."""
    return [owner_of(*row) for row in await session.all("owners_of_tenant", tenant)]


async def adopt_book(
    session: Session, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
) -> bool:
    """Take over another book's key, ended eras and tombstones of erased records; False if this book is not empty.

    The caller has the book alone.
    """
    if await session.text("SELECT 1 FROM owners UNION ALL SELECT 1 FROM tombstones LIMIT 1"):
        return False
    await session.run("set_mark_of_book", "secret", secret)
    for era in ended:
        await book_rows.lay_frame(session, era.frame)
        await book_rows.lay(session, era.frame.era, era.entries)
    await book_rows.lay(session, b"", tombstones)
    return True


async def adopt(session: Session, secret: bytes, whole: OwnerPieces) -> bool:
    """Add an owner from an export, with all records and the ledger; False if this book has the owner already."""
    frame = whole.frame
    assert frame.names is not None
    present, there = await lock_owner(session, owner_of(*frame.names))
    if there is not None:
        return False
    refuse_other_secret(secret, present)
    await _refuse_known(session, secret, whole)
    await book_rows.lay_frame(session, frame)
    for start in range(0, len(whole.records), _AT_ONCE):
        await book_rows.lay(session, frame.era, whole.records[start : start + _AT_ONCE])
    await book_rows.lay(session, frame.era, whole.entries)
    no = await session.value("era", frame.era)
    await session.run("recount_held", no)
    await session.run("recount_shelves_of_owner", no)
    if any(piece.terms is not None for piece in whole.records):
        await jobs.make_embedding_due(session, moment(whole.entries[-1].at))
    return True


async def _refuse_known(session: Session, secret: bytes, whole: OwnerPieces) -> None:
    """Raise if the era, a record or an operation is here, or was erased here."""
    stored = await session.one("era", whole.frame.era)
    if stored is not None:
        raise refused_era(ended=stored[6] is not None)
    ids = [UUID(bytes=piece.key) for piece in whole.records]
    for id in await buried_among(session, secret, ids):
        raise refused_erased(id)
    for row in await session.text("SELECT id FROM ids WHERE id = ANY(?::bytea[])", [id.bytes for id in ids]):
        raise refused_record(UUID(bytes=row[0]))
    for entry in whole.entries:
        if entry.operation is not None and await session.one("by_operation", entry.operation):
            raise refused_operation(entry.position)
