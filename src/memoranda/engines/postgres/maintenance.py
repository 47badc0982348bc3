"""Maintenance of a whole book on a server: its counts, checks of its tables, and the settings that
matter for safety.
"""

from __future__ import annotations

import time
from uuid import UUID

from memoranda.engines.postgres.large import tables as large_tables
from memoranda.engines.postgres.server.session import Answers, Session, Writes, upkeep
from memoranda.model.server_facts import ServerFacts
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of
from memoranda.storage.use_case import OwnerBase
from memoranda.storage.use_cases.verify import TABLE_FAULTS
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


async def _find_era(on: Session, question: u.FindEra) -> OwnerBase | None:
    row = await on.one("find_era", question.era)
    if row is None:
        return None
    secret, on.no, *names, position, held, items, erased_at = row
    owner = None if erased_at is not None else owner_of(*names)
    on.base = OwnerBase(
        owner, bytes(secret), UUID(bytes=question.era), position, held, on.no, items
    )
    return on.base


async def _counts(on: Session, question: u.Counts) -> u.BookCounts:
    texts, tenant = upkeep(), question.tenant
    if tenant is not None:
        names = ("records_of_tenant", "jobs_of_tenant", "vectors_of_tenant")
        records, waiting, vectors = [
            dict(map(tuple, await on.text(texts[name], tenant))) for name in names
        ]
        owners, stale = (await on.text(texts["other_counts_of_tenant"], tenant, tenant, RULE))[0]
        return u.BookCounts(records, waiting, owners, stale, vectors)
    records, waiting = [
        {row[0]: row[1] for row in await on.text(texts[name])}
        for name in ("records_by_type", "jobs_by_state")
    ]
    return u.BookCounts(records, waiting, *(await on.text(texts["other_counts"], RULE))[0])


async def _table_faults(on: Session, _: u.TableFaults) -> list[tuple[str, object]]:
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
    rows = ([id for id, _ in links], [b""] * len(links), [source for _, source in links])
    await on.run("lay_links", write.base.no, *rows)


async def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    await on.run("whole_tables")
    for name, text in upkeep().items():
        if name.startswith("rebuild_"):
            await on.run_text(text)


ANSWERS: Answers = {u.FindEra: _find_era, u.Counts: _counts, u.TableFaults: _table_faults}
WRITES: Writes = {w.SetDerived: _set_derived, w.RebuildTables: _rebuild_tables}
