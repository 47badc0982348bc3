"""Maintenance of a whole book on a server: its counts, checks of its tables, and the settings that matter for safety."""

from __future__ import annotations

import time
from collections.abc import Sequence
from uuid import UUID

from memoranda.engines.postgres import book_rows, jobs
from memoranda.engines.postgres.batches import buried_among, lock_owner
from memoranda.engines.postgres.large import tables as large_tables
from memoranda.engines.postgres.server.session import Answers, Session, Writes, upkeep
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
from memoranda.model.records import Owner
from memoranda.model.values import moment
from memoranda.storage import questions as q
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of
from memoranda.storage.verify import TABLE_FAULTS
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


#: Records of an import that are sent to the server at a time.
_AT_ONCE = 500


async def _find_era(on: Session, question: q.FindEra) -> q.OwnerBase | None:
    row = await on.one("find_era", question.era)
    if row is None:
        return None
    secret, on.no, *names, position, held, erased_at = row
    owner = None if erased_at is not None else owner_of(*names)
    on.base = q.OwnerBase(owner, bytes(secret), UUID(bytes=question.era), position, held, on.no)
    return on.base


async def _counts(on: Session, _: q.Counts) -> q.BookCounts:
    texts = upkeep()
    records, waiting = [
        {row[0]: row[1] for row in await on.text(texts[name])}
        for name in ("records_by_type", "jobs_by_state")
    ]
    return q.BookCounts(records, waiting, *(await on.text(texts["other_counts"], RULE))[0])


async def _table_faults(on: Session, _: q.TableFaults) -> list[tuple[str, object]]:
    await on.run("whole_tables")
    found: list[tuple[str, object]] = []
    for name, text in upkeep().items():
        if name in TABLE_FAULTS:
            found += [(name, row[0]) for row in await on.text(text)]
    return found + [
        ("vector_not_indexed", f"number {no}") for no in await large_tables.vectors_not_indexed(on)
    ]


async def _set_derived(on: Session, write: w.SetDerived) -> None:
    ids, *columns, sources = zip(*write.rows, strict=True)
    await on.run("set_derived", list(ids), *map(list, columns), write.base.no)
    await on.run("unlink", write.base.no, list(ids))
    links = [(id, source) for id, of in zip(ids, sources, strict=True) for source in of]
    await on.run("lay_links", write.base.no, [id for id, _ in links], [source for _, source in links])


async def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    await on.run("whole_tables")
    for name, text in upkeep().items():
        if name.startswith("rebuild_"):
            await on.run_text(text)
    for name in ("recount_shelves", "recount_vector_sets", "recount_held_of_all"):
        await on.run(name)


ANSWERS: Answers = {q.FindEra: _find_era, q.Counts: _counts, q.TableFaults: _table_faults}
WRITES: Writes = {w.SetDerived: _set_derived, w.RebuildTables: _rebuild_tables}


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
