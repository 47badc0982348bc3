"""Maintenance of a whole book in memory: its counts and checks of its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from memoranda.engines.inmemory.tables import Answers, Session, Tables, Writes
from memoranda.storage import StoredRow
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_case import OwnerBase
from memoranda.text.terms import RULE


def _find_era(on: Session, question: u.FindEra) -> OwnerBase | None:
    era = on.tables.eras.get(UUID(bytes=question.era))
    if era is None:
        return None
    on.era = era
    rows = [kept.now.row for kept in era.records.values()]
    held = sum(1 for row in rows if row.type == "memory" and row.status == "active")
    items = sum(1 for row in rows if row.type == "item" and row.status is None)
    on.base = OwnerBase(
        era.owner, on.tables.secret, era.id, len(era.ledger), held, era.number, items
    )
    return on.base


def _counts(on: Session, question: u.Counts) -> u.BookCounts:
    tables, tenant = on.tables, question.tenant
    eras = [era for owner, era in tables.living.items() if tenant in (None, owner.tenant)]
    ids = {era.id for era in eras}
    records = [kept for kept in tables.records.values() if kept.era.id in ids]
    jobs = [row.piece.state for row in tables.jobs.values() if tenant is None or row.era in ids]
    sets = Counter(name for kept in records for name in kept.vectors)
    return u.BookCounts(
        records=dict(sorted(Counter(kept.now.row.type for kept in records).items())),
        jobs=dict(sorted(Counter(jobs).items())),
        owners=sum(1 for era in eras if era.ledger),
        stale_terms=sum(1 for kept in records if kept.terms is not None and kept.rule < RULE),
        vectors={} if tenant is None else dict(sorted(sets.items())),
    )


def _table_faults(on: Session, _: u.TableFaults) -> list[tuple[str, object]]:
    return list(_faults(on.tables))


def _faults(tables: Tables) -> Iterator[tuple[str, object]]:
    slots: set[tuple[int, bytes | None]] = set()
    for kept in tables.records.values():
        slot = kept.now.row.slot
        if slot is not None and (kept.era.number, slot) in slots:
            yield "slot_taken", kept.id
        slots.add((kept.era.number, slot))
        for name, vector in kept.vectors.items():
            if name not in tables.sets or kept.terms is None:
                yield "vector_astray", kept.id
            elif len(vector) != tables.sets[name].packed_bytes:
                yield "vector_length", kept.id
    resting = _resting(tables)
    for source in {*resting, *tables.resting}:
        if resting.get(source) != tables.resting.get(source):
            yield "links_back", source


def _resting(tables: Tables) -> dict[UUID, set[UUID]]:
    """Return the records that cite each source."""
    found: dict[UUID, set[UUID]] = {}
    for kept in tables.records.values():
        for source in kept.all_sources():
            found.setdefault(source, set()).add(kept.id)
    return found


def _set_derived(on: Session, write: w.SetDerived) -> None:
    for row in write.rows:
        kept = on.tables.records[UUID(bytes=row.id)]
        columns = {name: getattr(row, name) for name in row._fields if name in StoredRow._fields}
        kept.versions[-1] = replace(kept.now, row=kept.now.row._replace(**columns))
        on.tables.rest(kept, tuple(UUID(bytes=source) for source in row.sources))


def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    sets = on.tables.sets
    on.tables.resting = _resting(on.tables)
    for kept in on.tables.records.values():
        kept.vectors = {
            name: vector
            for name, vector in kept.vectors.items()
            if kept.terms is not None and name in sets and len(vector) == sets[name].packed_bytes
        }


ANSWERS: Answers = {u.FindEra: _find_era, u.Counts: _counts, u.TableFaults: _table_faults}
WRITES: Writes = {w.SetDerived: _set_derived, w.RebuildTables: _rebuild_tables}
